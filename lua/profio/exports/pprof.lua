-- Profiles for Go's pprof and all programs that read its files.

local core = require "profio.core"
local profile_parts = require "profio.internal.bodies.profile_parts"
local stacks = require "profio.exports.depth_limit"

local MOST_COMMENTS = 8

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

-- Returns the facts of a file by name, and its comments as a list.
local function facts_of(head)
   local facts = { comments = {} }
   for _, fact in ipairs(head) do
      if fact.name == "comment" then
         facts.comments[#facts.comments + 1] = fact.value
      else
         facts[fact.name] = fact.value
      end
   end
   return facts
end

---@param profile profio.Profile
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function pprof.write(profile, given, file)
   local contexts = stacks.shortened(profile_parts.contexts(profile), given)
   local notes = comments_of(table.move(given.notes, 1, #given.notes, #profile:notes() + 1,
      table.move(profile:notes(), 1, #profile:notes(), 1, {})))
   local origin, heads = profile_parts.origin(profile), {}
   for i, head in ipairs(origin.heads) do
      heads[i] = facts_of(head)
   end
   local bytes, message, code = core.pprof(contexts, { packed = given.packed, comments = notes,
      heads = heads, mapping = origin.mapping })
   if not bytes then
      return nil, message, code
   end
   local done, _, number = file:write(bytes)
   if done then
      done, _, number = file:flush()
   end
   if not done then
      return core.write_failure(file, number)
   end
   return true
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
---@return "EPIPE"|nil
function pprof.write_trace(trace, given, file)
   local bytes, message, code = trace:save(nil, { packed = given.packed })
   if not bytes then
      return nil, message, code
   end
   local done, _, number = file:write(bytes)
   if not done then
      return core.write_failure(file, number)
   end
   return true
end

return pprof
