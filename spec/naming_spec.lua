-- Names of functions of running programs: they are those of definitions in the text.

local command = require "spec.support.command"
local definitions = require "profio.internal.naming.definitions"
local lfs = require "lfs"
local naming = require "profio.internal.naming"
local positions = require "profio.internal.naming.positions"
local stored = require "spec.support.stored"

-- Returns the name of a function; `settings` as of naming.namer.
local function name_of(f, settings)
   local namer = naming.namer(settings or { known = {} })
   local name, has_alike = namer(f)
   return has_alike and (namer(f, true)) or name
end

-- Writes a file, loads it, and returns what it returns.
local function loaded(text, name)
   return assert(loadfile(command.file(name or "named.lua", text)))()
end

local function names_of(functions, settings)
   local list = {}
   for i, f in ipairs(functions) do
      list[i] = name_of(f, settings)
   end
   return list
end

describe("definitions of functions", function()
   it("are those that the compiler lists, with the same lines and parameters", function()
      local compiler = command.run("command -v luac5.4 luac"):match "[^\n]+"
      if not compiler then
         pending "needs luac"
         return
      end
      local compared = 0
      local paths = command.run(("cd '%s' && find $PWD/lua $PWD/spec -name '*.lua'"):format(
         command.root))
      for path in paths:gmatch "[^\n]+" do
         local wanted, found = {}, {}
         local listing = command.run(("'%s' -l -p '%s'"):format(compiler, path))
         for first, last, rest in listing:gmatch
            "function <[^>\n]*:(%d+),(%d+)>[^\n]*\n([^\n]*)" do
            wanted[#wanted + 1] = ("%s-%s %s"):format(first, last, rest:match "^(%d+%+?) param")
         end
         for _, line in pairs(definitions.by_line(command.read(path))) do
            for _, one in ipairs(line) do
               found[#found + 1] = ("%d-%d %d%s"):format(one.first, one.last, one.parameters,
                  one.is_vararg and "+" or "")
            end
         end
         table.sort(wanted)
         table.sort(found)
         assert.same(wanted, found, path)
         compared = compared + #found
      end
      assert.is_true(compared > 3000)
   end)

   it("survive every text", function()
      local text = [==[local a <const>, b = function(x, ...) -- [[ function
         end, { f = function() return "\z
            end", [[ end ]] end } function a.b:c() if x then repeat until y end end]==]
      for size = 0, #text do
         definitions.by_line(text:sub(1, size))
         definitions.by_line(text:sub(size))
      end
   end)
end)

describe("the name of a Lua function", function()
   it("is the one that its text gives it", function()
      local functions = loaded [==[
local A, t = { b = {} }, {}
function A:method() end
A.field = function() return 1 end
function A.b.deep(a, b) end
local function named() end
local set <const> = function(...) end
local first, second = function(a) end, function(b, c) end
local made = { key = function() end, ["key-2"] = function() end, { inner = function() end } }
t[1] = function(a, b, c) end
A.b.dotted = -- function() end
   function(self) return "function x() end" end
return { A.method, A.field, A.b.deep, named, set, first, second, made.key, made["key-2"],
   made[1].inner, t[1], A.b.dotted, (function() end) }
]==]
      assert.same({ "A.method", "A.field", "A.b.deep", "named", "set", "first",
         "function at named.lua:7", "key or key-2 or inner", "key or key-2 or inner",
         "key or key-2 or inner", "function at named.lua:9", "function at named.lua:11",
         "function at named.lua:13" }, names_of(functions))
   end)

   it("has file and line if the text has it several times", function()
      assert.same({ "update at named.lua:1", "update at named.lua:2", "draw" }, names_of(loaded [[
local a = { update = function() end }
local b = { update = function() end,
   draw = function() end }
return { a.update, b.update, b.draw }
]]))
   end)

   it("tells functions on one line apart by their code", function()
      assert.same({ "function at named.lua:1#2", "function at named.lua:1#1", "two",
         "function at named.lua:1#3", "one" }, names_of(loaded([[
local a, b, c = (function() return 1 end), (function() return 2 end), (function() return 3 end)
local function one() return c end local function two() return a, c end
return { b, a, two, c, one }
]])))
      assert.same({ "a or b", "a or b" }, names_of(loaded
         "local function a() end local function b() end return { a, b }"))
   end)

   it("is its place if the text is missing or is another one", function()
      local functions = loaded "local function f() end\nlocal function g() end return { f, g }"
      command.file("named.lua", "local function f(x) end\n\nlocal function g() end return { f, g }")
      assert.same({ "function at named.lua:1", "function at named.lua:2" }, names_of(functions))
      os.remove(command.folder .. "/named.lua")
      assert.same({ "function at named.lua:1", "function at named.lua:2" }, names_of(functions))
      assert.equal("function at of no file:1", name_of(load("return function() end",
         "=of no file")()))
   end)

   it("is that of a file which was written later, if that has its code", function()
      local text = "local function f(x) return x + 1 end\nlocal function g(x) return x + 2 end\n"
         .. "return { f, g }"
      local functions = loaded(text)
      command.file("named.lua", (text:gsub("2", "3")))
      local namer = stored.at(0, naming.namer, { known = {} })
      assert.same({ "f", "function at named.lua:2" },
         { (namer(functions[1])), (namer(functions[2])) })
      command.file("named.lua", text:gsub("end", ""))
      assert.equal("function at named.lua:1",
         (stored.at(0, naming.namer, { known = {} })(functions[1])))
   end)

   it("is that of a file which is found from the folder where the program began", function()
      local before = lfs.currentdir()
      lfs.chdir(command.folder)
      local f = loaded("return { f = function() end }", "begun.lua").f
      local g = assert(loadfile "begun.lua")().f
      lfs.chdir(before)
      assert.equal("function at begun.lua:1", name_of(g))
      assert.equal("f", name_of(f))
      assert.equal("f", name_of(g, { known = {}, folder = command.folder }))
   end)

   it("is read from the text of a chunk that is a text", function()
      local f, g = load("local function f() return f end return f, function() end")()
      assert.equal("f", name_of(f))
      assert.equal('function at [string "local function f() return f end return f, fun..."]:1',
         name_of(g))
   end)

   it("is that of its file if it is a chunk", function()
      assert.equal("named.lua", name_of(assert(loadfile(command.file("named.lua", "")))))
      assert.equal('[string "return 1"]', name_of(load "return 1"))
   end)

   it("is another one in each file where only names tell functions apart", function()
      local settings = { known = {}, is_distinct = true }
      local namer = naming.namer(settings)
      local a = loaded("return function() end", "a.lua")
      local b = loaded("local function f() end return f", "b.lua")
      local c = loaded("local function f() end return f", "c.lua")
      assert.same({ "function at a.lua:1", "f", "f at c.lua:1", "f", "f at c.lua:1" },
         { (namer(a)), (namer(b)), (namer(c)), (namer(b)), (namer(c)) })
   end)
end)

describe("the name of a C function", function()
   it("is the one that Lua's libraries have, whatever others call it", function()
      package.loaded["a.alias"] = { load = load, remove = table.remove }
      assert.same({ "load", "table.remove", "print", "file:read", "string.gmatch iterator" },
         names_of { load, table.remove, print, io.stdout.read, ("").gmatch("", "") })
      package.loaded["a.alias"] = nil
   end)

   it("is that of the module whose shared object contains it", function()
      package.loaded["a.files"] = { attributes = lfs.attributes }
      assert.equal("lfs.attributes", name_of(lfs.attributes))
      package.loaded["a.files"] = nil
   end)

   it("is its place in its shared object if no module has it", function()
      local core = require "profio.core"
      local name = name_of(core.coroutines(print).wrap(print))
      assert.matches("^function at [%w.]+%+0x%x+$", name)
   end)
end)

describe("names that are positions", function()
   local function renaming(old, new)
      local function set(list)
         local names = {}
         for _, name in ipairs(list) do
            names[name] = true
         end
         return names
      end
      return positions.renaming(set(old), set(new))
   end

   it("correspond in the order of the file", function()
      assert.same({ ["function at a.lua:3#2"] = "function at a.lua:4#2",
         ["function at a.lua:9"] = "function at a.lua:20",
         ["function at a.lua:3#1"] = "function at a.lua:4#1",
         ["f at a.lua:30"] = "f at a.lua:31" },
         renaming({ "function at a.lua:9", "function at a.lua:3#2", "f at a.lua:30",
            "function at a.lua:3#1", "f" }, { "function at a.lua:20", "function at a.lua:4#2",
            "function at a.lua:4#1", "f at a.lua:31", "f" }))
   end)

   it("correspond by their lines if one is new", function()
      assert.same({}, renaming({ "function at a.lua:3", "function at a.lua:8" },
         { "function at a.lua:3", "function at a.lua:5", "function at a.lua:8" }))
      assert.same({ ["function at a.lua:3"] = "function at a.lua:4",
         ["function at a.lua:8"] = "function at a.lua:9" },
         renaming({ "function at a.lua:3", "function at a.lua:8" },
            { "function at a.lua:2", "function at a.lua:4", "function at a.lua:9" }))
   end)

   it("are those of one file only", function()
      assert.same({}, renaming({ "function at a.lua:3" }, { "function at b.lua:4",
         "f at a.lua:4" }))
   end)
end)
