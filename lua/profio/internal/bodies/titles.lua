-- The titles of profiles: sums and differences are named after what they were computed from.

local titles = {}

local MOST <const> = 3 -- profiles that the title of a sum names

---@class profio.Titled
---@field title string|nil path of the trace, or what titles.of_both returns
---@field summed { first: string, count: integer }|nil of a sum: its first profile, and how many

---Returns the title of a profile.
---@param state profio.Titled
---@return string
function titles.of(state)
   return state.title or "profile"
end

---Returns the title of a sum or difference; that of many has only the first one of them.
---@param a profio.Titled
---@param b profio.Titled
---@param sign integer 1 or -1
---@return string title
---@return { first: string, count: integer }|nil summed
function titles.of_both(a, b, sign)
   if sign < 0 then
      return titles.of(a) .. " less " .. titles.of(b)
   end
   local first = a.summed and a.summed.first or titles.of(a)
   local count = (a.summed and a.summed.count or 1) + (b.summed and b.summed.count or 1)
   return count > MOST and ("%s and %d more"):format(first, count - 1)
      or titles.of(a) .. " and " .. titles.of(b), { first = first, count = count }
end

---Returns the note on a comparison of unequal numbers of runs.
---@param new integer
---@param old integer
---@return string
function titles.means_note(new, old)
   return ("the new side has %d run%s, the old side %d: all numbers are means of a run"):format(new,
      new == 1 and "" or "s", old)
end

return titles
