-- Folded stacks for flame graph tools, one per line. For a difference a line has two numbers,
-- before and now, as difffolded.pl writes them.

local compared = require "profio.exports.compared"
local core = require "profio.core"
local stacks = require "profio.exports.depth_limit"

local folded = {
   name = "folded",
   help = "folded stacks: main;parse;read 1000",
   endings = { ".folded" },
   takes = "profile",
   options = {
      { name = "metric", type = "text", help = "weight: time, samples, ..." },
      { name = "increases", type = "bool", default = false,
        help = "for a difference: write one number, and only growth" },
      stacks.option,
   },
}

---@param profile profio.Profile
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function folded.write(profile, given, file)
   local contexts, metric, before = compared.contexts(profile, given.metric)
   return core.write_folded(stacks.shortened(contexts, given), { metric = metric, before = before,
      increases = given.increases }, file)
end

return folded
