-- Recovery of files that are written through a ring: the records that a killed writer left in
-- PATH.ring, or that a living one has not written out yet, belong to PATH.

local later = require "profio.internal.later"
local bytes = require "profio.internal.opening.bytes"
local core = require "profio.core"
local registry = require "profio.internal.opening.registry"
local ring_parts = later "profio.internal.opening.ring_parts"

local recovery = {}

-- Returns whether the ring of a path exists and may be read. Keys of `rings` are the paths for
-- which there is something with the name of the ring.
local function has_ring(state, path, rings, trusts_paths)
   if not rings[path] or core.kind(path) ~= "file" then
      return false
   end
   local real, message, code = core.named_file(path .. ".ring",
      bytes.folders_of(path, trusts_paths))
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
      if main and main ~= path and core.kind(path) == "file"
         and has_ring(state, main, core.existing({ main }, ".ring"), trusts_paths)
      then
         return main
      end
   end
   return nil
end

---Returns the inputs of a list, with the rings beside them as further inputs.
---@param list profio.Input[]
---@param state table of the opening: format, notes and lost may be set; `are_files` is set if no
---path of the list leads to a pipe or a device, and `has_no_rings` if there is no ring beside one
---@param trusts_paths boolean|nil a ring may be a link that leads out of the folder of its file
---@return profio.Input[]
function recovery.expand(list, state, trusts_paths)
   local paths = {}
   for _, input in ipairs(list) do
      if input.is_plain then
         paths[#paths + 1] = input.path
      end
   end
   local may_have_rings, may_have_pipes = core.look_beside(paths, ".ring")
   state.are_files, state.has_no_rings = not may_have_pipes, not may_have_rings
   if not may_have_rings then
      return list
   end
   local all, done, functions = {}, {}, registry.all_main_of()
   local rings = core.existing(paths, ".ring")
   for _, input in ipairs(list) do
      local path = not input.data and input.path ~= "-"
         and main_of(state, input.path, functions, rings, trusts_paths)
      local is_read = path and done[path] and done[path] ~= input.path -- under another name
      local parts = path and not is_read and ring_parts.of(state, path, trusts_paths)
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
