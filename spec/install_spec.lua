-- Installing and setting up, as a user does it: the module goes where PREFIX and DESTDIR say, the
-- command finds it from there, and what is missing is named before anything fails.
--
-- Tags: user.
-- Long: runs make many times.
-- Unsanitized: texts, options and files of Lua alone.

local command = require "spec.support.command"
local disk = require "spec.support.disk"

local root, build = command.root, command.build
local folder = command.folder .. "/install"

local function exists(path)
   local file <close> = io.open(path)
   return file ~= nil
end

-- A line of shell at the top of the project: what it printed (errors too), and its status.
local function run(line)
   local form = "{ cd '%s' && unset MAKEFLAGS MAKELEVEL && %s; } 2>&1"
   local pipe = assert(io.popen(form:format(root, line)))
   local text = pipe:read "a"
   local _, _, status = pipe:close()
   return text, status
end

local function make(words)
   return run(("make -s B='%s' %s"):format(build, words))
end

-- The files below a folder.
local function files_in(path)
   return (run(("[ ! -d '%s' ] || find '%s' -type f"):format(path, path)))
end

describe("make install", function()
   setup(function()
      disk.fresh(folder)
   end)

   teardown(function()
      disk.remove(folder)
   end)

   -- Without the module, as in a build for one kind of check only, make would build one.
   -- A staged installation is complete only at its final place: its command names that.
   local function check(words, command_path, module_path, final)
      if not exists(build .. "/profio/core.so") then
         return pending "this build has no module to install"
      end
      local said, status = make("install " .. words)
      assert.same({ 0, true }, { status, said:find("installed: ", 1, true) ~= nil }, said)
      assert.is_truthy(exists(command_path), files_in(folder))
      for _, name in ipairs { "init.lua", "exports/html/page.css", "exports/html/scripts/model.js",
         "meta/profio.lua" } do
         assert.is_truthy(exists(module_path .. "/profio/" .. name), files_in(folder))
      end
      local data = command_path:match "^(.*)/bin/profio$" .. "/share/"
      for path, text in pairs { ["man/man1/profio.1"] = "\n%.SH EXIT STATUS\n",
         ["man/man3/profio.3lua"] = "profio%.open",
         ["zsh/site-functions/_profio"] = "^#compdef profio",
         ["bash-completion/completions/profio"] = "\ncomplete %-F _profio",
         ["fish/vendor_completions.d/profio.fish"] = "complete %-c profio" } do
         assert.matches(text, command.read(data .. path))
      end
      -- From another folder, with no path set, and through a chain of symbolic links.
      os.execute(("ln -sfn '%s' '%s/first' && ln -sfn first '%s/second'"):format(command_path,
         folder, folder))
      local unset = "cd / && env -u PROFIO_BUILD LUA_PATH=';;' LUA_CPATH=';;' "
      assert.matches((final or module_path) .. "/?.lua", command.read(command_path), 1, true)
      for _, path in ipairs(final and {} or { command_path, folder .. "/second" }) do
         assert.same({ "profio 0.1.0\n", 0 }, { run(unset .. "'" .. path .. "' --version") })
         assert.matches("^Options", (run(unset .. "'" .. path .. "' help options")))
      end
      said, status = make("uninstall " .. words)
      assert.same({ "", 0 }, { said, status })
      os.execute(("rm '%s/first' '%s/second'"):format(folder, folder))
      assert.equal("", files_in(folder))
   end

   local shared = folder .. "/shared"
   local sources, chunks = shared .. "/share/lua/5.4/profio/", shared
      .. "/lib/lua/5.4/profio/compiled/"

   -- Runs the command that the next specs share.
   local function version(words)
      return (run(("cd / && env -u PROFIO_BUILD LUA_PATH=';;' LUA_CPATH=';;' %s '%s/bin/profio' "
         .. "--version"):format(words or "", shared)))
   end

   -- The lines before a compiled chunk, and the chunk.
   local function parts_of(path)
      return command.read(path):match "^([^\n]*\n[^\n]*\n)(.*)$"
   end

   local function write(path, text)
      local file <close> = assert(io.open(path, "wb"))
      assert(file:write(text))
   end

   it("compiles the modules that the command loads", function()
      if not exists(build .. "/profio/core.so") then
         return pending "this build has no module to install"
      end
      local said, status = make(("install PREFIX='%s'"):format(shared))
      assert.equal(0, status, said)
      local path = chunks .. "profio.cli.luac"
      local head, chunk = parts_of(path)
      local main = assert(load(chunk, nil, "b"))
      assert.equal("@" .. sources .. "cli.lua", debug.getinfo(main, "S").source)
      assert.is_truthy(exists(chunks .. "argparse.luac"))
      -- It is loaded, unless PROFIO_SOURCES is set.
      local other = string.dump(load "return { main = function() print 'compiled' return 0 end }")
      write(path, head .. other)
      assert.equal("compiled\n", version())
      assert.equal("profio 0.1.0\n", version "PROFIO_SOURCES=1")
      -- A source that was changed is, even with the same size.
      local text = command.read(sources .. "cli.lua")
      run(("touch -d 2001-01-01 '%scli.lua'"):format(sources))
      assert.equal("profio 0.1.0\n", version())
      write(sources .. "cli.lua", "print 'changed'\n" .. text)
      assert.equal("changed\nprofio 0.1.0\n", version())
      -- A source of another folder is, if it is found first.
      write(path, head .. other)
      write(sources .. "cli.lua", text)
      local time = head:match " (%d+)\n$"
      run(("touch -d @%s '%scli.lua'"):format(time, sources))
      assert.equal("compiled\n", version())
      os.remove(sources .. "cli.lua")
      os.execute(("mkdir '%scli' 2>/dev/null; true"):format(sources))
      write(sources .. "cli/init.lua", "print 'a folder' " .. text)
      assert.equal("a folder\nprofio 0.1.0\n", version())
      os.remove(sources .. "cli/init.lua")
      write(sources .. "cli.lua", text)
      run(("touch -d @%s '%scli.lua'"):format(time, sources))
      write(path, head .. chunk)
   end)

   it("goes on without what was compiled, if that is damaged", function()
      if not exists(build .. "/profio/core.so") then
         return pending "this build has no module to install"
      end
      local path = chunks .. "profio.cli.luac"
      local text = command.read(path)
      local head = parts_of(path)
      for _, size in ipairs { 0, 1, #head - 1, #head, #head + 1, #head + 20, #text // 2, #text - 1 }
      do
         write(path, text:sub(1, size))
         assert.equal("profio 0.1.0\n", version(), size)
      end
      disk.remove(chunks)
      assert.equal("profio 0.1.0\n", version())
   end)

   it("leaves files of other origin when it uninstalls", function()
      if not exists(build .. "/profio/core.so") then
         return pending "this build has no module to install"
      end
      local own = sources .. "formats/mine.lua"
      write(own, "return {}\n")
      make(("uninstall PREFIX='%s'"):format(shared))
      assert.equal(own .. "\n", files_in(shared))
      disk.remove(shared)
   end)

   it("takes a relative DESTDIR", function()
      local staged = folder:sub(#root + 2) .. "/staged"
      if folder:sub(1, #root) ~= root then
         return pending "the build is not below this folder"
      end
      check(("DESTDIR='%s' PREFIX=/opt/profio"):format(staged),
         root .. "/" .. staged .. "/opt/profio/bin/profio",
         root .. "/" .. staged .. "/opt/profio/share/lua/5.4", "/opt/profio/share/lua/5.4")
   end)

   it("takes a relative PREFIX, and one with blanks that begins with ~", function()
      check(("HOME='%s/my own' PREFIX='~/.local'"):format(folder),
         folder .. "/my own/.local/bin/profio", folder .. "/my own/.local/share/lua/5.4")
      if folder:sub(1, #root) == root then
         check(("PREFIX='%s/near'"):format(folder:sub(#root + 2)), folder .. "/near/bin/profio",
            folder .. "/near/share/lua/5.4")
      end
   end)
end)

describe("luarocks", function()
   local tree = folder .. "/a tree"
   local made -- with these words

   teardown(function()
      disk.remove(folder)
   end)

   -- A line of shell with a home of its own; the servers of luarocks are not asked.
   local function luarocks(words)
      return run(("env -u LUA_PATH -u LUA_CPATH B='%s' HOME='%s/home' luarocks "
         .. "--lua-version 5.4 %s"):format(build, folder, words))
   end

   -- Makes the rock, unless this is a build of another kind or luarocks is missing.
   local function is_made(words)
      if made == words then
         return true
      end
      local _, status = run "command -v luarocks"
      if status ~= 0 or not exists(build .. "/profio/core.so") then
         return pending "there is no luarocks, or no module to install"
      end
      disk.fresh(folder)
      disk.folder(folder .. "/home")
      local said
      said, status = luarocks(("make %s --tree '%s'"):format(words, tree))
      assert.equal(0, status, said)
      assert.is_nil(said:find("argparse", 1, true))
      made = words
      return true
   end

   it("installs into a tree of its own, whose command finds its modules and pages", function()
      for _, words in ipairs { "--deps-mode none", "" } do
         if not is_made(words) then
            return
         end
         local form = "cd / && env -u PROFIO_BUILD LUA_PATH=';;' LUA_CPATH=';;' '%s/bin/profio' %s"
         assert.same({ "profio 0.1.0\n", 0 }, { run(form:format(tree, "--version")) })
         assert.matches("^Installing", (run(form:format(tree, "help install"))))
      end
   end)

   it("tells scripts where the module is", function()
      if is_made "" then
         local line = luarocks(("path --tree '%s' > '%s/paths'; "):format(tree, folder)
            .. ("cd / && . '%s/paths' && lua5.4 -e 'print(require(\"profio\").version)'")
            :format(folder))
         assert.equal("0.1.0\n", line)
      end
   end)

   it("shows the license, the pages of help and the man pages", function()
      if is_made "" then
         local said, status = luarocks(("doc --tree '%s' --list profio"):format(tree))
         assert.equal(0, status, said)
         for _, name in ipairs { "LICENSE", "README.md", "install.md", "formats/format-br.md",
            "man/man1/profio.1", "man/man3/profio.3lua" } do
            assert.is_truthy(said:find("\t" .. name .. "\n", 1, true), said)
         end
      end
   end)

   it("says where the project is, and runs its specs", function()
      if is_made "" then
         local said = luarocks(("show --tree '%s' profio"):format(tree))
         for _, pattern in ipairs { "Homepage:%s+https://", "Issues:%s+https://",
            "Labels:%s+profiler", "License:%s+MIT" } do
            assert.matches(pattern, said)
         end
      end
      local rock = {}
      assert(loadfile(root .. "/profio-scm-1.rockspec", "t", rock))()
      local target = rock.test.command:match "^make ([%w-]+)$"
      assert.matches("specs%.lua check", (make("-n " .. target)))
   end)

   it("names argparse as a dependency of a release", function()
      make "rockspec VERSION=1.2.3 URL=https://example.org/profio.tar.gz"
      local rock, path = {}, build .. "/profio-1.2.3-1.rockspec"
      assert(loadfile(path, "t", rock))()
      os.remove(path)
      assert.same({ "lua ~> 5.4", "argparse >= 0.7" }, rock.dependencies)
      assert.equal("1.2.3-1", rock.version)
   end)
end)

describe("setting up", function()
   it("names missing programs and how to install them", function()
      local said, status = run "CC=false LUA=false spec/support/setup.sh --only-check build"
      assert.equal(1, status)
      assert.matches("libiberty%-dev", said)
      assert.matches("as root: apt%-get update && apt%-get install [^\n]*liblua5%.4%-dev", said)
   end)

   it("says that it needs integers of 128 bits", function()
      local old = "gcc -D__int128=none -D_BitInt(n)=none"
      local said, status = run(("CC='%s' spec/support/setup.sh --only-check build"):format(old))
      assert.equal(1, status)
      assert.equal(old .. " has no integers of 128 bits: for 32 bits, take clang or gcc 14\n",
         said)
   end)

   it("names the compiler where there is none", function()
      local tools = folder .. "/bare"
      run(("mkdir -p '%s' && for name in cat sort tr; do ln -s $(command -v $name) '%s'; done")
         :format(tools, tools))
      for cc, package in pairs { cc = "gcc", ["clang-99 -m64"] = "clang%-99" } do
         local said, status = run(("PATH='%s' CC='%s' /bin/sh spec/support/setup.sh --only-check "
            .. "build"):format(tools, cc))
         assert.equal(1, status, said)
         assert.matches("what Debian 12 calls:\n[^\n]*%f[%w]" .. package .. " ", said)
      end
      disk.remove(folder)
   end)

   it("names the line for root when sudo refuses", function()
      local tools = folder .. "/tools"
      run(("mkdir -p '%s' && cd '%s' && printf '#!/bin/sh\nexit 1\n' > sudo && chmod +x sudo && "
         .. "cp sudo apt-get && printf '#!/bin/sh\necho 1000\n' > id && chmod +x id"):format(tools,
         tools))
      local said, status = run(("PATH='%s':$PATH CC=false spec/support/setup.sh build"):format(
         tools))
      disk.remove(folder)
      assert.equal(1, status)
      assert.matches("^installing with apt%-get: [^\n]*libiberty%-dev", said)
      assert.matches("sudo refused", said)
      assert.matches("as root: apt%-get update && apt%-get install [^\n]*libiberty%-dev", said)
   end)

   it("stops plain make before it compiles", function()
      local said, status = run(("make B='%s/none' CC=false all"):format(folder))
      disk.remove(folder)
      assert.is_true(status ~= 0)
      assert.matches("apt%-get install", said)
      assert.is_nil(said:find("  cc  ", 1, true))
   end)
end)

describe("the module of stores", function()
   it("is left out, and all else built, where its headers are missing", function()
      if not exists(build .. "/profio/core.so") then
         return pending "this build has no module"
      end
      local without = [[CC="gcc -nostdinc" ]]
      local said, status = make(without .. "all")
      assert.equal(0, status, said)
      assert.matches("without stores of runs, which need libsqlite3%-dev", said)
      local steps = run(("make -n B='%s' %s install-module"):format(build, without))
      assert.matches("core%.so", steps)
      assert.is_nil(steps:find("store.so", 1, true))
      assert.matches("store%.so", (run(("make -n B='%s' install-module"):format(build))))
   end)
end)

describe("make archive", function()
   it("has what is generated, so that nobody who unpacks it needs to generate it", function()
      local _, status = run "git rev-parse HEAD"
      if not exists(build .. "/profio/core.so") or status ~= 0 then
         return pending "this build has no module, or is no checkout"
      end
      local said
      said, status = make "archive VERSION=0.0.0"
      assert.equal(0, status, said)
      local path = build .. "/profio-0.0.0.tar.gz"
      local files = run(("tar tzf '%s'"):format(path))
      os.remove(path)
      for _, name in ipairs { "Makefile", "build/share/man/man1/profio.1",
         "build/share/man/man3/profio.3lua", "build/share/lua/profio/meta/profio.lua",
         "build/share/zsh/site-functions/_profio" } do
         assert.is_truthy(files:find("\nprofio-0.0.0/" .. name .. "\n", 1, true), files)
      end
   end)
end)

describe("make demo", function()
   it("takes a trace whose name has blanks", function()
      command.file("a trace.out", command.trace())
      local said, status = make(("run-demo TRACE='%s/a trace.out'"):format(command.folder))
      os.remove(command.folder .. "/a trace.out")
      assert.equal(0, status, said)
      assert.matches("Flat profile", said)
   end)
end)
