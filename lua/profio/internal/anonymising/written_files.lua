-- The outputs of one anonymised trace: its main file, and those beside it. All of them get their
-- names when all are complete.

local core = require "profio.core"

local written_files = {}

local Outputs = {}
Outputs.__index = Outputs

---Opens the outputs.
---@param files { source: userdata, role: string|nil, out: string|nil }[] the main file first;
---without
---`out` its bytes are kept
---@return table|nil
---@return string|nil message
---@return string|nil code
function written_files.open(files)
   local self = setmetatable({ files = files, handles = {}, parts = {} }, Outputs)
   for i, file in ipairs(files) do
      local handle, message, code = io.stdout, nil, nil
      if file.out and file.out ~= "-" then
         handle, message, code = core.output(file.out)
      end
      if not handle then
         self:close()
         return nil, message, code
      end
      self.handles[i] = file.out and handle or false
      self.parts[i] = not file.out and {} or nil
   end
   return self
end

---Adds bytes to an output. A failure is returned by `finish`.
---@param i integer its index
---@param bytes string
function Outputs:put(i, bytes)
   if self.parts[i] then
      table.insert(self.parts[i], bytes)
   elseif not self.failed then
      local ok, message, code = self.handles[i]:write(bytes)
      self.failed = not ok and { message, code } or nil
   end
end

---Closes outputs that are not complete: they replace no files.
function Outputs:close()
   for _, handle in ipairs(self.handles) do
      if handle and handle ~= io.stdout then
         handle:close()
      end
   end
end

-- Returns the kept bytes, and those of the files beside the main one: by role, packets by path.
local function kept_bytes(self)
   local sides = {}
   for i = 2, #self.files do
      local file = self.files[i]
      sides[file.role == "packet" and file.source:path() or file.role] =
         table.concat(self.parts[i])
   end
   return table.concat(self.parts[1]), sides
end

---Completes the outputs, the main file last, so that what it refers to is there.
---@return boolean|string|nil true, or the bytes if there are no paths
---@return string|table<string, string>|nil message or the bytes beside them, by role
---@return string|nil code
function Outputs:finish()
   if self.parts[1] then
      return kept_bytes(self)
   end
   for i = #self.handles, 1, -1 do
      local handle = self.handles[i]
      if not self.failed then
         local ok, message, code = (handle == io.stdout and core.flush or core.commit)(handle)
         self.failed = not ok and { message, code } or nil
      end
   end
   if self.failed then
      self:close()
      return nil, self.failed[1], self.failed[2]
   end
   return true
end

return written_files
