-- Writes an explanation in plain words.

local times = require "profio.internal.times"

local part_sentences = {}

-- Returns the mean of a sum of times in ns, formatted.
local function mean(sum, count, unit)
   local each = count > 0 and sum / count or 0
   local whole = math.tointeger(each) or each
   return times.show(whole, unit or times.unit(math.floor(each)))
end

local function per_call(count, calls)
   local each = calls > 0 and count / calls or 0
   return (each < 100 and "%.3g" or "%.0f"):format(each)
end

local words = {}

-- Returns how a function itself ran, in one direction: "f itself ran longer".
local function ran(area, time)
   return ("%s itself ran %s"):format(area, time < 0 and "shorter" or "longer")
end

function words.own(part, made)
   return ("%s: %s in each call instead of %s"):format(ran(made.area, part.time),
      mean(part.net, part.count), mean(part.typical_net, part.typical_count))
end

function words.before(part, made)
   return ("%s right after %s: %s in each of these calls instead of %s; it came before %d of %d "
      .. "slow calls and %d of %d typical ones"):format(ran(made.area, part.time), part.area,
      mean(part.net, part.count), mean(part.net - part.time, part.count), part.count,
      made.slow.calls, part.typical_count, made.typical.calls)
end

function words.longer(part)
   return ("%s: %s for each of its calls instead of %s"):format(ran(part.area, part.time),
      mean(part.net, part.count), mean(part.typical_net, part.typical_count))
end

function words.more(part, made)
   if part.caller then
      local by = part.caller ~= made.area and (" by %s"):format(part.caller) or ""
      return ("calls of %s%s, which typical calls do not make: %s in each%s"):format(part.area, by,
         per_call(part.count, made.slow.calls),
         part.count % made.slow.calls ~= 0 and " on average" or "")
   end
   return ("%s calls of %s: %s instead of %s"):format(part.time < 0 and "fewer" or "more",
      part.area, per_call(part.count, made.slow.calls),
      per_call(part.typical_count, made.typical.calls))
end

function words.suspended(part, made)
   local text = ("%s did not run: it was suspended for %s instead of %s"):format(made.area,
      mean(part.elapsed, made.slow.calls), mean(part.typical_elapsed, made.typical.calls))
   if part.runner then
      return ("%s while %s ran on its core%s"):format(text, part.runner, part.runner_area
         and (", mostly %s"):format(part.runner_area) or "")
   end
   return made.has_runners and text .. " while no lane is known to have run on its core" or text
end

function words.first(part, made)
   return ("%d of %d slow calls %s the first of %s lane"):format(part.count, made.slow.calls,
      part.count == 1 and "is" or "are", part.count == 1 and "its" or "their")
end

function words.rest(part)
   return ("%d smaller part%s"):format(part.count, part.count == 1 and "" or "s")
end

---Returns the place of a call: "at 1.5 ms (core 0)".
---@param call { start: integer, lane: any }
---@return string
function part_sentences.place(call)
   local lane = call.lane
   lane = lane and (math.type(lane) and (" (lane %s)"):format(lane) or (" (%s)"):format(lane))
   return ("at %s%s"):format(times.show(call.start, times.unit(call.start)), lane or "")
end

-- Returns the sentence of a part; times are those of one slow call.
local function sentence(part, made)
   local share = ("%.1f%%"):format(100 * part.share):gsub("^%-(0%.0%%)$", "%1")
   return ("%s (%s): %s%s."):format(mean(part.time, made.slow.calls), share,
      words[part.kind](part, made),
      part.start and "; for example " .. part_sentences.place(part) or "")
end

-- Returns the sentence about the whole gap.
local function summary(made)
   local count = made.slow.calls
   local text = ("%s has %d calls. The %s took %s%s, and typical calls %s: %s."):format(
      made.area, made.calls, count == 1 and "slowest" or ("slowest %d"):format(count),
      mean(made.slow.elapsed, count), count == 1 and "" or " on average",
      mean(made.typical.elapsed, count), made.gap == 0 and "there is no gap to explain"
      or "the gap is " .. mean(made.gap, count))
   if made.partial > 0 then
      text = ("%s %d call%s not recorded from enter to leave, and left out."):format(text,
         made.partial, made.partial == 1 and " was" or "s were")
   end
   return text
end

-- Adds `sentence` to parts, and `share` of their sum to those of calls that are first; `calls` is
-- the number of the calls that have the parts.
local function add_to(parts, made, calls)
   local about = setmetatable({ slow = { calls = calls }, has_runners = false },
      { __index = made })
   for _, part in ipairs(parts) do
      about.has_runners = about.has_runners or part.runner ~= nil
   end
   for _, part in ipairs(parts) do
      part.sentence = sentence(part, about)
      for _, inner in ipairs(part.of or {}) do
         inner.share = inner.time / part.time
      end
      add_to(part.of or {}, made, part.count)
   end
end

---Adds `sentence` to an explanation and to each of its parts.
---@param made table
function part_sentences.add(made)
   made.sentence = summary(made)
   add_to(made.parts, made, made.slow.calls)
end

return part_sentences
