#!/bin/sh
# demo.sh - what `make demo` shows: a C program, profiled, and a Lua program, recorded. B is the
# folder of the build, which is made; with TRACE only that file is analysed.
set -e
export PROFIO_BUILD="$B" LUA_PATH="lua/?.lua;lua/?/init.lua;./?.lua;;" LUA_CPATH="$B/?.so;;"

if [ -n "$TRACE" ]; then
  exec "$LUA" examples/analyze.lua "$TRACE"
fi
mkdir -p "$B/demo"
# -O1 and no inlining, so that each function of the demo is seen.
$CC -std=c11 -O1 -g -pg -fno-inline -fno-optimize-sibling-calls examples/demo.c -o "$B/demo/demo"
rm -f "$B/demo/gmon.out"
echo "running $B/demo/demo"
(cd "$B/demo" && ./demo)
echo "analysing $B/demo/gmon.out"; echo
"$LUA" examples/analyze.lua "$B/demo/demo" "$B/demo/gmon.out"
echo; echo "recording a Lua program, samples: dkjson, on the words of README.md"
PROFIO_RECORD="mode=sampled,path=$B/demo/words.prf" "$LUA" -lprofio.recorder examples/demo.lua README.md 30
echo "analysing $B/demo/words.prf"; echo
"$LUA" examples/analyze.lua --report hotfunctions --top 12 "$B/demo/words.prf"
