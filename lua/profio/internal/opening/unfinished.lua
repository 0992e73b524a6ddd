-- Recordings that a killed writer has left at the path of a new one: they are kept under other
-- names, continued or replaced.

local core = require "profio.core"
local outputs = require "profio.internal.writing.outputs"
local registry = require "profio.internal.opening.registry"

local unfinished = {}

-- Returns the files that a killed writer wrote beside its own. If the ring cannot be read: all
-- files that the format may write.
local function files_beside(path, format, lengths)
   local everything = { packets = true, timeline_binary = true, settings = true }
   local paths = {}
   for _, side in ipairs(format.side_outputs and format.side_outputs(path, everything) or {}) do
      local number = 1
      local file = side.path
      while (not lengths or lengths[side.role]) and core.kind(file) == "file" do
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
      local done, message = core.link(path, name)
      if not done and outputs.identity(name) ~= outputs.identity(path) then
         for k = 1, i - 1 do
            core.remove(name_of(paths[k]))
         end
         return nil, ("cannot be kept as %s: %s"):format(name, message), "io"
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
   local base, ending = path:match "^(.-)(%.[^./]*)$"
   if not base then
      base, ending = path, ""
   end
   local paths = { ring, table.unpack(others) }
   paths[#paths + 1] = path
   local number = 0
   local function name_of(old)
      return ("%s-%d%s"):format(base, number, old:sub(#base + 1))
   end
   repeat
      number = number + 1
      local name = name_of(path)
      local is_free = not core.kind(name) and not core.kind(name .. ".ring")
   until is_free or outputs.identity(name .. ".ring") == outputs.identity(ring)
   local done, message, code = link_all(paths, name_of)
   if done and syncs then
      done, message, code = core.sync_folder(path)
   end
   if not done then
      return nil, message, code
   end
   for i = 2, #paths do
      core.remove(paths[i])
   end
   return base .. "-" .. number .. ending
end

---Deals with what a killed writer has left at a path whose ring is locked by the caller.
---@param path string
---@param plan table unfinished: what to do; fsync; `appends` is set if writing continues the file
---@return string|nil kept the new path of the recording
---@return string|nil message
---@return string|nil code
function unfinished.settle(path, plan)
   local found = core.recover(plan.ring_path)
   local is_finished = found and (found.is_closed or found.written + found.records == 0)
   if is_finished or core.kind(path) ~= "file" or plan.unfinished == "replace" then
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

return unfinished
