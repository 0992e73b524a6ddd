-- --script and --new-script: user scripts with an open trace.

local failure = require "profio.cli.failure"
local plain = require "profio.reports.plain"

local script = {}

-- {====== Running a script ======

---Runs a script with the open trace and the words after "--" as arguments. An error in it ends the
---command; a whole number that it returns is the exit status.
---@param context table
---@return integer|nil status
function script.run(context)
   local given = context.given
   local chunk, message = loadfile(given.script)
   if not chunk then
      failure.raise(failure.NOTHING, message)
   end
   local ok, result = xpcall(chunk, debug.traceback, context.trace,
      table.unpack(given.rest or {}))
   if not ok then
      failure.raise(failure.NOTHING, result)
   end
   return math.type(result) == "integer" and result or nil
end

---Runs the files of --load, which may register formats. An error in one ends the command.
---@param given table
function script.load(given)
   for _, path in ipairs(given.load) do
      local chunk, message = loadfile(path)
      local ok = chunk ~= nil
      if chunk then
         ok, message = xpcall(chunk, debug.traceback)
      end
      if not ok then
         failure.raise(failure.NOTHING, message)
      end
   end
end

-- }======

-- {====== Writing a script ======

local head = [[
-- Run it with:  profio --script THIS.lua %s -- words
-- It gets the open trace and those words.

local trace, word = ...

print(trace.format, trace.path, word)
]]

local body = [[

-- Table %s: %s
for %s in trace.%s:each(%s) do
   print(%s)
   break -- one row, to begin with
end
]]

local tail = [[

-- The same in C: conditions, groups, sums.
trace.%s:group(%q):aggregate { "n = count"%s }:sort("-n"):limit(10):print()
]]

local reserved = { ["and"] = true, ["break"] = true, ["do"] = true, ["else"] = true,
   ["elseif"] = true, ["end"] = true, ["for"] = true, ["function"] = true, ["in"] = true,
   ["repeat"] = true, ["until"] = true, ["then"] = true }

-- Returns columns as names of variables.
local function variables(columns)
   local list = {}
   for i, column in ipairs(columns) do
      list[i] = reserved[column] and column .. "_" or column
   end
   return table.concat(list, ", ")
end

local function quoted(columns)
   local list = {}
   for i, column in ipairs(columns) do
      list[i] = ("%q"):format(column)
   end
   return table.concat(list, ", ")
end

local function described(fields)
   local list = {}
   for i, field in ipairs(fields) do
      list[i] = field.name .. " (" .. field.type .. ")"
   end
   return table.concat(list, ", ")
end

-- Columns that can be summed: counts and durations, unlike lines, times and ids.
local summed = { count = true, calls = true, spent = true, self = true, net = true, gross = true,
   size = true, overhead = true }

-- Returns ", \"total = sum(count)\"" for the first column that can be summed.
local function sum_of(fields)
   for _, field in ipairs(fields) do
      if field.type == "int" and summed[field.name] then
         return (", \"total = sum(%s)\""):format(field.name)
      end
   end
   return ""
end

local function table_text(trace, name)
   local view = trace:table(name)
   local columns = view.columns
   local shown = table.move(columns, 1, math.min(#columns, 4), 1, {})
   return body:format(name, described(view:fields()), variables(shown), name, quoted(shown),
      variables(shown))
end

---Writes a script that reads each table of the trace.
---@param context table
function script.new(context)
   local trace, out = context.trace, context.out
   out:write(head:format(plain(trace.path)))
   for _, name in ipairs(trace.tables) do
      if name ~= "raw" then
         out:write(table_text(trace, name))
      end
   end
   local main = trace.tables[1]
   local fields = trace:table(main):fields()
   out:write(tail:format(main, fields[1].name, sum_of(fields)))
end

-- }======

return script
