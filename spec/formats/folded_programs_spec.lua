-- Folded stacks that LuaJIT and Neovim record, by the commands of the page of help `lua`.
--
-- Extra: needs LuaJIT and Neovim.

local command = require "spec.support.command"
local profio = require "profio"

local program = [[
local function numbers(n)
   local list = {}
   for i = 1, n do
      list[i] = tostring(i)
   end
   return list
end
local function work()
   for _ = 1, 60 do
      table.sort(numbers(20000))
   end
end
work()
]]

-- it, or pending with the reason if a program is missing.
local function needs(what)
   if os.execute("command -v " .. what .. " >/dev/null 2>&1") then
      return it
   end
   return function(name)
      pending(name .. " (needs " .. what .. ")")
   end
end

-- Returns the commands of a section of the page, without those of profio.
local function commands_of(section)
   local page = command.read "lua/profio/help/lua.md"
   local block = page:match("\n## " .. section .. "\n.-\n```\n(.-)```\n")
   return (block:gsub("profio [^\n]*\n", ""))
end

-- Returns the total of each function and that of all, after the warnings were compared.
local function totals_of(path, ...)
   local trace <close> = assert(profio.open(path))
   assert.equal("folded", trace.format)
   local codes = {}
   for i, warning in ipairs(trace:check()) do
      codes[i] = warning.code
   end
   assert.same({ ... }, codes)
   local totals, profile = {}, trace:profile()
   assert.is_true(profile:metrics()[1].total > 0)
   for name, total in profile:flat():each("function", "total") do
      totals[name] = total
   end
   return totals, profile:metrics()[1].total
end

describe("folded stacks of LuaJIT", function()
   local it_records = needs "luajit"

   it_records("have the functions, as the page of help says", function()
      command.file("prog.lua", program)
      local _, status, errors = command.run(commands_of "LuaJIT")
      assert.equal(0, status, errors)
      local totals = totals_of(command.folder .. "/out.folded")
      assert.is_true(totals.work > 0)
      assert.is_true(totals.numbers <= totals.work)
   end)

   for letters, name in pairs { FG = "prog.lua:work", lG = "prog.lua:10", i1G = "work",
      GvF = "prog.lua:work", Gfv = "work", lGv = "prog.lua:10" } do
      it_records("have one sample each with the letters " .. letters, function()
         command.file("prog.lua", program)
         local _, status, errors = command.run("luajit -jp=" .. letters .. ",x.folded prog.lua")
         assert.equal(0, status, errors)
         local totals, all = totals_of(command.folder .. "/x.folded",
            letters:find "v" and "folded-states" or nil)
         assert.is_true(totals[name] > 0)
         assert.is_true(totals[name] <= all)
         assert.is_nil(totals["C code"])
      end)
   end
end)

describe("folded stacks of Neovim", function()
   needs "nvim"("have the functions, as the page of help says", function()
      command.file("prog.lua", program)
      local _, status, errors = command.run(commands_of "Neovim")
      assert.equal(0, status, errors)
      local totals = totals_of(command.folder .. "/nvim.folded")
      assert.is_true(totals.work > 0)
   end)
end)
