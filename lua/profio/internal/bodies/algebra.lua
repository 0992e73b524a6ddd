-- The methods of profiles that compute other profiles: sums, differences, selections of functions,
-- scaled and merged ones. They are loaded when one of them is called.

local counts = require "profio.internal.bodies.counts"
local flat_diff = require "profio.internal.bodies.flat_diff"
local matching = require "profio.internal.bodies.matching"
local object = require "profio.internal.bodies.profile_object"
local origin = require "profio.internal.bodies.origin"
local picks = require "profio.internal.bodies.picks"
local raise = require "profio.internal.raise"
local sampling = require "profio.internal.bodies.sampling"
local titles = require "profio.internal.bodies.titles"
local view_warnings = require "profio.internal.views.view_warnings"
local views = require "profio.internal.views"

local new, of, derived, is_profile = object.new, object.of, object.derived, object.is_one

local algebra, methods = {}, {}

algebra.methods = methods

-- Converts two bodies to the same kind: contexts stay contexts, all others become sums.
local function alike(a, b)
   local left, right = of(a), of(b)
   if left.body.kind == "contexts" and right.body.kind == "contexts" then
      return left.body, right.body
   end
   return left.body:sums(left.given), right.body:sums(right.given)
end

local function joined(a, b)
   return table.move(b, 1, #b, #a + 1, table.move(a, 1, #a, 1, {}))
end

-- Returns a new profile. If a sum was limited to the integer range, its notes say so, once.
local function noting_overflow(made)
   local state = of(made)
   if state.body:facts().overflowed
      and not table.concat(state.notes, "\n"):find(object.OVERFLOW, 1, true) then
      state.notes = joined(state.notes, { object.OVERFLOW })
   end
   return made
end

---Adds or subtracts two profiles. Sums do not know paths of more than one step, so a profile of
---sums is narrowed by narrowing its operands: `again(change)` builds it from the changed operands;
---nil: the operands are not known any more.
---@param a profio.Profile
---@param b profio.Profile
---@param sign 1|-1
---@return profio.Profile
function algebra.combine(a, b, sign)
   if not is_profile(a) or not is_profile(b) then
      error("profiles are added to and taken away from profiles; p:scale(x) multiplies", 3)
   end
   local left, right = alike(a, b)
   local made = new(left:merge(right, sign), {}, nil, joined(of(a).notes, of(b).notes))
   of(made).title, of(made).summed = titles.of_both(of(a), of(b), sign)
   of(made).compared = sign < 0 and { a, b } or nil
   of(made).origin = origin.of_both(of(a).origin, of(b).origin)
   of(made).again = function(change)
      return algebra.combine(change(a), change(b), sign)
   end
   of(made).inputs = joined(of(a).inputs, of(b).inputs)
   of(made).runs = sign > 0 and of(a).runs + of(b).runs or 1
   return noting_overflow(made)
end

-- Returns a body that can be scaled: a graph becomes sums.
local function plain_body(self)
   local state = of(self)
   return state.body.kind == "graph" and state.body:sums(state.given) or state.body
end

-- Returns the body itself if it can be grouped and pruned exactly, else its sums. A graph can,
-- unless it is gprof's or options narrow its reports.
local function exact_body(self)
   local state = of(self)
   local is_exact = state.body.kind ~= "graph"
      or not state.body:is_compat() and next(state.given) == nil
   return is_exact and state.body or plain_body(self)
end

-- Returns a metric of a profile by its name; nil: the one that views show.
local function metric_of(self, name)
   local wanted = name or of(self).body:usual()
   for _, metric in ipairs(of(self).body:metrics()) do
      if metric.name == wanted then
         return metric
      end
   end
end

-- Returns how often the samples of a metric were taken, or nil.
local function sampling_of(self, name)
   local metric = metric_of(self, name)
   return metric and sampling.of(self, metric)
end

---Returns why numbers of two profiles differ by the rates at which their samples were taken.
---@param self profio.Profile
---@param old profio.Profile
---@param metric string|nil
---@return string|nil text nil: the rates are equal, or not known
---@return boolean is_against the numbers are counts of samples, which cannot be compared
function algebra.rates_note(self, old, metric)
   return sampling.difference(sampling_of(old, metric), sampling_of(self, metric),
      titles.of(of(old)), titles.of(of(self)))
end

-- Returns the functions of a profile for flat_diff, with the samples of all its runs.
local function functions_of(self, metric, suffix)
   return matching.functions(of(self).body, object.flat_of(self), metric, suffix, of(self).divided)
end

-- Returns how many samples the new profile has for one of the old one if nothing changed; 0: this
-- is not known.
local function exposure(self, old, metric)
   local a, b = sampling_of(self, metric), sampling_of(old, metric)
   local runs = of(self).divided / of(old).divided
   if not a or not b or a.text == b.text then
      return runs
   end
   return a.rate and b.rate and runs * a.rate / b.rate or 0.0
end

---Returns two profiles that can be compared: the means of a run if they have unequal numbers of
---runs.
---@param self profio.Profile
---@param old profio.Profile
---@return profio.Profile self
---@return profio.Profile old
---@return string|nil note
function algebra.in_equal_runs(self, old)
   local a, b = of(self).runs, of(old).runs
   if a == b then
      return self, old
   end
   return self:per_run(), old:per_run(), titles.means_note(a, b)
end

---Compare with an older profile, one row for each function, the largest change first: function,
---self, self_before, change, relative, total, total_before, total_change, significance, file,
---line. The formats may differ. Functions are matched by name, and by file if a profile has the
---name in several files. Profiles of unequal numbers of runs are compared by the means of a run,
---and a note in view.warnings says so; another one says that the samples were taken at two rates.
---The significance is missing if one of them has no samples, since the precision of its times is
---unknown.
---@param old profio.Profile
---@param metric string|nil
---@return profio.View
function methods:diff(old, metric)
   if not is_profile(old) then
      error("diff expects a profile, got " .. type(old), 2)
   end
   local pin = { self, old }
   return views.over(function()
      local mean, before, note = algebra.in_equal_runs(self, old)
      local rates = algebra.rates_note(mean, before, metric)
      for code, text in pairs { ["diff-means"] = note, ["diff-rates"] = rates } do
         view_warnings.note(pin, code, text)
      end
      local functions, unit = functions_of(mean, metric, "")
      local mine, theirs = matching.align(functions, functions_of(before, metric, " before"), true)
      return flat_diff.reader(assert(mine:merge(theirs)), unit, exposure(mean, before, metric))
   end, pin)
end

-- Multiplies all weights by a factor, or by factor / whole. Raises if a product needs more than 64
-- bits; a profile whose sums are limited to the integer range already stays so.
local function scaled(self, ...)
   local ratio, before = table.pack(...), plain_body(self)
   local body = before:scale(...)
   if body:facts().overflowed and not before:facts().overflowed then
      error(("weights times %s are more than 64 bits hold"):format(table.concat(ratio, "/")), 0)
   end
   local made = derived(self, body, of(self).given)
   of(made).again = function(change)
      return scaled(change(self), table.unpack(ratio, 1, ratio.n))
   end
   return noting_overflow(made)
end

---Multiply all weights. They stay integers; the sum of each metric is the rounded product. Raises
---if a product needs more than 64 bits.
---@param factor number finite
---@return profio.Profile
function methods:scale(factor)
   if type(factor) ~= "number" then
      error("scale expects a number, got " .. type(factor), 2)
   end
   if factor - factor ~= 0 then
      error("scale expects a finite number, got " .. factor, 2)
   end
   return scaled(self, factor)
end

---Divide all weights by the number of runs that the profile is the sum of: the files of its trace,
---or the runs of a store.
---@return profio.Profile
function methods:per_run()
   local runs = of(self).runs
   if runs == 1 then
      return self
   end
   local made = scaled(self, 1, runs)
   of(made).runs, of(made).divided = 1, runs
   return made
end

---Scale so that the total of a metric equals that of another profile, or a number. This makes runs
---of different length comparable.
---@param to profio.Profile|number
---@param metric string|nil default: the metric that views show
---@return profio.Profile
function methods:normalise(to, metric)
   local wanted = is_profile(to) and counts.whole(of(to).body, metric) or to
   if type(wanted) ~= "number" or wanted - wanted ~= 0 then
      error("normalise expects a profile or a finite number", 2)
   end
   local whole = counts.whole(of(self).body, metric)
   if whole == 0 then
      error("normalise: the whole of this profile is 0", 2)
   end
   if math.type(wanted) ~= "integer" then
      return self:scale(wanted / whole)
   elseif whole < 0 then
      wanted, whole = -wanted, -whole
   end
   return scaled(self, wanted, whole)
end

local NO_CALLERS <const> = "this profile does not know who called whom: narrow and prune those "
   .. "from which it was made, without gprof's numbers"

-- Narrows a profile to what the functions that a test chooses leave; the body applies that to its
-- shape. A profile of sums is built again from the narrowed profiles of which it is the sum.
local function narrowed(self, narrowing, is_wanted)
   local state = of(self)
   if state.body.narrow then
      local chosen = picks.chosen(state.body:frames(), is_wanted)
      local body, given = state.body:narrow(narrowing, chosen, state.given)
      return derived(self, body, given, state.pin)
   elseif not state.again then
      error(NO_CALLERS, 3)
   end
   return state.again(function(part)
      return narrowed(part, narrowing, is_wanted)
   end):with(state.given)
end

local function method_of(narrowing)
   return function(self, wanted)
      return narrowed(self, narrowing, picks.of(wanted))
   end
end

---Only the cost of these functions and of all that they call.
---@type fun(self: profio.Profile, wanted: profio.Pick): profio.Profile
methods.focus = method_of "focus"
---Leaves out all stacks with these functions (in a graph: the functions and their share of
---callees).
---@type fun(self: profio.Profile, wanted: profio.Pick): profio.Profile
methods.ignore = method_of "ignore"
---Charges the cost of these functions to their callers. A function without a caller keeps its self
---cost.
---@type fun(self: profio.Profile, wanted: profio.Pick): profio.Profile
methods.hide = method_of "hide"

---Merge functions: by "file", or by the names that a function returns for frames (nil: unchanged).
---@param by "file"|fun(frame: { function: string, file: string|nil, line: integer|nil }): string
---@return profio.Profile
function methods:group(by)
   if by ~= "file" and type(by) ~= "function" then
      error('group expects "file" or a function of a frame', 2)
   end
   if of(self).body.kind == "sums" and of(self).again then
      return of(self).again(function(part)
         return part:group(by)
      end):with(of(self).given)
   end
   local body = exact_body(self)
   return derived(self, body:rename(picks.groups(body:frames(), by)), of(self).given)
end

-- Returns the test of functions whose total is below a share of the whole, for frames of a profile
-- and of its operands. Functions of one name (and file, if both are known) count as small if the
-- totals of all of them are.
local function small_ones(self, share, metric)
   local is_small, body = {}, of(self).body
   local least = share * math.abs(counts.whole(body, metric) + 0.0)
   for _, row in ipairs(views.over(function()
      return body:flat { metric = metric, zeros = true }
   end):rows("function", "file", "total")) do
      local is_below = math.abs(row.total + 0.0) < least
      local name = row["function"]
      for _, key in ipairs { name, row.file and name .. "\0" .. row.file } do
         is_small[key] = is_small[key] ~= false and is_below
      end
   end
   return function(frame)
      local name = frame["function"]
      local by_file = frame.file and is_small[name .. "\0" .. frame.file]
      return by_file == nil and is_small[name] or by_file
   end
end

---Merge contexts whose total is below a share of the whole into their callers; in profiles of
---functions and arcs, the functions.
---@param share number 0.01 is one per cent
---@param metric string|nil
---@return profio.Profile
function methods:prune(share, metric)
   if type(share) ~= "number" or not (share >= 0 and share <= 1) then
      error(("prune: the share must be a number from 0 to 1, got %s"):format(tostring(share)), 0)
   end
   raise.expect(metric, "string?", "prune: the metric")
   local body, given = of(self).body, of(self).given
   metric = metric or given.metric
   if body.kind == "contexts" then
      return derived(self, body:prune(share, metric), given)
   end
   if body.kind == "graph" and body:is_compat() then
      error(NO_CALLERS, 0)
   end
   return narrowed(self, "hide", small_ones(self, share, metric))
end

raise.publish_methods(methods, "profile", is_profile)

return algebra
