#!/bin/sh
# sum_counts.sh FOLDER... - adds up the counts that run_specs.sh has left below some folders.
find "$@" -name counts.txt -exec cat {} + | awk '{ passed += $1; failed += $3; skipped += $5 }
  END { printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped }'
