-- Compares statistics of two runs: count, durations and regularity of each area and context, new
-- and old, with the change.

local core = require "profio.core"
local views = require "profio.internal.views"

local diff = {}

-- Key columns: rows of both runs with equal keys are merged into one.
local keys = { "item", "area", "value", "context", "caller" }

local overview = { "count", "net", "gross", "net_max", "gross_max", "net_p99", "gross_p99",
   "period_mean", "period_jitter", "load", "net_max_at", "net_max_run", "gross_max_at",
   "gross_max_run" }

-- Columns of where the worst call is, which are side by side without a change.
local starts = { net_max_at = true, gross_max_at = true, call_max_at = true, net_max_run = true,
   gross_max_run = true }

-- Returns the columns that are compared: an overview, or those of one duration.
local function numbers_of(metric)
   if not metric then
      return overview
   end
   return { "count", metric, metric .. "_max", metric .. "_p99",
      metric == "period" and "period_jitter" or metric .. "_max_at" }
end

-- {====== Columns ======

local function fields_by_name(rows)
   local known = {}
   for _, field in ipairs(rows:fields()) do
      known[field.name] = field
   end
   return known
end

-- Returns the key or number fields that the rows of both runs have.
local function common_fields(names, new, old)
   local of_new, of_old, list = fields_by_name(new), fields_by_name(old), {}
   for _, name in ipairs(names) do
      local field, other = of_new[name], of_old[name]
      if field and other then
         local type = field.type == other.type and field.type or "name"
         list[#list + 1] = { name = name, help = field.help, type = type }
      end
   end
   return list
end

local function is_number(field)
   return field.type == "int" or field.type == "num"
end

-- Forms of a number: of the new run, of the old run, and the change.
local forms = { "", "_before", "_change" }

-- Returns the names of numbers that are estimates in the new or in the old run, for column `about`;
-- so is their change. nil: there are none.
local function estimates_of(new, old, number_fields)
   local names, list = { (new or {}).about or "", (old or {}).about or "" }, {}
   for _, field in ipairs(number_fields) do
      local is_about = {}
      for i, text in ipairs(names) do
         is_about[i] = (" " .. text .. " "):find(" " .. field.name .. " ", 1, true) ~= nil
      end
      is_about[3] = new and old and (is_about[1] or is_about[2])
      for i, suffix in ipairs(forms) do
         list[#list + 1] = is_about[i] and field.name .. suffix or nil
      end
   end
   return #list > 0 and table.concat(list, " ") or nil
end

-- Returns the fields of rows: the keys, then for each number new, old and change.
local function fields_of(key_fields, number_fields)
   local list = table.move(key_fields, 1, #key_fields, 1, {})
   for _, field in ipairs(number_fields) do
      for i, suffix in ipairs(forms) do
         list[#list + 1] = (i < 3 or not starts[field.name]) and { name = field.name .. suffix,
            type = field.type, help = field.help } or nil
      end
   end
   list[#list + 1] = { name = "about", type = "name",
      help = "names of the columns of this row whose values are estimates" }
   return list
end

-- }======

-- {====== Rows ======

-- Indexes the rows of one run by key; areas of one name are numbered in their order.
local function by_key(rows, key_fields)
   local list, known, seen = {}, {}, {}
   for row in rows:records() do
      local parts = {}
      for i, field in ipairs(key_fields) do
         parts[i] = tostring(row[field.name])
      end
      local key = table.concat(parts, "\0")
      seen[key] = (seen[key] or 0) + 1
      key = key .. "\0" .. seen[key]
      known[key], list[#list + 1] = row, key
   end
   return list, known
end

-- Returns new minus old. If only one run has an area, counts and sums of the other are 0; its
-- minimum and maximum are unknown.
local function change_of(new, old)
   if new == nil or old == nil then
      return nil
   end
   return new - old
end

-- Columns of counts and sums: 0 for an area that did not run; other columns are missing.
local sums = { count = true, net = true, gross = true, call = true, period = true, outside = true,
   load = true }

local function values_of(new, old, key_fields, number_fields)
   local known, list, at = new or old, {}, #key_fields
   for i, field in ipairs(key_fields) do
      local value = known[field.name]
      list[i] = value ~= nil and field.type == "name" and tostring(value) or value
   end
   for _, field in ipairs(number_fields) do
      local none = sums[field.name] and (field.type == "int" and 0 or 0.0) or nil
      local a, b = none, none
      if new then
         a = new[field.name]
      end
      if old then
         b = old[field.name]
      end
      list[at + 1], list[at + 2] = a, b
      at = at + 2
      if not starts[field.name] then
         at = at + 1
         list[at] = change_of(a, b)
      end
   end
   list[at + 1] = estimates_of(new, old, number_fields)
   return list
end

-- Returns the size of the change by which rows are sorted: that of the first duration.
local function size_of(values, width)
   local change = values[width + 6] or values[width + 3] or 0
   return change < 0 and -change or change
end

local function joined(new, old, key_fields, number_fields)
   local new_keys, of_new = by_key(new, key_fields)
   local old_keys, of_old = by_key(old, key_fields)
   local list, width = {}, #key_fields
   for _, key in ipairs(new_keys) do
      list[#list + 1] = values_of(of_new[key], of_old[key], key_fields, number_fields)
   end
   for _, key in ipairs(old_keys) do
      if not of_new[key] then
         list[#list + 1] = values_of(nil, of_old[key], key_fields, number_fields)
      end
   end
   local place = {}
   for i, values in ipairs(list) do
      place[values] = i
   end
   table.sort(list, function(a, b)
      local x, y = size_of(a, width), size_of(b, width)
      if x ~= y then
         return x > y
      end
      return place[a] < place[b]
   end)
   return list
end

-- }======

---Compares statistics of a new and an old run, the largest change of the total first.
---@param new profio.View of call_statistics
---@param old profio.View
---@param metric string|nil net, gross, call, period or outside; nil: an overview
---@return profio.View  area, value, context, caller, then for each number NAME, NAME_before and
---NAME_change; the start of the worst call has no change; about
function diff.view(new, old, metric)
   local key_fields = common_fields(keys, new, old)
   local number_fields = {}
   for _, field in ipairs(common_fields(numbers_of(metric), new, old)) do
      number_fields[#number_fields + 1] = is_number(field) and field or nil
   end
   for _, field in ipairs(key_fields) do
      field.type = is_number(field) and field.type or "name"
   end
   local fields = fields_of(key_fields, number_fields)
   return views.over(function()
      return core.rows_reader(fields, joined(new, old, key_fields, number_fields))
   end, { new, old })
end

-- {====== The text ======

---Columns of text for people: fewer than rows have.
diff.shown = { "count", "net", "load", "gross_p99", "gross_max", "gross_max_at", "gross_max_run",
   "period_jitter" }

-- Returns the names of those numbers of one run that are estimates, for column `about` of its line.
local function estimates_among(record, numbers, suffix)
   local about, list = (" " .. (record.about or "") .. " "), {}
   for _, name in ipairs(numbers) do
      list[#list + 1] = about:find(" " .. name .. suffix .. " ", 1, true) and name or nil
   end
   return #list > 0 and table.concat(list, " ") or nil
end

---Returns the rows of one page of text: for each area a line for the old run, the new one, the
---change.
---@param rows profio.View of diff.view
---@param records table[] records of it, in their order
---@param metric string|nil
---@param names string[]|nil columns that say which area it is; default: area, value, caller
---@return table[] fields
---@return any[][] lines
---@return string[] columns
function diff.lines(rows, records, metric, names)
   local known, fields, columns = fields_by_name(rows), {}, {}
   local function add(name, type, help)
      fields[#fields + 1] = { name = name, type = type, help = help }
      columns[#columns + 1] = name
   end
   local numbers = {}
   for _, name in ipairs(metric and numbers_of(metric) or diff.shown) do
      if known[name] then
         add(name, known[name].type, known[name].help)
         numbers[#numbers + 1] = name
      end
   end
   add("run", "name", "old, new, or the change from old to new")
   local kept = {}
   for _, name in ipairs(names or { "area", "value", "caller" }) do
      for _, record in ipairs(known[name] and records or {}) do
         if record[name] ~= nil and not kept[name] then
            add(name, known[name].type, known[name].help)
            kept[name], kept[#kept + 1] = true, name
         end
      end
   end
   local lines = {}
   fields[#fields + 1] = { name = "about", type = "name" }
   for _, record in ipairs(records) do
      for _, run in ipairs { { "old", "_before" }, { "new", "" }, { "change", "_change" } } do
         local line = {}
         for i, name in ipairs(numbers) do
            line[i] = record[name .. run[2]]
         end
         line[#numbers + 1] = run[1]
         for i, name in ipairs(kept) do
            line[#numbers + 1 + i] = record[name]
         end
         line[#fields] = estimates_among(record, numbers, run[2])
         lines[#lines + 1] = line
      end
   end
   return fields, lines, columns
end

-- }======

return diff
