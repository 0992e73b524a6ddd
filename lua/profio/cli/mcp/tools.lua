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

local core = require "profio.core"

local tools = {}

local MOST_ROWS <const> = 50

-- {====== Arguments ======

local function text(description)
   return { type = "string", description = description }
end

local function texts(description)
   return { type = "array", items = { type = "string" }, minItems = 1, description = description }
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
   return of_trace(more)
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

---In the order of listings.
tools.list = {
   { name = "info", required = { "files" }, properties = of_trace {},
      description = "Format, header fields, tables with their columns and numbers of rows, losses "
         .. "and warnings of a trace.",
      commands = function(given)
         return { command({ "info", "--output", "json" }, given) }
      end },
   { name = "next", required = { "files" }, properties = of_trace {},
      description = "Where to look next: the reports that fit a trace, for the tool report, and "
         .. "the functions with the largest self time, for the tool explain.",
      commands = function(given)
         return { command({ "report", "--list-reports" }, given),
            command({ "report", "--report", "flat", "--output", "json", "--top", "5" }, given) }
      end },
   { name = "flat", required = { "files" }, properties = of_rows {},
      description = "Functions by self time, with calls and inclusive time (column total).",
      commands = report "flat" },
   { name = "tree", required = { "files" }, properties = of_rows {},
      description = "The calling contexts from the outermost function inwards, with self and "
         .. "inclusive time; only of traces with stacks.",
      commands = report "tree" },
   { name = "report", required = { "report", "files" },
      properties = of_rows { report = { type = "string", pattern = "^[A-Za-z0-9_-]+$",
         description = "name of a report; the tool next lists those that fit" } },
      description = "The rows of any report.",
      commands = function(given)
         return report(given.report)(given)
      end },
   { name = "explain", required = { "area", "files" },
      properties = of_trace { area = text "name of a function or area" },
      description = "Why the slow calls of a function are slow, in parts that sum to the gap; of "
         .. "profiles without times of calls: its callers and callees.",
      commands = function(given)
         local words = { table.unpack(given.files) }
         table.insert(words, 1, given.area)
         local of_area = setmetatable({ files = words }, { __index = given })
         return { command({ "explain", "--output", "json" }, of_area) }
      end },
   { name = "compare", required = { "base", "new" },
      properties = {
         base = paths "the old runs, one file each, and their executable",
         new = paths "the new runs, one file each, and their executable",
         by = text "function (default), area, context, line, file or stack",
         metric = text "metric of the profiles; default: the usual one of the format",
         top = { type = "integer", minimum = 1,
            description = ("rows that are shown; default %d"):format(MOST_ROWS) } },
      description = "What changed between several runs of two versions: each function's change "
         .. "with its interval (low, high), adjusted p and verdict, the largest change first.",
      commands = function(given)
         local words = { "compare", "--output", "json", "--top", tostring(given.top or MOST_ROWS) }
         add(words, "--by", given.by)
         add(words, "--metric", given.metric)
         words[#words + 1] = "--base"
         table.move(given.base, 1, #given.base, #words + 1, words)
         words[#words + 1] = "--new"
         return { table.move(given.new, 1, #given.new, #words + 1, words) }
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

-- Returns a value that has the type of its schema, with real paths; raises a message.
local function checked(name, value, schema, folders)
   if schema.type == "array" then
      local list = {}
      if type(value) ~= "table" or #value == 0 then
         error(("%s expects a list of strings"):format(name), 0)
      end
      for i, element in ipairs(value) do
         list[i] = checked(name, element, { type = "string", is_path = schema.is_path }, folders)
      end
      return list
   elseif schema.type == "integer" then
      local whole = type(value) == "number" and math.tointeger(value)
      return whole and whole >= schema.minimum and whole
         or error(("%s expects a whole number from %d on"):format(name, schema.minimum), 0)
   elseif type(value) ~= "string" or value == "" or value:find "\0" then
      error(("%s expects a text"):format(name), 0)
   elseif schema.pattern and not value:find(schema.pattern) then
      error(("%s expects a name, got '%s'"):format(name, value), 0)
   elseif not schema.is_path then
      return value
   end
   local path, message, code = core.named_file(value, folders)
   if code == "limit" then
      message = "is not below the folders of the server: " .. table.concat(folders, ", ")
   end
   return path or error(code == "io" and message or ("%s: %s"):format(value, message), 0)
end

---Returns arguments of a tool that can be used; raises a message that says what is wrong.
---@param tool table
---@param given table by name
---@param folders string[] below which files are readable
---@return table
function tools.checked(tool, given, folders)
   local result = {}
   for name, value in pairs(given) do
      local schema = tool.properties[name]
         or error(("%s has no argument '%s'"):format(tool.name, tostring(name)), 0)
      result[name] = checked(name, value, schema, folders)
   end
   for _, name in ipairs(tool.required) do
      if result[name] == nil then
         error(("%s expects the argument '%s'"):format(tool.name, name), 0)
      end
   end
   return result
end

-- }======

return tools
