-- A flame graph as one self-contained SVG file: a click on a frame widens it to the full width,
-- Backspace and Escape go back, / or Ctrl-F opens a field in the picture that searches by a regular
-- expression, a tip under the pointer shows the numbers. The last lines say what is not drawn. For
-- a difference of two profiles the widths are the totals of the new one, or the sums of both, and
-- colours show the change: red has grown and blue has shrunk.
--
-- All frames of a colour are one path and there is one tip, because browsers take long to read many
-- elements. The script draws the frames again for the width of the window, and for each zoom; the
-- picture without scripts has the width of its option.

local compared = require "profio.exports.compared"
local core = require "profio.core"
local lanes = require "profio.exports.lanes"
local markup = require "profio.internal.markup"
local numbers = require "profio.internal.numbers"
local profile_parts = require "profio.internal.bodies.profile_parts"
local resources = require "profio.internal.resources"
local texts = require "profio.internal.texts"

local widths_option = { name = "widths", type = "choice", choices = { "new", "both" },
   default = "new", help = "of a difference: totals of the new profile, or sums of both, which "
      .. "show what is gone" }

local svg = {
   name = "svg",
   help = "a flame graph as one SVG file, with search and zoom",
   endings = { ".svg" },
   takes = "profile",
   options = {
      { name = "metric", type = "text", help = "weight: time, samples, ..." },
      { name = "title", type = "text", help = "title of the picture" },
      { name = "width", type = "int", default = 1200, unit = "pixels",
        help = "width where no script runs; frames below 0.1 of these pixels are not drawn" },
      { name = "rows", type = "int", default = 400, help = "most rows" },
      widths_option,
      { name = "pair", type = "bool", default = false,
        help = "of a difference: both profiles, one above the other in one scale" },
      { name = "lines", type = "bool", default = false,
        help = "a frame for each line, not for each function" },
      { name = "icicle", type = "bool", default = false, help = "draw the root at the top" },
   },
}

-- In pixels; the width of a letter, and that of the narrowest frame.
local HEAD, FOOT, LINE, ROW, EDGE = 44, 30, 15, 17, 10
local LETTER <const>, MIN_WIDTH <const> = 7.3, 0.1

-- Text has a contrast of at least 4.5 to 1 on each colour.
local style = [[
.flames{font:12px ui-monospace,Menlo,Consolas,monospace;outline:none}
svg:root{background:#fff}
.flames text{fill:#1b1b1b;pointer-events:none}
.flames .page,.flames .field rect{fill:#fff}
.flames .head{font-size:15px}
.flames .note,.flames .button{fill:#555}
.flames .button{pointer-events:auto;cursor:pointer}
.flames .over{fill:none;stroke:#000;pointer-events:none}
.flames path.matched{fill:#b03bd4}
.flames text.matched{fill:#fff}
.flames .above{fill:#fff;opacity:.45}
.flames .words,.flames .field{pointer-events:none}
.flames .words rect,.flames .field rect{stroke:#888}
.flames .words rect{fill:#1b1b1b}
.flames .words text{fill:#fff}
@media (prefers-color-scheme:dark){
svg:root{background:#16181c}
.flames .page,.flames .field rect{fill:#16181c}
.flames .head,.flames .note,.flames .button,.flames .field text,.flames .upper{fill:#d7dae0}
.flames .over{stroke:#fff}
.flames .above{fill:#16181c;opacity:.75}
}
]]

-- The tip: it is moved to the pointer and gets the text of a frame.
local tip = '<g class="words" style="display:none"><rect width="0" height="22" rx="3"/>' ..
   '<text x="6" y="15"></text></g>\n'

-- Returns the script, without comments and indentation. It is a block, because a document may have
-- two of them.
local function program(out)
   local list = {}
   for i, name in ipairs { "html/scripts/texts.js", "svg/flame_graph.js" } do
      local text, reason = resources.read("exports/" .. name)
      out.failure = out.failure or not text and { "cannot read " .. reason, "io" } or nil
      list[i] = (text or ""):gsub("/%*.-%*/", ""):gsub("\n%s*//[^\n]*", ""):gsub("\n%s+", "\n")
         :gsub(" // [^\n]*", "")
   end
   return "<script><![CDATA[{\n" .. table.concat(list) .. "}]]></script>\n"
end

-- Returns the losses as an element `desc`, for programs and screen readers.
local function description(notes)
   local list = {}
   for i, note in ipairs(notes) do
      list[i] = "damaged: " .. markup.escaped(note)
   end
   return #list > 0 and "<desc>" .. table.concat(list, "\n") .. "</desc>\n" or ""
end

-- Says what widths and colours of a difference mean.
local function legend_of(given, metric)
   local is_both = given.widths == "both"
   return ("widths: total %s of %s; colours: the change of the total, red grew, blue shrank%s")
      :format(metric or "", is_both and "both profiles" or "the new profile",
         is_both and "" or "; what is gone has no width")
end

-- Says what is not drawn, and what to do: contexts below the minimum width, and rows that are too
-- many.
local function not_drawn(given, left)
   local list = {}
   local function add(what, count, part, remedy)
      list[#list + 1] = count > 0 and ("%s %s %s, %s of the whole (%s)"):format(
         numbers.count(count), count == 1 and "context" or "contexts", what,
         part < 0.00005 and "less than 0.01 %" or numbers.percent(part, 1), remedy) or nil
   end
   add(("narrower than %s pixels"):format(texts.float("%g", given.min_width)), left.narrow,
      left.narrow_part, ("--set width=%d draws more"):format(10 * given.width))
   add(("below row %d"):format(given.rows), left.deep, left.deep_part,
      ("--set rows=%d draws all rows"):format(left.all))
   return #list > 0 and "not drawn: " .. table.concat(list, "; ") or nil
end

-- Returns the text below the frames as lines of the width of the picture; all but the last one end
-- with a blank.
local function foot_lines(profile, given, options, drawn)
   local list, notes = {}, profile:notes()
   list[1] = options.before and legend_of(given, options.metric) or nil
   list[#list + 1] = drawn.rows == 0 and "nothing to draw: no context has any weight" or nil
   list[#list + 1] = not_drawn(given, drawn)
   list[#list + 1] = #notes > 0 and "damaged: " .. notes[1] ..
      (#notes > 1 and (" and %d more"):format(#notes - 1) or "") or nil
   local lines, room = { "" }, (given.width - 2 * EDGE) // LETTER
   for word in markup.clean(table.concat(list, "; ")):gmatch "[^ ]+" do
      if lines[#lines] ~= "" and utf8.len(lines[#lines] .. word) > room then
         lines[#lines + 1] = ""
      end
      lines[#lines] = lines[#lines] .. word .. " "
   end
   lines[#lines] = lines[#lines]:sub(1, -2)
   return lines
end

-- Returns those lines as an element.
local function foot_text(lines, y)
   local list = {}
   for i, line in ipairs(lines) do
      list[i] = ('<tspan x="%d" dy="%d">%s</tspan>'):format(EDGE, i > 1 and LINE or 0,
         markup.escaped(line))
   end
   return ('<text class="note foot" y="%d">%s</text>\n'):format(y, table.concat(list))
end

-- Returns the pixels between the edges that frames use.
local function inner_width(given)
   return (given.width - 2 * EDGE) * (given.scale or 1)
end

local function head(profile, given, height, root)
   return table.concat {
      ('<svg xmlns="http://www.w3.org/2000/svg" version="1.1" class="flames" y="%d" width="%d" ' ..
         'height="%d" ' ..
         'viewBox="0 0 %d %d" data-edge="%d" data-row="%d" data-root="%d" data-upward="%s" ' ..
         'data-scale="%s">\n'):format(given.top or 0, given.width, height, given.width, height,
         EDGE, ROW, root, not given.icicle, texts.float("%.9g", given.scale or 1)),
      description(profile:notes()),
      "<style>", style, "</style>\n",
      '<rect class="page" width="100%" height="100%"/>\n',
      ('<text class="head" x="%d" y="22">%s</text>\n'):format(EDGE, markup.escaped(given.title or
         profile_parts.title(profile))),
      ('<text class="button back" x="%d" y="38" style="display:none">Show all</text>\n')
         :format(EDGE),
      ('<text class="button find" x="%d" y="22" text-anchor="end">Search</text>\n')
         :format(given.width - EDGE),
      ('<text class="note hits" x="%d" y="38" text-anchor="end"></text>\n')
         :format(given.width - EDGE) }
end

-- Returns how a profile is drawn: its contexts, the options of core.write_flames, the lines below
-- the frames, and the height.
local function drawing_of(profile, given, file)
   local contexts, metric, before = compared.contexts(profile, given.metric, given.lines)
   given.min_width = given.min_width or MIN_WIDTH
   local options = { metric = metric, before = before, width = inner_width(given), row = ROW,
      min_width = given.min_width, rows = given.rows, upward = not given.icicle, left = EDGE,
      both = given.widths == "both" }
   local rows, narrow, narrow_part, deep, deep_part, all = core.flame_rows(contexts, options, file)
   local foot = foot_lines(profile, given, options, { rows = rows, narrow = narrow,
      narrow_part = narrow_part, deep = deep, deep_part = deep_part, all = all })
   local bottom = HEAD + rows * ROW
   options.root = given.icicle and HEAD or bottom
   return { contexts = contexts, options = options, foot = foot, bottom = bottom,
      height = bottom + FOOT + (#foot - 1) * LINE }
end

---Writes the elements of a flame graph, for a file of its own or inside a page.
---@param profile profio.Profile
---@param given table metric, title, width, rows, lines, icicle, min_width (of a frame, in pixels),
---top (pixels above it in a document that contains it), scale (part of the width that is used)
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function svg.write_element(profile, given, file)
   local drawing, out = drawing_of(profile, given, file), lanes.out(file)
   out:write(head(profile, given, drawing.height, drawing.options.root))
   out:write(foot_text(drawing.foot, drawing.bottom + 20))
   out:call(core.write_flames, drawing.contexts, drawing.options)
   out:write(tip, program(out), "</svg>\n")
   return out:result()
end

-- Returns the options of the picture of one side of a difference.
local function side_options(side, given, top)
   local own = { scale = side.scale, top = top,
      title = ("%s: %s"):format(side.word, given.title or profile_parts.title(side.profile)) }
   return setmetatable(own, { __index = given })
end

---Writes both sides of a difference as elements of one document, the older one above.
---@param sides table[] compared.sides
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
local function write_pair(sides, given, file)
   local tops, height = {}, 0
   for i, side in ipairs(sides) do
      tops[i] = height
      height = height + drawing_of(side.profile, side_options(side, given), file).height
   end
   local out = lanes.out(file)
   out:write(('<svg xmlns="http://www.w3.org/2000/svg" version="1.1" '
      .. 'width="%d" height="%d" viewBox="0 0 %d %d">\n'):format(given.width, height, given.width,
      height))
   for i, side in ipairs(sides) do
      local ok, message, code, broken = svg.write_element(side.profile,
         side_options(side, given, tops[i]), file)
      if not ok then
         return nil, message, code, broken
      end
   end
   out:write "</svg>\n"
   return out:result()
end

---@param profile profio.Profile
---@param given table
---@param file file*
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function svg.write(profile, given, file)
   given.width = math.max(given.width or 1200, 200)
   given.rows = given.rows or 400
   local sides = given.pair and compared.sides(profile, given.metric)
   if given.pair and not sides then
      error("svg: option pair needs a difference of two profiles", 0)
   end
   local ok, _, number = file:write '<?xml version="1.0" encoding="UTF-8"?>\n'
   if not ok then
      return core.write_failure(file, number)
   end
   return (sides and write_pair or svg.write_element)(sides or profile, given, file)
end

return svg
