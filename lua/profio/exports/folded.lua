-- Folded stacks for flame graph tools, one per line. For a difference a line has two numbers,
-- before and now, as difffolded.pl writes them.

local compared = require "profio.exports.compared"
local context_tree = require "profio.exports.context_tree"
local lanes = require "profio.exports.lanes"
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

-- Returns the numbers of a line, " 12 30" for a difference; nil: there is no line.
local function numbers_of(tree, i, increases)
   local now, before = tree.weights[1][i], tree.weights[2] and tree.weights[2][i]
   if before and increases then
      return now > before and (" %d\n"):format(now - before) or nil
   elseif before then
      return (now ~= 0 or before ~= 0) and (" %d %d\n"):format(before, now) or nil
   end
   return now ~= 0 and (" %d\n"):format(now) or nil
end

---@param profile profio.Profile
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function folded.write(profile, given, file)
   local contexts, metric, before = compared.contexts(profile, given.metric)
   contexts = stacks.shortened(contexts, given)
   local tree = context_tree.of(contexts, { metric or contexts:usual(), before })
   local refused = context_tree.refused(tree, "folded stacks cannot show weights below 0, and this "
      .. "profile has some: export the difference of two profiles as it is, or use svg or pprof")
   if refused then
      return nil, refused, "unsupported"
   end
   local out, path = lanes.out(file), {}
   local names = context_tree.each(tree.names, context_tree.plain, { [";"] = ":" })
   for i, depth in ipairs(tree.depths) do
      path[depth] = names[tree.frames[i]]
      local numbers = numbers_of(tree, i, given.increases)
      if numbers then
         out:write(table.concat(path, ";", 1, depth), numbers)
      end
   end
   return out:result()
end

return folded
