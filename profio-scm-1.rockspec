rockspec_format = "3.0"
package = "profio"
version = "scm-1"

-- `make rockspec VERSION=x.y.z URL=...` writes the released one, with its source.
source = {
   url = "git+file:.",
}

description = {
   summary = "Read, write and analyse the traces of profilers",
   detailed = [[
      A C core decodes the files of profilers without copying them and runs the
      heavy loops; a Lua layer gives iterators, filters, aggregation, reports
      and a command. It reads and writes gmon.out, winIDEA's timelines, traces of
      Xbase++ and Business Rules!, DCPI's profiles, dBASE tables and pprof.]],
   license = "MIT",
   homepage = "https://github.com/profio/profio",
   issues_url = "https://github.com/profio/profio/issues",
   labels = { "profiler", "performance", "trace", "pprof", "commandline" },
}

-- `make rockspec` adds argparse >= 0.7. In a checkout it may be a package of the system, which
-- luarocks does not know; where it is missing, the installation and the command say so.
dependencies = {
   "lua ~> 5.4",
}

external_dependencies = {
   ZLIB = { header = "zlib.h" },
   EXPAT = { header = "expat.h" },
}

build = {
   type = "make",
   variables = {
      LUA_INC = "-I$(LUA_INCDIR)",
      CFLAGS = "$(CFLAGS)",
   },
   install_target = "install-rock",
   install_variables = {
      LUADIR = "$(LUADIR)",
      LIBDIR = "$(LIBDIR)",
      DOCDIR = "$(PREFIX)/doc",
   },
   install = {
      bin = { profio = "examples/analyze.lua" },
   },
   copy_directories = { "examples" },
}

test = {
   type = "command",
   command = "make test-quick",
}
