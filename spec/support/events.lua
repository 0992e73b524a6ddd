-- Events as a text that a person can write, as a format of its own: what knows events and calls is
-- tested with it. A line is "time event area lane value"; "-" is missing, and a trailing word of
-- the form core=N goes into column core.

local cli = require "profio.cli"
local command = require "spec.support.command"
local profio = require "profio"

local events = {}

local function given(word)
   return word ~= "-" and word or nil
end

local function put_lines(source, put)
   for line in source:lines() do
      local time, event, area, lane, value = line:match
         "^(%-?%d+)%s+(%a+)%s+(%S+)%s*(%S*)%s*(%-?%d*)"
      if time then
         put(math.tointeger(time), event, given((area:gsub("_", " "))),
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

---The same for commands that go well and have nothing to say on standard error.
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

return events
