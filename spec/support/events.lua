-- A format for specs of events and calls: events as text that is easy to write. A line is "time
-- event area lane value"; "-" is missing, and a trailing word of the form core=N goes into column
-- core. An area is a name (_ is a blank) or class:name, a state state:variable=value.

local cli = require "profio.cli"
local command = require "spec.support.command"
local profio = require "profio"

local events = {}

local function given(word)
   return word ~= "-" and word or nil
end

local function area_of(word)
   word = given((word:gsub("_", " ")))
   local class, name, value = (word or ""):match "^(%a+):([^=]+)=?(.*)$"
   if not class then
      return word
   elseif class ~= "state" then
      return { name = name, class = class }
   end
   return { name = name .. "=" .. value, class = class, value = math.tointeger(value),
      parent = { name = name, class = "variable" } }
end

local function put_lines(source, put)
   for line in source:lines() do
      local time, event, area, lane, value = line:match
         "^(%-?%d+)%s+(%a+)%s+(%S+)%s*(%S*)%s*(%-?%d*)"
      if time then
         put(math.tointeger(time), event, area_of(area),
            lane ~= "" and given(lane) or "main", math.tointeger(value),
            math.tointeger(line:match "core=(%-?%d+)"))
      end
   end
end

profio.register {
   name = "events", help = "events as text, for specs",
   score = function(bytes)
      return bytes:find "^EVENTS" and 100 or 0
   end,
   main = "events",
   tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "area" },
      { "lane", "name" }, { "value", "int" }, { "core", "int" } } },
   open = function(source)
      local first, last = source:read(0, 80):match "^EVENTS (%-?%d+) (%-?%d+)"
      return { events = function(put)
         put_lines(source, put)
      end, info = { first = math.tointeger(first), last = math.tointeger(last) } }
   end,
}

---A trace of these lines.
---@param lines string
---@return profio.Trace
function events.open(lines)
   return assert(profio.open { data = "EVENTS\n" .. lines })
end

---Returns random events of tasks on one core that call, return and lose the core; and the expected
---numbers: { starts =, ends =, preempts =, busy = { { lane, from, to }, ... }, last = }.
---@param count integer number of actions
---@return string lines
---@return table expected
function events.program(count)
   local list, stacks, now, time = {}, { {}, {}, {} }, 1, 0
   local expected = { starts = 0, ends = 0, preempts = 0, busy = {} }
   local since
   local function put(event, area)
      list[#list + 1] = ("%d %s %s task%d core=0"):format(time, event, area, now)
   end
   local function end_busy()
      if since and time > since then
         expected.busy[#expected.busy + 1] = { "task" .. now, since, time }
      end
      since = nil
   end
   for _ = 1, count do
      local stack = stacks[now]
      local dice = math.random(10)
      time = time + math.random(0, 3)
      if dice <= 3 or #stack == 0 then
         local area = "f" .. math.random(9)
         if #stack > 0 then
            put("suspend", stack[#stack])
         end
         stack[#stack + 1] = area
         put("enter", area)
         expected.starts, since = expected.starts + 1, since or time
      elseif dice <= 7 then
         put("leave", table.remove(stack))
         expected.ends = expected.ends + 1
         if #stack > 0 then
            put("resume", stack[#stack])
         else
            end_busy()
         end
      else
         put("suspend", stack[#stack])
         end_busy()
         expected.preempts = expected.preempts + 1
         now = math.random(3)
         if #stacks[now] > 0 then
            put("resume", stacks[now][#stacks[now]])
            since = time
         end
      end
   end
   end_busy()
   expected.last = time
   return table.concat(list, "\n") .. "\n", expected
end

---Returns a stack of calls f1, f2, ...: each lasts 2 ns longer than the one in it, the innermost
---1 ns.
---@param depth integer
---@return string lines
function events.deep(depth)
   local list = {}
   for i = 1, depth do
      list[i] = ("%d enter f%d main"):format(i, i)
      list[2 * depth + 1 - i] = ("%d leave f%d main"):format(2 * depth + 1 - i, i)
   end
   return table.concat(list, "\n") .. "\n"
end

---Run the command on a file of these lines (in this process, which knows the format).
---@param lines string
---@param ... string words of the command line
---@return string output
---@return integer status
---@return string errors
function events.command(lines, ...)
   local head = lines:find "^EVENTS" and "" or "EVENTS\n"
   local path = command.file("run.events", head .. lines)
   local out = command.folder .. "/events.out"
   local err = assert(io.tmpfile())
   os.remove(out)
   local argv = table.pack(path, "-o", out, ...)
   local status = cli.main(argv, err)
   err:seek "set"
   local errors = err:read "a"
   err:close()
   local file = io.open(out, "rb")
   local text = file and file:read "a" or ""
   if file then
      file:close()
   end
   return text, status, errors
end

---The same for commands that must succeed without text on standard error.
---@param lines string
---@param ... string
---@return string output
function events.fine(lines, ...)
   local text, status, errors = events.command(lines, ...)
   if status ~= 0 or errors ~= "" then
      error(("status %d: %s"):format(status, errors), 2)
   end
   return text
end

---Opens a trace named `run` with one call of f, of which three records were lost.
---@return profio.Trace
function events.lossy()
   profio.register {
      name = "lossy events", score = function() return 0 end,
      tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "name" } } },
      open = function()
         return { info = { lost = 3 }, events = function(put)
            put(0, "enter", "f")
            put(5, "leave", "f")
         end }
      end,
   }
   return assert(profio.open({ data = "x", path = "run" }, { format = "lossy events" }))
end

return events
