-- Recovery of files that are written through a ring: the records that a killed writer left in
-- PATH.ring, or that a living one has not written out yet, belong to PATH.

local later = require "profio.internal.later"
local bytes = require "profio.internal.opening.bytes"
local core = require "profio.core"
local lfs = later "lfs"
local registry = require "profio.internal.opening.registry"

local recovery = {}

local function note(state, code, kind, path, form, ...)
   state.notes[#state.notes + 1] = { code = code, kind = kind,
      message = path .. ": " .. form:format(...) }
end

-- Adds notes about a ring: how many records came from it, and what is lost.
local function report(state, path, found)
   if found.is_alive then
      note(state, "ring-alive", "note", path, "is being written: %d records are in the file, %d "
         .. "in the ring, and more may come", found.written, found.records)
   else
      note(state, "ring-recovered", "note", path, "its writer has not closed it: %d records in "
         .. "the first %d bytes of the file, %d more from the ring", found.written, found.length,
         found.records)
   end
   if found.is_restarted and found.is_synced then
      note(state, "ring-restarted", "damage", path, "the system has been started since: records "
         .. "that were not on the disk are lost")
   elseif found.is_restarted then
      note(state, "ring-restarted", "note", path, "the system has been started since: where it "
         .. "was not shut down in order, records may be missing or broken")
   end
   if found.lost > 0 then
      note(state, "ring-lost", "damage", path, "%d records are lost: the ring was to %s when it "
         .. "is full", found.lost, found.full)
   end
   if found.damage then
      note(state, "ring-damaged", "damage", path, "%s: the records before that are kept",
         found.damage)
   end
   if lfs.attributes(path, "size") < found.length then
      note(state, "ring-damaged", "damage", path, "%d bytes expected, found %d: records are lost",
         found.length, lfs.attributes(path, "size"))
   end
   state.lost = (state.lost or 0) + found.lost
end

local function is_file(path)
   return lfs.attributes(path, "mode") == "file"
end

-- Returns the file, up to the length that its writer states as complete, and the records of the
-- ring as a second input. nil: the ring states nothing about the file, or the writer has removed
-- it.
local function parts_of(state, path, ring, trusts_paths)
   local found, message = core.recover(ring, bytes.folders_of(path, trusts_paths))
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
      parts[#parts + 1] = { path = ring, data = found.data, side_files = found.side_files,
         lengths = none, beside = path, goes_on = written > 0 and found.full ~= "overwrite" }
   end
   return parts
end

-- Returns whether the ring of a path exists and may be read. Keys of `rings` are the paths for
-- which there is something with the name of the ring.
local function has_ring(state, path, rings, trusts_paths)
   local ring = path .. ".ring"
   local real, message, code
   if rings[path] and is_file(path) then
      real, message, code = core.named_file(ring, bytes.folders_of(path, trusts_paths))
   end
   if code == "limit" then
      state.notes[#state.notes + 1] = { code = "ring-damaged", kind = "note", message = message }
   end
   return real ~= nil
end

-- Returns the path that has a ring: the file itself, or the main file to which it belongs by one of
-- `functions`.
local function main_of(state, path, functions, rings, trusts_paths)
   if has_ring(state, path, rings, trusts_paths) then
      return path
   end
   for _, of in ipairs(functions) do
      local main = of(path)
      if main and main ~= path and is_file(path)
         and has_ring(state, main, core.existing({ main }, ".ring"), trusts_paths)
      then
         return main
      end
   end
   return nil
end

---Returns the inputs of a list, with the rings beside them as further inputs.
---@param list profio.Input[]
---@param state table of the opening: format, notes and lost may be set
---@param trusts_paths boolean|nil a ring may be a link that leads out of the folder of its file
---@return profio.Input[]
function recovery.expand(list, state, trusts_paths)
   local all, done, functions, paths = {}, {}, registry.all_main_of(), {}
   for _, input in ipairs(list) do
      paths[#paths + 1] = not input.data and input.path ~= "-" and input.path or nil
   end
   local rings = core.existing(paths, ".ring")
   for _, input in ipairs(list) do
      local path = not input.data and input.path ~= "-"
         and main_of(state, input.path, functions, rings, trusts_paths)
      local is_read = path and done[path] and done[path] ~= input.path -- under another name
      local parts = path and not is_read and parts_of(state, path, path .. ".ring",
         trusts_paths)
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
