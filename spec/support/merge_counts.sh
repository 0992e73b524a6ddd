#!/bin/sh
# Adds the counts of coverage that each file of specs has left in a folder `covered` of
# its own (COVERED=1 of run_specs.sh) to those of the objects. A program that is killed
# while it writes its counts breaks them: they are left out.
#
#   merge_counts.sh BUILD
set -eu
build=$(cd "$1" && pwd)
find "$build/tested" -type d -path "*/covered$build/obj" | sort |
  while read -r counts; do
    rm -rf "$build/merged"
    gcov-tool merge -o "$build/merged" "$build/obj" "$counts" 2>/dev/null ||
      { mkdir "$build/merged" && cp -r "$counts/." "$build/merged/"; } # the first ones
    cp -r "$build/merged/." "$build/obj/"
  done
rm -rf "$build/merged"
