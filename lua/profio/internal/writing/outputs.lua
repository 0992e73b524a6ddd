-- Output files. All of them are written through core.output, which gives a file its name only when
-- it is complete. An output must not be an input of the same call.

local core = require "profio.core"

local outputs = {}

---Returns what is equal for all names of a regular file; nil for any other path.
---@param path string
---@return string|nil
function outputs.identity(path)
   return (select(3, core.file_state(path)))
end

local identity = outputs.identity

-- Returns the inputs by their identity. "-" is standard input.
local function by_identity(inputs)
   local known = {}
   for _, path in ipairs(inputs) do
      local id = identity(path == "-" and "/dev/stdin" or path)
      if id then
         known[id] = path
      end
   end
   return known
end

---Returns whether a path is written in place: standard output ("-"), a pipe, a terminal, a device,
---a socket, /dev/fd/N. There are no files beside it.
---@param path string
---@return boolean
function outputs.is_in_place(path)
   return path == "-" or (select(2, core.output_path(path)) == true)
end

---Raises if an output is also an input: the same file under any name, or the file to which standard
---output ("-") appends.
---@param paths string[] of the outputs of one call
---@param inputs string[] paths of the files that are read
function outputs.check_inputs(paths, inputs)
   local known
   for _, path in ipairs(paths) do
      local id = identity(path == "-" and "/dev/stdout" or path)
      known = known or id and by_identity(inputs)
      if id and known[id] then
         local name = path == "-" and "standard output" or path
         error(("%s: %s: write into another file"):format(name, known[id] == path
            and "it is read, so it cannot be the output"
            or "it is the file " .. known[id] .. ", which is read"), 0)
      end
   end
end

-- Returns whether two paths lead to one file. They are looked at once more, because the number of a
-- file that another program has just replaced may be that of its next one.
local function is_one(path, other)
   local id = identity(path)
   return id ~= nil and id == identity(other)
      or core.output_path(path) == core.output_path(other)
end

---Raises if an output is also an input, or two outputs of one call are the same file.
---@param paths string[] of the outputs of one call
---@param inputs string[] paths of the files that are read
function outputs.check(paths, inputs)
   local seen = {}
   outputs.check_inputs(paths, inputs)
   for _, path in ipairs(paths) do
      local absolute, is_in_place = core.output_path(path)
      local key = identity(path) or absolute
      if key and not is_in_place and seen[key] and is_one(path, seen[key]) then
         error(("%s: two outputs would be this file: write under another name"):format(path), 0)
      end
      seen[key or path] = path
   end
end

-- Writes to standard output.
local function write_standard(write)
   local done, message, code, broken = write(io.stdout)
   if not done then
      return nil, message, code, broken
   end
   local ok
   ok, message, code, broken = core.flush(io.stdout)
   if not ok then
      return nil, message, code, broken
   end
   return done
end

---Writes a file as a whole: it gets its name, and replaces an older file, if `write` succeeds.
---@param path string "-": standard output
---@param write fun(file: file*): any, string|nil, string|nil, string|nil  returns nil, message,
---code on failure
---@return any result of `write`
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function outputs.write(path, write)
   if path == "-" then
      return write_standard(write)
   end
   local file <close>, message, code = core.output(path)
   if not file then
      return nil, message, code
   end
   local done, broken
   done, message, code, broken = write(file)
   if not done then
      return nil, message, code, broken
   end
   local ok
   ok, message, code, broken = core.commit(file)
   if not ok then
      return nil, message, code, broken
   end
   return done
end

return outputs
