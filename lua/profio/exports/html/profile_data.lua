-- The profile of a report as data for the page's scripts: metrics, functions, and the tree of
-- calling contexts, or the arcs of a call graph. Their size is limited: the heaviest functions and
-- contexts stay, and each context states how much of its total lies in callees that are left out.

local conditions = require "profio.internal.conditions"
local core = require "profio.core"
local counts = require "profio.internal.bodies.counts"
local lanes = require "profio.exports.lanes"
local profile_parts = require "profio.internal.bodies.profile_parts"
local sums_body = require "profio.internal.bodies.sums_body"

local data = {}

local FUNCTIONS_PART = 0.4 -- of the size; contexts and arcs get the rest
local LONGEST_NAME = 16384 -- bytes; the middle of longer ones is left out
local NAME_SIZE = 12       -- bytes of the numbers beside a name
local NO_NAME = "(names that were left out: --set size=N)"

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

-- Returns a text without the middle of a very long one.
local function shortened(text)
   if #text <= LONGEST_NAME then
      return text
   end
   local half = LONGEST_NAME // 2 - 2
   return text:sub(1, half) .. "..." .. text:sub(-half)
end

---Returns texts as an array of JSON for a script.
---@param list string[]
---@return string
function data.texts(list)
   local rows = {}
   for i, text in ipairs(list) do
      rows[i] = { shortened(text) }
   end
   local reader = core.rows_reader({ { "text", "name" } }, rows)
   local texts = core.write_listing(reader, { template = "{text:json}", separator = "," })
   return "[" .. texts:gsub("<", "\\u003c") .. "]"
end

-- {====== Functions ======

-- The functions that the page shows, by id from 0: names, files (false: none), lines (0: none).
-- Functions without numbers can be added while there is room for their names.
---@class profio.PageFunctions
---@field names string[]
---@field files (string|false)[]
---@field lines integer[]
---@field room integer bytes for names that are added
local Functions = {}
Functions.__index = Functions

local function key_of(name, file)
   return name .. "\0" .. (file or "")
end

local function functions_of(outline)
   local functions = setmetatable({ names = outline.names, files = outline.files,
      lines = outline.lines, first = {}, of_file = {}, room = 0 }, Functions)
   for id = #outline.names, 1, -1 do
      functions.first[outline.names[id]] = id - 1
      functions.of_file[key_of(outline.names[id], outline.files[id])] = id - 1
   end
   return functions
end

---Returns the id of the function with a name in a file, or nil.
---@param name string
---@param file string|nil
---@return integer|nil
function Functions:find(name, file)
   return self.of_file[key_of(name, file)]
end

-- Returns the largest number of bytes of a name in the page.
local function name_size(name)
   local text = shortened(name)
   local _, escaped = text:gsub('[%c"\\<\127-\255]', "")
   return #text + 5 * escaped + NAME_SIZE
end

---Returns the id of the function with a name in a file, or without a file of the first one with
---that name. It is added if there is room; else it is that of one that stands for all of them.
---@param name string|nil
---@param file string|nil
---@return integer
function Functions:of(name, file)
   name = name or "?"
   local known = self.of_file[key_of(name, file)] or not file and self.first[name]
   if known then
      return known
   end
   local size = name_size(name) + #(file or "")
   if size > self.room then
      name, file, size = NO_NAME, nil, 0
   end
   local id = self.first[NO_NAME]
   if name ~= NO_NAME or not id then
      id, self.room = #self.names, self.room - size
      self.names[id + 1], self.files[id + 1], self.lines[id + 1] = name, file or false, 0
      self.of_file[key_of(name, file)], self.first[name] = id, self.first[name] or id
   end
   return id
end

---Returns the names of all functions that other members refer to, as members of a JSON object.
---@return string
function Functions:text()
   local files, numbers, places, lines = {}, {}, {}, {}
   for i, file in ipairs(self.files) do
      if file and not numbers[file] then
         files[#files + 1] = file
         numbers[file] = #files - 1
      end
      places[i] = file and numbers[file] or -1
      lines[i] = self.lines[i] ~= 0 and self.lines[i] or nil
   end
   return ('"files":%s,\n"functions":{"name":%s,\n"file":%s,\n"line":%s},\n'):format(
      data.texts(files), data.texts(self.names), data.numbers(places, #places),
      data.numbers(lines, #places))
end

-- }======

-- {====== Arcs ======

-- Adds a row to the arcs in `known` and `list`.
local function add_arc(known, list, key, a, b, calls)
   local arc = known[key]
   if not arc then
      arc = { a, b, rows = 0 }
      known[key], list[#list + 1] = arc, arc
   end
   arc[3], arc.rows = calls and (arc[3] or 0) + calls or arc[3], arc.rows + 1
end

-- Adds the totals in a metric of the arcs between functions of the page to those in `known`; adds
-- the arcs to `list` if it is given.
local function add_totals(rows, metric, functions, known, list)
   for caller, callee, calls, total, caller_file, callee_file in rows:each("caller", "callee",
      "calls", "total", "caller_file", "callee_file") do
      local a = caller and functions:find(caller, caller_file)
      local b = functions:find(callee, callee_file)
      local key = a and b and a << 32 | b
      if key and list then
         add_arc(known, list, key, a, b, calls)
      end
      local arc = key and known[key]
      if arc then
         arc[metric] = (arc[metric] or 0) + (total or 0)
      end
   end
end

-- Returns an arc as JSON.
local function arc_text(arc, metrics)
   local totals = {}
   for m, metric in ipairs(metrics) do
      totals[m] = arc[metric] or 0
   end
   return ("[%d,%d,%s,%s]"):format(arc[1], arc[2], arc[3] or "null",
      data.numbers(totals, #metrics))
end

-- Returns the arcs of a call graph, for which only the total of each arc is known, as a member of
-- at most `size` bytes: those with the largest totals in the usual metric.
local function arcs_text(profile, metrics, usual, functions, size)
   local list, known, texts = {}, {}, {}
   local all = profile:graph { metric = metrics[usual].name }
      :where { caller = conditions.no(conditions.missing) }
   local most, left = math.max(size // (8 + 4 * #metrics), 0), all:count()
   add_totals(all:sort "-total":limit(most), metrics[usual], functions, known, list)
   for m, metric in ipairs(metrics) do
      if m ~= usual then
         add_totals(profile:graph { metric = metric.name }, metric, functions, known)
      end
   end
   for i, arc in ipairs(list) do
      local text = arc_text(arc, metrics)
      size = size - #text - 2
      if size < 0 then
         break
      end
      texts[i], left = text, left - arc.rows
   end
   return ('"arcs":{"left":%d,"list":[\n%s]},\n'):format(left, table.concat(texts, ",\n"))
end

-- }======

-- Returns the metrics of a profile with their names in contexts that core.outline takes; sums have
-- their totals as metrics of their own.
local function outlined(metrics, is_tree)
   local list = {}
   for m, metric in ipairs(metrics) do
      list[m] = { self = metric.name,
         total = not is_tree and sums_body.total_of(metric.name) or nil }
   end
   return list
end

-- Returns the metric with the number of calls in a profile, or nil.
local function calls_of(metrics, is_tree)
   for _, metric in ipairs(metrics) do
      if metric.name == "calls" then
         return "calls"
      end
   end
   return not is_tree and "calls" or nil
end

---Returns the profile as members of a JSON object, and the functions that they refer to.
---@param profile profio.Profile
---@param given table usual: name of the metric that is shown first; functions: most; size: bytes of
---all members with the names of functions
---@return string
---@return profio.PageFunctions
---@return integer size of both
function data.text(profile, given)
   local metrics, usual, list = profile:metrics(), 1, {}
   local is_tree = profile:kind() == "contexts"
   for m, metric in ipairs(metrics) do
      usual = metric.name == given.usual and m or usual
      list[m] = ('{"name":%s,"unit":%s,"total":%d}'):format(lanes.script(metric.name),
         lanes.script(counts.is_counted(metric) and "count" or metric.unit), metric.total)
   end
   local contexts = (is_tree and profile_parts.contexts or profile_parts.sums)(profile)
   local outline = core.outline(contexts, {
      metrics = outlined(metrics, is_tree), usual = usual, calls = calls_of(metrics, is_tree),
      most = given.functions, size = given.size * FUNCTIONS_PART // 1 | 0,
      contexts_size = is_tree and given.size or nil })
   local functions = functions_of(outline)
   local rest = is_tree and '"tree":{' .. outline.contexts .. "},\n" or arcs_text(profile, metrics,
      usual, functions, given.size - #outline.functions - outline.names_size)
   local text = ('"metrics":[%s],\n"usual":%d,\n"table":{%s},\n'):format(table.concat(list, ","),
      usual - 1, outline.functions) .. rest
   return text, functions, #text + outline.names_size
end

return data
