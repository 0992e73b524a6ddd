-- Declares the options of the command and parses them with argparse.

local exports = require "profio.exports"

local options = {}

-- { group, { name, argument or false, help, many = may be repeated } ... } in the order of --help.
local groups = {
   { "What to show (default: what the format's own tool prints first)",
      { "--info", false, "format, tables, columns, counts, warnings" },
      { "--report", "NAME", "a report; --list-reports names them" },
      { "--list-reports", false, "the reports that fit the files" },
      { "--table", "NAME", "the rows of a table" },
      { "--limits", "FILE", "compare with limits, lines 'area gross_max <= 1.5ms'" },
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
      { "--from", "T", "only from this time on: 1.5ms, 2s, a number in --unit, 10% of the trace" },
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
      { "--diff", "FILE", "how much more (positive) or less FILE... cost than this older run",
         many = true },
      { "--diff-exe", "PROGRAM", "the executable of the older runs; default: that of FILE..." },
      { "--diff-symbols", "NM_TEXT", "output of nm for the older runs" },
      { "--diff-mapping", "FILE", "names of the handles of the older runs; default: --mapping" },
      { "--diff-load-bias", "N", "--load-bias of the older runs" },
   },
   { "The program",
      { "--exe", "PROGRAM", "executable with names; an ELF file among the FILEs is one too" },
      { "--symbols", "NM_TEXT", "output of nm, instead of an executable" },
      { "--load-bias", "N", "run-time addresses minus addresses in the executable" },
      { "--source", "DIR", "folder of source files, for annotate", many = true },
   },
   { "The files",
      { "--format", "NAME", "the format; --list-formats names them" },
      { "--set", "NAME=VALUE", "an option of the format, the report or the export", many = true },
      { "--mapping", "FILE", "names of the handles of a binary timeline" },
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

local function each_option(f)
   for _, group in ipairs(groups) do
      for i = 2, #group do
         f(group[i], group)
      end
   end
end

local takes_value = {}
each_option(function(option)
   takes_value[option[1]] = option[2] ~= false
end)

-- Returns the name in the result: --list-reports is list_reports, -o is out.
local function key_of(name)
   return name == "-o" and "out" or (name:gsub("^%-+", ""):gsub("-", "_"))
end

---Returns the keys of all options, in the order of --help.
---@return string[]
function options.keys()
   local keys = {}
   each_option(function(option)
      keys[#keys + 1] = key_of(option[1])
   end)
   return keys
end

---Joins each option that takes a value with the next word, whatever that begins with, and stops at
---"--", so that argparse sees --option=value.
---@param argv string[]
---@return string[] words
---@return string[]|nil rest the words after "--"
---@return string[][] followers the files that directly follow each "--diff FILE" of two words
function options.join(argv)
   local words, followers, i = {}, {}, 1
   local following
   while argv[i] do
      local word = argv[i]
      if word == "-" or word:sub(1, 1) ~= "-" then
         table.insert(following or {}, word)
      else
         following = nil
      end
      if word == "--" then
         return words, table.move(argv, i + 1, #argv, 1, {}), followers
      elseif takes_value[word] and argv[i + 1] then
         if word == "--diff" then
            following = {}
            followers[#followers + 1] = following
         end
         word = (word == "-o" and "--out" or word) .. "=" .. argv[i + 1]
         i = i + 1
      elseif word:match "^%-o." then
         word = "--out=" .. word:sub(3)
      end
      words[#words + 1] = word
      i = i + 1
   end
   return words, nil, followers
end

local function add_option(parser, option)
   local name, argument, help = table.unpack(option, 1, 3)
   if not argument then
      local names = option.also and name .. " " .. option.also or name
      return parser:flag(names):target(key_of(name)):description(help)
   end
   local added = parser:option(name)
   if name == "-o" then
      added:hidden_name "--out"
   end
   added:target(key_of(name)):argname(argument):description(help)
   if option.many then
      added:count "*"
   end
   return added
end

local function parser_of(argparse)
   local parser = argparse("profio", "Read and question the trace of a profiler.",
      "Exit status: 0 read; 1 nothing could be read or written; 2 wrong use; 3 read with damage; "
         .. "4 a limit exceeded.")
   parser:add_help(false):usage "Usage: profio [options] FILE..."
   parser:help_max_width(80):help_description_margin(25)
   for _, group in ipairs(groups) do
      local added = {}
      for i = 2, #group do
         added[#added + 1] = add_option(parser, group[i])
      end
      parser:group(group[1], table.unpack(added))
   end
   parser:argument("FILE"):args("*"):target("files"):description(
      "traces of one format; an executable (with --diff a second one is that of the older runs); "
         .. "- is standard input; default gmon.out, or $DCPIDB")
   return parser
end

-- Returns the keys of the options that a command line gives, in the order of --help.
local function asked_of(given)
   local asked = {}
   for _, key in ipairs(options.keys()) do
      local value = given[key]
      if value and (type(value) ~= "table" or #value > 0) then
         asked[#asked + 1] = key
      end
   end
   return asked
end

---Parses a command line.
---@param argv string[]
---@return table|nil given  by key: list_reports, where (an array), files, rest ...; `asked` has the
---keys of the options that were given
---@return string|nil message of a usage error
function options.parse(argv)
   local found, argparse = pcall(require, "argparse")
   if not found then
      return nil, "lua-argparse is missing: apt install lua-argparse, or luarocks install argparse"
   end
   local words, rest, followers = options.join(argv)
   local ok, given = parser_of(argparse):pparse(words)
   if not ok then
      return nil, (given:gsub("\nDid you mean", "; did you mean"))
   end
   given.diff, given.diff_followers = given.diff[1] and given.diff, followers
   given.rest, given.asked = rest, asked_of(given)
   if rest and not given.script then
      table.move(rest, 1, #rest, #given.files + 1, given.files)
   end
   return given
end

---The usage line of the command.
options.usage = "Usage: profio [options] FILE...   (profio --help lists the options)"

---Returns the text of --help.
---@return string
function options.help()
   return parser_of(require "argparse"):get_help() .. "\n"
end

return options
