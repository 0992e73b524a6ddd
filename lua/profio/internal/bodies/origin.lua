-- The origin of a profile: header fields of its files that export pprof can keep, and how often
-- their samples were taken.

local file_sums = require "profio.internal.several.file_sums"
local profile_parts = require "profio.internal.bodies.profile_parts"
local sampling = require "profio.internal.bodies.sampling"

local origin = {}

---@class profio.Origin
---@field heads table[] for each file the list of its header fields, named as those of pprof
---@field mapping table|nil the executable: start, limit, offset, file, build_id, has_lines
---@field sampling profio.SamplingRate[] of files without such header fields

-- Returns the executable as a mapping of pprof; nil: none is known.
local function mapping_of(state)
   local known = state.symbols
   if not known or not known.exe then
      return nil
   end
   local bias, facts = state.load_bias or 0, known.facts
   local has_image = facts.image_end ~= 0
   local start = has_image and facts.image_start or facts.code_start
   local limit = has_image and facts.image_end or facts.code_end
   return { start = start + bias, limit = limit + bias, offset = 0, file = known.exe,
      build_id = facts.build_id, has_lines = facts.has_lines }
end

-- Returns how often the samples of a trace or of its graph were taken, unless header fields say so.
local function sampling_of(state, body)
   local rate = body and body.kind == "graph" and body:facts({}).rate or 0
   if rate > 0 then
      return { sampling.of_rate(rate) }
   end
   return state.format.sampling and state.format.sampling(state) or {}
end

-- Returns the sampling period as header fields, the longest one if files have several; nil if their
-- samples count different events, or if one states no period.
local function period_of(state)
   local name, unit, longest
   for i, part in ipairs(file_sums.parts(state)) do
      local part_name, part_unit, period = state.format.period(part)
      if not period or i > 1 and (part_name ~= name or part_unit ~= unit) then
         return nil
      end
      name, unit, longest = part_name, part_unit, math.max(longest or 0, period)
   end
   return longest and { { name = "period_type", value = name },
      { name = "period_unit", value = unit }, { name = "period", value = longest } }
end

---@param state table of the trace
---@param body table|nil of the profile
---@return profio.Origin
function origin.of_trace(state, body)
   local stored = state.stored
   if stored then
      local made = stored.origin()
      if body and body.kind == "profile" then -- of histograms, whose rates are in their tables
         made.sampling = profile_parts.origin(body.profile).sampling
      end
      return made
   end
   local stated = { heads = {}, mapping = mapping_of(state), sampling = sampling_of(state, body) }
   for i, part in ipairs(state.format.keeps_header and state.parts or {}) do
      stated.heads[i] = part:info()
   end
   if state.format.period then
      stated.heads[1] = period_of(state)
   end
   return stated
end

---Combines the origins of two profiles: the header fields of both, and the executable if it is the
---same. Two different executables are left out, because neither contains all functions.
---@param a profio.Origin|nil
---@param b profio.Origin|nil
---@return profio.Origin
function origin.of_both(a, b)
   local one, other = a or { heads = {} }, b or { heads = {} }
   local heads = table.move(one.heads, 1, #one.heads, 1, {})
   local is_one = one.mapping and other.mapping and one.mapping.file == other.mapping.file
      and one.mapping.build_id == other.mapping.build_id
   local rates = table.move(one.sampling or {}, 1, #(one.sampling or {}), 1, {})
   table.move(other.sampling or {}, 1, #(other.sampling or {}), #rates + 1, rates)
   return { heads = table.move(other.heads, 1, #other.heads, #heads + 1, heads), sampling = rates,
      mapping = is_one and one.mapping or nil }
end

---Returns the number of runs that a trace has: its files, or the runs of a store.
---@param state table of the trace
---@return integer
function origin.run_count(state)
   if state.stored then
      return state.stored.runs
   end
   return state.format.is_one_run and 1 or math.max(#state.paths, 1)
end

return origin
