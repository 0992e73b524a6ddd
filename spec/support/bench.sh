#!/bin/sh
# bench.sh - runs the bench, or the cases CASES: alone, in turns with the build WITHOUT a fast path, or
# in turns with the revision AGAINST. B is the folder of the build; MAKE builds the other one.
set -e
export PROFIO_BUILD="$B" LUA_PATH="lua/?.lua;lua/?/init.lua;./?.lua;;" LUA_CPATH="$B/?.so;;"

# shellcheck disable=SC2086
if [ -n "$WITHOUT" ]; then
  other=$B/without/$WITHOUT
  $MAKE B="$other" CPPFLAGS="-DPF_WITHOUT=PF_FAST_$(echo "$WITHOUT" | tr a-z A-Z)" all bench-programs
  "$LUA" spec/bench/in_turns.lua without "$WITHOUT" "$other" $CASES
elif [ -n "$AGAINST" ]; then
  other=$B/against/$AGAINST
  mkdir -p "$other"
  git archive "$AGAINST" | tar -x -C "$other"
  $MAKE -C "$other" B=build CASES=none AGAINST= bench
  "$LUA" spec/bench/in_turns.lua against "$AGAINST" "$other" $CASES
else
  "$LUA" spec/bench/run.lua $CASES
fi
