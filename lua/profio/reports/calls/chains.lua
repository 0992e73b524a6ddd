-- The instances of event chains, one row each.

local calls = require "profio.reports.calls.calls"
local chains_of = require "profio.internal.calls.event_chains"
local conditions = require "profio.internal.conditions"
local span = require "profio.internal.command.selection"
local text_file = require "profio.internal.command.text_file"
local traces = require "profio.internal.trace"

local chains = {
   name = "chains",
   help = "every instance of the chains of --chain: start, stop, duration",
   uses = { "span of events", "chain" },
   needs = { "chain", "--chain 'A leave -> B enter <= 5ms', or --chain @FILE" },
   columns = {
      { name = "chain", help = "the chain" },
      { name = "start", help = "time of the stimulus" },
      { name = "stop", help = "time of the response; missing: there is none" },
      { name = "duration", help = "stop - start, in ns" },
      { name = "waited", help = "the same, or how long the response was awaited, in ns" },
      { name = "lane", help = "the lane of the stimulus" },
      { name = "bound", help = "the longest duration that is allowed, in ns" },
      { name = "late", help = "1: it is longer, 0: it is not; missing: no bound" },
      { name = "overlaps", help = "earlier stimuli that had no response when it began" },
      { name = "lost", help = "of an age: stimuli lost since the response before" },
      { name = "longest_at", help = "start of the longest one of the chain so far" },
      { name = "flags", help = "open gap unfollowed: why there is no response" },
   },
}

chains.fits = calls.fits

---Returns the options of trace:chains: the chains of --chain, from and to. A text @FILE stands for
---the lines of a file.
---@param context profio.Context
---@return table
function chains.options_of(context)
   local given = context.given
   local options = chains_of.of(text_file.texts(given.chain))
   options.from, options.to = span.of(context.trace, given)
   return options
end

---Notes which steps of chains never happen.
---@param context profio.Context
---@param options table of trace:chains
function chains.note_unmet(context, options)
   for _, text in ipairs(chains_of.unmet(context.trace, traces.of(context.trace), options)) do
      context:note("note: " .. text)
   end
end

---@param context profio.Context
---@return userdata
function chains.reader(context)
   local options = chains.options_of(context)
   local rows = context.trace:chains(options)
   if rows:where { stop = conditions.no(conditions.missing) }:limit(1):count() == 0 then
      chains.note_unmet(context, options)
   end
   return span.in_lane(rows, context.given):reader()
end

---Returns the columns of a text: with the times of the events between.
---@param context profio.Context
---@return string[]
function chains.listed(context)
   local names = { "chain", "start" }
   for _, name in ipairs(context.trace:chains(chains.options_of(context)).columns) do
      names[#names + 1] = name:find "^event_" and name or nil
   end
   return table.move({ "stop", "duration", "lane", "late", "overlaps", "lost", "flags" }, 1, 7,
      #names + 1, names)
end

return chains
