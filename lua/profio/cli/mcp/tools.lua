-- The tools of `profio mcp`. Each is a declaration of its arguments and a function that returns
-- command lines, so a tool has the rows and the errors of the command.
--
-- A tool is a table:
--    name, description  what the assistant is told
--    properties  by name: JSON Schema of an argument; `is_path`: a file, or a list of files, that
--                must be below the folders of the server; `pattern` has the same meaning in Lua
--    required    names of arguments that must be given
--    commands    function(arguments): lists of words, which begin with a verb. The first command
--                decides whether the tool fails; of the others only the output is shown.
--    units       of columns that the text of the command shows without them, or nil
--    whole       function(arguments): the words of a command whose row is the whole, or nil
--    check       function(arguments): raises what is wrong with them together; or nil
--    list        instead of commands: function(arguments, folders, run), see served_files.lua

local core = require "profio.core"
local json = require "dkjson"
local profio = require "profio"
local served_files = require "profio.cli.mcp.served_files"

local tools = {}

local MOST_ROWS <const> = 50

-- {====== Arguments ======

local function text(description)
   return { type = "string", description = description }
end

local function texts(description)
   return { type = "array", items = { type = "string" }, minItems = 1, description = description }
end

-- Labels of runs: no text that names a file.
local function conditions(description)
   local schema = texts(description)
   schema.is_condition = true
   return schema
end

-- Options, of which some name a file: it must lie below the folders, too.
local function settings(description)
   local schema = texts(description)
   schema.is_setting = true
   return schema
end

local function paths(description)
   local schema = texts(description)
   schema.is_path = true
   return schema
end

local files = paths "traces of one format, which are read as one, and the executable of a gmon.out"

-- The arguments of tools that read one trace, with more of their own.
local function of_trace(more)
   local properties = { files = files,
      symbols = { type = "string", is_path = true,
         description = "names of functions: the output of nm, or an executable" },
      run = texts "conditions on the runs of a store, such as version=v2" }
   for name, schema in pairs(more) do
      properties[name] = schema
   end
   return properties
end

-- The arguments of tools whose result are rows.
local function of_rows(more)
   more.top = { type = "integer", minimum = 1,
      description = ("rows that are shown; default %d"):format(MOST_ROWS) }
   more.where = texts "conditions on columns, such as function~^Db or self>1000; all must hold"
   more.metric = text "metric of the profile; default: the usual one of the format"
   more.set = settings "options of the format or the report, such as pieces=40"
   more.by = text "what the rows of a report are for, such as core or area: its option by"
   return of_trace(more)
end

-- The arguments of tools that read a store over its versions.
local function of_store(more)
   local properties = { store = { type = "string", is_path = true,
      description = "a store of runs; the tool files lists its labels" },
      by = text "a label such as version (default), hour, day, week, month or run",
      run = texts "only runs with these labels, such as host=a",
      metric = text "metric of the profiles; default: the usual one",
      top = { type = "integer", minimum = 1,
         description = ("rows that are shown; default %d"):format(MOST_ROWS) } }
   for name, schema in pairs(more) do
      properties[name] = schema
   end
   return properties
end

-- Adds an option with each value to words.
local function add(words, option, values)
   for _, value in ipairs(type(values) == "table" and values or { values }) do
      words[#words + 1] = option
      words[#words + 1] = tostring(value)
   end
end

-- Returns words with the options of a trace and of rows, and then the files.
local function command(words, given, rows)
   if rows then
      add(words, "--output", "json")
      add(words, "--top", given.top or MOST_ROWS)
      add(words, "--where", given.where)
      add(words, "--metric", given.metric)
   end
   add(words, "--set", given.set)
   add(words, "--set", given.by and "by=" .. given.by)
   add(words, "--symbols", given.symbols)
   add(words, "--run", given.run)
   words[#words + 1] = "--"
   return table.move(given.files, 1, #given.files, #words + 1, words)
end

-- }======

local function report(name)
   return function(given)
      return { command({ "report", "--report", name }, given, true) }
   end
end

-- Returns the command whose row is the sum of the self weights of all functions.
local function whole(given)
   local own = { files = given.files or { given.store }, symbols = given.symbols, run = given.run }
   local words = { "report", "--report", "flat", "--output", "json", "--aggregate",
      "whole=sum(self)" }
   add(words, "--metric", given.metric)
   return command(words, own)
end

-- Returns the words of a command of stores.
local function of_stores(name, given, first)
   local words = { "store", name, "--output", "json", "--by", given.by or "version" }
   add(words, "--top", given.top or MOST_ROWS)
   add(words, "--run", given.run)
   add(words, "--metric", given.metric)
   add(words, "--where", given.where)
   add(words, "--since", given.since)
   add(words, "--order", given.order)
   words[#words + 1] = "--"
   words[#words + 1] = first
   words[#words + 1] = given.store
   return words
end

-- Returns the words of a comparison.
local function comparison(given)
   local words = { "compare", "--output", "json", "--top", tostring(given.top or MOST_ROWS) }
   add(words, "--by", given.by)
   add(words, "--metric", given.metric)
   add(words, "--where", given.where)
   add(words, "--run", given.run)
   add(words, "--set", given.set)
   for _, side in ipairs { "base", "new" } do
      words[#words + 1] = "--" .. side
      for _, list in ipairs { given[side .. "_run"] or {}, given[side] or {} } do
         table.move(list, 1, #list, #words + 1, words)
      end
   end
   return words
end

---In the order of listings.
tools.list = {
   { name = "files", required = {}, properties = {
         contains = text "only files whose path contains this text" },
      description = "The files and stores in the folders of the server, with their formats, and "
         .. "the labels of the runs of stores, such as version.",
      list = served_files.list },
   { name = "info", required = { "files" }, properties = of_trace {},
      description = "Format, header fields, tables with their columns and numbers of rows, losses "
         .. "and warnings of a trace.",
      commands = function(given)
         return { command({ "info", "--output", "json" }, given) }
      end },
   { name = "next", required = { "files" }, properties = of_trace {}, whole = whole,
      description = "Where to look next: the reports that fit a trace, for the tool report, and "
         .. "the functions with the largest self time, for the tool explain.",
      commands = function(given)
         return { command({ "report", "--list-reports" }, given),
            command({ "report", "--report", "flat", "--output", "json", "--top", "5" }, given) }
      end },
   { name = "flat", required = { "files" }, properties = of_rows {}, whole = whole,
      description = "Functions by self time, with calls and inclusive time (column total).",
      commands = report "flat" },
   { name = "tree", required = { "files" }, properties = of_rows {}, whole = whole,
      description = "The calling contexts from the outermost function inwards, with self and "
         .. "inclusive time; only of traces with stacks.",
      commands = report "tree" },
   { name = "report", required = { "report", "files" }, whole = whole,
      properties = of_rows { report = { type = "string", pattern = "^[A-Za-z0-9_-]+$",
         description = "name of a report; the tool next lists those that fit" } },
      description = "The rows of any report.",
      commands = function(given)
         return report(given.report)(given)
      end },
   { name = "explain", required = { "area", "files" }, whole = whole,
      units = "times of calls (time, elapsed, net, start and typical ones) in ns",
      properties = of_trace { area = text "name of a function or area" },
      description = "Why the slow calls of a function are slow, in parts that sum to the gap; of "
         .. "profiles without times of calls: its callers and callees.",
      commands = function(given)
         local words = { table.unpack(given.files) }
         table.insert(words, 1, given.area)
         local of_area = setmetatable({ files = words }, { __index = given })
         return { command({ "explain", "--output", "json" }, of_area) }
      end },
   { name = "compare", required = { "base" },
      units = "before, after and change are of a run, in what the sentence about the whole counts",
      properties = {
         base = paths "the old runs, one file each, and their executable; or a store",
         new = paths "the new runs, one file each, and their executable; default: the store",
         base_run = conditions "the old runs of a store, by labels: version=v1",
         new_run = conditions "the new runs of a store, by labels: version=v2",
         run = texts "conditions on the runs of both sides, such as host=a",
         by = text "function (default), area, context, line, file or stack",
         metric = text "metric of the profiles; default: the usual one of the format",
         set = settings "options of the format, NAME=VALUE",
         where = texts "conditions on the rows, such as verdict=slower; all must hold",
         top = { type = "integer", minimum = 1,
            description = ("rows that are shown; default %d"):format(MOST_ROWS) } },
      description = "What changed between several runs of two versions: each function's change "
         .. "with its interval (low, high), adjusted p and verdict, the largest change first, and "
         .. "what became of the whole, in sentences.",
      check = function(given)
         if not given.new and not given.new_run then
            error("compare expects the argument 'new', or 'new_run' for a store", 0)
         end
      end,
      commands = function(given)
         return { comparison(given) }
      end },
   { name = "changes", required = { "store" }, whole = whole,
      units = "before and after are of a run, in the unit of the whole", properties = of_store {
         since = text "only versions from this one on",
         order = text "how versions are ordered: natural or time",
         where = texts "conditions on the rows; all must hold" },
      description = "Since which version functions, and the whole, are slower or faster: the steps "
         .. "over all versions of a store. For fewer than 5 versions use trend, then compare.",
      commands = function(given)
         return { of_stores("changes", given) }
      end },
   { name = "trend", required = { "store", "function" }, whole = whole, properties = of_store {
         ["function"] = text "the name of a function" },
      description = "The weight of a function and its share in each version of a store.",
      commands = function(given)
         return { of_stores("trend", given, given["function"]) }
      end },
}

---Returns a tool.
---@param name any
---@return table|nil
function tools.named(name)
   for _, tool in ipairs(tools.list) do
      if tool.name == name then
         return tool
      end
   end
end

-- {====== Checks ======

-- Returns the real path of a file below the folders; raises a message.
local function path_of(value, folders)
   local path, message, code = core.named_file(value, folders)
   if code == "limit" then
      message = "is not below the folders of the server: " .. table.concat(folders, ", ")
   end
   return path or error(code == "io" and message or ("%s: %s"):format(value, message), 0)
end

-- Returns whether an option of a format names a file beside the trace.
local function names_file(option)
   for _, format in ipairs(profio.formats()) do
      for _, role in ipairs(format.roles or {}) do
         if role.name == option then
            return true
         end
      end
   end
   return option == "source"
end

-- Returns an option, which names no file or one below the folders; raises a message.
local function setting_of(name, given, folders)
   local option, value = given:match "^([%w_]+)=(.*)$"
   if not option then
      error(("%s expects options such as pieces=40, got '%s'"):format(name, given), 0)
   elseif names_file(option) or value:find "[/\\]" and core.kind(value) then
      return option .. "=" .. path_of(value, folders)
   end
   return given
end

-- Returns a value that has the type of its schema, with real paths; raises a message.
local function checked(name, value, schema, folders)
   if schema.type == "array" then
      local list = {}
      if type(value) ~= "table" or #value == 0 then
         error(("%s expects a list of strings"):format(name), 0)
      end
      for i, element in ipairs(value) do
         list[i] = checked(name, element, { type = "string", is_path = schema.is_path,
            is_condition = schema.is_condition, is_setting = schema.is_setting }, folders)
      end
      return list
   elseif schema.type == "integer" then
      local number = type(value) == "number" and math.tointeger(value)
      return number and number >= schema.minimum and number
         or error(("%s expects a whole number from %d on"):format(name, schema.minimum), 0)
   elseif type(value) ~= "string" or value == "" or value:find "\0" then
      error(("%s expects a text"):format(name), 0)
   elseif schema.pattern and not value:find(schema.pattern) then
      error(("%s expects a name, got '%s'"):format(name, value), 0)
   elseif schema.is_condition and (not value:find "^[%w_.-]+[=<>~!]" or core.kind(value)) then
      error(("%s expects labels such as version=v1, got '%s'"):format(name, value), 0)
   elseif schema.is_setting then
      return setting_of(name, value, folders)
   end
   return schema.is_path and path_of(value, folders) or value
end

-- Returns the names of the arguments of a tool: those that it requires, then the others.
local function arguments_of(tool)
   local names, is_required = table.move(tool.required, 1, #tool.required, 1, {}), {}
   for _, name in ipairs(names) do
      is_required[name] = true
   end
   local others = {}
   for name in pairs(tool.properties) do
      others[#others + 1] = not is_required[name] and name or nil
   end
   table.sort(others)
   return table.concat(table.move(others, 1, #others, #names + 1, names), ", ")
end

---Returns arguments of a tool that can be used; raises a message that says what is wrong, and which
---arguments the tool has. A null is an argument that is not given.
---@param tool table
---@param given table by name
---@param folders string[] below which files are readable
---@return table
function tools.checked(tool, given, folders)
   local result = {}
   for name, value in pairs(given) do
      local schema = tool.properties[name] or error(("%s has no argument '%s'; it has: %s"):format(
         tool.name, tostring(name), arguments_of(tool)), 0)
      if value ~= json.null then
         result[name] = checked(name, value, schema, folders)
      end
   end
   for _, name in ipairs(tool.required) do
      if result[name] == nil then
         error(("%s expects the argument '%s'; it has: %s"):format(tool.name, name,
            arguments_of(tool)), 0)
      end
   end
   if tool.check then
      tool.check(result)
   end
   return result
end

---Returns the names of all tools.
---@return string
function tools.names()
   local names = {}
   for i, tool in ipairs(tools.list) do
      names[i] = tool.name
   end
   return table.concat(names, ", ")
end

-- }======

return tools
