--- Options and warnings of the format btf: traces of tasks and runnables in the Best Trace Format.
---
--- The decoder is in csrc/formats/btf/. The export of the same name is lua/profio/exports/btf.lua.

local later = require "profio.internal.later"
local task_lines = later "profio.formats.anonymising.task_lines"

local btf = {}

btf.name = "btf"
btf.help = "Best Trace Format 2.x: tasks, interrupts, runnables and signals of embedded systems"
btf.extensions = { "btf" }
btf.anonymiser = task_lines

btf.options = {
   { name = "tasks", type = "bool", default = true,
     help = "tasks are calls around their runnables, and have states" },
}

-- The end of each call is recorded, so a call that ends before those in it shows a wrong stack.
btf.records_ends = true

btf.warnings = {
   ["btf-core"] = "a task gets a core on which another one still runs: the times of both go on",
   ["btf-core-name"] = "a core's name ends in no number, or in that of another core",
   ["btf-depth"] = "more than 4,096 runnables of a task are open",
   ["btf-event"] = "the format has no such event for a target of this type",
   ["btf-instance"] = "the number of an instance is no whole number",
   ["btf-instances"] = "more than 64 instances of a task are open",
   ["btf-last-line"] = "the last line has no end, so that it may be cut off",
   ["btf-line"] = "a line is no parameter and no comment, and has too few fields for an event",
   ["btf-no-time-scale"] = "the file states no time scale",
   ["btf-open"] = "a task ends while a runnable of it is open, which ends with it",
   ["btf-order"] = "the state of a task does not allow an event: others are missing before it",
   ["btf-ps"] = "times are in picoseconds, and are rounded down to nanoseconds",
   ["btf-time"] = "the time of an event is no whole number, or is above 292 years",
   ["btf-time-falls"] = "an event is earlier than the one before it",
   ["btf-time-scale"] = "the time scale is none of the format",
   ["btf-type"] = "the format has no such type of target",
}

-- The remedy for each of them.
btf.remedies = {
   ["btf-core"] = "report it to the program that wrote the file: an event preempt is missing, and "
      .. "the sum of the load of this core's tasks is too large",
   ["btf-core-name"] = "for the load of cores, rename the cores in the file: Core_0, Core_1, ...",
   ["btf-depth"] = "look for a runnable that starts again and again and never terminates",
   ["btf-event"] = "look at the line; table entries has it, calls are computed without it",
   ["btf-instance"] = "report it to the program that wrote the file; the event is taken as one of "
      .. "the first instance that is open",
   ["btf-instances"] = "look for a task that is activated and never terminates; its last instances "
      .. "share a lane",
   ["btf-last-line"] = "if the file was copied or is being written, copy it again; the line is "
      .. "read if it has all its fields",
   ["btf-line"] = "report it to the program that wrote the file; all other lines are read",
   ["btf-no-time-scale"] = "if times are not ns, add a line such as #timescale us at the top",
   ["btf-open"] = "check whether the trace has lost events; or the program omits the ends",
   ["btf-order"] = "check whether the trace has lost events; times of this task may be wrong",
   ["btf-ps"] = "none is needed: the order of events stays",
   ["btf-time"] = "report it to the program that wrote the file; all other lines are read",
   ["btf-time-falls"] = "sort the events by time, or record again; calls are computed with the "
      .. "time as it is",
   ["btf-time-scale"] = "write one of ps, ns, us, ms and s; times are taken as ns",
   ["btf-type"] = "none is needed: table entries has the event, calls are computed without it",
}

return btf
