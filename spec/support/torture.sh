#!/bin/sh
# torture.sh faults | growth | store | writers - the long forms of what specs try in short.
#
# faults: each EVERY-th system call of the commands that match OF fails once, in seven ways. growth:
# the costs on inputs that double along AXES ("lanes depth=--check"), or along all. store: profio
# store add is killed KILLS / 50 times, and with --move as often. writers: KILLS writers are killed as
# SEED says, of all streams or those that match CASE, and the power fails as often.
set -e
export PROFIO_BUILD="$B" LUA_PATH="lua/?.lua;lua/?/init.lua;./?.lua;;" LUA_CPATH="$B/?.so;$B/c/?.so;;"

# shellcheck disable=SC2086
case $1 in
  faults) PROFIO_FAULTS=$EVERY PROFIO_FAULTS_OF="$OF" "$LUA" "$BUSTED" --run=ci spec/faults_spec.lua ;;
  growth) "$LUA" spec/bench/growth.lua $AXES ;;
  store)
    PROFIO_KILLS=$((KILLS / 50)) "$LUA" "$BUSTED" --run=ci spec/store/torture_store_spec.lua
    ;;
  writers)
    mkdir -p "$B/torture"
    "$LUA" spec/support/torture.lua "$B/torture" "$KILLS" "$SEED" $CASE
    "$B/c/kill" "$B/torture" $((KILLS / 10)) "$SEED"
    "$LUA" spec/support/power.lua "$(realpath "$B")/torture" "$KILLS" "$SEED" $CASE
    ;;
esac
