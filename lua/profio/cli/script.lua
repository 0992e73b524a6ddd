-- --script and --new-script: user scripts with an open trace.

local failure = require "profio.internal.command.failure"
local plain = require "profio.internal.plain"

local script = {}

-- {====== Running a script ======

local HIGHEST <const> = 255 -- exit status that a process can return

---Runs a script with the open trace and the words after "--" as arguments. An error in it ends the
---command; a whole number that it returns is the exit status, and a failure if it cannot be one.
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
   local status = math.type(result) == "integer" and result or nil
   if status and (status < 0 or status > HIGHEST) then
      failure.raise(failure.NOTHING, ("%s returned %d; an exit status is a number from 0 to %d")
         :format(given.script, status, HIGHEST))
   end
   return status
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
for %s in trace%s:each(%s) do
   print(%s)
   break -- one row, to begin with
end
]]

local tail = [[

-- The same in C: conditions, groups, sums.
trace%s:group(%q):aggregate { "n = count"%s }:sort("-n"):limit(10):print()
]]

local reserved = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat
   return then true until while trace print word]]):gmatch "%l+" do
   reserved[word] = true
end

-- Returns a text as a Lua name that is not used otherwise.
local function identifier(text)
   local name = text:gsub("[^%w_]", "_"):gsub("^%d", "_%0")
   return reserved[name] and name .. "_" or name
end

-- Returns columns as names of variables.
local function variables(columns)
   local list = {}
   for i, column in ipairs(columns) do
      list[i] = identifier(column)
   end
   return table.concat(list, ", ")
end

-- Returns the index of a table in the trace as Lua.
local function access(name)
   return identifier(name) == name and "." .. name or (":table(%q)"):format(name)
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
   return body:format(name, described(view:fields()), variables(shown), access(name), quoted(shown),
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
   out:write(tail:format(access(main), fields[1].name, sum_of(fields)))
end

-- }======

return script
