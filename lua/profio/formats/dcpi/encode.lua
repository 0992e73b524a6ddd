--- The encoder, step 1: collects rows and header lines and merges them; write.lua writes the bytes.
---
--- A file has one header. Several profiles may have the same event if they state the same period
--- and fraction of the time; different events fit only into dcpicat's text.

local headers = require "profio.formats.dcpi.headers"
local write = require "profio.formats.dcpi.write"

local MOST_EVENTS, FULL_TIME = 64, 10000

local refuse = headers.refuse

-- {====== Collecting ======

-- Returns the profile with the id of a row, else the one without an id and with the same texts.
local function profile_of(profiles, id, ...)
   local texts = table.pack(...)
   for i = 1, id and 0 or texts.n do
      texts[i] = texts[i] and "=" .. texts[i] or ""
   end
   local key = id or table.concat(texts, "\0", 1, texts.n)
   local profile = profiles[key]
   if not profile then
      profile = { names = {}, lines = {} }
      profiles[key], profiles.list[#profiles.list + 1] = profile, profile
   end
   for i, word in ipairs { "image", "name", "label", "epoch", "platform" } do
      profile.names[word] = profile.names[word] or select(i, ...)
   end
   return profile
end

-- Refuses a row of samples without an address or a count.
local function check_sample(address, count)
   if not address or not count then
      refuse("a row of samples has no %s", count and "address" or "count")
   elseif count < 0 then
      refuse("a count of %d: it cannot be below 0", count)
   end
end

-- Adds the samples up by event and address. Returns the events in the order of their first rows:
-- { name = nil for rows without one, profile = of the first row, sums = by address, order = }.
local function sums_of(samples, profiles)
   local list, by_event, last, profile = {}, {}, {}, nil
   for address, count, event, id, image, name, label, epoch, platform in samples:each("address",
      "count", "event", "profile", "image", "name", "label", "epoch", "platform")
   do
      check_sample(address, count)
      if not profile or last[1] ~= id or last[2] ~= image or last[3] ~= name or last[4] ~= label
         or last[5] ~= epoch or last[6] ~= platform
      then
         profile = profile_of(profiles, id, image, name, label, epoch, platform)
         last = { id, image, name, label, epoch, platform }
      end
      local sums = by_event[event or false]
      if not sums then
         sums = { name = event, profile = profile, sums = {}, order = {} }
         by_event[event or false], list[#list + 1] = sums, sums
      end
      if count > 0 then
         write.add(sums, address, count)
      end
   end
   return list
end

-- Returns a header line from a row of table header: it states a word and a value, a line, or all of
-- them; the row that ends a header needs no value.
local function line_of(word, value, line)
   if not (word and value) and line then
      word, value = headers.split(line)
      if line:find "\n" or (word == "" or value == "") and not (value == "" and word == "samples")
      then
         refuse("a line of header must be a word, blanks and a value, found \"%s\"",
            line:sub(1, 40))
      end
   elseif not word then
      refuse "a row of header has no word"
   elseif not value and word ~= "samples" then
      refuse "a row of header has no value"
   end
   return { word = word, value = value or "", line = line }
end

-- Returns the header lines of the files. Those of the option `header`, and of rows without an id,
-- have no profile: they are valid for all.
local function lines_of(header, given, profiles)
   local list = {}
   given = given or ""
   for line in (given .. (given:find "[^\n]$" and "\n" or "")):gmatch "([^\n]*)\n" do
      local word, value = headers.split(line)
      if word == "" or value == "" then
         refuse "header: a word and a value expected in each line"
      end
      list[#list + 1] = { word = word, value = value, line = line }
   end
   for id, word, value, line in header:each("profile", "word", "value", "line") do
      local one = line_of(word, value, line)
      one.profile = id and profile_of(profiles, id) or nil
      list[#list + 1] = one
   end
   return list
end

-- Sets the values of each profile: from the lines for all profiles, its own lines, then its rows.
-- The first value of a word is kept.
local function collect_values(profiles, lines)
   local common = {}
   for _, line in ipairs(lines) do
      local values = line.profile and line.profile.lines or common
      values[line.word] = values[line.word] or line.value
   end
   for _, profile in ipairs(profiles) do
      local own, names = profile.lines, profile.names
      profile.values = {}
      for word in pairs(headers.place) do
         profile.values[word] = common[word] or own[word] or word ~= "name" and names[word] or nil
      end
      profile.values.name = profile.values.name or not profile.values.path and names.name or nil
   end
   return common
end

-- }======

-- {====== Events ======

-- Adds an event to the header, or compares it with the known one of this name; returns it.
local function add_event(events, name, period, fraction)
   local known = events[name]
   if known and (known.period ~= period or known.fraction ~= fraction) then
      refuse("event %s has one period and one fraction of the time in a file, here are %s:%s and "
         .. "%s:%s", name:sub(1, 40), headers.decimal(known.period),
         headers.decimal(known.fraction), headers.decimal(period), headers.decimal(fraction))
   elseif not known and #events == MOST_EVENTS then
      error { message = ("at most %d events expected in a file"):format(MOST_EVENTS),
         code = "limit" }
   elseif not known then
      known = { name = name, period = period, fraction = fraction, sums = {}, order = {},
         total = 0 }
      events[name], events[#events + 1] = known, known
   end
   return known
end

-- Adds an event with the period that a profile states for its only event.
local function add_only_event(events, values, name)
   local period = values.period and headers.number(values.period, 10)
   if not period then
      refuse("the period of event %s is not stated: give it in header", name:sub(1, 40))
   end
   return add_event(events, name, period, FULL_TIME)
end

-- Returns name, period and fraction of dcpicat's line "470352 cycles:63488:10000"; or nil.
local function read_event(text)
   local total, rest = text:match "^[ \t]*([^ \t]+)[ \t]*(.*)$"
   local name, period, fraction = (rest or ""):match "^(.+):(%d+):(%d+)$"
   period, fraction = name and headers.number(period, 10), name and headers.number(fraction, 10)
   return headers.number(total or "", 10) and period and fraction and name, period, fraction
end

-- Returns the events of all header lines: a name with a period line, or dcpicat's line with both.
-- Lines of the option `header` replace the others: a line `period` there also the period in a line
-- of dcpicat.
local function events_of(profiles, lines, common)
   local events = {}
   for _, line in ipairs(lines) do
      if line.word == "event" and (line.profile == nil) == (common.event ~= nil) then
         local profile = line.profile or profiles[1]
         local has_period = (line.profile and line.profile.lines or profile.values).period ~= nil
         local name, period, fraction = read_event(line.value)
         if has_period or not name then
            add_only_event(events, profile.values, line.value)
         else
            local stated = profile.values.period
            add_event(events, name, stated and headers.number(stated, 10) or period, fraction)
         end
      end
   end
   return events
end

-- Gives the samples to their events. An event that no line names is added if the profile states a
-- period; samples without an event belong to the only one.
local function give_sums(events, list)
   local without
   for _, sums in ipairs(list) do
      if not sums.name then
         without = sums
      else
         local event = events[sums.name] or add_only_event(events, sums.profile.values, sums.name)
         event.sums, event.order = sums.sums, sums.order
      end
   end
   if without and #events > 1 then
      refuse("a row of samples has no event, and the file has %d", #events)
   end
   for _, address in ipairs(without and events[1] and without.order or {}) do
      write.add(events[1], address, without.sums[address])
   end
end

-- }======

local encoder = {}

---Refuses a record that no file can hold.
---@param table_name string
---@param record table
function encoder.check(table_name, record)
   if table_name == "samples" then
      check_sample(record.address, record.count)
   else
      line_of(record.word, record.value, record.line)
   end
end

---Writes a file of version 0.07, or dcpicat's text.
---@param rows table the views `samples` and `header`
---@param options { dialect: string, header: string|nil }
---@param put fun(bytes: string)
function encoder.encode(rows, options, put)
   local profiles = { list = {} }
   local sums = sums_of(rows.samples, profiles)
   local lines = lines_of(rows.header, options.header, profiles)
   profiles = #profiles.list > 0 and profiles.list or { { names = {}, lines = {} } }
   local common = collect_values(profiles, lines)
   local file = headers.merged(profiles)
   file.events, file.lines, file.is_text = events_of(profiles, lines, common), lines,
      options.dialect == "dcpicat"
   give_sums(file.events, sums)
   write.file(file, put)
end

return encoder
