-- Best Trace Format 2.2: the exchange format of timing tools for embedded systems.
--
-- Lanes are tasks, functions runnables, variables signals. csrc/kernels/btf/ computes the events by
-- the rules of the format; this file writes the header and the lines.

local core = require "profio.core"
local lanes = require "profio.exports.lanes"
local patterns = require "profio.internal.patterns"
local plain = require "profio.internal.plain"

local btf = {
   name = "btf",
   help = "Best Trace Format 2.2: tasks, runnables and signals over time",
   takes = "trace",
   options = lanes.with_options {
      { name = "close", type = "bool", default = false,
        help = "end the tasks and functions that are open at the end" },
      { name = "lines", type = "bool", default = false,
        help = "lines of functions are runnables too" },
      { name = "stimuli", type = "bool", default = true,
        help = "activate tasks by stimuli STI_<task> before they start" },
      { name = "activations", type = "bool", default = false,
        help = "a task ends when its outermost function returns, and is activated anew by what " ..
           "follows: for traces of all functions" },
      { name = "interrupts", type = "text",
        help = "a Lua pattern: lanes in whose name it is found are interrupts, not tasks" },
   },
}

btf.fits = lanes.fits

local header = [[
#version 2.2.1
#creator profio %s
#timescale ns
# from %s; times are those of the trace minus %d ns
# in names %%XX is the byte XX, and %%:N at the end tells things of one name apart
]]

local line = "{time},{source},{source_instance},{type},{target},{target_instance},{event}"

local templates = {
   event = line .. "\n",
   write = line .. ",{note}\n",
   number = line .. ",{number}\n",
   comment = "# {source}\n",
}

-- Returns the lanes whose name matches a pattern.
local function lanes_like(events, text)
   local pattern, problem = patterns.of(text)
   local list = {}
   if not pattern then
      error("interrupts: " .. problem, 0)
   end
   for lane in events:group("lane"):each "lane" do
      if lane and pattern:find(tostring(lane)) then
         list[#list + 1] = tostring(lane)
      end
   end
   return list
end

-- Returns the losses as comments.
local function damage_of(trace)
   local list = {}
   for i, words in ipairs(trace:losses()) do
      list[i] = "# damaged: " .. plain(words) .. "\n"
   end
   return table.concat(list)
end

---@param trace profio.Trace
---@param options table see btf.options
---@param file file*
---@return integer|nil
---@return string|nil message
---@return string|nil code
---@return string|nil broken "EPIPE" if the pipe was closed by its reader
function btf.write(trace, options, file)
   local events = trace:table "events"
   events = lanes.narrow(options.to and events:range(nil, options.to) or events, options)
   local base = events:aggregate { "first = min(time)" }:rows()[1].first or 0
   base = math.max(base, options.from or base)
   local interrupts = options.interrupts and lanes_like(events, options.interrupts)
   local ok, _, number = file:write(header:format(core.version, plain(trace.path), base),
      damage_of(trace))
   if not ok then
      return core.write_failure(file, number)
   end
   local rows = core.btf(events:reader(), { base = base, from = options.from,
      close = options.close, lines = options.lines, stimuli = options.stimuli ~= false,
      activations = options.activations, interrupts = interrupts })
   return core.write_listing(rows, { kind = "kind", templates = templates }, file)
end

return btf
