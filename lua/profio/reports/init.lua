-- The reports of profiles and traces. To add one, add a file to a folder and both names to this
-- list.
--
-- A report is a table:
--    name      its name on the command line
--    help      one line
--    columns   { { name =, help = }, ... } that scripts may rely on, in order
--    fits      function(trace): true, or false and a reason
--    reader    function(context): a reader of the core with (at least) those columns, or nil,
--              message, code
--    text      function(context, out): writes it as the vendor's tool does; nil: an aligned table
--    text_fits function(context): whether that text suits this profile; nil: always
--    any_columns  true: all columns of the file are shown too
--    listed    function(context): the columns in order, if they differ from file to file
--    shown     the columns of the aligned table in text, in order; nil: columns
--    compares  true: it needs --diff
--    needs     the key of a repeatable option that it needs, and an example of it; nil: none
--    narrows   true: the text respects --where and --top; else these give a table
--    options   its options for --set (profio.Option in internal/options.lua); nil: none
--    uses      options that it uses beside those of all rows: see profio.cli.conflicts; others are
--              refused
--    names     what it does with the names of addresses: see profio.cli.conflicts; nil: shows them
--    unit      default unit of times in an aligned table, or a function(trace) of it; nil: ns
-- The context has the open trace, the options of the command line, and profile().

local catalogue = require "profio.internal.catalogue"

-- In the order of --list-reports.
local order = {
   "gprof.flat",
   "gprof.graph",
   "tree",
   "bottom-up",
   "gprof.lines",
   "gprof.annotate",
   "gprof.blocks",
   "gprof.unused",
   "info",
   "tables",
   "gprof.compare",
   "diff",
   "br.listing",
   "calls.statistics",
   "calls.calls",
   "calls.chain-statistics",
   "calls.chains",
   "calls.tasks",
   "calls.jobs",
   "calls.histogram",
   "calls.states",
   "calls.load",
   "calls.verify",
   "explain",
   "br.raw",
   "br.hotlines",
   "br.hotfunctions",
   "rows",
   "dcpi.dcpiprof",
   "dcpi.dcpitopcounts",
   "dcpi.dcpicat",
   "dcpi.dcpistats",
   "dcpi.dcpidiff",
   "dcpi.dcpilist",
   "dcpi.epochs",
   "xpp.xpppat",
   "xpp.entries",
   "xpp.flow",
   "calls.hotspots",
   "xpp.overhead",
   "xpp.unclosed",
   "store.trend",
   "store.top",
}

-- Names of reports without the prefix of DCPI's programs.
local aliases = { cat = "dcpicat", prof = "dcpiprof", stats = "dcpistats",
   topcounts = "dcpitopcounts" }

return catalogue.list("report", order, aliases, function(report)
   local name = report.name
   assert(type(report.fits) == "function", name .. " does not say what it fits")
   assert(type(report.reader) == "function", name .. " has no reader")
   assert(report.text == nil or type(report.text) == "function", name .. " has an invalid text")
   assert(#report.columns > 0, name .. " has no columns")
   for _, column in ipairs(report.columns) do
      assert(type(column.name) == "string" and type(column.help) == "string",
         name .. " has an undescribed column")
   end
end)
