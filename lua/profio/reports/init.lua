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
--    also      another name for it; nil: none
--    listed    function(context): the columns in order, if they differ from file to file
--    shown     the columns of the aligned table in text, in order; nil: columns
--    compares  true: it needs --diff
--    narrows   true: the text respects --where and --top; else these give a table
--    options   its options for --set (profio.Option in internal/options.lua); nil: none
--    uses      options that it uses beside those of all rows: see profio.cli.conflicts; others are
--              refused
--    unit      default unit of times in an aligned table; nil: ns
-- The context has the open trace, the options of the command line, and profile().

local reports = {}

-- In the order of --list-reports.
local order = {
   "gprof.flat",
   "gprof.graph",
   "tree",
   "bottom-up",
   "gprof.lines",
   "gprof.annotate",
   "gprof.blocks",
   "info",
   "gprof.compare",
   "diff",
   "br.listing",
   "calls.statistics",
   "calls.calls",
   "calls.histogram",
   "calls.states",
   "calls.load",
   "calls.verify",
   "br.raw",
   "br.hotlines",
   "br.hotfunctions",
   "rows",
   "dcpi.dcpiprof",
   "dcpi.dcpitopcounts",
   "dcpi.dcpicat",
   "dcpi.dcpistats",
   "dcpi.dcpidiff",
   "dcpi.epochs",
   "xpp.xpppat",
   "xpp.entries",
   "xpp.flow",
   "calls.hotspots",
   "xpp.overhead",
   "xpp.unclosed",
}

local by_name = {}

local function check(report, name)
   assert(report.name == name, "profio.reports." .. name .. " has another name")
   assert(type(report.help) == "string", name .. " has no help")
   assert(type(report.fits) == "function", name .. " does not say what it fits")
   assert(type(report.reader) == "function", name .. " has no reader")
   assert(report.text == nil or type(report.text) == "function", name .. " has an invalid text")
   assert(#report.columns > 0, name .. " has no columns")
   for _, column in ipairs(report.columns) do
      assert(type(column.name) == "string" and type(column.help) == "string",
         name .. " has an undescribed column")
   end
end

-- The file of each report of the list, and the names in order.
local file_of, names = {}, {}
for i, file in ipairs(order) do
   names[i] = file:match "[^.]+$"
   file_of[names[i]] = file
end

-- Loads a report of the list on demand: a command needs one or two.
local function load(name)
   local report = require("profio.reports." .. file_of[name])
   if by_name[name] then
      return report
   end
   check(report, name)
   by_name[name] = report
   if report.also then
      assert(not by_name[report.also] and not file_of[report.also],
         name .. " takes the word of another report")
      by_name[report.also] = report
   end
   return report
end

---Returns all reports in order.
---@return table[]
function reports.all()
   local list = {}
   for i, name in ipairs(names) do
      list[i] = load(name)
   end
   return list
end

---Returns the report of a name, or nil.
---@param name string
---@return table|nil
function reports.find(name)
   if file_of[name] then
      return load(name)
   end
   reports.all() -- loads their other names
   return by_name[name]
end

---Returns the report of a name; raises if there is none.
---@param name string
---@return table
function reports.named(name)
   return reports.find(name) or error(("no report '%s'; there are: %s"):format(tostring(name),
      table.concat(names, ", ")), 0)
end

return reports
