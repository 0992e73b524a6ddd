-- A comparison in plain words: the change of the whole, what explains it, what is not known.

local counts = require "profio.internal.bodies.counts"
local times = require "profio.internal.times"

local sentences = {}

-- Verdicts of a whole that has changed.
local proven <const> = { slower = true, faster = true }

-- Functions that a sentence names.
local MOST_NAMED = 3
local MOST_RUNS = 1000

---Returns a function that formats weights of a metric.
---@param metric { name: string, unit: string }
---@return fun(value: number): string
function sentences.formatter(metric)
   return function(value)
      if metric.unit == "ns" then
         local whole = math.tointeger(value) or math.floor(value + 0.5)
         return times.show(whole, times.unit(whole))
      end
      return (math.tointeger(value) and "%d" or "%.1f"):format(math.tointeger(value) or value)
         .. (counts.is_counted(metric) and "" or " " .. metric.unit)
   end
end

---Formats a relative change that has no sign: "0.5 %", "140 %".
---@param relative number
---@return string
function sentences.size(relative)
   local value = relative * 100
   return (value >= 10 and "%.0f %%" or "%.2g %%"):format(value)
end

-- {====== Parts ======

local function percent(relative)
   return relative and (" (%+.1f %%)"):format(relative * 100) or ""
end

-- Returns the relative change of the whole with its interval, if that has two ends.
local function percent_of_whole(whole)
   if not whole.relative or not whole.low or whole.high == math.huge then
      return percent(whole.relative)
   end
   return (" (%+.1f %%, between %+.1f %% and %+.1f %%)"):format(whole.relative * 100,
      whole.low * 100, whole.high * 100)
end

-- Returns a change with its sign.
local function signed(change, shown)
   return (change > 0 and "+" or "") .. shown(change)
end

-- Returns what a row is: by context, it is an area.
local function noun_of(state)
   return state.by == "context" and "area" or state.by
end

local function counted(count, word)
   return ("%d %s%s"):format(count, word, count == 1 and "" or "s")
end

local function runs_of(state)
   local base, new = #state.runs.base, #state.runs.new
   if base == new then
      return base == 1 and "one run on each side" or base .. " runs on each side"
   end
   return ("%s before and %d after"):format(counted(base, "run"), new)
end

local function whole_sentence(state, whole)
   local shown, text = state.shown
   local from_to = ("%s to %s"):format(shown(whole.before), shown(whole.after))
   if whole.change == 0 then
      text = ("The whole is the same on both sides: %s"):format(shown(whole.before))
   elseif whole.verdict == "unknown" then
      text = ("The whole went from %s%s; whether that is a change is not known"):format(from_to,
         percent_of_whole(whole))
   else
      text = ("The whole went from %s%s"):format(from_to, percent_of_whole(whole))
   end
   return ("%s, %s of %s."):format(text, state.metric.name, runs_of(state))
end

-- Functions with cost on both sides from which a change that all share can be told.
local FEWEST_TYPICAL = 10

-- The least change that all functions share, and the least variation of whole runs, of which a
-- sentence tells.
local LEAST_SCALE <const>, LEAST_DRIFT <const> = 0.02, 0.03

local function count_common(rows)
   local count = 0
   for _, row in ipairs(rows) do
      count = count + (row.before > 0 and row.after > 0 and 1 or 0)
   end
   return count
end

-- The change that all functions share; a slower machine has it, too.
local function scale_sentence(state, result)
   local parts, scale = {}, result.whole.scale
   local is_known = result.whole.scale_width or result.whole.verdict ~= "unknown"
   if scale and is_known and count_common(result.rows) >= FEWEST_TYPICAL
      and math.abs(scale - 1) >= math.max(LEAST_SCALE, result.whole.scale_width or 0) then
      parts[1] = ("The typical %s costs %.3g times as much as before, as on a %s machine%s."
         ):format(noun_of(state), scale, scale > 1 and "slower" or "faster",
         state.options.normalise == "none" and "; option normalise takes that out of all rows"
         or "")
   end
   if state.options.normalise ~= "none" then
      parts[#parts + 1] = ("Below, %s is taken as equal in all runs."):format(
         state.options.normalise == "total" and "the whole" or state.options.normalise)
   end
   if (result.drift or 0) >= LEAST_DRIFT then
      parts[#parts + 1] = ("Whole runs of one side differ by %s: option normalise=total compares "
         .. "shares, which shows smaller changes."):format(sentences.size(result.drift))
   end
   return #parts > 0 and table.concat(parts, " ") or nil
end

-- Returns the rows of some verdicts.
local function rows_with(rows, ...)
   local list, wanted = {}, {}
   for _, verdict in ipairs { ... } do
      wanted[verdict] = true
   end
   for _, row in ipairs(rows) do
      list[#list + 1] = wanted[row.verdict] and row or nil
   end
   return list
end

-- Returns up to MOST_NAMED rows with their changes, and how many others there are.
local function named(rows, text_of)
   local parts = {}
   for i = 1, math.min(#rows, MOST_NAMED) do
      parts[i] = text_of(rows[i])
   end
   local others = #rows - #parts
   if others > 0 then
      parts[#parts + 1] = ("%d more"):format(others)
   end
   return #parts < 2 and parts[1]
      or table.concat(parts, ", ", 1, #parts - 1) .. " and " .. parts[#parts]
end

-- }======

-- {====== Sentences ======

local function changed_sentence(state, rows)
   local list = rows_with(rows, "slower", "faster", "new", "gone")
   if #list == 0 then
      return "No " .. noun_of(state) .. " is known to have changed."
   end
   local sum = 0
   for _, row in ipairs(list) do
      sum = sum + row.change
   end
   return ("%s changed, by %s in sum: %s."):format(counted(#list, noun_of(state)),
      signed(sum, state.shown), named(list, function(row)
         return ("%s is %s, %s%s"):format(row.name, row.verdict, signed(row.change, state.shown),
            percent(row.relative))
      end))
end

-- Returns the row with the largest part of the change of the whole; nil: none changed likewise.
local function candidate_of(result)
   local found
   for _, row in ipairs(result.rows) do
      local is_part = row.change * result.whole.change > 0 and row.verdict ~= "moved"
      if is_part and (not found or math.abs(row.change) > math.abs(found.change)) then
         found = row
      end
   end
   return found
end

-- Returns the number of runs on each side that would prove the change of a row, or nil.
local function runs_to_prove(state, row, rows_for)
   for _, other in ipairs(row.relative and rows_for { relative = math.abs(row.relative) } or {}) do
      if other.key == row.key and other.runs_needed then
         return math.max(other.runs_needed, math.min(#state.runs.base, #state.runs.new) + 1)
      end
   end
end

-- If the whole has changed and no row is known to have: the row with the largest part of it.
local function candidate_sentence(state, result, rows_for)
   local is_open = proven[result.whole.verdict]
      and #rows_with(result.rows, "slower", "faster", "new", "gone") == 0
   local row = is_open and candidate_of(result)
   if not row then
      return nil
   end
   local count = runs_to_prove(state, row, rows_for)
   return ("The largest part is in %s: %s%s, %.0f %% of the change%s."):format(row.name,
      signed(row.change, state.shown), percent(row.relative),
      row.change / result.whole.change * 100,
      count and ("; about %s on each side would prove it"):format(sentences.runs(count)) or "")
end

local function moved_sentence(state, rows)
   local list = {}
   for _, row in ipairs(rows_with(rows, "moved")) do
      list[#list + 1] = row.to and row or nil
   end
   if #list == 0 then
      return nil
   end
   return ("Cost moved, and the sum has not changed: %s."):format(named(list, function(row)
      return ("%s of %s to %s"):format(state.shown(-row.change), row.name,
         table.concat(row.to, ", "))
   end))
end

local function unknown_sentence(state, rows)
   local list = rows_with(rows, "unknown")
   if #list == 0 then
      return nil
   elseif (#state.runs.base == 1 or #state.runs.new == 1) and not state.options.single then
      return ("With one run on a side nothing is known of %s: give several runs, or option single "
         .. "for verdicts by the error of the samples alone."):format(
         counted(#list, noun_of(state)))
   end
   return ("Of %s it is not known whether %s changed by 5 %% or more: %s."):format(
      counted(#list, noun_of(state)), #list == 1 and "it" or "they", named(list, function(row)
         return row.name .. percent(row.relative)
      end))
end

-- The smallest change that could have been shown, and what would show less, of the largest
-- functions.
local function power_sentence(result)
   local first = {} -- the largest first
   for _, row in ipairs(result.rows) do
      local place = row.detectable and #first + 1 or math.huge
      while place > 1 and place < math.huge and row.before > first[place - 1].before do
         place = place - 1
      end
      if place <= MOST_NAMED then
         table.insert(first, place, row)
         first[MOST_NAMED + 1] = nil
      end
   end
   if #first == 0 then
      return nil
   end
   return ("These runs would have shown a change %s."):format(named(first, function(row)
      return ("of %s from %s on%s"):format(row.name, sentences.size(row.detectable),
         row.runs_needed and (" (needs %s to see 2 %%)"):format(sentences.runs(row.runs_needed))
         or "")
   end))
end

-- }======

---Returns how many runs on each side are needed; a number that nobody would make is not given.
---@param count integer
---@return string
function sentences.runs(count)
   return count > MOST_RUNS and ("more than %d runs"):format(MOST_RUNS) or ("%d runs"):format(count)
end

---Returns the paragraph of a comparison.
---@param state table of the comparison: runs, items, by, metric, options, shown
---@param result table of the test: rows sorted by their change, whole, notes
---@param rows_for fun(wanted: table): table[] the rows with the runs that a change needs: wanted is
---{ relative = }
---@return string
function sentences.text(state, result, rows_for)
   local list = { whole_sentence(state, result.whole) }
   local function add(sentence)
      list[#list + 1] = sentence
   end
   add(scale_sentence(state, result))
   add(changed_sentence(state, result.rows))
   add(candidate_sentence(state, result, rows_for))
   add(moved_sentence(state, result.rows))
   add(unknown_sentence(state, result.rows))
   add(power_sentence(result))
   for _, note in ipairs(result.notes) do
      add(note:gsub("^%l", string.upper) .. ".")
   end
   return table.concat(list, " ")
end

return sentences
