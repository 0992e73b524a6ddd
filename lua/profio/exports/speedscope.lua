-- speedscope: a timeline of calls as evented profiles, one for each lane; any other trace as a
-- sampled profile. What was lost stands in the name, which the viewer shows, and whole in what it
-- was exported by.

local core = require "profio.core"
local lanes = require "profio.exports.lanes"

local speedscope = {
   name = "speedscope",
   help = "a timeline, or a profile, for speedscope",
   takes = "trace",
   weighs_profile = true,
   options = lanes.with_options {
      { name = "metric", type = "text", help = "of a profile: only time, samples, ...; else all" },
      { name = "name", type = "text", help = "what the viewer calls it" },
      { name = "lines", type = "bool", default = false,
        help = "of a timeline: source lines inside their functions too" },
   },
}

---@param trace profio.Trace
function speedscope.fits(trace)
   return trace.events ~= nil or trace:profile_kind() ~= nil, "it has neither events nor a profile"
end

local function exporter(notes)
   return table.concat(table.move(notes, 1, #notes, 2, { "profio " .. core.version }), "; ")
end

-- {====== Timelines ======

local head = '{"$schema":"https://www.speedscope.app/file-format-schema.json",\n' ..
   '"exporter":%s,"name":%s,"activeProfileIndex":0,\n"profiles":['

local lane_head = '%s\n{"type":"evented","name":%s,"unit":"nanoseconds","startValue":0,' ..
   '"endValue":%d,"events":[\n{"type":"O","frame":0,"at":0}'

local templates = {
   open = ',\n{{"type":"O","frame":{frame},"at":{time}}',
   close = ',\n{{"type":"C","frame":{frame},"at":{time}}',
}

---@param trace profio.Trace
---@param given table
---@param file file*
local function write_timeline(trace, given, file)
   local spans, list, first, length = lanes.spans(trace, given)
   if not spans then
      return nil, list, first
   end
   local out = lanes.out(file)
   local losses = trace:losses()
   out:write(head:format(lanes.json(exporter(losses)),
      lanes.json((given.name or trace.path) .. lanes.damage(losses))))
   for number, lane in ipairs(list) do
      out:write(lane_head:format(number > 1 and "," or "", lanes.json(lane.title), length))
      out:listing(spans:reader(lane.number, first), { kind = "kind", templates = templates })
      out:write((',\n{"type":"C","frame":0,"at":%d}]}'):format(length))
   end
   out:write('\n],\n"shared":{"frames":[\n{"name":', lanes.json(trace.path), "}")
   out:listing(spans:frames(), ',\n{{"name":{area:json}}')
   out:write "\n]}}\n"
   return out:result()
end

-- }======

---Write a profile, sampled: one for each metric.
---@param profile profio.Profile
---@param given table
---@param file file*
function speedscope.write_profile(profile, given, file)
   local notes = profile:notes()
   return core.write_speedscope(profile:contexts(), { metric = given.metric,
      name = (given.name or profile:title()) .. lanes.damage(notes), exporter = exporter(notes) },
      file)
end

---@param trace profio.Trace
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function speedscope.write(trace, given, file)
   if lanes.fits(trace) then
      return write_timeline(trace, given, file)
   end
   local made, message, code = lanes.profile(trace, given)
   if not made then
      return nil, message, code
   end
   return speedscope.write_profile(made, given, file)
end

return speedscope
