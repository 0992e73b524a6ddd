-- The source lines of a report as data for the page's scripts: the weight of each hot line, with
-- the text of its file where it is found.

local conditions = require "profio.internal.conditions"
local data = require "profio.exports.html.profile_data"
local lanes = require "profio.exports.lanes"
local line_times = require "profio.internal.bodies.line_times"
local sources = require "profio.internal.sources"

local lines = {}

local MOST_LINES = 4000      -- with weight
local MOST_FILES = 100
local LINES_PART = 0.5       -- of the size: numbers of lines; texts get the rest
local LONGEST_LINE = 1000    -- bytes
local LONGEST_PATH = 1000    -- bytes
local REASON_SIZE = 120      -- bytes of the reason why a source is left out, about
local NOT_FOUND = "the source is not found: --source names its folder"
local AROUND = 5             -- lines of other sources around those with weight

---Returns a profile with source lines, or nil.
---@param trace profio.Trace
---@param profile profio.Profile
---@return profio.Profile|nil
function lines.profile(trace, profile)
   if profile:kind() == "contexts" then
      return profile
   elseif trace and trace:profile_kind() == "graph" and line_times.fit(trace) then
      return (trace:profile { lines = true, compat = "exact" })
   end
end

-- Returns the lines with weight, the heaviest first.
local function weighty(profile, metric)
   return profile:lines { metric = metric }:where { file = conditions.no(conditions.missing),
      line = conditions.between(1), self = conditions.no(0) }
end

-- Adds a line to its file, unless there are too many files. Returns whether it is added.
local function add_line(files, list, row, functions)
   local known = files[row.file]
   if not known and #list < MOST_FILES and #row.file <= LONGEST_PATH then
      known = { file = row.file, line = {}, self = {}, func = {}, weight = 0 }
      files[row.file], list[#list + 1] = known, known
   end
   if known then
      known.weight = known.weight + math.abs(row.self)
      table.insert(known.line, row.line)
      table.insert(known.self, row.self)
      table.insert(known.func, functions:of(row["function"]))
   end
   return known ~= nil
end

-- Returns the heaviest lines by file, the heaviest file first: { { file =, line =, self =, func =
-- ids of functions, weight = }, ... }; and how many lines with which weight are left out.
local function by_file(profile, metric, functions, room)
   local files, list, rows = {}, {}, weighty(profile, metric)
   local all = rows:aggregate { "n = count", "self = sum(self)" }:rows()[1]
   local left = { lines = all.n, self = all.self or 0 }
   for row in rows:limit(MOST_LINES):records("file", "line", "self", "function") do
      local is_new = not files[row.file] and #row.file + 40 or 0
      room = room - #("%d,%d,"):format(row.line, row.self) - 8 - is_new
      if room < 0 then
         break
      elseif add_line(files, list, row, functions) then
         left.lines, left.self = left.lines - 1, left.self - row.self
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

-- Returns the whole text of a source as a member of a JSON object.
local function whole(text)
   local list = {}
   for i, line in ipairs(text) do
      list[i] = shown(line)
   end
   return ',\n"text":' .. data.texts(list)
end

-- Returns the lines of a source around those with weight as a member of a JSON object, as many as
-- fit into `room` bytes; those of the heaviest lines first. nil: none fits.
local function near(known, text, room)
   local list, seen = {}, {}
   for _, hot in ipairs(known.line) do
      for line = math.max(1, hot - AROUND), math.min(#text, hot + AROUND) do
         local member = not seen[line] and ('"%d":%s'):format(line, lanes.script(shown(text[line])))
         seen[line] = true
         room = room - #(member or "")  - 2
         if room < 16 then
            return list[1] and ',\n"near":{' .. table.concat(list, ",\n") .. "}"
         end
         list[#list + 1] = member or nil
      end
   end
   return ',\n"near":{' .. table.concat(list, ",\n") .. "}"
end

-- Returns the text of a source as a member of a JSON object of at most `room` bytes: all of it, or
-- the lines around those with weight. nil: none fits.
local function source_text(known, text, room)
   local size = 0
   for _, line in ipairs(text) do
      size = size + #line + 3
   end
   local found = size <= room and whole(text) or ""
   if found == "" or #found > room then
      found = near(known, text, room)
   end
   return found
end

-- Returns the text of the source of some lines, or why there is none, as members of a JSON object
-- of about `room` bytes.
local function found_text(known, given, room)
   local text, found, doubt = sources.read(known.file, given.sources, given.trust_paths,
      given.recorded)
   table.insert(given.inputs, text and found)
   table.insert(given.notes, doubt)
   given.has_source = text and true or given.has_source
   local member = text and source_text(known, text, room - #(doubt or ""))
   local reason = not text and "Not shown: " .. (found or NOT_FOUND) or not member
      and "Not shown: the page has no room for it: --set size=N" or doubt
   return (reason and ',\n"reason":' .. lanes.script(reason) or "") .. (member or "")
end

-- Returns the numbers of a file as the begin of a JSON object.
local function numbers_text(known)
   return ('{"file":%s,"line":%s,"self":%s,\n"function":%s'):format(lanes.script(known.file),
      data.numbers(known.line, #known.line), data.numbers(known.self, #known.self),
      data.numbers(known.func, #known.func))
end

---Returns the lines as a member of a JSON object of at most `size` bytes.
---@param profile profio.Profile|nil of lines.profile
---@param given table metric, sources, trust_paths; recorded: of sources.recording; inputs: the
---paths of the sources that are read are appended, to notes why their lines may have moved;
---has_source is set if a text is shown
---@param functions profio.PageFunctions
---@param size integer
---@return string
function lines.text(profile, given, functions, size)
   local list, left, parts = {}, { lines = 0, self = 0 }, {}
   if profile then
      list, left = by_file(profile, given.metric, functions, size * LINES_PART // 1 | 0)
   end
   for i, known in ipairs(list) do
      parts[i] = numbers_text(known)
      size = size - #parts[i] - REASON_SIZE
   end
   for i, known in ipairs(list) do
      local more = found_text(known, given, size)
      parts[i] = parts[i] .. more .. "}"
      size = size - #more
   end
   return ('"lines":{"left":%d,"left_self":%d,"list":[\n%s]},\n'):format(left.lines, left.self,
      table.concat(parts, ",\n"))
end

return lines
