#!/bin/sh
# add-parallel.sh STORE FILE...: adds files to a store with GNU parallel.
#
#   HOSTS        machines, as of parallel --sshlogin: "2/host1,2/host2"; they see
#                the files and the store's folder under the same paths
#                (default ":": this machine)
#   FILES        files of a job (default 500)
#   PROFIO_ADD   further options of profio store add: "--label version=v2"
#
# Each job writes a store of its own, and these are merged. Servers of ClickHouse
# take the runs of all jobs at once.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
store=$1
shift
[ $# -gt 0 ] || { echo "usage: add-parallel.sh STORE FILE..." >&2; exit 2; }

run () {
  parallel --null --max-args "${FILES:-500}" --sshlogin "${HOSTS:-:}" \
    --workdir "$(pwd)" --env PATH --env PROFIO_ADD --env PROFIO_BUILD \
    --env PROFIO_STORE_PASSWORD --halt soon,fail=1 "$@"
}

case $store in
  clickhouse*)
    # the first file creates the tables, so that no two jobs do
    # shellcheck disable=SC2086 # PROFIO_ADD has several words
    profio store add ${PROFIO_ADD-} "$store" "$1"
    printf '%s\0' "$@" | run "profio store add --jobs 1 ${PROFIO_ADD-} '$store' {}"
    ;;
  *)
    mkdir -p "$store.parts"
    printf '%s\0' "$@" |
      run "printf '%s\n' {} | '$here/add-part.sh' '$store.parts/{#}.db'"
    profio store merge "$store" "$store.parts"/*.db
    rm -r "$store.parts"
    ;;
esac
