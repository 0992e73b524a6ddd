-- Files that are written through a ring: what a killed writer left in PATH.ring belongs to PATH,
-- and so does what a living one has not written out yet.

local bytes = require "profio.bytes"
local core = require "profio.core"
local lfs = require "lfs"
local registry = require "profio.registry"

local recovery = {}

local function note(state, code, kind, path, form, ...)
   state.notes[#state.notes + 1] = { code = code, kind = kind,
      message = path .. ": " .. form:format(...) }
end

-- What is said about a ring: how much came from it, and what is lost.
local function report(state, path, found)
   if found.is_alive then
      note(state, "ring-alive", "note", path, "is being written: %d records are in the file, %d "
         .. "in the ring, and more may come", found.written, found.records)
   else
      note(state, "ring-recovered", "note", path, "its writer has not closed it: %d records in "
         .. "the first %d bytes of the file, %d more from the ring", found.written, found.length,
         found.records)
   end
   if found.lost > 0 then
      note(state, "ring-lost", "damage", path, "%d records are lost: the ring was to %s when it "
         .. "is full", found.lost, found.full)
   end
   if found.damage then
      note(state, "ring-damaged", "damage", path, "%s: the records before that are kept",
         found.damage)
   end
   state.lost = (state.lost or 0) + found.lost
end

-- The file as far as its writer says it is complete, and behind it the records of the ring, which
-- are a file of their own.
local function parts_of(state, path, ring)
   local found, message = core.recover(ring)
   if not found then
      note(state, "ring-damaged", "damage", path, "%s", message)
      return { { path = path } }
   elseif found.is_closed then
      return { { path = path } }
   end
   state.format = state.format or registry.named(found.format)
   report(state, path, found)
   local parts = {}
   if found.length > 0 or not found.data then
      parts[1] = { path = path, length = found.length, row = found.row }
   end
   if found.data then
      local sides = next(found.sides) and found.sides or nil
      parts[#parts + 1] = { path = ring, data = found.data, sides = sides, beside = path }
   end
   return parts
end

---The inputs of a list, with those of rings that stand beside them.
---@param list profio.Input[]
---@param state table of the opening: format, notes and lost may be set
---@param trusts_paths boolean|nil a ring may be a link that leads out of the folder of its file
---@return profio.Input[]
function recovery.expand(list, state, trusts_paths)
   local all = {}
   for _, input in ipairs(list) do
      local ring = not input.data and input.path ~= "-" and input.path .. ".ring"
      local real, message, code
      if ring and lfs.attributes(input.path, "mode") == "file" then
         real, message, code = bytes.beside(ring, input.path, trusts_paths)
      end
      if code == "limit" then
         state.notes[#state.notes + 1] = { code = "ring-damaged", kind = "note", message = message }
      end
      if real then
         local parts = parts_of(state, input.path, ring)
         table.move(parts, 1, #parts, #all + 1, all)
      else
         all[#all + 1] = input
      end
   end
   return all
end

return recovery
