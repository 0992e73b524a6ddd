-- Names in files of the Best Trace Format.

local masks = require "profio.internal.anonymising.masks"

local task_lines = {}

-- Parameters whose values stay, if they are such ones.
local KEPT <const> = { version = "^[%s%d.]*$", timescale = "^%s*[pnum]?s%s*$",
   creationdate = "^[%s%d:TZ.+-]*$" }
local TYPES <const>, WORDS <const> = {}, {}
for word in ([[
   T I R STI SIG ISR SEM C SCHED EVENT SYS SIM Processor ECU IB M OS SPINLOCK]]):gmatch "%S+" do
   TYPES[word] = true
end
for word in ([[
   activate start preempt resume terminate poll run park poll_parking release_parking wait
   release suspend read write mtalimitexceeded boundedmigration phasemigration fullmigration
   enforcedmigration interrupt_suspended trigger schedule schedulepoint processactivate
   processpolling processterminate finalize wait_event set_event clear_event requestsemaphore
   increment decrement queued assigned waiting released free lock lock_used used full overfull
   unlock unlock_full ready exclusivesemaphore error tag description set_frequence
   set_frequency execute idle idle_execution execute_idle]]):gmatch "%S+" do
   WORDS[word] = true
end

-- The comment by which profio marks its escapes, without which they would not be read as such.
local ESCAPES <const> = "# in names %XX is the byte XX"

-- Returns a name. The number at its end stays: that of a core is read from it.
local function name_of(context, text)
   return masks.inner(text, function(inner)
      local name, apart = inner:match "^(.-)(%%:%d+)$"
      name = name or inner
      local stem, number = name:match "^(.-)(%d*)$"
      return context.names:of(stem, "t") .. number .. (apart or "")
   end)
end

local function word_of(context, text, known)
   return masks.inner(text, function(inner)
      return (known[inner] or known[inner:lower()] or inner:find "^%d+$") and inner
         or context.names:of(inner, "n")
   end)
end

-- Returns a row of a table of names: `7 Net`.
local function mapping(context, value, kind)
   local number, name = value:match "^(%s*%S+%s+)(.*)$"
   if not number then
      return masks.text(value)
   elseif kind:find "^entitytype" then
      return word_of(context, number, TYPES) .. name_of(context, name)
   elseif kind:find "^type" then
      return number .. word_of(context, name, TYPES)
   end
   return number .. name_of(context, name)
end

-- Returns a header line, and the table that it begins or belongs to.
local function header_line(context, line, open)
   local key, sign, value = line:match "^#(%a+)(:?)(.*)$"
   local row = line:match "^#%-(.*)$"
   if row then
      return "#-" .. mapping(context, row, open or ""), open
   elseif not key then
      return "#" .. masks.text(line:sub(2))
   end
   local word = key:lower()
   local front = "#" .. key .. sign
   if word:find "mapping$" then
      return front .. mapping(context, value, word)
   elseif word:find "table$" then
      return front .. masks.text(value), word
   end
   local is_kept = KEPT[word] and value:find(KEPT[word]) or value:find "^ profio [%d.]+$"
   return front .. (is_kept and value or masks.text(value))
end

local function event_line(context, line)
   local fields, at = {}, 1
   for _ = 1, 7 do
      local comma = line:find(",", at, true)
      if not comma then
         break
      end
      fields[#fields + 1] = line:sub(at, comma - 1)
      at = comma + 1
   end
   fields[#fields + 1] = line:sub(at)
   for i, field in ipairs(fields) do
      if i == 2 or i == 5 then
         fields[i] = name_of(context, field)
      elseif i == 4 then
         fields[i] = word_of(context, field, TYPES)
      elseif i == 7 then
         fields[i] = word_of(context, field, WORDS)
      elseif i == 8 and not field:find "^%s*[-+]?[%d.]+[eE%d+-]*%s*$" then
         fields[i] = name_of(context, field)
      end
   end
   return table.concat(fields, ",")
end

---@param context table
---@return fun(kind: string, bytes: string): string
function task_lines.start(context)
   local open
   return function(kind, bytes)
      local line, ending = masks.line(bytes)
      if kind == "header" then
         line, open = header_line(context, line, open)
      elseif kind == "event" then
         line = event_line(context, line)
      elseif kind ~= "blank" then
         local front = line:sub(1, #ESCAPES) == ESCAPES and ESCAPES or ""
         line = front .. masks.text(line:sub(#front + 1))
      end
      return line .. ending
   end
end

return task_lines
