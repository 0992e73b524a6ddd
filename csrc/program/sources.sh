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
  of_sources apt-get update >&2
}

# Runs apt-get or apt-cache with these lists.
of_sources () {
  command=$1
  shift
  "$command" -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$apt/parts" \
    -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" "$@"
}

# Unpacks a package into $apt/source.
unpack () {
  rm -rf "$apt/source"
  mkdir -p "$apt/source"
  (cd "$apt/source" && of_sources apt-get source "$1" >&2)
}

# The newest version that is there: a list may name one that its server has no longer.
unpack_older () {
  for version in $(of_sources apt-cache showsrc --only-source "$1" |
    sed -n 's/^Version: //p' | sort -rVu); do
    ! unpack "$1=$version" || return 0
  done
  return 1
}

for package; do
  [ ! -d "$folder/$package" ] || continue
  lists
  unpack "$package" || unpack_older "$package"
  mv "$apt/source"/*/ "$folder/$package"
done
