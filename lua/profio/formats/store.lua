--- A store of runs, read as a trace: see lua/profio/internal/store.

local call_sums = require "profio.internal.store.call_sums"
local part = require "profio.internal.store.part"
local selecting = require "profio.internal.store.selecting"

local store = {}

store.name = "store"
store.help = "stores of runs, which profio store add makes: SQLite 3, ClickHouse"
store.is_store = true
store.anonymiser = { refused = "a store has the profiles of many runs: export those that show the "
   .. "fault (profio export pprof --run COND -o run.pb STORE), and anonymise the file" }

store.options = {
   { name = "run", type = "where", help = "conditions of labels and attributes that select runs" },
   { name = "most", type = "int", help = "table runs has at most so many runs" },
   { name = "most_by", type = "text", help = "with most: which ones, the first by run or by an "
      .. "attribute with numbers; with - before it the largest; default -time" },
   { name = "note_more", type = "bool", help = "with most: a note says if there are more" },
}

local function fields_of(columns)
   local fields = {}
   for i, column in ipairs(columns) do
      fields[i] = { column.name, column.type, column.help, help = column.help }
   end
   return fields
end

store.main = "runs"

store.tables = {
   runs = fields_of(selecting.attributes),
   labels = {
      { "key", "name", "the name of a label" },
      { "value", "name", "its value" },
      { "runs", "int", "how many of the runs have it" },
   },
   cells = {
      { "run", "name", "the run, as in table runs" },
      { "metric", "name", "what is counted" },
      { "stack", "name", "the functions, outermost first, with ; between them" },
      { "function", "name", "the innermost function" },
      { "file", "name", "its source file" },
      { "line", "int", "its line" },
      { "weight", "int", "the weight of exactly this stack, in the unit of the metric" },
   },
   durations = call_sums.fields,
}

-- The profile comes from the engine; this states that it has callers.
store.profile = { table = "cells", folded = "stack", metrics = {} }

store.first = { "flat" }

function store.open(source, options)
   return part.open(source, options)
end

---Several stores are no trace: a run that is in two of them would count twice.
function store.differing()
   error("several stores are not read as one: profio store merge A B adds the runs of B to A", 0)
end

store.warnings = {
   ["store-damaged"] = "a part of the store cannot be read",
   ["store-executable-unused"] = "the executable that is given is not the program of any run",
   ["store-few-values"] = "few values or runs tell what stands out",
   ["store-more-runs"] = "profio store ls shows some of many runs",
   ["store-no-calls"] = "some of the runs have no statistics of calls",
   ["store-several-areas"] = "a function has several handles, so some of its quantiles are missing",
   ["store-several-metrics"] = "the runs have different metrics, of which rows show one",
}

-- The remedy for each of them.
store.remedies = {
   ["store-damaged"] = "add the files of its runs to a new store, or restore it from a copy; what "
      .. "is whole can be copied with profio store merge",
   ["store-several-metrics"] = "choose one with --metric, or the runs of one kind with --run",
   ["store-executable-unused"] = "none needed: the store has the names; else give the program that "
      .. "was profiled",
   ["store-few-values"] = "add more runs; profio compare compares two groups of runs",
   ["store-several-areas"] = "select the runs of one build with --run",
   ["store-more-runs"] = "--top N shows another number, --run selects runs, --output csv writes "
      .. "all",
   ["store-no-calls"] = "they were added from files without events; their profiles are complete",
}

return store
