-- The hot lines of a report: the heaviest lines with their neighbours in the source, if it is
-- found.

local reports = require "profio.reports"
local markup = require "profio.exports.markup"
local sources = require "profio.internal.sources"

local lines = {}

local MOST = 40    -- hot lines
local AROUND = 2   -- lines of source before and after each

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

-- Returns the hot lines by file: { { file =, hot = { [line] = row }, numbers = }, ... }, the
-- hottest first. For a difference the lines with the largest changes come first.
local function by_file(profile, metric)
   local files, list = {}, {}
   local rows = profile:lines { metric = metric }:rows("file", "line", "self", "function")
   local taken = 0
   for i, row in ipairs(rows) do
      row.place = i
   end
   table.sort(rows, function(a, b)
      local x, y = math.abs(a.self or 0), math.abs(b.self or 0)
      return x > y or x == y and a.place < b.place
   end)
   for _, row in ipairs(rows) do
      if row.file and (row.line or 0) > 0 and (row.self or 0) ~= 0 and taken < MOST then
         local known = files[row.file]
         if not known then
            known = { file = row.file, hot = {}, numbers = {} }
            files[row.file], list[#list + 1] = known, known
         end
         if not known.hot[row.line] then
            known.hot[row.line] = row
            table.insert(known.numbers, row.line)
            taken = taken + 1
         end
      end
   end
   return list
end

local hot_row = '<tr><td class="bar%s" style="--w:%.1f%%">%s</td><td>%.2f %%</td>' ..
   '<td class="number">%d</td><td class="source">%s</td></tr>\n'
local cold_row = '<tr><td></td><td></td><td class="number">%d</td>' ..
   '<td class="source">%s</td></tr>\n'

local function put_file(out, known, text, reason, show, whole)
   local last = 0
   table.sort(known.numbers)
   out:write("<h3>", markup.escaped(known.file), "</h3>\n")
   if reason then
      out:write('<p class="note">Not shown: ', markup.escaped(reason), "</p>\n")
   end
   out:write '<div class="wide"><table class="code">\n'
   local function put(number)
      local row, source = known.hot[number], markup.escaped(text and text[number] or "")
      if row then
         local share = whole ~= 0 and 100 * row.self / whole or 0
         out:write(hot_row:format(share < 0 and " less" or "", math.abs(share), show(row.self),
            share, number,
            text and source or markup.escaped(row["function"] or "")))
      else
         out:write(cold_row:format(number, source))
      end
   end
   for _, number in ipairs(known.numbers) do
      local around = text and AROUND or 0
      if last > 0 and number - around > last + 1 then
         out:write '<tr class="gap"><td colspan="4">&#8942;</td></tr>\n'
      end
      for near = math.max(last + 1, number - around), number do
         put(near)
      end
      last = number
      for near = number + 1, math.min(number + around, text and #text or 0) do
         if known.hot[near] then
            break
         end
         put(near)
         last = near
      end
   end
   out:write "</table></div>\n"
end

---Writes the section, if there are lines.
---@param out table of lanes.out
---@param profile profio.Profile
---@param given table metric, source, trust_paths; whole: the total to which shares are relative;
---inputs: the paths of the sources that are read are appended
---@param show fun(weight: integer): string
---@return boolean whether there are lines
function lines.write(out, profile, given, show)
   local list = by_file(profile, given.metric)
   if #list == 0 then
      return false
   end
   out:write '<h2 id="lines">Hot lines</h2>\n'
   for _, known in ipairs(list) do
      local source, found = sources.read(known.file, { given.source }, given.trust_paths)
      table.insert(given.inputs, source and found)
      put_file(out, known, source, not source and found, show, given.whole)
   end
   return true
end

return lines
