-- Files that belong together replace older ones: after a kill or a failure at each of the last
-- system calls there are the old ones, the new ones, or no main file and a message that says where
-- the old one lies. Never one file of each.
--
-- Long: runs many commands.
-- Unsanitized: LeakSanitizer does not run in a process that is traced.

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local lfs = require "lfs"
local profio = require "profio"
local rounds = require "spec.support.rounds"
local traced = require "spec.support.traced"

local folder = command.folder .. "/sets"

-- The files, the main one first, what profio.create and trace:save get, and a row without `text`.
local cases = {
   { name = "table and memo of xpp", files = { "a.prf", "a.prv" },
      given = { format = "xpp", form = "foxdbe" }, options = "form = 'foxdbe'",
      row = { thread = 1, time = 1000000, op = "i", call = "A" }, text = "params" },
   { name = "packets of xpp", files = { "a.prf", "a.prf.000002", "a.prf.000001", "a.prv" },
      given = { format = "xpp", form = "foxdbe", packets = true, flush_every = 1 },
      options = "form = 'foxdbe', packets = true, flush_every = 1",
      row = { thread = 1, time = 1000000, op = "i", call = "A" }, text = "params" },
   { name = "table and memo of dBASE", files = { "a.dbf", "a.fpt" },
      given = { format = "dbf", fields = "ID C(4), NOTE M" }, options = "",
      row = { ID = "r" }, text = "NOTE" },
   { name = "Text1 and .BIN", files = { "a.txt", "a.txt.BIN" },
      given = { format = "winidea", dialect = "text1", timeline_binary = true },
      options = "dialect = 'text1', timeline_binary = true",
      row = { time = 1, event = "enter" }, text = "area" },
}

-- Writes the files of a case, with a text in each; returns their bytes.
local function write(case, text)
   local writer = assert(profio.create(folder .. "/" .. case.files[1], case.given))
   for i = 1, 2 do
      local row = { [case.text] = text .. i }
      for key, value in pairs(case.row) do
         row[key] = key == "time" and value * i or value
      end
      assert(writer:write(row))
   end
   assert(writer:close())
   local bytes = {}
   for i, name in ipairs(case.files) do
      bytes[i] = command.read(folder .. "/" .. name)
   end
   return bytes
end

local function clean()
   disk.fresh(folder)
end

-- Puts files there, as they were.
local function restore(case, bytes)
   clean()
   for i, name in ipairs(case.files) do
      command.file("sets/" .. name, bytes[i])
   end
end

-- Returns what is there: "old", "new", "none" without the main file, or what is wrong.
local function found(case, old, new)
   local main = folder .. "/" .. case.files[1]
   if not lfs.attributes(main) then
      local trace, message = profio.open(main)
      assert.is_nil(trace)
      local former = message:match "was interrupted; the former file is (.*)$"
      assert.equal(old[1], command.read(former or main .. ": " .. message))
      return "none"
   end
   local bytes = {}
   for i, name in ipairs(case.files) do
      local path = folder .. "/" .. name
      bytes[i] = lfs.attributes(path) and command.read(path) or ""
   end
   for name, whole in pairs { old = old, new = new } do
      if table.concat(whole, "|") == table.concat(bytes, "|") then
         return name
      end
   end
   return "a mixture"
end

describe("files that belong together", function()
   after_each(function()
      disk.remove(folder)
   end)

   for _, case in ipairs(cases) do
      local function save(fault, number)
         command.file("save.lua", ([[
            local profio = require "profio"
            local trace <close> = assert(profio.open("%s/../kept/%s"))
            local done, message = trace:save("%s/%s", { %s })
            if not done then io.stderr:write(message) os.exit(1, true) end]]):format(folder,
            case.files[1], folder, case.files[1], case.options))
         return command.run(("%s %s lua5.4 save.lua"):format(command.in_tree,
            traced.words(folder, fault, number)))
      end

      it("are never of different writers: " .. case.name, function()
         if traced.missing() then
            return pending(traced.missing())
         end
         clean()
         local new = write(case, "new")
         local kept = folder .. "/../kept"
         os.execute(("rm -rf '%s' && mv '%s' '%s'"):format(kept, folder, kept))
         clean()
         local old = write(case, "old")
         assert.is_true(table.concat(old) ~= table.concat(new))
         save("NONE", 0)
         local calls = traced.calls()
         assert.equal("new", found(case, old, new))
         local seen = {}
         -- Each file is moved away, named and removed in them.
         for number = calls - (rounds.all and 40 or 6 * #case.files + 4), calls do
            for _, fault in ipairs((rounds.all or number % 3 == 0) and { "SIGKILL", "EIO" }
               or { "SIGKILL" }) do
               restore(case, old)
               local _, status, errors = save(fault, number)
               local _, name = traced.calls()
               local is = found(case, old, new)
               seen[is] = true
               local what = ("%s of call %d, %s: %s"):format(fault, number, name, errors)
               assert.is_true(is == "old" or is == "new" or fault == "SIGKILL" and is == "none",
                  what .. ": " .. is)
               if fault == "EIO" and status ~= 0 and name ~= "unlink" then
                  assert.equal("old", is, what)
               end
            end
         end
         assert.same({ old = true, new = true, none = true }, seen)
         disk.remove(kept)
      end)
   end
end)
