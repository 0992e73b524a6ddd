#!/bin/sh
# fuzz.sh TARGET SEED_FOLDER... - runs one fuzz target for TIME seconds, first with all seeds; B is the
# folder of its build. Prints how many inputs were tried.
#
# Large inputs find what costs too much. An input may take 2 s; with the sanitizers ten times as long.
# The interpreter keeps garbage for a while, which is no leak.
target=$1
shift
case $target in
  fuzz_decode | fuzz_symbols | fuzz_lua) longest=1048576 ;;
  *) longest=16384 ;;
esac
# Each of its inputs is written in all dialects: other files take long, and show nothing.
[ "$target" != fuzz_winidea ] || set -- spec/fuzz/corpus/winidea
case $target in fuzz_lua | fuzz_contexts) leaks=0 ;; *) leaks=1 ;; esac

mkdir -p "$B/found/$target"
"$B/$target" -max_total_time="$TIME" -max_len=$longest -timeout=20 -malloc_limit_mb=512 \
  -detect_leaks=$leaks -print_final_stats=1 -artifact_prefix="$B/$target-" "$B/found/$target" "$@" \
  > "$B/$target.log" 2>&1 || { tail -n 60 "$B/$target.log"; exit 1; }
awk '/stat::number_of_executed_units/ { print $2 }' "$B/$target.log" >> "$B/$target.runs"
awk -v name="$target" -v time="$TIME" '{ n = $1; sum += n } END {
  printf "%s: %d inputs in %d s, %d since make clean\n", name, n, time, sum }' "$B/$target.runs"
