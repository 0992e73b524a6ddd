-- Recovery of files that are written through a ring: the records that a killed writer left in
-- PATH.ring, or that a living one has not written out yet, belong to PATH.

local bytes = require "profio.internal.bytes"
local core = require "profio.core"
local lfs = require "lfs"
local outputs = require "profio.internal.outputs"
local registry = require "profio.internal.registry"

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

-- {====== Before a new writer ======

-- Returns the files that a killed writer wrote beside its own. If the ring cannot be read: all
-- files that the format may write.
local function files_beside(path, format, lengths)
   local everything = { packets = true, timeline_binary = true, settings = true }
   local paths = {}
   for _, side in ipairs(format.side_outputs and format.side_outputs(path, everything) or {}) do
      local number = 1
      local file = side.path
      while (not lengths or lengths[side.role]) and is_file(file) do
         paths[#paths + 1] = file
         number = number + 1
         file = side.numbered and ("%s.%06d"):format(path, number) or ""
      end
   end
   return paths
end

-- Gives each file a second name, in order; if one fails, removes the new names again.
local function link_all(paths, name_of)
   for i, path in ipairs(paths) do
      local name = name_of(path)
      local done, message = lfs.link(path, name)
      if not done and outputs.identity(name) ~= outputs.identity(path) then
         for k = 1, i - 1 do
            os.remove(name_of(paths[k]))
         end
         return nil, ("%s: cannot be kept as %s: %s"):format(path, name, message), "io"
      end
   end
   return true
end

-- Moves the files of a recording to free names: out.txt, out.txt.BIN and out.txt.ring become
-- out-1.txt, ... First all get their new names, the main file last, then they lose the old ones. If
-- this is interrupted by a kill, a later call continues. The ring also keeps its old name until it
-- is replaced.
local function keep(path, others, syncs)
   local ring = path .. ".ring"
   local base, ending = path:match "^(.-)(%.?[^./]*)$"
   local paths = { ring, table.unpack(others) }
   paths[#paths + 1] = path
   local number = 0
   local function name_of(old)
      return ("%s-%d%s"):format(base, number, old:sub(#base + 1))
   end
   repeat
      number = number + 1
      local name = name_of(path)
      local is_free = not lfs.attributes(name) and not lfs.attributes(name .. ".ring")
   until is_free or outputs.identity(name .. ".ring") == outputs.identity(ring)
   local done, message, code = link_all(paths, name_of)
   if done and syncs then
      done, message, code = core.sync_folder(path)
   end
   if not done then
      return nil, message, code
   end
   for i = 2, #paths do
      os.remove(paths[i])
   end
   return base .. "-" .. number .. ending
end

---Deals with what a killed writer has left at a path whose ring is locked by the caller.
---@param path string
---@param plan table unfinished: what to do; fsync; `appends` is set if writing continues the file
---@return string|nil kept the new path of the recording
---@return string|nil message
---@return string|nil code
function recovery.settle(path, plan)
   local found = core.recover(plan.ring_path)
   local is_finished = found and (found.is_closed or found.written + found.records == 0)
   if is_finished or not is_file(path) or plan.unfinished == "replace" then
      return nil
   elseif plan.unfinished == "append" and found and found.format == plan.format.name then
      plan.appends = true
      return nil
   elseif plan.unfinished == "append" then
      return nil, ("%s: a killed writer has left a recording there that cannot be appended to: it "
         .. "is %s"):format(path, found and found.format or "damaged"), "io"
   elseif plan.unfinished == "refuse" then
      return nil, ("%s: a killed writer has left a recording there, which profio.open reads: "
         .. "option unfinished is refuse"):format(path), "io"
   end
   local format = found and registry.named(found.format) or plan.format
   return keep(path, files_beside(path, format, found and found.lengths), plan.fsync)
end

-- }======

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
