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

local function is_file(path)
   return lfs.attributes(path, "mode") == "file"
end

-- The file as far as its writer says it is complete, and behind it the records of the ring, which
-- are a file of their own. Nil: the ring says nothing of the file, or the writer has removed it.
local function parts_of(state, path, ring)
   local found, message = core.recover(ring)
   if not found and is_file(ring) then
      note(state, "ring-damaged", "damage", path, "%s", message)
   end
   if not found or found.is_closed then
      return nil
   end
   state.format = state.format or registry.named(found.format)
   report(state, path, found)
   local parts, written, none = {}, found.length, {}
   for role, length in pairs(found.lengths) do
      written, none[role] = written + length, 0
   end
   if written > 0 or not found.data then
      parts[1] = { path = path, length = found.length, lengths = found.lengths }
   end
   if found.data then
      parts[#parts + 1] = { path = ring, data = found.data, sides = found.sides, lengths = none,
         beside = path }
   end
   return parts
end

-- Whether the ring of a path is there and may be read.
local function has_ring(state, path, trusts_paths)
   local real, message, code
   if is_file(path) then
      real, message, code = bytes.beside(path .. ".ring", path, trusts_paths)
   end
   if code == "limit" then
      state.notes[#state.notes + 1] = { code = "ring-damaged", kind = "note", message = message }
   end
   return real ~= nil
end

-- The path that has a ring: the file itself, or the main file that it belongs to.
local function main_of(state, path, trusts_paths)
   if has_ring(state, path, trusts_paths) then
      return path
   end
   for _, format in ipairs(registry.all()) do
      local main = format.main_of and format.main_of(path)
      if main and main ~= path and has_ring(state, main, trusts_paths) then
         return main
      end
   end
   return nil
end

---The inputs of a list, with those of rings that stand beside them.
---@param list profio.Input[]
---@param state table of the opening: format, notes and lost may be set
---@param trusts_paths boolean|nil a ring may be a link that leads out of the folder of its file
---@return profio.Input[]
function recovery.expand(list, state, trusts_paths)
   local all, done = {}, {}
   for _, input in ipairs(list) do
      local path = not input.data and input.path ~= "-" and is_file(input.path)
         and main_of(state, input.path, trusts_paths)
      local is_read = path and done[path] and done[path] ~= input.path -- under another name
      local parts = path and not is_read and parts_of(state, path, path .. ".ring")
      if parts then
         done[path] = input.path
         table.move(parts, 1, #parts, #all + 1, all)
      elseif not is_read then
         all[#all + 1] = input
      end
   end
   return all
end

return recovery
