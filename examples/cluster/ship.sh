#!/bin/sh
# ship.sh FOLDER STORE: adds the profiles of a folder to a store, and removes each
# file when its run is on the disk. Files that changed within the last minute may
# not be complete, and wait for the next time. Damaged files stay: what can be read
# of them is in the store, and the status is not 0 until somebody has looked at them.
#
#   PROFIO_FILES  names of the files (default *.pb.gz)
#   PROFIO_ADD    further options of profio store add
set -eu

folder=$1
store=$2
# shellcheck disable=SC2086 # PROFIO_ADD has several words
find "$folder" -type f -name "${PROFIO_FILES:-*.pb.gz}" -mmin +1 -print0 |
  xargs -0 -r profio store add --move --label "host=$(uname -n)" \
    ${PROFIO_ADD-} "$store"
