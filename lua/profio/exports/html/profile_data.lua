-- The profile of a report as data for the page's scripts: metrics, functions, and the tree of
-- calling contexts, or the arcs of a call graph. Their size is limited: the tree keeps its heaviest
-- contexts, and each context states how much of its total lies in callees that are left out.

local lanes = require "profio.exports.lanes"

local data = {}

local MOST_ARCS = 50000

---Returns numbers as an array of JSON; nil becomes null.
---@param list table
---@param count integer
---@return string
function data.numbers(list, count)
   local texts = {}
   for i = 1, count do
      local value = list[i]
      texts[i] = value == nil and "null" or ("%d"):format(value)
   end
   return "[" .. table.concat(texts, ",") .. "]"
end

---Returns texts as an array of JSON; false becomes null.
---@param list table
---@return string
function data.texts(list)
   local texts = {}
   for i, value in ipairs(list) do
      texts[i] = value and lanes.script(value) or "null"
   end
   return "[" .. table.concat(texts, ",") .. "]"
end

-- {====== Functions ======

-- Dictionary encoding of functions by name and file: ids from 1 in order of first use. Contexts can
-- state other lines for the same function than the flat profile, whose line counts.
local function function_ids()
   local ids, known = { names = {}, files = {}, lines = {}, count = 0 }, {}
   function ids.of(name, file, line)
      name = name or "?"
      local key = file and name .. "\0" .. file or name
      local id = known[key]
      if not id then
         id = ids.count + 1
         known[key], ids.count = id, id
         ids.names[id], ids.files[id], ids.lines[id] = name, file or false, line
      end
      return id
   end
   return ids
end

-- Returns the rows of the flat profile with any number that is not 0: { id =, calls =, self = { by
-- metric }, total = }. Functions that only call others are rows without self and calls.
local function flat_rows(profile, metrics, ids)
   local rows, list = {}, {}
   for m, metric in ipairs(metrics) do
      for name, file, line, calls, own, all in profile:flat { metric = metric.name, zeros = true }
         :each("function", "file", "line", "calls", "self", "total") do
         own, all = own or 0, all or 0
         if own ~= 0 or all ~= 0 or (calls or 0) ~= 0 then
            local id = ids.of(name, file, line)
            local row = rows[id]
            if not row then
               row = { id = id, calls = calls, self = {}, total = {} }
               rows[id], list[#list + 1] = row, row
            end
            row.self[m], row.total[m] = (row.self[m] or 0) + own, (row.total[m] or 0) + all
         end
      end
   end
   return list
end

-- Orders rows by the size of self, then of total, of the metric that is shown first.
local function sort_rows(list, usual)
   table.sort(list, function(a, b)
      local x, y = math.abs(a.self[usual] or 0), math.abs(b.self[usual] or 0)
      if x ~= y then
         return x > y
      end
      x, y = math.abs(a.total[usual] or 0), math.abs(b.total[usual] or 0)
      return x > y or x == y and a.id < b.id
   end)
end

local function put_functions(out, list, metrics, most)
   local count = math.min(#list, most)
   local ids, calls = {}, {}
   for i = 1, count do
      ids[i], calls[i] = list[i].id - 1, list[i].calls
   end
   out:write(('"table":{"left":%d,\n"function":%s,\n"calls":%s'):format(#list - count,
      data.numbers(ids, count), data.numbers(calls, count)))
   for _, kind in ipairs { "self", "total" } do
      local columns = {}
      for m in ipairs(metrics) do
         local values = {}
         for i = 1, count do
            values[i] = list[i][kind][m] or 0
         end
         columns[m] = data.numbers(values, count)
      end
      out:write((',\n"%s":[%s]'):format(kind, table.concat(columns, ",\n")))
   end
   out:write "},\n"
end

-- }======

-- {====== Contexts ======

-- Returns the share of each context in the whole, by its node: the largest one of all metrics. That
-- of a context is never larger than that of its caller, as long as weights are positive.
local function shares_of(profile, metrics)
   local shares = {}
   for _, metric in ipairs(metrics) do
      local whole = math.max(1, math.abs(metric.total))
      for node, total in profile:tree { metric = metric.name }:each("node", "total") do
         shares[node] = math.max(shares[node] or 0, math.abs(total or 0) / whole)
      end
   end
   return shares
end

-- Returns the share that a context must exceed to be kept, and how many with exactly this share are
-- kept, too, so that `most` are kept.
local function threshold(shares, most)
   local sorted = {}
   for _, share in pairs(shares) do
      sorted[#sorted + 1] = share
   end
   if #sorted <= most then
      return 0, 0
   end
   table.sort(sorted, function(a, b) return a > b end)
   local least, larger = sorted[most], 0
   while sorted[larger + 1] > least do
      larger = larger + 1
   end
   return least, most - larger
end

-- Appends a context to a tree, below the open context of the depth above.
local function add_context(tree, open, depth, node)
   local i = tree.count + 1
   tree.count, tree.index[node], open[depth] = i, i, i
   tree.depth[i], tree.parent[i] = depth, depth > 1 and open[depth - 1] or 0
   return i
end

-- Moves the total of a kept context from what its caller leaves out.
local function add_weight(tree, weights, i, own, total)
   local parent = tree.parent[i]
   weights.own[i], weights.rest[i] = own, weights.rest[i] + total - own
   if parent > 0 then
      weights.rest[parent] = weights.rest[parent] - total
   end
end

-- Returns the tree without the contexts that do not fit: arrays depth, func, calls, parent, and the
-- index of a context by its node; in the order of the metric that is shown first.
local function kept_tree(profile, metrics, usual, given)
   local shares = shares_of(profile, metrics)
   local least, quota = threshold(shares, given.most)
   local tree = { depth = {}, func = {}, calls = {}, parent = {}, index = {}, count = 0, left = 0 }
   local open = {}
   for depth, node, name, file, line, calls in profile:tree { metric = metrics[usual].name,
      zeros = true }:each("depth", "node", "function", "file", "line", "calls") do
      local share = shares[node] or 0
      if share > least or share == least and quota > 0 then
         quota = share == least and quota - 1 or quota
         local i = add_context(tree, open, depth, node)
         tree.func[i], tree.calls[i] = given.ids.of(name, file, line) - 1, calls
      elseif share > 0 then
         tree.left = tree.left + 1
      end
   end
   return tree
end

-- Returns the weights of the kept contexts in a metric: own, rest (the part of the total in
-- contexts that are left out), outside (that of outermost contexts that are left out).
local function weights_of(profile, metric, tree)
   local weights = { own = {}, rest = {}, outside = 0 }
   for i = 1, tree.count do
      weights.own[i], weights.rest[i] = 0, 0
   end
   for depth, node, own, total in profile:tree { metric = metric }:each("depth", "node", "self",
      "total") do
      local i = tree.index[node]
      if i then
         add_weight(tree, weights, i, own or 0, total or 0)
      elseif depth == 1 then
         weights.outside = weights.outside + (total or 0)
      end
   end
   return weights
end

local function put_tree(out, profile, metrics, usual, given)
   local tree = kept_tree(profile, metrics, usual, given)
   out:write(('"tree":{"left":%d,\n"depth":%s,\n"function":%s,\n"calls":%s'):format(tree.left,
      data.numbers(tree.depth, tree.count), data.numbers(tree.func, tree.count),
      data.numbers(tree.calls, tree.count)))
   local selves, rests, outsides = {}, {}, {}
   for m, metric in ipairs(metrics) do
      local weights = weights_of(profile, metric.name, tree)
      selves[m], rests[m] = data.numbers(weights.own, tree.count),
         data.numbers(weights.rest, tree.count)
      outsides[m] = weights.outside
   end
   out:write((',\n"self":[%s],\n"rest":[%s],\n"outside":%s},\n'):format(table.concat(selves, ",\n"),
      table.concat(rests, ",\n"), data.numbers(outsides, #metrics)))
end

-- }======

-- {====== Arcs ======

-- Writes the arcs of a call graph, for which only the total of each arc is known.
local function put_arcs(out, profile, metrics, ids)
   local first, list, known = {}, {}, {}
   for id, name in ipairs(ids.names) do
      first[name] = first[name] or id
   end
   for m, metric in ipairs(metrics) do
      for caller, callee, calls, total in profile:graph { metric = metric.name }:each("caller",
         "callee", "calls", "total") do
         local a, b = first[caller], first[callee]
         local key = a and b and a << 32 | b
         if key and not known[key] then
            known[key] = { a - 1, b - 1, calls, {} }
            list[#list + 1] = known[key]
         end
         if key then
            known[key][4][m] = (known[key][4][m] or 0) + (total or 0)
         end
      end
   end
   local count = math.min(#list, MOST_ARCS)
   out:write(('"arcs":{"left":%d,"list":['):format(#list - count))
   for i = 1, count do
      local arc = list[i]
      out:write(i > 1 and ",\n" or "\n", ("[%d,%d,%s,%s]"):format(arc[1], arc[2], arc[3] or "null",
         data.numbers(arc[4], #metrics)))
   end
   out:write "]},\n"
end

-- }======

---Writes the profile as members of a JSON object.
---@param out table of lanes.out
---@param profile profio.Profile
---@param given table usual: name of the metric that is shown first; functions, contexts: most
---@return fun(name: string): integer id of the first function with a name, from 0, for other parts
function data.write(out, profile, given)
   local metrics, usual, list = profile:metrics(), 1, {}
   for m, metric in ipairs(metrics) do
      usual = metric.name == given.usual and m or usual
      list[m] = ('{"name":%s,"unit":%s,"total":%d}'):format(lanes.script(metric.name),
         lanes.script(metric.unit), metric.total)
   end
   local ids = function_ids()
   local rows = flat_rows(profile, metrics, ids)
   sort_rows(rows, usual)
   out:write(('"metrics":[%s],\n"usual":%d,\n'):format(table.concat(list, ","), usual - 1))
   put_functions(out, rows, metrics, given.functions)
   if profile:kind() == "contexts" then
      put_tree(out, profile, metrics, usual, { ids = ids, most = given.contexts })
   else
      put_arcs(out, profile, metrics, ids)
   end
   local first = {}
   for id, name in ipairs(ids.names) do
      first[name] = first[name] or id
   end
   local function id_of(name)
      first[name] = first[name] or ids.of(name)
      return first[name] - 1
   end
   return id_of, ids
end

---Writes the names of all functions that other members refer to; the last member but one.
---@param out table of lanes.out
---@param ids table of data.write
function data.write_names(out, ids)
   local files, numbers, places = {}, {}, {}
   for i, file in ipairs(ids.files) do
      if file and not numbers[file] then
         files[#files + 1] = file
         numbers[file] = #files - 1
      end
      places[i] = file and numbers[file] or -1
   end
   out:write(('"files":%s,\n"functions":{"name":%s,\n"file":%s,\n"line":%s},\n'):format(
      data.texts(files), data.texts(ids.names), data.numbers(places, ids.count),
      data.numbers(ids.lines, ids.count)))
end

return data
