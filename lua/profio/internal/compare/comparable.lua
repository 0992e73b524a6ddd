-- Finds reasons why runs must not be compared, or only with care.

local sampling = require "profio.internal.bodies.sampling"

local comparable = {}

-- More losses than this share of a run's records are a reason against comparing it: what was lost
-- may be as large as the changes that are looked for.
local MOST_LOST = 0.01

-- Two versions of a program share most of their functions; less than this share of the weight in
-- functions of both sides means two programs.
local LEAST_COMMON = 0.1

-- {====== Reasons ======

local function each_run(runs, f)
   for _, side in ipairs { "base", "new" } do
      for _, run in ipairs(runs[side]) do
         f(run, side)
      end
   end
end

-- Adds a reason to a list. Of runs with the same kind of reason only the first is named.
local function add(list, kind, text, ...)
   local reason = list[kind]
   if reason then
      reason.others = reason.others + 1
   else
      reason = { text = text:format(...), others = 0 }
      list[kind], list[#list + 1] = reason, reason
   end
end

-- Returns the texts of a list of reasons.
local function texts_of(list)
   local texts = {}
   for i, reason in ipairs(list) do
      texts[i] = reason.others == 0 and reason.text
         or ("%s, and %d more run%s"):format(reason.text, reason.others,
         reason.others == 1 and "" or "s")
   end
   return texts
end

local function add_metrics(found, runs)
   local first = runs.base[1]
   each_run(runs, function(run)
      local a, b = first.metric, run.metric
      if a.name ~= b.name or a.unit ~= b.unit then
         add(found.against, "metric " .. b.name .. b.unit,
            "another metric: %s has %s (%s), %s has %s (%s)", first.title, a.name, a.unit,
            run.title, b.name, b.unit)
      end
   end)
end

-- Counts of samples at two rates cannot be compared; times can, but differ in precision.
local function add_rates(found, runs)
   local first = runs.base[1]
   each_run(runs, function(run)
      local text, is_against = sampling.difference(first.sampling, run.sampling, first.title,
         run.title)
      if text then
         add(is_against and not first.is_exact and found.against or found.warnings,
            "rate " .. run.sampling.text, "%s", text)
      end
   end)
end

-- Times of two clocks can be compared, but a change may be that of the clock.
local function add_clocks(found, runs)
   local first = runs.base[1]
   each_run(runs, function(run)
      if run.clock and first.clock and run.clock ~= first.clock then
         add(found.warnings, "clock " .. run.clock,
            "another clock: %s was recorded at %.6g MHz, %s at %.6g MHz", first.title,
            first.clock / 1e6, run.title, run.clock / 1e6)
      elseif first.metric.unit == "ns" and not run.sampling ~= not first.sampling then
         local sampled, other = first, run
         if run.sampling then
            sampled, other = run, first
         end
         add(found.warnings, "clock", "another clock: the times of %s are those of %s; %s states "
            .. "no samples", sampled.title, sampled.sampling.text, other.title)
      end
   end)
end

local function add_losses(found, runs)
   each_run(runs, function(run)
      if (run.lost_share or 0) > MOST_LOST then
         add(found.against, "lost", "%s lost %.3g %% of its records", run.title,
            run.lost_share * 100)
      else
         for _, text in ipairs(run.lost) do
            add(found.warnings, text, "%s", text)
         end
      end
   end)
end

local function add_empty(found, runs)
   each_run(runs, function(run)
      if run.whole == 0 then
         add(found.against, "empty", "%s is empty: the whole of its %s is 0", run.title,
            run.metric.name)
      end
   end)
end

-- Returns the share of a side's weight in items that both sides have.
local function common_share(items, side)
   local whole, common = 0, 0
   for _, item in ipairs(items) do
      for _, weight in ipairs(item.self[side]) do
         whole = whole + weight
         common = common + (item.is_in.base and item.is_in.new and weight or 0)
      end
   end
   return whole ~= 0 and common / whole or 1
end

local function add_program(found, items, by)
   local share = math.max(common_share(items, "base"), common_share(items, "new"))
   if by ~= "stack" and by ~= "line" and share < LEAST_COMMON then
      add(found.against, "program", "another program: %.3g %% of the weight is in a %s that both "
         .. "sides have", share * 100, by)
   end
end

-- }======

---Returns the reasons against a comparison, and those for care.
---@param runs { base: profio.WeighedRun[], new: profio.WeighedRun[] }
---@param items profio.ComparedItem[]
---@param by string
---@return string[] against
---@return string[] warnings
function comparable.reasons(runs, items, by)
   local found = { against = {}, warnings = {} }
   add_metrics(found, runs)
   add_rates(found, runs)
   add_clocks(found, runs)
   add_losses(found, runs)
   add_empty(found, runs)
   add_program(found, items, by)
   return texts_of(found.against), texts_of(found.warnings)
end

return comparable
