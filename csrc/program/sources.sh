#!/bin/sh
# sources.sh FOLDER PACKAGE... - unpacks the sources of Debian packages into FOLDER/PACKAGE, from
# which programs for other systems are built. They come from where this system takes its packages.
set -eu
folder=$1
shift
apt=$folder/apt

# The system's lists of packages, as lists of sources.
lists () {
  [ ! -d "$apt/lists/partial" ] || return 0
  mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/cache/archives/partial"
  for file in /etc/apt/sources.list.d/*.sources; do
    [ ! -e "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" > "$apt/parts/${file##*/}"
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ ! -e "$file" ] || sed -n 's/^deb /deb-src /p' "$file" > "$apt/parts/$(echo "$file" | tr / _).list"
  done
  get update >&2
}

get () {
  apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$apt/parts" \
    -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" "$@"
}

for package; do
  [ ! -d "$folder/$package" ] || continue
  lists
  rm -rf "$apt/source"
  mkdir -p "$apt/source"
  (cd "$apt/source" && get source "$package" >&2)
  mv "$apt/source"/*/ "$folder/$package"
done
