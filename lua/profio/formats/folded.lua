--- Folded stacks: a line for each stack, "main;parse;read 12".
---
--- A format in Lua, written by the means of profio.register (profio help lua-api).

local later = require "profio.internal.later"
local folded_frames = later "profio.formats.anonymising.folded_frames"
local lines = require "profio.formats.folded.stack_lines"

local folded = {}

folded.name = "folded"
folded.help = "folded stacks, a line \"main;parse;read 12\" each: LuaJIT, Luau, perf, py-spy, ..."
folded.extensions = { "folded" }
folded.anonymiser = folded_frames

folded.options = {
   { name = "weights", type = "choice", choices = { "auto", "1", "2" }, default = "auto",
     help = "numbers at the end of each line; auto: 2, if all lines of the beginning have 2" },
   { name = "lanes", type = "bool", default = false,
     help = "profiles are those of table lanes: the first frame of a stack is no function" },
}

folded.main = "samples"

folded.tables = {
   samples = {
      { "stack", "name", "the functions, outermost first, with ; between them" },
      { "weight", "int", "samples with exactly this stack; of Luau their time in ns" },
      { "before", "int", "of lines with two weights: the first one, that of the older profile" },
   },
   lanes = {
      { "lane", "name", "the first frame: the thread or process of programs that write it so" },
      { "stack", "name", "the functions in it; if there are none, the lane" },
      { "weight", "int", "as in table samples" },
      { "before", "int", "as in table samples" },
   },
}

---Returns the stacks and the metrics. Luau states times; lines of differences have two weights.
---@param part profio.core.Part
---@return table
function folded.profile(part)
   local layout = part:fact "layout"
   local metrics = { layout == "luau" and { name = "time", unit = "ns", column = "weight" }
      or { name = "samples", unit = "count", column = "weight" } }
   if layout == "two" then
      metrics[2] = { name = "before", unit = "count", column = "before" }
   end
   return { table = part:fact "lanes" and "lanes" or "samples",
      folded = "stack", metrics = metrics, usual = metrics[1].name }
end

folded.first = { "flat" }

-- {====== Reading ======

local HEAD = 65536      -- bytes from which the layout is detected
local CHUNK = 1 << 20   -- bytes that are read at once
local UTF8_MARK = "\xEF\xBB\xBF"

-- Calls a function with each line of a source, its offset, and whether it ends the file without a
-- line feed; but `take` is called first, with a text and a position, and returns the position of
-- the first line that it has not taken. A longer line than a chunk doubles the next one.
local function each_line(source, visit, take)
   local at, size, rest = source:read(0, 3) == UTF8_MARK and 3 or 0, source:size(), ""
   while at < size do
      local base = at - #rest - 1
      local text = rest .. source:read(at, math.max(CHUNK, #rest))
      at = base + 1 + #text
      rest = text:sub(lines.each(text, function(line, place)
         visit(line, base + place)
      end, take))
   end
   if rest ~= "" then
      visit(rest, size - #rest, true)
   end
end

-- Puts the lines whose stack is the name of a state, unless they count all samples again.
local function put_states(source, put, held, others)
   local sum = 0
   for _, row in ipairs(held) do
      sum = sum + row[2]
   end
   if sum ~= 0 and sum == others then
      source:warn("lines such as Compiled count the samples of all stacks again, by the state of "
         .. "LuaJIT, and are left out", { kind = "note", code = "folded-states" })
      return
   end
   for _, row in ipairs(held) do
      put(row[1], row[2], row[3])
   end
end

-- Warns of a line without stack and weight.
local function warn_line(source, layout, line, number, offset)
   local wanted = layout == "two" and "a stack and two weights" or "a stack and a weight"
   source:warn(("line %d is not %s: %s"):format(number, wanted,
      #line > 60 and line:sub(1, 57) .. "..." or line), { code = "folded-line", offset = offset })
end

-- Notes a comment that may be a stack whose first name begins with #.
local function note_comment(source, line, number, offset)
   if line:find(";", 1, true) and lines.layouts.one(line) then
      source:warn(("line %d begins with # and is read as a comment"):format(number),
         { kind = "note", code = "folded-comment", offset = offset })
   end
end

-- Weights in a line, of layouts whose lines put_lines can split.
local weights_of = { one = 1, two = 2 }

-- Puts the stacks of a source: most lines by put_lines, the others one by one.
local function read(source, layout, put, put_lines)
   local parse, number, sum, held, is_noted = lines.layouts[layout], 0, 0, {}, false
   local function take(text, at)
      local after, count, weight = put_lines(text, at, weights_of[layout])
      number, sum = number + count, sum + weight
      return after
   end
   each_line(source, function(line, offset, is_cut)
      number = number + 1
      local is_comment = line:byte() == 35
      local stack, weight, before, is_rounded
      if not is_comment then
         stack, weight, before, is_rounded = parse(line)
      end
      if stack and lines.states[stack] then
         held[#held + 1] = { stack, weight, before }
      elseif stack then
         sum = sum + weight
         put(stack, weight, before)
      elseif is_comment then
         note_comment(source, line, number, offset)
      elseif not lines.is_blank(line) then
         warn_line(source, layout, line, number, offset)
      end
      if is_rounded and not is_noted then
         is_noted = true
         source:warn(("weights with decimals are rounded, first in line %d"):format(number),
            { kind = "note", code = "folded-rounded", offset = offset })
      end
      if stack and is_cut then
         source:warn("the last line has no line feed: its weight may be cut off",
            { kind = "note", code = "folded-last-line", offset = offset })
      end
   end, put_lines and weights_of[layout] and take)
   put_states(source, put, held, sum)
end

-- Returns `put` of table samples for rows of table lanes. A first frame that is alone is a function
-- too.
local function with_lanes(put)
   return function(stack, weight, before)
      local lane, rest = stack:match "^([^;]*);(.+)$"
      put(lane or stack, rest or stack, weight, before)
   end
end

---Opens a file. See profio.register.
---@param source table
---@param options table weights, lanes
---@return table
function folded.open(source, options)
   local head = source:read(0, HEAD):gsub("^" .. UTF8_MARK, "")
   local layouts = { ["1"] = "one", ["2"] = "two" }
   local layout = layouts[options.weights] or lines.layout(head, source:size() <= HEAD)
   if not layouts[options.weights] and layout == "two" then
      source:warn("each line ends in two numbers: metric samples is the last one, metric before "
         .. "the one in front of it", { kind = "note", code = "folded-two-weights" })
   end
   return {
      info = { layout = layout, lanes = options.lanes or nil },
      samples = function(...) read(source, layout, ...) end,
      lanes = function(put) read(source, layout, with_lanes(put)) end,
   }
end

-- }======

folded.warnings = {
   ["folded-comment"] = "a line that begins with # has the form of a stack",
   ["folded-last-line"] = "the last line has no end, so that its weight may be cut off",
   ["folded-line"] = "a line has no stack, or does not end in a weight of 0 to 2^63 - 1",
   ["folded-rounded"] = "weights with decimals are rounded to whole numbers",
   ["folded-states"] = "lines for the states of LuaJIT's virtual machine count all samples again",
   ["folded-two-weights"] = "the lines have two weights, as those of a difference",
}

-- The remedy for each of them.
folded.remedies = {
   ["folded-comment"] = "if it is none, give the function another name; the line is left out",
   ["folded-last-line"] = "if the file was copied or is being written, copy it again; the line is "
      .. "read as it is",
   ["folded-line"] = "report it to the program that wrote the file; all other lines are read",
   ["folded-rounded"] = "if the weights are small, multiply them before, as by awk",
   ["folded-states"] = "none needed: each sample counts once; -jp=G without v writes no such lines",
   ["folded-two-weights"] = "none needed; if the first number belongs to the name of the function: "
      .. "--set weights=1",
}

return folded
