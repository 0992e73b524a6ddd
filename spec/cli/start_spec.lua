-- Which modules a command loads: parsing them takes most of the time of a short one.
--
-- Tags: user.

local command = require "spec.support.command"

-- Prints the names of all Lua modules of profio when the command exits, each in a line that begins
-- with "module ".
local watcher = [[
local exit = os.exit
function os.exit(...)
   for name in pairs(package.loaded) do
      if name == "profio" or name:find "^profio%." and package.searchpath(name, package.path) then
         io.stderr:write("module ", name, "\n")
      end
   end
   exit(...)
end
]]

-- Runs a command; returns the modules that it loaded as a set, their number, its output and the
-- rest of its messages.
local function loaded_by(words)
   command.file("watcher.lua", watcher)
   local output, status, errors = command.run(
      ("lua5.4 -e 'dofile \"watcher.lua\"' %s %s"):format(command.analyze:match "%S+$", words))
   assert.equal(0, status, errors)
   local modules, count = {}, 0
   local rest = errors:gsub("module ([^\n]*)\n", function(name)
      modules[name], count = true, count + 1
      return ""
   end)
   return modules, count, output, rest
end

-- Returns the loaded modules whose names begin with one of some words, sorted.
local function those_of(modules, ...)
   local list = {}
   for name in pairs(modules) do
      for _, word in ipairs { ... } do
         if name:sub(1, #word) == word then
            list[#list + 1] = name
         end
      end
   end
   table.sort(list)
   return list
end

describe("the modules that a command loads", function()
   local trace = "gmon.out"

   it("are for --version only those that parse a command line", function()
      local modules, count, output = loaded_by "--version"
      assert.matches("^profio %d", output)
      assert.same({}, those_of(modules, "profio.internal.opening", "profio.internal.trace",
         "profio.formats", "profio.reports.", "profio.exports.", "profio.cli.verbs",
         "profio.internal.views"))
      assert.is_true(count <= 12, count .. " modules")
   end)

   it("are for a report its own, those of the format, and none of what else there is", function()
      local modules, count, output, notes = loaded_by("--report flat " .. trace)
      assert.matches("^Flat profile:", output)
      assert.matches("%-%-exe PATH names it", notes) -- also if a message is rewritten
      assert.same({ "profio.formats.gmon", "profio.formats.recognition" },
         those_of(modules, "profio.formats."))
      assert.same({ "profio.reports.gprof.flat", "profio.reports.gprof.headings" },
         those_of(modules, "profio.reports."))
      assert.same({}, those_of(modules, "profio.exports.", "profio.internal.store",
         "profio.internal.compare", "profio.internal.explain", "profio.internal.inference",
         "profio.internal.writing.writer", "profio.internal.writing.script", "profio.cli.verbs",
         "profio.cli.store", "profio.recorder", "profio.internal.views.view_methods",
         "profio.internal.calls"))
      assert.is_true(count <= 58, count .. " modules") -- 58 by the installed command
   end)

   it("are for an export its own", function()
      local modules = loaded_by("--export folded " .. trace)
      assert.same({ "profio.exports.compared", "profio.exports.context_tree",
         "profio.exports.depth_limit", "profio.exports.folded", "profio.exports.lanes" },
         those_of(modules, "profio.exports."))
      assert.same({}, those_of(modules, "profio.reports."))
   end)

   it("are for a verb its own", function()
      local modules = loaded_by("info " .. trace)
      assert.same({ "profio.cli.verbs", "profio.cli.verbs.info" },
         those_of(modules, "profio.cli.verbs"))
   end)

   it("are for require only what its functions need at once", function()
      local output, status = command.run(([[lua5.4 -e 'package.path = "%s/lua/?.lua;%s"
         package.cpath = "%s/?.so;" .. package.cpath
         require "profio" for name in pairs(package.loaded) do
            if name:find "^profio" then print(name) end end']]):format(command.root,
         command.root .. "/lua/?/init.lua;;", command.build))
      assert.equal(0, status)
      local names = {}
      for name in output:gmatch "[^\n]+" do
         names[#names + 1] = name
      end
      table.sort(names)
      assert.same({ "profio", "profio.core", "profio.internal.conditions",
         "profio.internal.interpreter", "profio.internal.later", "profio.internal.raise" }, names)
   end)
end)
