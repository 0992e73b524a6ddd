#!/bin/sh
# release.sh FOLDER NAME PROGRAM PACKAGE... - packs a program as FOLDER/NAME.tar.gz, or as .zip for
# Windows, with its licence, those of the Debian packages whose code is inside, and the README.
set -eu
folder=$1 name=$2 program=$3
shift 3
top=$folder/$name
time=$(git log -1 --format=%ct 2>/dev/null || echo 0)
mkdir -p "$top"
cp "$program" "$top/"
cp LICENSE README.md "$top/"
{
  echo "profio contains code of other projects, under these licences, as Debian states them."
  for package; do
    printf '\n\n==== %s\n\n' "$package"
    cat "/usr/share/doc/$package/copyright"
  done
} > "$top/NOTICES"
find "$top" -exec touch -d "@$time" {} +
cd "$folder"
case $program in
  *.exe) find "$name" -type f | LC_ALL=C sort | TZ=UTC zip -qX9 "$name.zip" -@ ;;
  *) tar --sort=name --owner=0 --group=0 --numeric-owner --format=ustar -c "$name" | gzip -9n > "$name.tar.gz" ;;
esac
rm -rf "$name"
