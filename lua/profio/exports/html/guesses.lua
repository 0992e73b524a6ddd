-- Which numbers of a timeline are guessed, in words.

local numbers = require "profio.internal.numbers"

local guesses = {}

-- Sentences by flag of calls: one call, and several.
local sentences = {
   { "open", "1 call is open at the end of the trace and ends with its last event.",
      "%s calls are open at the end of the trace and end with its last event." },
   { "orphan", "1 call has no begin in the trace: it began before its lane was recorded, or its "
      .. "begin is lost.", "%s calls have no begin in the trace: they began before their lane was "
      .. "recorded, or their begins are lost." },
   { "unwound", "1 call has no end in the trace and ends with a call around it.",
      "%s calls have no end in the trace and end with a call around them." },
   { "gap", "1 call was ended by a gap in the recording.",
      "%s calls were ended by gaps in the recording." },
   { "lost", "Events are lost during 1 call.", "Events are lost during %s calls." },
   { "cut", "1 call extends beyond the chosen times and is cut.",
      "%s calls extend beyond the chosen times and are cut." },
}

---Appends sentences about calls of which not both ends are recorded.
---@param list string[]
---@param flagged table<string, integer> number of calls by flag; see overview:flagged
---@param word string|nil for the begin of each sentence
function guesses.add(list, flagged, word)
   for _, one in ipairs(sentences) do
      local count = flagged[one[1]] or 0
      if count > 0 then
         list[#list + 1] = (word or "") .. (count == 1 and one[2]
            or one[3]:format(numbers.count(count)))
      end
   end
end

return guesses
