#!/bin/sh
# install.sh module | command | documents | uninstall - what `make install`, `make install-rock` and
# `make uninstall` do.
#
# The folders are LUADIR, LIBDIR, BINDIR and DATADIR, below DESTDIR if that is given, and DOCDIR for
# the documents of a rock; B is the folder of the build, and MODULES its modules in C. All paths may
# be relative and contain blanks.
set -eu
compiled=$LIBDIR/profio/compiled

# The modules, the pages of help, and what exports html and svg build in, relative to lua/. Their
# names have no blanks.
files=$(cd lua && find profio -name '*.lua' -o -path 'profio/help/*.md' \
  -o -path 'profio/exports/*.js' -o -path 'profio/exports/*.css')

lua_files () {
  printf '%s\n' "$files"
}

# Man pages and completion, in $B/share, where spec/support/generate.lua writes them, and below
# $DATADIR.
shared_files='man/man1/profio.1 man/man3/profio.3lua bash-completion/completions/profio
  zsh/site-functions/_profio fish/vendor_completions.d/profio.fish'

# The description of the module for editors, below $LUADIR.
described=profio/meta/profio.lua

in_tree () {
  PROFIO_BUILD=$B LUA_PATH="lua/?.lua;lua/?/init.lua;./?.lua;;" LUA_CPATH="$B/?.so;;" "$LUA" "$@"
}

# Copies a generated file, if it could be generated.
put () {
  mkdir -p "${2%/*}"
  [ -e "$1" ] && install -m 644 "$1" "$2" || echo "not installed: $2"
}

install_module () {
  mkdir -p "$DESTDIR$LIBDIR/profio"
  # shellcheck disable=SC2086
  install -m 755 $MODULES "$DESTDIR$LIBDIR/profio/"
  lua_files | sed 's|/[^/]*$||' | sort -u | while read -r folder; do
    mkdir -p "$DESTDIR$LUADIR/$folder"
    lua_files | grep "^$folder/[^/]*$" | sed 's|^|lua/|' |
      xargs sh -c 'folder=$1; shift; install -m 644 "$@" "$folder/"' sh "$DESTDIR$LUADIR/$folder" ||
      exit 1
  done
  put "$B/share/lua/$described" "$DESTDIR$LUADIR/$described"
}

# Writes the command, and compiles the modules and argparse for it.
install_command () {
  mkdir -p "$DESTDIR$BINDIR" "$DESTDIR$compiled"
  cat > "$DESTDIR$BINDIR/profio" <<END
#!/usr/bin/env lua5.4
-- The command profio, written by make install.
package.path = [[$LUADIR/?.lua;$LUADIR/?/init.lua;]] .. package.path
package.cpath = [[$LIBDIR/?.so;]] .. package.cpath
require 'profio.internal.interpreter'
require 'profio.cli.compiled'.use [[$compiled]]
local status, is_closed = require "profio.cli".main(arg)
os.exit(status, not is_closed)
END
  chmod 755 "$DESTDIR$BINDIR/profio"
  lua_files | in_tree -e 'local write = require("profio.cli.compiled").write
    write(arg[1], "argparse", package.searchpath("argparse", package.path))
    for file in io.lines() do
      local name = file:match "^(.*)%.lua$"
      if name then
        write(arg[1], name:gsub("/init$", ""):gsub("/", "."), arg[2] .. file, arg[3] .. file)
      end
    end' - "$DESTDIR$compiled" "$DESTDIR$LUADIR/" "$LUADIR/"
  for file in $shared_files; do
    put "$B/share/$file" "$DESTDIR$DATADIR/$file"
  done
  echo "installed: $DESTDIR$BINDIR/profio"
  [ -n "$DESTDIR" ] || (cd / && "$LUA" -e 'require "profio"') 2>/dev/null ||
    printf '%s\n' 'The command finds its module. For require "profio" in your scripts:' \
      "   export LUA_PATH=\"$LUADIR/?.lua;$LUADIR/?/init.lua;;\"" \
      "   export LUA_CPATH=\"$LIBDIR/?.so;;\""
}

# Copies the license, the pages of help and the man pages into the documents of a rock, and names
# argparse if Lua does not find it.
install_documents () {
  mkdir -p "$DOCDIR/formats" "$DOCDIR/problems"
  install -m 644 LICENSE CHANGELOG.md lua/profio/help/*.md "$DOCDIR/"
  install -m 644 lua/profio/help/formats/format-*.md "$DOCDIR/formats/"
  install -m 644 lua/profio/help/problems/*.md "$DOCDIR/problems/"
  sed 's|(lua/profio/help/|(|g' README.md > "$DOCDIR/README.md"
  put "$B/share/man/man1/profio.1" "$DOCDIR/man/man1/profio.1"
  put "$B/share/man/man3/profio.3lua" "$DOCDIR/man/man3/profio.3lua"
  "$LUA" -e 'require "argparse"' 2>/dev/null || printf '%s\n' "$LUA does not find argparse," \
    'which the command profio needs: luarocks install argparse, or on Debian' \
    'apt-get install lua-argparse'
}

# Removes what was installed, and the folders that are empty then.
uninstall () {
  rm -f "$DESTDIR$BINDIR/profio" "$DESTDIR$LIBDIR/profio/core.so" \
    "$DESTDIR$LIBDIR/profio/store.so" "$DESTDIR$compiled"/*.luac
  for file in $shared_files; do rm -f "$DESTDIR$DATADIR/$file"; done
  rm -f "$DESTDIR$LUADIR/$described"
  (cd "$DESTDIR$LUADIR" 2>/dev/null && lua_files | xargs rm -f) || true
  for folder in "$DESTDIR$LUADIR/profio" "$DESTDIR$LIBDIR/profio"; do
    [ ! -d "$folder" ] || find "$folder" -depth -type d -empty -delete
  done
}

case $1 in
  module) install_module ;;
  command) install_command ;;
  documents) install_documents ;;
  uninstall) uninstall ;;
esac
