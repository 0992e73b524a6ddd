-- The source lines of a report as data for the page's scripts: the weight of each hot line, with
-- the text of its file where it is found.

local data = require "profio.exports.html.profile_data"
local lanes = require "profio.exports.lanes"
local reports = require "profio.reports"
local sources = require "profio.internal.sources"

local lines = {}

local MOST_LINES = 4000      -- with weight
local MOST_FILES = 100
local MOST_TEXT = 512 << 10  -- bytes of all whole sources together
local LONGEST_LINE = 1000    -- bytes
local AROUND = 5             -- lines of other sources around those with weight

---Returns a profile with source lines, or nil.
---@param trace profio.Trace
---@param profile profio.Profile
---@return profio.Profile|nil
function lines.profile(trace, profile)
   if profile:kind() == "contexts" then
      return profile
   elseif trace and trace:profile_kind() == "graph" and reports.named("lines").fits(trace) then
      return (trace:profile { lines = true, compat = "exact" })
   end
end

-- Returns the lines with weight by file, the heaviest file first: { { file =, line =, self =,
-- func =, weight = }, ... }, and how many lines are left out.
local function by_file(profile, metric)
   local files, list, taken, left = {}, {}, 0, 0
   for file, line, self, name in profile:lines { metric = metric }:each("file", "line", "self",
      "function") do
      if file and (line or 0) > 0 and (self or 0) ~= 0 then
         local known = files[file]
         if not known and #list < MOST_FILES then
            known = { file = file, line = {}, self = {}, func = {}, weight = 0 }
            files[file], list[#list + 1] = known, known
         end
         if known and taken < MOST_LINES then
            taken = taken + 1
            known.weight = known.weight + math.abs(self)
            table.insert(known.line, line)
            table.insert(known.self, self)
            table.insert(known.func, name or "?")
         else
            left = left + 1
         end
      end
   end
   table.sort(list, function(a, b)
      return a.weight > b.weight or a.weight == b.weight and a.file < b.file
   end)
   return list, left
end

-- Returns a line for the page, without the end of a very long one.
local function shown(line)
   return #line > LONGEST_LINE and line:sub(1, LONGEST_LINE) .. " ..." or line
end

-- Returns the lines of a source around those with weight, as members of a JSON object.
local function near(known, text)
   local list, seen = {}, {}
   for _, hot in ipairs(known.line) do
      for line = math.max(1, hot - AROUND), math.min(#text, hot + AROUND) do
         if not seen[line] then
            seen[line] = true
            list[#list + 1] = ('"%d":%s'):format(line, lanes.script(shown(text[line])))
         end
      end
   end
   return table.concat(list, ",\n")
end

-- Writes one file: its whole text if that has at most `room` bytes, else the lines around those
-- with weight. Returns how many bytes of the room are left.
local function put_file(out, known, text, reason, room)
   out:write(('{"file":%s,"line":%s,"self":%s,\n"function":%s'):format(lanes.script(known.file),
      data.numbers(known.line, #known.line), data.numbers(known.self, #known.self),
      data.texts(known.func)))
   local size = 0
   for i, line in ipairs(text or {}) do
      text[i] = shown(line)
      size = size + #text[i] + 3
   end
   if text and size <= room then
      out:write(',\n"text":', data.texts(text))
      room = room - size
   elseif text then
      out:write(',\n"near":{', near(known, text), "}")
   elseif reason then
      out:write(',\n"reason":', lanes.script("Not shown: " .. reason))
   end
   out:write "}"
   return room
end

---Writes the lines as a member of a JSON object.
---@param out table of lanes.out
---@param profile profio.Profile|nil of lines.profile
---@param given table metric, source, trust_paths; inputs: the paths of the sources that are read
---are appended
function lines.write(out, profile, given)
   local list, left = {}, 0
   if profile then
      list, left = by_file(profile, given.metric)
   end
   local room = MOST_TEXT
   out:write(('"lines":{"left":%d,"list":['):format(left))
   for i, known in ipairs(list) do
      out:write(i > 1 and ",\n" or "\n")
      local text, found = sources.read(known.file, { given.source }, given.trust_paths)
      table.insert(given.inputs, text and found)
      room = put_file(out, known, text, not text and found, room)
   end
   out:write "]},\n"
end

return lines
