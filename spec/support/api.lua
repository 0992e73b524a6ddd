-- Reads the public functions of Lua modules, with the comments above them, for the page lua-api,
-- the man page and the description for editors, which it returns too.

local api = {}

---The parts of the Lua API: title, file below lua/profio, a further file, the name before each
---function in these, how a script writes it, and for methods the class of their object.
api.parts = {
   { title = "profio", file = "init.lua", owner = "profio", shown = "profio.",
     help = "The module: `local profio = require \"profio\"`." },
   { title = "conditions", file = "internal/conditions.lua", owner = "conditions",
     shown = "profio.", only = { between = true, match = true, no = true, missing = true },
     help = "Conditions for `view:where`." },
   { title = "trace", file = "internal/trace.lua", more = "internal/calls/event_methods.lua",
     owner = "methods", shown = "trace:",
     class = "profio.Trace: profio.View",
     help = "`profio.open` returns it. All methods of a view also work on a trace: they then "
        .. "mean its main table." },
   { title = "view", file = "internal/views/view_methods.lua",
     more = "internal/views/column_methods.lua", owner = "methods", shown = "view:",
     class = "profio.View",
     help = "The rows of a table, as `trace:table(name)`, `trace.name` and `trace:calls()` return "
        .. "them. A method never changes a view; it returns a new one." },
   { title = "profile", file = "internal/bodies/profile_methods.lua",
     more = "internal/bodies/algebra.lua", owner = "methods", shown = "profile:",
     class = "profio.Profile",
     help = "`trace:profile()` returns it. `a + b` adds and `a - b` compares profiles." },
   { title = "writer", file = "internal/writing/writer.lua", owner = "Writer", shown = "writer:",
     class = "profio.Writer",
     help = "`profio.create` returns it." },
   { title = "store", file = "internal/store/init.lua", owner = "methods", shown = "store:",
     class = "profio.Store",
     help = "`profio.store` returns it: `profio help store`." },
   { title = "comparison", file = "internal/compare/init.lua", owner = "methods",
     shown = "comparison:", class = "profio.Comparison",
     help = "`profio.compare` returns it; also `comparison.whole`, `method`, `by`, `metric` and "
        .. "`warnings`: `profio help compare`." },
   { title = "recorder", file = "internal/recording.lua", owner = "recorder", shown = "recorder.",
     help = "Records Lua programs: `local recorder = require \"profio.recorder\"`." },
   { title = "limits", file = "internal/requirements/limit_checks.lua", owner = "limits",
     shown = "limits.",
     help = "Checks limits: `local limits = require \"profio.limits\"`." },
   { title = "settings", file = "formats/xpp/pri.lua", owner = "pri", shown = "pri.",
     help = "Settings of Xbase++ runs: `local pri = require \"profio.formats.xpp.pri\"`." },
   { title = "settings object", file = "formats/xpp/pri.lua", owner = "Settings",
     shown = "settings:", class = "profio.Settings",
     help = "`pri.parse` and `pri.read` return it." },
   { title = "command", file = "cli.lua", owner = "cli", shown = "cli.",
     help = "The command as a function: `local cli = require \"profio.cli\"`." },
}

-- Splits "string|nil the text" or "{ a: b }[] text" into type and text.
local function typed(text)
   local depth, i = 0, 1
   while i <= #text do
      local c = text:sub(i, i)
      if c:find "[%({<]" then
         depth = depth + 1
      elseif c:find "[%)}>]" then
         depth = depth - 1
      elseif c == " " and depth == 0 and not text:sub(1, i - 1):find "[:,|]$" then
         break
      end
      i = i + 1
   end
   return text:sub(1, i - 1), (text:sub(i):match "^%s*(.*)$")
end

-- Returns what a comment says: { text =, params = { { name, type, text } }, returns = { { type,
-- text } } }.
local function parsed(comment)
   local made, last = { text = {}, params = {}, returns = {} }, nil
   for _, line in ipairs(comment) do
      local tag, rest = line:match "^@(%w+)%s*(.*)$"
      if tag == "param" then
         local name, more = rest:match "^(%S+)%s*(.*)$"
         last = { name, typed(more) }
         table.insert(made.params, last)
      elseif tag == "return" then
         last = { nil, typed(rest) }
         table.insert(made.returns, last)
      elseif tag == "type" then
         made.type = rest
      elseif not tag and last then
         last[3] = (last[3] .. " " .. line):gsub("^%s+", "")
      elseif not tag then
         table.insert(made.text, line)
      end
   end
   return made
end

-- Returns the name and the arguments of a function of `owner` that a line declares, or nil.
local function declared(line, owner)
   local name, arguments = line:match("^function " .. owner .. "[.:]([%l_][%w_]*)%((.-)%)")
   if not name then
      name = line:match("^" .. owner .. "%.([%l_][%w_]*) = [%l_%.]+ ?[\"({%u]")
         or line:match("^" .. owner .. "%.([%l_][%w_]*) = [%l_]+%.[%l_]+$")
      arguments = nil
   end
   if name and not name:find "^__" then
      return name, arguments
   end
end

-- Returns an iterator over the lines of the files of a part.
local function lines_of(part)
   return coroutine.wrap(function()
      for _, file in ipairs { part.file, part.more } do
         for line in io.lines("lua/profio/" .. file) do
            coroutine.yield(line)
         end
      end
   end)
end

---Returns the functions of a part, in the order of its files.
---@param part table of api.parts
---@return { name: string, call: string, arguments: string|nil, comment: string[], text: string[],
---params: table, returns: table }[]
function api.functions(part)
   local list, comment = {}, {}
   for line in lines_of(part) do
      local words = line:match "^%-%-%- ?(%S.*)$" or line:match "^%-%-%-(.*)$"
      local name, arguments = declared(line, part.owner)
      if words then
         comment[#comment + 1] = words
      elseif name and (not part.only or part.only[name]) then
         local made = parsed(comment)
         made.name, made.comment = name, comment
         arguments = arguments or (made.type or ""):match "^fun%((.-)%)"
         if arguments then
            arguments = (arguments:gsub(":[^,]*", ""):gsub("^self,?%s*", ""))
         end
         made.arguments = arguments
         made.call = part.shown .. name .. (arguments and "(" .. arguments .. ")" or "")
         list[#list + 1] = made
      end
      comment = words and comment or {}
   end
   return list
end

---Returns a description of the objects of the Lua API for editors: the methods, which the modules
---keep in tables that an editor cannot relate to a class.
---@return string
function api.stubs()
   local parts = { [[
---@meta

-- The methods of traces, views, profiles, writers and settings for editors, which `make` writes
-- from the modules that have them. Never loaded.
]] }
   for _, part in ipairs(api.parts) do
      local class = part.class and part.class:match "^profio%.(%u%w*)"
      if class then
         parts[#parts + 1] = ("---@class %s\nlocal %s = {}\n"):format(part.class, class)
      end
      for _, f in ipairs(class and api.functions(part) or {}) do
         parts[#parts + 1] = ("---%s\nfunction %s:%s(%s) end\n"):format(
            table.concat(f.comment, "\n---"), class, f.name, f.arguments or "")
      end
   end
   return table.concat(parts, "\n")
end

return api
