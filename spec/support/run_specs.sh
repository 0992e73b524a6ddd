#!/usr/bin/env bash
# Runs files of specs, each in a process and a folder of its own, so that they do not
# overwrite the files of others, and no process has the memory of all.
#
#   run_specs.sh BUILD SET OPTIONS FILE...
#
# With COVERED=1 a build with --coverage leaves the counts of each file in a folder
# `covered` of its own. BUILD is the folder of the build, SET the folder below it for
# output, OPTIONS one word with further options of busted. LUA, BUSTED and JOBS are read
# from the environment. Prints a line for each file, the files that took more than
# 2 s, what was skipped and what failed, and the sums; the status is 1 when
# anything failed. The second number of a line is the processor time of the file and of
# the programs that it started, which tells more than the first on a busy machine.
set -u
export BUSTED=${BUSTED:-$(command -v busted)} LUA=${LUA:-lua5.4}
build=$1 set=$2 options=$3
whole=$(cd "$build" && pwd)
shift 3

# One file: its words go into said.txt, its sums into counts.txt, its seconds into
# seconds.txt.
one () {
  local file=$1 name=${1#spec/} entry counts took TIMEFORMAT='%R %U %S'
  local place=$build/$set/${name%.lua}
  mkdir -p "$place" || exit 255
  for entry in "$whole"/*; do
    case ${entry##*/} in
      spec | found | tested | stressed | growth | torture | counted | asan | fuzz | tsan) ;;
      *) ln -s "$entry" "$place/" ;;
    esac
  done
  if [[ ${COVERED:-} ]]; then
    export GCOV_PREFIX=$whole/$set/${name%.lua}/covered
  fi
  # shellcheck disable=SC2086 # options are several words
  { time PROFIO_BUILD=$place $LUA "$BUSTED" $options "$file" \
    > "$place/said.txt" 2>&1 </dev/null; } 2> "$place/seconds.txt"
  local status=$?
  counts=$(grep -aE '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' \
    "$place/said.txt" | tail -n 1)
  if ((status != 0)) && [[ $counts != *", "[1-9]*" failed"* ]]; then
    counts="0 passed, 1 failed, 0 skipped" # it ended in an unexpected way
  fi
  echo "$counts" > "$place/counts.txt"
  took=$(awk -v file="$file" '{ printf "%5.1f s %5.1f s  %s\n", $1, $2 + $3, file }' \
    "$place/seconds.txt")
  echo "$took" > "$place/seconds.txt"
  echo "$took: $counts"
}

if [[ ${RUN_ONE:-} ]]; then
  one "$1"
  exit 0
fi

places=()
for file; do
  name=${file#spec/}
  places+=("$build/$set/${name%.lua}")
done
rm -rf "${places[@]}"

printf '%s\0' "$@" | RUN_ONE=1 xargs -0 -n 1 -P "${JOBS:-1}" "$0" "$build" "$set" "$options"

for place in "${places[@]}"; do # one that did not begin has failed
  [[ -s $place/counts.txt ]] ||
    { mkdir -p "$place" && echo "0 passed, 1 failed, 0 skipped" > "$place/counts.txt" &&
      echo "$place did not run" | tee "$place/said.txt" > "$place/seconds.txt"; }
done
slow=$(cat "${places[@]/%//seconds.txt}" | awk '$1 > 2' | sort -rn)
[[ -z $slow ]] || printf '\nslow specs:\n%s\n' "$slow"
for place in "${places[@]}"; do
  grep -q ' 0 failed, 0 skipped' "$place/counts.txt" ||
    grep -av -e '^[-+.*]*$' -e ' passed, ' -e ' successes ' "$place/said.txt"
done
cat "${places[@]/%//counts.txt}" | awk '{ passed += $1; failed += $3; skipped += $5 }
  END { printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped
        exit failed > 0 }'
