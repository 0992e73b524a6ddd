#!/bin/sh
# add-part.sh PART: adds the files that standard input names, one a line, to a
# store of its own. It is written on the local disk, because SQLite needs the
# locks of the file system, and appears as PART when it is complete.
# PROFIO_ADD has further options, such as "--label version=v2".
set -eu

part=$1
folder=$(mktemp -d "${TMPDIR:-/tmp}/profio.XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM

# shellcheck disable=SC2086 # PROFIO_ADD has several words
tr '\n' '\0' | xargs -0 -r profio store add --jobs 1 ${PROFIO_ADD-} \
  "$folder/part.db"
[ -e "$folder/part.db" ] || exit 0
cp "$folder/part.db" "$part.$$"
mv "$part.$$" "$part"
