-- The options of the command, declared once for the flat form (`profio [options] FILE...`) and for
-- the verbs, which name those that they accept.

local exports = require "profio.internal.exporting.export_list"

local declarations = {}

---Declaration of an option of the command: { name, argument or false, help, many = it may be
---repeated, list = all words up to the next option with a list are its values, also = further
---names }.
---@class profio.CommandOption
---@field [1] string
---@field [2] string|false
---@field [3] string
---@field many boolean|nil
---@field list boolean|nil
---@field also string|nil

-- { title, option ... } in the order of --help.
local groups = {
   { "What to show (default: what the format's own tool prints first)",
      { "--info", false, "format, tables, columns, counts, warnings" },
      { "--report", "NAME", "a report; --list-reports names them" },
      { "--unused", false, "gprof: the functions that were never called, as --report unused" },
      { "--list-reports", false, "the reports that fit the files" },
      { "--table", "NAME", "the rows of a table" },
      { "--limits", "FILE", "compare with limits, lines 'area gross_max <= 1.5ms', also of --diff: "
         .. "'<= base * 1.05'" },
      { "--chain", "TEXT", "event chains: 'A leave -> B enter <= 5ms', or @FILE with one in a "
         .. "line; --report chains lists all", many = true },
      { "--failed", false, "with --limits: show only limits that are exceeded or have no value" },
      { "--check", false, "read the whole file and list all violations of the format" },
   },
   { "Which rows",
      { "--unfilter", false, "entries with all operations of a call as enters and leaves" },
      { "--columns", "A,B", "only these columns, in this order" },
      { "--where", "COND",
         "col=val  col=a,b  col~pattern  col=lo..hi  col!=val  col>=val  col<val; "
         .. "all must hold",
         many = true },
      { "--from", "T", "a range of time: from 1.5ms, 2s, a number in --unit, 50% of the trace on" },
      { "--to", "T", "only before this time; calls are cut there and flagged so" },
      { "--lane", "N", "only this thread, core or context (several separated by commas)" },
      { "--group", "A,B", "group rows that have equal values in these columns" },
      { "--aggregate", "LIST", "columns computed for each group: n=count,t=sum(net)" },
      { "--sort", "A,-B", "order by columns, - for descending" },
      { "--top", "N", "only the first N rows" },
      { "--keep", "P", "DCPI: only the first rows with P per cent of the samples" },
   },
   { "How it looks",
      { "--output", "FORM", "text, csv, tsv, json or ndjson" },
      { "--unit", "UNIT", "unit of times in text: ns, us, ms or s" },
      { "--wide", false, "all columns and whole names, if lines are longer than the terminal" },
      { "--explain", false, "describe the columns" },
      { "--export", "KIND", "for another program: " .. exports.names() },
      { "-o", "OUT", "write into this file; with status 1 or 2 an older file stays unchanged" },
   },
   { "The profile",
      { "--metric", "NAME", "metric of self and total in flat; for statistics: net, gross, ..." },
      { "--focus", "P", "only the cost of these functions and their callees", many = true },
      { "--ignore", "P", "leave out functions, or calls along FROM/TO", many = true },
      { "--hide", "P", "charge the cost of functions to their callers", many = true },
      { "--compat", "NAME", "gprof: use its arithmetic, order and omissions" },
   },
   { "Comparing",
      { "--diff", "FILE", "compare: how much more (positive) or less FILE... cost than this run",
         many = true },
      { "--diff-exe", "PROGRAM", "the executable of the older runs; default: that of FILE..." },
      { "--diff-symbols", "NM_TEXT", "output of nm for the older runs" },
      { "--diff-mapping", "FILE", "names of the handles of the older runs; default: --mapping" },
      { "--diff-run", "COND", "the older runs in a store, as --run; default: --run", many = true },
      { "--diff-load-bias", "N", "--load-bias of the older runs" },
   },
   { "The program",
      { "--exe", "PROGRAM", "executable with names; an ELF file among the FILEs is one too" },
      { "--symbols", "NM_TEXT", "output of nm, instead of an executable" },
      { "--load-bias", "N", "run-time addresses minus those of --exe or --symbols" },
      { "--source", "DIR", "folder of source files, for annotate, hotlines, html; Xbase++: *.prg",
         many = true },
   },
   { "The files",
      { "--format", "NAME", "the format; --list-formats names them" },
      { "--set", "NAME=VALUE", "an option of the format, the report or the export", many = true },
      { "--mapping", "FILE", "names of the handles of a binary timeline" },
      { "--run", "COND", "of a store: only runs with this label, version=v2, or attribute, in the "
         .. "form of --where; all must hold", many = true },
      { "--trust-paths", false, "also read sources that a trace names outside of --source and this "
         .. "folder, or of more than 16 MiB, and files beside a trace that are links elsewhere" },
      { "--strict", false, "stop at the first warning" },
      { "--follow", false, "as the file grows: show rows as they come, or --report each second" },
      { "--merge", false, "write all FILEs as one, summed: -o OUT, standard output, DIR/ (DCPI)" },
      { "--list-formats", false, "formats, options and warnings; options of exports and reports" },
   },
   { "Scripts",
      { "--script", "LUA", "run a script with the trace; words after -- are its arguments" },
      { "--load", "LUA", "run a Lua file first, which may call profio.register", many = true },
      { "--new-script", false, "write a script as a starting point" },
   },
   { "Other options",
      { "--progress", false, "show a progress bar even if standard error is no terminal" },
      { "--no-progress", false, "no progress bar" },
      { "--version", false, "the version", also = "-v -V" },
      { "--help", false, "this page", also = "-h" },
   },
}

---The groups of options, in the order of --help: { title, option ... }.
declarations.groups = groups

-- By name: the option.
local by_name = {}

for _, group in ipairs(groups) do
   for i = 2, #group do
      by_name[group[i][1]] = group[i]
   end
end

---Calls a function for each option, in the order of --help.
---@param f fun(option: profio.CommandOption)
function declarations.each(f)
   for _, group in ipairs(groups) do
      for i = 2, #group do
         f(group[i])
      end
   end
end

---Returns the option of a name such as "--report", or nil.
---@param name string
---@return profio.CommandOption|nil
function declarations.find(name)
   return by_name[name]
end

---Returns the key of an option in the parsed command line: --list-reports is list_reports, -o is
---out.
---@param name string
---@return string
function declarations.key_of(name)
   return name == "-o" and "out" or (name:gsub("^%-+", ""):gsub("-", "_"))
end

---Returns the keys of all options, in the order of --help.
---@return string[]
function declarations.keys()
   local keys = {}
   declarations.each(function(option)
      keys[#keys + 1] = declarations.key_of(option[1])
   end)
   return keys
end

return declarations
