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

function words.own(_, made)
   return ("%s itself ran longer"):format(made.area)
end

function words.before(part, made)
   return ("%s itself ran longer right after %s, which came before %d of %d slow calls and %d of "
      .. "%d typical ones"):format(made.area, part.area, part.count, made.slow.calls,
      part.typical_count, made.typical.calls)
end

function words.longer(part)
   return ("%s itself ran longer: %s for each of its calls instead of %s"):format(part.area,
      mean(part.net, part.count), mean(part.typical_net, part.typical_count))
end

function words.more(part, made)
   if part.typical_count == 0 then
      return ("calls of %s, which typical calls do not make: %s in each"):format(part.area,
         per_call(part.count, made.slow.calls))
   end
   return ("%s calls of %s: %s instead of %s"):format(part.time < 0 and "fewer" or "more",
      part.area, per_call(part.count, made.slow.calls),
      per_call(part.typical_count, made.typical.calls))
end

function words.suspended(part, made)
   if not part.runner then
      return ("%s did not run: it was suspended longer%s"):format(made.area,
         made.has_runners and " while no lane is known to have run on its core" or "")
   end
   return ("%s did not run: it was suspended for %s instead of %s while %s ran on its core%s")
      :format(made.area, mean(part.elapsed, made.slow.calls),
         mean(part.typical_elapsed, made.typical.calls), part.runner,
         part.runner_area and (", mostly %s"):format(part.runner_area) or "")
end

function words.first(part, made)
   local inner = part.of[1]
   return ("%d of %d slow calls %s the first of %s lane%s"):format(part.count, made.slow.calls,
      part.count == 1 and "is" or "are", part.count == 1 and "its" or "their",
      inner and words[inner.kind] and inner.kind ~= "own" and ", mostly because of: "
      .. words[inner.kind](inner, made) or "")
end

function words.rest(part)
   return ("%d smaller part%s"):format(part.count, part.count == 1 and "" or "s")
end

-- Returns an example: "; for example at 1.5 ms (core 0)".
local function example(part)
   if not part.start then
      return ""
   end
   return ("; for example at %s%s"):format(times.show(part.start, times.unit(part.start)),
      part.lane and (" (%s)"):format(part.lane) or "")
end

-- Returns the sentence of a part; times are those of one slow call.
local function sentence(part, made)
   return ("%s (%.1f%%): %s%s."):format(mean(part.time, made.slow.calls), 100 * part.share,
      words[part.kind](part, made), example(part))
end

-- Returns the sentence about the whole gap.
local function summary(made)
   local count = made.slow.calls
   local text = ("%s has %d calls. The %s took %s%s, and typical calls %s: the gap is %s."):format(
      made.area, made.calls, count == 1 and "slowest" or ("slowest %d"):format(count),
      mean(made.slow.elapsed, count), count == 1 and "" or " on average",
      mean(made.typical.elapsed, count), mean(made.gap, count))
   if made.partial > 0 then
      text = ("%s %d call%s not recorded from enter to leave, and left out."):format(text,
         made.partial, made.partial == 1 and " was" or "s were")
   end
   return text
end

---Adds `sentence` to an explanation and to each of its parts.
---@param made table
function part_sentences.add(made)
   local about = setmetatable({ has_runners = false }, { __index = made })
   made.sentence = summary(made)
   for _, part in ipairs(made.parts) do
      about.has_runners = about.has_runners or part.runner ~= nil
   end
   for _, part in ipairs(made.parts) do
      part.sentence = sentence(part, about)
   end
end

return part_sentences
