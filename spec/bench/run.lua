-- The bench: `make bench`, or `make bench CASES="loops executable"`. Prints the
-- times of profio, gprof and plain C loops in the same run on the same machine,
-- and their ratios, without judging them.

local against_calls = require "spec.bench.against_calls"
local against_counts = require "spec.bench.against_counts"
local against_databases = require "spec.bench.against_databases"
local against_dbf = require "spec.bench.against_dbf"
local against_gprof = require "spec.bench.against_gprof"
local against_hooks = require "spec.bench.against_hooks"
local against_loops = require "spec.bench.against_loops"
local against_many = require "spec.bench.against_many"
local against_readers = require "spec.bench.against_readers"
local against_spans = require "spec.bench.against_spans"
local against_stores = require "spec.bench.against_stores"
local against_timelines = require "spec.bench.against_timelines"
local against_pages = require "spec.bench.against_pages"
local against_viewers = require "spec.bench.against_viewers"
local false_alarms = require "spec.bench.false_alarms"
local recorded_times = require "spec.bench.recorded_times"

local cases = {
   { "loops", against_loops.loops },
   { "counts", against_counts.counts },
   { "timeline", against_timelines.timeline },
   { "text1", against_timelines.text1 },
   { "spans", against_spans.spans },
   { "readers", against_readers.readers },
   { "record", against_stores.record },
   { "recorder", against_hooks.recorder },
   { "times", recorded_times.times },
   { "calls", against_calls.calls },
   { "xbase", against_dbf.xbase },
   { "exports", against_viewers.exports },
   { "merge", against_viewers.merge },
   { "page", against_pages.page },
   { "executable", against_gprof.executable },
   { "symbols", against_gprof.symbols },
   { "shapes", against_gprof.shapes },
   { "files", against_many.files },
   { "store", against_databases.store },
   { "inference", false_alarms.inference },
}

local function is_wanted(name)
   for _, word in ipairs(arg) do
      if word == name then
         return true
      end
   end
   return #arg == 0
end

for _, case in ipairs(cases) do
   local name, run = case[1], case[2]
   if is_wanted(name) then
      run()
   end
end
