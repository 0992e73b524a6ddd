#!/bin/sh
# A gate without noise for CI: counts the instructions of a program under Valgrind, and compares
# each function with the counts of a base.
#
#   sh counts.sh BASE PROGRAM [ARGUMENTS]
#
# BASE is a file of an earlier run; without it this run becomes the base, to be kept for the next
# ones (a cache or an artifact of the CI). The status is 4 if a function costs over 0.5 % more, or is
# new. counts.xml is for the page of tests of the CI, counts.md for a comment.
set -eu
base=$1
shift
new=counts.callgrind
valgrind -q --tool=callgrind --callgrind-out-file=$new "$@" >/dev/null
if [ ! -e "$base" ]; then
  mv $new "$base"
  echo "$base: the counts of this run are the base of the next ones"
  exit 0
fi
profio compare "$base" --new $new --output markdown -o counts.md
profio compare "$base" --new $new --fail 'self > +0.5%' --output junit -o counts.xml
