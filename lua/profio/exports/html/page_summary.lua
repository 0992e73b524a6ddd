-- The summary of a report: what was recorded, when and how long, the functions that cost most, what
-- is lost or guessed, and the header fields of the files, folded away.

local counts = require "profio.internal.bodies.counts"
local markup = require "profio.internal.markup"
local numbers = require "profio.internal.numbers"
local profile_parts = require "profio.internal.bodies.profile_parts"
local traces = require "profio.internal.trace"

local summary = {}

-- Writes each header field in a form that suits its name, because fields have no unit.
local forms = {
   { "nanos$", function(value)
      return value > 1000000000 * 86400 * 365 and os.date("!%Y-%m-%d %H:%M:%S UTC",
         value // 1000000000) or numbers.time(value)
   end },
   { "_ns$", numbers.time },
}

local function shown(fact)
   if fact.type == "addr" then
      return ("0x%x"):format(fact.value)
   elseif math.type(fact.value) == "float" then
      return ("%.6g"):format(fact.value)
   elseif math.type(fact.value) ~= "integer" then
      return tostring(fact.value)
   end
   for _, form in ipairs(forms) do
      if fact.name:find(form[1]) then
         return form[2](fact.value)
      end
   end
   return tostring(fact.value)
end

-- Returns the names of the header fields that state when the recording began, most exact first.
local begins = { "time_nanos", "started", "start_time", "date", "created" }

-- Returns when the recording began, or nil if no header field states it.
local function begin_of(trace)
   for _, name in ipairs(begins) do
      for _, facts in ipairs(trace:facts()) do
         for _, fact in ipairs(facts) do
            if fact.name == name and fact.value ~= 0 and fact.value ~= "" then
               return shown(fact)
            end
         end
      end
   end
   return nil
end

-- Returns the entries about the recording: { name, text, index of a metric or nil } each.
local function entries_of(trace, profile, given)
   local list = {}
   local function add(name, text, metric)
      list[#list + 1] = text and { name, text, metric } or nil
   end
   add("format", trace and trace.format)
   add("recorded", trace and begin_of(trace))
   add("duration", given.length and numbers.time(given.length))
   add("lanes", given.lanes and numbers.count(given.lanes))
   for _, word in ipairs { "from", "to" } do
      add(word, given[word] and numbers.time(given[word]))
   end
   add("before", given.sides[2] and profile_parts.title(given.sides[2]))
   add("after", given.sides[1] and profile_parts.title(given.sides[1]))
   local metrics, is_pair = profile:metrics(), given.sides[1] ~= nil
   for i = 1, #metrics do -- those of a difference are after and before
      local m = is_pair and #metrics + 1 - i or i
      local metric = metrics[m]
      add(is_pair and metrics[1].name .. (i == 1 and " before" or " after") or metric.name,
         numbers.weight(metric.total, counts.is_counted(metric) and "count" or metric.unit), m - 1)
   end
   return list
end

-- Returns texts one after the other, as many as fit into `room` bytes; the rest is counted by a
-- last text, a format with %d.
local function as_fit(list, room, rest)
   local texts = {}
   for i, text in ipairs(list) do
      room = room - #text
      if room < 0 then
         texts[i] = rest:format(#list - i + 1)
         break
      end
      texts[i] = text
   end
   return table.concat(texts)
end

local function entries_text(list, room)
   local texts = {}
   for i, entry in ipairs(list) do
      local metric = entry[3] and (' data-metric="%d"'):format(entry[3]) or ""
      texts[i] = ("<div><dt>%s</dt><dd%s>%s</dd></div>\n"):format(markup.escaped(entry[1]), metric,
         markup.escaped(entry[2]))
   end
   return "<dl>\n" .. as_fit(texts, room, "<div><dt>left out</dt><dd>%d more</dd></div>\n") ..
      "</dl>\n"
end

-- Returns the losses and guesses as items of a list, damage first.
local function losses_of(trace, given)
   local damage, notes = {}, {}
   local function add(kind, text)
      local list = kind == "damage" and damage or notes
      list[#list + 1] = ('<li class="%s">%s</li>\n'):format(kind, text)
   end
   for _, warning in ipairs(trace and trace.warnings or {}) do
      add(warning.kind, ("%s <code>%s</code>%s"):format(markup.escaped(warning.message),
         markup.escaped(warning.code), traces.times(warning)))
   end
   for _, note in ipairs(not trace and given.notes or {}) do
      add("damage", markup.escaped(note))
   end
   for _, note in ipairs(given.guesses) do
      add("note", markup.escaped(note))
   end
   return table.move(notes, 1, #notes, #damage + 1, damage)
end

-- Returns the first loss or guess, and the others folded away.
local function losses_text(trace, given, room)
   local list = losses_of(trace, given)
   if #list == 0 then
      return ""
   end
   local rest = as_fit(table.move(list, 2, #list, 1, {}), room,
      '<li class="damage">%d more: profio --info</li>\n')
   return '<h3>Lost or guessed</h3>\n<ul class="warnings">\n' .. list[1] .. "</ul>\n"
      .. (#list == 1 and "" or ('<details><summary>%d more</summary>\n<ul class="warnings">\n'
      .. "%s</ul>\n</details>\n"):format(#list - 1, rest))
end

-- Returns the header fields of all files, folded away.
local function facts_text(trace, room)
   local list = {}
   for _, facts in ipairs(trace and trace:facts() or {}) do
      for _, fact in ipairs(facts) do
         list[#list + 1] = { fact.name, shown(fact) }
      end
   end
   return #list == 0 and "" or ("<details><summary>Header fields (%d)</summary>\n"):format(#list) ..
      entries_text(list, room) .. "</details>\n"
end

---Returns the summary.
---@param trace profio.Trace|nil nil: only a profile is known
---@param profile profio.Profile
---@param given table from, to; length in ns and lanes of the timeline, if there is one; guesses:
---sentences about numbers that are estimates; notes: losses of a profile; sides: the new and
---the old profile of a difference; words: what a comparison says; size: bytes that each of words,
---losses and header fields may take
---@return string
function summary.text(trace, profile, given)
   local entries = entries_of(trace, profile, given)
   local words = given.words and "<p>" .. markup.escaped(given.words) .. "</p>\n" or ""
   return table.concat { '<section id="summary" aria-labelledby="summary-title">\n',
      '<h2 id="summary-title">Summary</h2>\n', entries_text(entries, given.size),
      #words <= given.size and words or "",
      "<h3>", given.sides[1] and "Largest changes of self" or
      'Where the <span class="metric"></span> <span class="goes"></span>',
      '<span id="costs-of"></span></h3>\n<ol id="costs"></ol>\n',
      losses_text(trace, given, given.size // 2), facts_text(trace, given.size // 2),
      "</section>\n" }
end

return summary
