#!/bin/sh
# lint.sh STEP - one step of `make lint`: lua, house, docs, symbols, warnings, format, cppcheck, tidy.
#
# LINTED are the C files to be looked at; with a revision SINCE only those that changed since, or that
# include what did. CHANGED are those that clang-tidy looks at for longer, FLAGS the flags of the
# compiler, B the folder of the build, JOBS how many run at once.

status=0

# The objects say what a file includes.
linted_since () {
  { git diff --name-only "$SINCE" -- csrc; git ls-files -o --exclude-standard csrc; } |
    while read -r file; do
      case $file in
        *.h) grep -rlF --include='*.d' " $file" "$B/obj" | sed "s|^$B/obj|csrc|; s|d\$|c|" ;;
        csrc/os/windows/*) ;; # the compiler of another system checks them
        *.c) echo "$file" ;;
      esac
    done | sort -u | while read -r file; do [ ! -e "$file" ] || echo "$file"; done
}

[ -z "$SINCE" ] || LINTED=$(linted_since)

in_tree () {
  PROFIO_BUILD=$B LUA_PATH="lua/?.lua;lua/?/init.lua;./?.lua;;" LUA_CPATH="$B/?.so;;" "$LUA" "$@"
}

lint_symbols () {
  for module in "$B"/profio/*.so; do nm -D --defined-only "$module"; done |
    awk '$2 ~ /[A-Z]/ && $3 != "luaopen_profio_core" && $3 != "luaopen_profio_store" {
      print "exported by mistake: " $3; n++ } END { exit n > 0 }'
}

# The fuzz targets and the bench too, which `make all` does not compile.
# shellcheck disable=SC2086
lint_warnings () {
  if [ -n "$LINTED" ]; then
    for cc in gcc clang; do
      printf '%s\n' $LINTED | xargs -P "$JOBS" -n 25 $cc $FLAGS -Werror -fsyntax-only || status=1
    done
  fi
  gcc $FLAGS -Werror -fsyntax-only spec/fuzz/*.c spec/bench/*.c && return $status
}

# knownConditionTrueFalse does not know what a loop before it leaves open, and cppcheck not _BitInt.
# shellcheck disable=SC2086
lint_cppcheck () {
  [ -z "$LINTED" ] || cppcheck --quiet --std=c11 \
    --enable=warning,style,performance,portability --suppress=missingIncludeSystem \
    --suppress=unusedStructMember --suppress=knownConditionTrueFalse \
    --suppress=syntaxError:csrc/model/base/wide.h --inline-suppr \
    --error-exitcode=3 -j "$JOBS" -Icsrc \
    $LINTED
}

# Nearly all of the time goes to the analyzer, which follows the paths of a function
# until it has seen 225,000 states. That depth is for the files that changed; for all
# others, which each passed it when it changed, 10,000 states take a tenth of the time.
lint_tidy () {
  for file in $LINTED; do
    case " $CHANGED " in *" $file "*) depth=225000 ;; *) depth=10000 ;; esac
    echo "$file $depth"
  done | xargs -r -P "$JOBS" -L 1 sh -c 'clang-tidy --quiet --extra-arg=-Xclang \
    --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=max-nodes=$2 "$1" -- '"$FLAGS"' \
    2>&1 | grep -v "warnings\{0,1\} generated" || true' tidy > "$B/tidy.txt"
  cat "$B/tidy.txt"
  ! grep -q "warning:\|error:" "$B/tidy.txt"
}

echo "$1"
# shellcheck disable=SC2086
case $1 in
  lua) luacheck -q examples lua spec profio-scm-1.rockspec ;;
  house) "$LUA" spec/support/layers.lua ;;
  docs) in_tree spec/support/docs.lua --check ;;
  symbols) lint_symbols ;;
  warnings) lint_warnings ;;
  format)
    clang-format --dry-run -Werror $(find csrc -name '*.[ch]') spec/c/*.c spec/fuzz/*.c \
      spec/bench/*.c
    ;;
  cppcheck) lint_cppcheck ;;
  tidy) lint_tidy ;;
esac
