-- Parts of a profile for reports, exports and stores. They are functions, not methods, so a profile
-- does not offer them to scripts.

local later = require "profio.internal.later"
local contexts_body = later "profio.internal.bodies.contexts_body"
local object = require "profio.internal.bodies.profile_object"
local titles = require "profio.internal.bodies.titles"

local profile_parts = {}

local of = object.of

---Returns totals and properties, computed with options of reports.
---@param profile profio.Profile
---@param more table|nil
---@return table<string, any>
function profile_parts.facts(profile, more)
   local state = of(profile)
   return state.body:facts(object.merged(state.given, more, "facts"))
end

---Returns the object of the core, for reports and exports; nil for a profile of sums.
---@param profile profio.Profile
---@return userdata|nil
function profile_parts.handle(profile)
   return of(profile).body.core
end

---Returns the name of a profile in exports: the path of its trace; a sum has up to three, or the
---first of many.
---@param profile profio.Profile
---@return string
function profile_parts.title(profile)
   return titles.of(of(profile))
end

---Returns the header fields of the profile's files, for export pprof: a list with those of each
---file, and the executable as a mapping.
---@param profile profio.Profile
---@return { heads: table[], mapping: table|nil }
function profile_parts.origin(profile)
   return of(profile).origin or { heads = {} }
end

---Returns the new and the old profile of a difference, else nil.
---@param profile profio.Profile
---@return profio.Profile|nil new
---@return profio.Profile|nil old
function profile_parts.compared(profile)
   local both = of(profile).compared or {}
   return both[1], both[2]
end

---Returns the functions and arcs of a profile as sums, for exports; see sums_body.lua.
---@param profile profio.Profile
---@return profio.core.Contexts functions
---@return profio.core.Contexts arcs
function profile_parts.sums(profile)
   local state = of(profile)
   return state.body:sums(state.given):both()
end

---Returns the calling contexts of a profile, for exports: those it has, or one of one frame for
---each function.
---@param profile profio.Profile
---@return profio.core.Contexts
function profile_parts.contexts(profile)
   local state = of(profile)
   if state.body.kind == "contexts" then
      return state.body.core
   end
   return contexts_body.of_functions(state.body:metrics(), object.flat_of(profile))
end

return profile_parts
