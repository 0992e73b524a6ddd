-- The records in the ring beside a file, as inputs, with notes about what is lost.

local bytes = require "profio.internal.opening.bytes"
local core = require "profio.core"
local registry = require "profio.internal.opening.registry"

local ring_parts = {}

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
   local size = core.file_state(path) or 0
   if size < found.length then
      note(state, "ring-damaged", "damage", path, "%d bytes expected, found %d: records are lost",
         found.length, size)
   end
   state.lost = (state.lost or 0) + found.lost
end

---Looks at the ring of a file.
---@param path string of the file
---@param trusts_paths boolean|nil
---@return boolean|nil is_alive a writer has it; nil: there is no ring, or the file is complete
---without it
---@return integer|nil position grows with each record
function ring_parts.state(path, trusts_paths)
   return core.ring_state(path .. ".ring", bytes.folders_of(path, trusts_paths))
end

---Returns the file, up to the length that its writer states as complete, and the records of the
---ring as a second input. nil: the ring states nothing about the file, or the writer has removed
---it.
---@param state table of the opening: format, notes and lost may be set
---@param path string of the file
---@param trusts_paths boolean|nil the ring may be a link that leads out of the folder
---@return profio.Input[]|nil
function ring_parts.of(state, path, trusts_paths)
   local ring = path .. ".ring"
   local found, message = core.recover(ring, bytes.folders_of(path, trusts_paths))
   if not found and core.kind(ring) == "file" then
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

return ring_parts
