-- A profile as .cpuprofile of V8, for VS Code and Chrome DevTools: a tree of nodes, one for each
-- calling context by function, with the weights of its lines. Each with a weight has one sample,
-- whose time is the weight: the order of samples is that of the tree, not of time. Times are in
-- microseconds, exact to the nanosecond; one unit of another metric counts as one microsecond.

local context_tree = require "profio.exports.context_tree"
local core = require "profio.core"
local lanes = require "profio.exports.lanes"
local profile_parts = require "profio.internal.bodies.profile_parts"
local saturated = require "profio.internal.saturated"

local cpuprofile = {
   name = "cpuprofile",
   help = "a profile for VS Code and Chrome DevTools",
   endings = { ".cpuprofile" },
   takes = "profile",
   options = {
      { name = "metric", type = "text", help = "weight of samples: time, samples, ..." },
   },
}

-- Returns the number of the function of each frame: those of one name and file are one.
local function functions_of(tree, numbers)
   local list = {}
   for i, name in ipairs(tree.names) do
      local key = name .. "\0" .. (tree.files[i] or "\0")
      numbers[key] = numbers[key] or i
      list[i] = numbers[key]
   end
   return list
end

-- Returns the children of each node, by number in preorder; the root is 0.
local function children_of(tree)
   local children, path = { [0] = {} }, { [0] = 0 }
   for i, depth in ipairs(tree.depths) do
      local siblings = children[path[depth - 1]]
      siblings[#siblings + 1], path[depth], children[i] = i, i, {}
   end
   return children
end

-- Returns the weights of the lines of each node, as text: viewers show the part of a line in the
-- hit count. The contexts by line are those by function, with more nodes.
local function ticks_of(by_line, tree, children)
   local numbers, sums, path = {}, {}, { [0] = 0 }
   local functions = functions_of(tree, numbers)
   local of_line, child_of = functions_of(by_line, numbers), { [0] = {} }
   for node, list in pairs(children) do
      local known = {}
      for _, child in ipairs(list) do
         known[functions[tree.frames[child]]] = child
      end
      child_of[node] = known
   end
   for i, depth in ipairs(by_line.depths) do
      local frame = by_line.frames[i]
      local node = child_of[path[depth - 1]][of_line[frame]]
      local line, weight = by_line.lines[frame], by_line.weights[1][i]
      path[depth] = node
      if weight > 0 and line > 0 and line <= 0xffffffff then
         local lines = sums[node] or {}
         sums[node], lines[line] = lines, saturated.add(lines[line] or 0, weight)
      end
   end
   return sums
end

local function ticks_text(lines)
   local order, list = {}, {}
   for line in pairs(lines) do
      order[#order + 1] = line
   end
   table.sort(order)
   for i, line in ipairs(order) do
      list[i] = ('{"line":%d,"ticks":%d}'):format(line, lines[line])
   end
   return (',"positionTicks":[%s]'):format(table.concat(list, ","))
end

-- Returns the function of each frame as JSON. Lines count from 0; -1: unknown.
local function frames_of(tree)
   local names, files, list = context_tree.json(tree.names), {}, {}
   for i, file in ipairs(tree.files) do
      files[i] = file or ""
   end
   files = context_tree.json(files)
   for i, name in ipairs(names) do
      list[i] = ('{"functionName":%s,"scriptId":"0","url":%s,"lineNumber":%d,"columnNumber":-1}')
         :format(name, files[i], math.max(tree.lines[i], 0) - 1)
   end
   return list
end

local root = '{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}'

local function put_nodes(out, tree, by_line)
   local frames, children = frames_of(tree), children_of(tree)
   local ticks, weights = ticks_of(by_line, tree, children), tree.weights[1]
   for i = 0, #tree.frames do
      local list = children[i]
      for k, child in ipairs(list) do
         list[k] = child + 1
      end
      out:write(i == 0 and "" or ",\n", ('{"id":%d,"callFrame":%s,"hitCount":%d%s%s}'):format(i + 1,
         i == 0 and root or frames[tree.frames[i]], weights[i], ticks[i] and ticks_text(ticks[i])
         or "", list[1] and (',"children":[%s]'):format(table.concat(list, ",")) or ""))
   end
end

-- Returns a function that formats a time in microseconds.
local function formatter(tree)
   return tree.units[1] ~= "ns" and tostring or function(value)
      return ("%d.%03d"):format(value // 1000, value % 1000)
   end
end

-- Writes a sample for each context with a weight, which lasts until the next one; the root has the
-- rows without a stack, and the end.
local function put_samples(out, tree)
   local samples, deltas, weights = {}, { "0" }, tree.weights[1]
   local shown = formatter(tree)
   for i = 0, #weights do
      if weights[i] > 0 then
         samples[#samples + 1], deltas[#deltas + 1] = i + 1, shown(weights[i])
      end
   end
   samples[#samples + 1] = 1
   out:write('\n],\n"samples":[', table.concat(samples, ","), '],\n"timeDeltas":[',
      table.concat(deltas, ","), '],\n"startTime":0,"endTime":', shown(tree.totals[1]))
end

---@param profile profio.Profile
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function cpuprofile.write(profile, given, file)
   local contexts, metrics, out = profile_parts.contexts(profile), { given.metric }, lanes.out(file)
   local tree = context_tree.of(context_tree.by_function(contexts), metrics)
   local refused = context_tree.refused(tree, "cpuprofile cannot show weights below 0, and this "
      .. "difference has some: use svg or pprof")
   if refused then
      return nil, refused, "unsupported"
   end
   out:write '{"nodes":[\n'
   put_nodes(out, tree, context_tree.of(contexts, metrics))
   put_samples(out, tree)
   out:write((',\n"profio":{"creator":%s,"title":%s%s}}\n'):format(
      lanes.json("profio " .. core.version), lanes.json(profile_parts.title(profile)),
      lanes.losses(profile:notes())))
   return out:result()
end

return cpuprofile
