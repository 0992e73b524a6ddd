-- The object of a profile, for the modules that define its methods (profile_methods.lua and
-- algebra.lua) and its parts for other files of profio (profile_parts.lua).

local options = require "profio.internal.options"

local object = {}

---@class profio.Profile
---@field facts table<string, any> totals and properties: metrics, samples, rate, functions, ...
local Profile = { __name = "profio.profile" }

object.Profile = Profile

object.OVERFLOW = "weights add up to more than 64 bits hold: the profile has the largest whole "
   .. "number in place of the sum"

---Returns a new profile. `runs` of its state is the number of runs that it is the sum of, and
---`divided` the number by which per_run has divided its weights.
---@param body table see internal/bodies/README.md
---@param given table options of reports
---@param pin any a value that must live as long as the body
---@param notes string[]|nil losses of the traces
---@return profio.Profile
function object.new(body, given, pin, notes)
   return setmetatable({ [object] = { body = body, given = given, pin = pin,
      notes = notes or {}, inputs = {}, runs = 1, divided = 1 } }, Profile)
end

---Returns the state of a profile.
---@param self profio.Profile
---@return table
local function of(self)
   return rawget(self, object)
end

object.of = of

---@param value any
---@return boolean
function object.is_one(value)
   return type(value) == "table" and rawget(value, object) ~= nil
end

---Builds a profile from another one, with the same title, header fields, inputs, losses and runs.
---@param self profio.Profile
---@param body table
---@param given table options of reports
---@param pin any
---@return profio.Profile
function object.derived(self, body, given, pin)
   local state = of(self)
   local made = object.new(body, given, pin, state.notes)
   of(made).title, of(made).inputs, of(made).origin = state.title, state.inputs, state.origin
   of(made).runs, of(made).divided = state.runs, state.divided
   return made
end

-- Options of reports, which views and profile:with take; `with` also takes those of bottom_up.
local of_reports = {
   { name = "metric", type = "text", help = "the metric of self and total" },
   { name = "zeros", type = "bool", default = false, help = "also functions without cost" },
}

for _, name in ipairs { "include_flat", "exclude_flat", "include_graph", "exclude_graph",
   "include_time", "exclude_time" } do
   of_reports[#of_reports + 1] = { name = name, type = "list",
      help = "of functions and arcs: names or ids of functions" }
end

local of_bottom_up = table.move(of_reports, 1, #of_reports, 1, {})
of_bottom_up[#of_bottom_up + 1] = { name = "depth", type = "int", help = "levels of callers" }

---Returns the options of reports. Given options (`more`) override those that were set by
---profile:with (`given`). Raises for unknown options, and for values of the wrong type.
---@param given table
---@param more table|nil
---@param owner string the method that takes `more`: "flat"
---@return table
function object.merged(given, more, owner)
   local result = {}
   local declared = (owner == "bottom_up" or owner == "with") and of_bottom_up or of_reports
   for _, some in ipairs { given, options.check(declared, more or {}, owner) } do
      for name, value in pairs(some) do
         result[name] = value
      end
   end
   return result
end

---Returns a function that returns the view `flat` of a metric, with functions without cost.
---@param self profio.Profile
---@return fun(metric: string|nil): userdata
function object.flat_of(self)
   return function(metric)
      return of(self).body:flat(object.merged(of(self).given, { metric = metric, zeros = true },
         "flat"))
   end
end

return object
