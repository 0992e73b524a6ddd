-- Finds how often the samples of profiles were taken. Counts of samples at two rates cannot be
-- compared; weights that state what their samples stand for, such as times, can, but differ in
-- precision.

local profile_parts = require "profio.internal.bodies.profile_parts"

local sampling = {}

-- Nanoseconds in the units of time that files state.
local times = { nanoseconds = 1, ns = 1, microseconds = 1e3, us = 1e3, milliseconds = 1e6, ms = 1e6,
   seconds = 1e9, s = 1e9 }

---@class profio.SamplingRate
---@field text string equal for equal rates: "100 samples a second", "a sample every 512 bytes"
---@field rate number|nil samples a second
---@field metric string|nil the only metric that has this rate
---@field is_count boolean|nil all metrics with the unit "count" are numbers of samples; else those
---whose name says so are
---@field type string|nil the metric in which the period is stated: a sample adds a period to it

---Returns the rate of samples that are taken so often in each second.
---@param rate number
---@return profio.SamplingRate
function sampling.of_rate(rate)
   return { text = ("%g samples a second"):format(rate), rate = rate, is_count = true }
end

---Returns the rate of a metric of which each sample stands for a number of events.
---@param period integer
---@param metric string name of the metric and of the events
---@return profio.SamplingRate
function sampling.of_events(period, metric)
   return { text = ("a sample every %d %s"):format(period, metric), metric = metric,
      is_count = true }
end

-- Returns the rate that the header of a pprof file states; nil: it states none.
local function of_head(head)
   local fact = {}
   for _, one in ipairs(head) do
      fact[one.name] = one.value
   end
   local period, unit = fact.period or 0, fact.period_unit or ""
   if period <= 0 then
      return nil
   elseif times[unit] then
      local rate = 1e9 / (period * times[unit])
      return { text = ("%g samples a second"):format(rate), rate = rate }
   end
   return { text = ("a sample every %d %s"):format(period, unit ~= "" and unit ~= "count" and unit
      or fact.period_type or "events"), type = fact.period_type }
end

-- Returns all rates that a profile states.
local function stated(profile)
   local origin, list = profile_parts.origin(profile), {}
   table.move(origin.sampling or {}, 1, #(origin.sampling or {}), 1, list)
   for _, head in ipairs(origin.heads) do
      list[#list + 1] = of_head(head)
   end
   return list
end

---Returns how often the samples of a metric were taken. A profile of several rates has all their
---texts, and no `rate`.
---@param profile profio.Profile
---@param metric { name: string, unit: string }
---@return profio.SamplingRate|nil nil: it is not known; `is_count`: the metric is a number of
---samples
function sampling.of(profile, metric)
   local texts, found, known = {}, nil, {}
   for _, one in ipairs(stated(profile)) do
      if (one.metric == nil or one.metric == metric.name) and not known[one.text] then
         known[one.text], found = true, one
         texts[#texts + 1] = one.text
      end
   end
   if not found then
      return nil
   end
   table.sort(texts)
   return { text = table.concat(texts, " and "), rate = #texts == 1 and found.rate or nil,
      is_count = metric.unit == "count" and metric.name ~= found.type
         and (found.is_count or metric.name:find "[Ss]ample" ~= nil) }
end

---Returns why the weights of two profiles differ by their rates; nil: the rates are equal, or one
---is not known.
---@param first profio.SamplingRate|nil
---@param other profio.SamplingRate|nil
---@param first_title string
---@param other_title string
---@return string|nil text "another rate: a has 100 samples a second, b has 500 samples a second"
---@return boolean is_against the weights are numbers of samples, which cannot be compared
function sampling.difference(first, other, first_title, other_title)
   if not first or not other or first.text == other.text then
      return nil, false
   end
   local text = ("another rate: %s has %s, %s has %s"):format(first_title, first.text,
      other_title, other.text)
   return text, first.is_count or other.is_count or false
end

return sampling
