-- Profiles for Go's pprof and all programs that read its files.

local core = require "profio.core"
local stacks = require "profio.exports.depth_limit"

local MOST_COMMENTS = 8
local EPIPE = 32 -- errno of a pipe that its reader has closed

local pprof = {
   name = "pprof",
   help = "a profile for Go's pprof, gzipped",
   endings = { ".pb.gz", ".pb", ".pprof" },
   takes = "profile", -- or a trace itself
   is_binary = true,
   options = {
      { name = "packed", type = "bool", default = true, help = "gzip it" },
      stacks.option,
   },
}

-- Returns the losses as comments, as many as are written.
local function comments_of(notes)
   local list = table.move(notes, 1, math.min(#notes, MOST_COMMENTS), 1, {})
   if #notes > MOST_COMMENTS then
      list[MOST_COMMENTS] = ("and %d more"):format(#notes - MOST_COMMENTS + 1)
   end
   return list
end

---@param profile profio.Profile
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function pprof.write(profile, given, file)
   local contexts = stacks.shortened(profile:contexts(), given)
   local notes = comments_of(table.move(given.notes, 1, #given.notes, #profile:notes() + 1,
      table.move(profile:notes(), 1, #profile:notes(), 1, {})))
   local origin = profile:origin()
   return core.write_pprof(contexts, { packed = given.packed, comments = notes,
      heads = origin.heads, mapping = origin.mapping }, file)
end

---Returns whether a trace itself is written: a file of pprof has more than a profile of it keeps.
---@param trace profio.Trace
---@return boolean
function pprof.is_whole(trace)
   return trace.format == "pprof"
end

---@param trace profio.Trace
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
function pprof.write_trace(trace, given, file)
   local bytes, message, code = trace:save(nil, { packed = given.packed })
   if not bytes then
      return nil, message, code
   end
   local done, why, number = file:write(bytes)
   if not done then
      return nil, "write failed: " .. why, "io", number == EPIPE and "EPIPE" or nil
   end
   return true
end

return pprof
