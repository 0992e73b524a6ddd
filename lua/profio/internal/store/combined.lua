-- Combines the details of runs, independent of their order: metrics, losses, warnings, header
-- fields and the executable.

local core = require "profio.core"
local details = require "profio.internal.store.details"
local problem = require "profio.internal.store.problem"
local selecting = require "profio.internal.store.selecting"

local combined = {}

-- {====== Damage ======

-- The fields of details: a type ("?" after it: or nothing), a list { of what }, or fields by name.
local shape = {
   metrics = { { name = "string", unit = "string" } },
   usual = "string?",
   losses = { "string" },
   warnings = { { code = "string", kind = "string", path = "string", offset = "integer?",
      count = "integer?", message = "string" } },
   heads = { { { name = "string" } } },
}

local mapping_shape = { start = "integer", limit = "integer", offset = "integer", file = "string",
   build_id = "string?" }

local sampling_shape = { { text = "string", rate = "float?", metric = "string?",
   is_count = "boolean?" } }

---The header fields of files that a store keeps, those of pprof, with their types.
combined.head_fields = { time_nanos = "integer", duration_nanos = "integer", period = "integer",
   period_type = "string", period_unit = "string", default_sample_type = "string",
   doc_url = "string", drop_frames = "string", keep_frames = "string", comment = "string" }

---Returns whether a value has a shape: "integer", "string?" (nil is allowed), a list { shape } or a
---table with fields of some shapes.
---@param value any
---@param wanted string|table
---@return boolean
function combined.fits(value, wanted)
   if type(wanted) == "string" then
      local kind = math.type(value) or type(value)
      return kind == wanted:match "%l+" or value == nil and wanted:sub(-1) == "?"
   elseif type(value) ~= "table" then
      return false
   end
   for _, item in ipairs(wanted[1] and value or {}) do
      if not combined.fits(item, wanted[1]) then
         return false
      end
   end
   for name, inner in pairs(wanted[1] and {} or wanted) do
      if not combined.fits(value[name], inner) then
         return false
      end
   end
   return true
end

local function has_metric(value)
   for _, metric in ipairs(value.metrics) do
      if metric.name == value.usual then
         return true
      end
   end
   return value.usual == nil
end

-- Returns whether unpacked details can be used.
local function is_usable(value)
   if not combined.fits(value, shape) or not has_metric(value)
      or value.mapping ~= nil and not combined.fits(value.mapping, mapping_shape)
      or value.sampling ~= nil and not combined.fits(value.sampling, sampling_shape)
   then
      return false
   end
   for _, head in ipairs(value.heads) do
      for _, fact in ipairs(head) do
         if not combined.fits(fact.value, combined.head_fields[fact.name] or "nil") then
            return false
         end
      end
   end
   for _, warning in ipairs(value.warnings) do
      if warning.kind ~= "damage" and warning.kind ~= "note" then
         return false
      end
   end
   return true
end

-- }======

-- Returns whether the store has as many rows of the profile of a run as were written: one for each
-- metric, or at least that of the arcs. Without `rows` the engine compares them itself.
local function has_rows(run, value)
   if run.rows == nil or run.kind == "graph" then
      return run.rows ~= 0
   end
   return run.rows == #value.metrics
end

-- Returns the details of a run. Raises if they are damaged, or if a row of its profile is missing.
local function details_of(run, path)
   local is_whole, value = details.unpack(run.details)
   local is_right = is_whole and is_usable(value)
   if not is_right or not has_rows(run, value) then
      problem.raise(("%s: the %s of run %s (%s) are damaged"):format(path, is_right
         and "rows of the profile" or "details", selecting.hex(run.hash), run.path), "format")
   end
   return value
end

-- Returns distinct values, each packed, in order of their bytes.
local function distinct(values)
   local list, known = {}, {}
   for _, value in ipairs(values) do
      local packed = details.pack(value)
      if not known[packed] then
         known[packed] = value
         list[#list + 1] = packed
      end
   end
   table.sort(list)
   for i, packed in ipairs(list) do
      list[i] = known[packed]
   end
   return list
end

-- Returns the field of each of the details that has it.
local function field_of(all, name)
   local list = {}
   for _, one in ipairs(all) do
      list[#list + 1] = one[name]
   end
   return list
end

-- Returns all items of the lists of runs, in order of the texts that `text_of` returns for the
-- first items; those of one run stay together, in their order.
local function joined(lists, text_of)
   local all, key, filled = {}, {}, {}
   for _, list in ipairs(lists) do
      if list[1] ~= nil then
         filled[#filled + 1] = list
         key[list] = text_of(list[1]) .. "\0" .. details.pack(list)
      end
   end
   table.sort(filled, function(a, b)
      return key[a] < key[b]
   end)
   for _, list in ipairs(filled) do
      table.move(list, 1, #list, #all + 1, all)
   end
   return all
end

-- Returns header fields of files without the default metrics that differ from the one of all runs.
local function with_default(heads, usual)
   for i, head in ipairs(usual and heads or {}) do
      local kept = {}
      for _, fact in ipairs(head) do
         local is_other = fact.name == "default_sample_type" and fact.value ~= usual
         kept[#kept + 1] = not is_other and fact or nil
      end
      heads[i] = kept
   end
   return heads
end

---@class profio.CombinedRuns
---@field metrics { name: string, unit: string }[] if the runs have different ones: of each list, in
---the order of their bytes
---@field of_runs { name: string, unit: string }[][] the metrics of each run; none of a graph
---@field usual string|nil the default metric that the runs state; of several, the first by name
---@field losses string[]
---@field warnings table[]
---@field heads table[] header fields of the files
---@field sampling profio.SamplingRate[] of files without such header fields
---@field mapping table|nil the executable; nil: there is none, or the runs have different ones

---Combines the details of runs. Raises failures.
---@param runs profio.StoredRun[] with details
---@param path string of the store
---@return profio.CombinedRuns
function combined.of(runs, path)
   local all, metrics, known = {}, {}, {}
   for i, run in ipairs(runs) do
      all[i] = details_of(run, path)
   end
   for _, list in ipairs(distinct(field_of(all, "metrics"))) do
      for _, metric in ipairs(list) do
         local key = details.pack(metric)
         metrics[#metrics + 1] = not known[key] and metric or nil
         known[key] = true
      end
   end
   local mappings = distinct(field_of(all, "mapping"))
   local usual = distinct(field_of(all, "usual"))[1]
   return { metrics = metrics, usual = usual, of_runs = field_of(all, "metrics"),
      losses = joined(field_of(all, "losses"), tostring),
      warnings = joined(field_of(all, "warnings"), function(warning)
         return warning.path
      end),
      heads = with_default(joined(field_of(all, "heads"), details.pack), usual),
      sampling = joined(field_of(all, "sampling"), details.pack),
      mapping = #mappings == 1 and #field_of(all, "mapping") == #all and mappings[1] or nil }
end

---Returns contexts without nodes, with the metrics of runs, for the sum of their profiles.
---@param runs profio.StoredRun[] with details
---@param path string of the store
---@param dictionary profio.core.Dictionary
---@return profio.core.Contexts
function combined.empty(runs, path, dictionary)
   local all = combined.of(runs, path)
   return core.empty_contexts(dictionary, all.metrics, all.usual)
end

return combined
