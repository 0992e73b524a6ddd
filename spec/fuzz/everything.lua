-- Used by spec/fuzz/fuzz_lua.c: a function that takes the bytes of a file and uses it as users do:
-- reads every table, groups, computes calls and profiles, runs reports and exports, saves in each
-- dialect and reads that back. The bytes select what is done, so an input does the same each time.
-- It raises an error only for a defect of profio.

local cli = require "profio.cli"
local exports = require "profio.internal.exporting.export_list"
local profio = require "profio"
local reports = require "profio.reports"

-- The number of actions for one input.
local PER_INPUT = 4

local path = os.tmpname()
local out_path = path .. ".out"
local err_path = path .. ".err"

-- {====== Allowed errors ======

-- Errors are for users. Errors of Lua itself and failed assertions are defects of profio.
local function is_mistake(message)
   return message:find "attempt to" or message:find "stack overflow" or message:find "bad argument"
      or message:find "assertion failed" or message:find "stack traceback"
      or message:find "not enough memory"
end

-- f(...) must return a value, return nil and a message, or raise an error for the user.
local function check(label, f, ...)
   local results = table.pack(pcall(f, ...))
   local message = not results[1] and tostring(results[2])
      or results[2] == nil and results.n >= 3 and tostring(results[3]) or nil
   if os.getenv "VERBOSE" and message then
      io.stderr:write(label, ": ", message, "\n")
   end
   if message and (message == "" or is_mistake(message)) then
      error(label .. ": " .. message, 0)
   end
   return not message and results[2] or nil
end

-- }======

-- {====== Actions ======

local actions = {}

local function add(name, f)
   actions[#actions + 1] = { name = name, run = f }
end

-- Reads a table with all columns, and by each of its columns.
local function read_table(trace, name)
   local view = trace:table(name)
   local columns = view.columns
   view:count()
   for _ in view:limit(50):each() do end
   for _, column in ipairs(columns) do
      check("group by " .. column, function() return view:group(column):limit(10):rows() end)
   end
   local first, last = columns[1], columns[#columns]
   check("sort", function() return view:sort(last, first):limit(10):rows() end)
   check("sum", function()
      return view:group(first):aggregate { all = "sum(" .. last .. ")" }:rows()
   end)
   check("derive", function()
      return view:derive { "twice = " .. last .. " * 2" }:limit(10):rows()
   end)
end

add("tables", function(trace)
   for _, name in ipairs(trace.tables) do
      check("table " .. name, read_table, trace, name)
   end
   assert(trace.info.format and trace.warnings)
   check("check", trace.check, trace)
end)

add("calls", function(trace)
   local calls = check("calls", trace.calls, trace)
   if calls then
      check("rows of calls", function() return calls:sort("net", "area"):limit(20):rows() end)
   end
   check("statistics", function() return trace:call_statistics():rows() end)
end)

add("profile", function(trace)
   local profile <close> = check("profile", trace.profile, trace)
   if not profile then
      return
   end
   for _, name in ipairs { "flat", "graph", "graph_listing", "index", "lines", "annotations",
      "functions", "tree", "bottom_up" } do
      check(name, function() return profile[name](profile):limit(20):rows() end)
   end
   check("difference", function() return (profile - profile):functions():rows() end)
   check("sum", function() return (profile + profile):flat():rows() end)
   check("focus", function() return profile:focus("a"):flat():rows() end)
end)

-- Runs the command with the file of an input: it must end with a status, and a message if it fails.
local function command(...)
   local err <close> = assert(io.open(err_path, "w+"))
   local status = cli.main({ "--no-progress", "-o", out_path, ... }, err)
   err:seek "set"
   local words = err:read "a"
   if status == 1 and words == "" or status < 0 or status > 3 or is_mistake(words) then
      error(("%s: status %d\n%s"):format(table.concat({ ... }, " "), status, words), 0)
   end
end

for _, report in ipairs(reports.all()) do
   add("report " .. report.name, function() command("--report", report.name, path) end)
end

for _, export in ipairs(exports.all()) do
   add("export " .. export.name, function() command("--export", export.name, path) end)
end

for _, word in ipairs { "--check", "--info", "--new-script", "--list-reports" } do
   add(word, function() command(word, path) end)
end

add("--merge", function() command("--merge", path, path) end)

-- Reads what was written: it must have the same number of rows.
local function save(trace, options)
   local bytes = check("save", trace.save, trace, nil, options)
   if type(bytes) ~= "string" then
      return
   end
   local again <close> = profio.open({ data = bytes }, { format = options.format })
   if not again and #trace.warnings == 0 then
      error("what was saved as " .. options.format .. " is refused", 0)
   end
end

for _, format in ipairs(profio.formats()) do
   local options = format.write_options
   if options then
      add("save " .. format.name, function(trace) save(trace, { format = format.name }) end)
      for _, option in ipairs(options) do
         for _, choice in ipairs(option.choices or {}) do
            add(("save %s %s=%s"):format(format.name, option.name, choice), function(trace)
               save(trace, { format = format.name, [option.name] = choice })
            end)
         end
      end
   end
end

-- }======

-- A hash of all bytes, the same on each machine.
local function digest(bytes)
   local sum = #bytes
   for i = 1, #bytes, math.max(1, #bytes // 4096) do
      sum = (sum * 31 + bytes:byte(i)) & 0x7fffffff
   end
   return sum
end

-- Formats that cannot be detected are forced in turn.
local function open(bytes, number)
   local trace = check("open", profio.open, { data = bytes })
   local formats = profio.formats()
   return trace or check("open as", profio.open, { data = bytes },
      { format = formats[number % #formats + 1].name })
end

local runs = 0

---Do some of the actions with a file of these bytes, or all.
---@param bytes string
---@param every boolean|nil all actions
return function(bytes, every)
   local number = digest(bytes)
   local trace <close> = open(bytes, number)
   if not trace then
      return
   end
   local file <close> = assert(io.open(path, "wb"))
   file:write(bytes)
   file:close()
   for i = 0, (every and #actions or PER_INPUT) - 1 do
      local action = actions[(number * PER_INPUT + i) % #actions + 1]
      check(action.name, action.run, trace)
   end
   runs = runs + 1
   if runs % 64 == 0 then
      collectgarbage()
   end
end
