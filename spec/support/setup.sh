#!/bin/sh
# setup.sh [run] [test] [check] [bench] - have what profio needs, or say what is
# missing.
#
# `run` is what it takes to build and to analyse, `test` what the specs need
# beside that, `check` the tools of lint, the sanitizers and the fuzzer, `bench`
# what the bench measures profio against. Each need is probed by using it, so
# what was installed by other means counts. What is missing comes from apt;
# without apt its names are printed and that is all. Nothing of `bench` is a
# must: what cannot be had is left out there.

CC=${CC:-cc}
LUA=${LUA:-lua5.4}
LUA_INC=${LUA_INC:--I/usr/include/lua5.4}
missing=

# need PACKAGE COMMAND...: the package is missing when the command fails.
need () {
  package=$1
  shift
  "$@" >/dev/null 2>&1 </dev/null || missing="$missing $package"
}

has_header () {
  # shellcheck disable=SC2086
  echo "#include <$1>" | $CC -E $LUA_INC -x c - >/dev/null 2>&1
}

has_module () {
  $LUA -e "require '$1'"
}

# The compiler answers a bare name when it knows no such file.
has_library () {
  case $($1 -print-file-name="$2") in /*) ;; *) return 1 ;; esac
}

probe_run () {
  need lua5.4 command -v "$LUA"
  need liblua5.4-dev has_header lua.h
  need libelf-dev has_header libelf.h
  need libdw-dev has_header elfutils/libdw.h
  need zlib1g-dev has_header zlib.h
  need g++ has_library "$CC" libsupc++.a
  need lua-argparse has_module argparse
  need lua-dkjson has_module dkjson
  need lua-filesystem has_module lfs
}

probe_test () {
  need python3-dbfread /usr/bin/python3 -c "import dbfread"
  need python3-dbf /usr/bin/python3 -c "import dbf"
  need shapelib command -v dbfdump
  need lua-busted has_module busted
  need g++ command -v g++
  need binutils command -v gprof
  need golang-go command -v go
  need strace command -v strace
  need valgrind command -v callgrind_annotate
  need libdevel-nytprof-perl test -e /usr/share/perl5/Devel/NYTProf/flamegraph.pl
  need libxml2-utils command -v xmllint
  need chromium command -v chromium
}

# What npm has and Debian has not: into build/node, where npm is there. Specs
# that need it are skipped without it.
node_modules () {
  [ ! -e build/node/node_modules/speedscope ] && command -v npm >/dev/null ||
    return 0
  mkdir -p build/node
  npm install --prefix build/node --no-audit --no-fund --no-save \
    --loglevel=error speedscope@1.25.0 jsdom@26 >&2 ||
    echo "setup.sh: npm could not install speedscope and jsdom" >&2
}

probe_check () {
  need lua-check command -v luacheck
  need luarocks command -v luarocks
  need clang command -v clang
  need clang-format command -v clang-format
  need clang-tidy command -v clang-tidy
  need cppcheck command -v cppcheck
  need libclang-rt-14-dev has_library clang libclang_rt.fuzzer-x86_64.a
}

probe_bench () {
  need binutils command -v gprof
  need python3-pandas /usr/bin/python3 -c "import pandas"
  need python3-dbfread /usr/bin/python3 -c "import dbfread"
  need libshp-dev has_header shapefil.h
  need uftrace command -v uftrace
  need golang-go command -v go
  need nodejs command -v node
  need npm command -v npm
}

probe () {
  missing=
  for set in "$@"; do
    case $set in
      run | test | check | bench) "probe_$set" ;;
      *) echo "setup.sh: no set '$set' (run, test, check, bench)" >&2; exit 2 ;;
    esac
  done
  missing=$(printf '%s\n' $missing | sort -u | tr '\n' ' ')
}

# As root, through sudo, or not at all.
as_root () {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

can_install () {
  command -v apt-get >/dev/null &&
    { [ "$(id -u)" = 0 ] || command -v sudo >/dev/null; }
}

say_what_is_missing () {
  cat >&2 <<END
profio needs what Debian 12 calls:
  $missing
$1
END
  exit 1
}

# install PACKAGE...: by apt.
install () {
  echo "installing with apt-get: $*" >&2
  as_root apt-get update -qq >&2
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "$@" >&2
}

# All at once, else one by one: a package that is not there takes no other along.
try_to_install () {
  install "$@" || for package in "$@"; do
    install "$package" || echo "setup.sh: apt-get has no $package" >&2
  done
}

# What the bench measures against, as far as it is to be had.
have_bench () {
  probe bench
  # shellcheck disable=SC2086
  [ -z "${missing% }" ] || ! can_install || try_to_install $missing
  node_modules
  probe bench
  [ -z "${missing% }" ] ||
    echo "setup.sh: the bench goes without: $missing" >&2
}

sets=
wants_bench=
for set in "$@"; do
  if [ "$set" = bench ]; then wants_bench=yes; else sets="$sets $set"; fi
done
case " $sets " in *" test "*) node_modules ;; esac

# shellcheck disable=SC2086
probe $sets
if [ -n "${missing% }" ]; then
  can_install || say_what_is_missing "Install these, or what your system has for them, then run make again.
On Debian: apt-get install $missing"
  # shellcheck disable=SC2086
  install $missing || say_what_is_missing "apt-get could not install them."
  # shellcheck disable=SC2086
  probe $sets
  [ -z "${missing% }" ] || say_what_is_missing "They are still missing after apt-get."
fi
[ -z "$wants_bench" ] || have_bench
