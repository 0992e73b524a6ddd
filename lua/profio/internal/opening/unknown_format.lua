-- The message for a file that is a trace of no known format. It names files of other programs that
-- can be converted.

local registry = require "profio.internal.opening.registry"

local unknown_format = {}

local HEAD = 4096 -- bytes that are looked at

local PROTO = "go tool pprof -proto -output=x.pb.gz"

-- {====== Files of other programs ======

-- Names of the sections of texts of gperftools and Go, "--- contention:", and whether Go's pprof
-- reads them: those with names, as `pprof --raw` of gperftools prints them, it does not.
local sections = { contention = true, contentionz = true, mutex = true, heapz = true,
   symbol = false, profile = false, heap = false, heapprofile = false, growth = false,
   growthz = false, thread = false, threadz = false }

-- Returns whether a text is one that gperftools, jemalloc or Go write in place of a proto file: it
-- is; false: but Go's pprof does not read it; nil: it is none.
local function is_older_text(head)
   local section = head:match "^%-%-%- ?(%l+):?\r?\n" or head:match "^%-%-%- ?(%l+) %d+ %-%-%-"
   if head:find "^heap profile: *%d" or head:find "^%S+ profile: total %d" then
      return true
   end
   return sections[section or ""]
end

-- Returns whether a text is what `go tool pprof` prints: -raw, or -text, -top, -tree, -traces.
local function is_report(head)
   return head:find "^PeriodType:[^\n]*\nPeriod: " or head:find "^File: [^\n]*\n.-Type: "
      or head:find "^Type: [^\n]*\n.-%-%-%-%-%-" or head:find "Showing nodes accounting for "
end

-- Returns whether words of 4 or 8 bytes are the header of a CPU profile of gperftools: 0, 3 words
-- follow, version 0, the period, 0.
local function is_cpu_profile(head)
   for _, form in ipairs { "<I4", ">I4", "<I8", ">I8" } do
      local words = form:rep(5)
      if #head >= words:packsize() then
         local zero, count, version, period, padding = words:unpack(head)
         if zero == 0 and count == 3 and version == 0 and period > 0 and padding == 0 then
            return true
         end
      end
   end
   return false
end

-- Returns what a file of another program is, and how it is converted; nil: not known.
local function foreign(head, path)
   if head:sub(1, 4) == "\127ELF" then
      return "an executable, not a trace; exe = PATH names it beside the trace"
   end
   local is_older = is_older_text(head)
   if is_older or is_cpu_profile(head) then
      return ("a profile of pprof in an older form: %s PROGRAM %s converts it"):format(PROTO, path)
   elseif is_older == false or is_report(head) then
      return ("a text that pprof has printed: give the profile from which it was made, converted "
         .. "with %s PROGRAM PROFILE"):format(PROTO)
   end
end

-- }======

local function hex(text)
   return (text:gsub(".", function(c)
      return ("%02x "):format(c:byte())
   end):sub(1, -2))
end

---Returns the failure of opening a source that no format recognises.
---@param source userdata
---@param notes table[] of the trace so far
---@return nil
---@return string message
---@return "format" code
function unknown_format.failure(source, notes)
   local head = source:read(0, HEAD)
   local what, at = foreign(head, source:path()) or "not a trace of a known format", " (byte 0)"
   if source:size() == 0 then
      what = "the file is empty"
      for _, note in ipairs(notes) do -- its records may all be in a ring that cannot be read
         if note.code == "ring-damaged" then
            what, at = what .. "; " .. note.message, ""
         end
      end
   end
   local names = {}
   for i, format in ipairs(registry.all()) do
      names[i] = format.name
   end
   local hint = source:size() == 0 and "" or
      (" (it begins %s); formats: %s; format = NAME forces one"):format(hex(head:sub(1, 16)),
         table.concat(names, ", "))
   return nil, ("%s: %s%s%s"):format(source:path(), what, hint, at), "format"
end

return unknown_format
