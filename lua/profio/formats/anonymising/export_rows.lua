-- Names in exports of winIDEA: the rows of a Text1 file, and the elements of an XML export. A
-- binary timeline has no names.

local masks = require "profio.internal.anonymising.masks"
local row_format = require "profio.formats.anonymising.row_format"
local xml_elements = require "profio.formats.anonymising.xml_elements"

local export_rows = {}

local SECTIONS <const> = { "INFO", "CONTEXTS", "HANDLE", "STATISTICS", "TIMELINE" }

-- Words of headers that are no names of the user.
local WORDS <const> = { info = true, contexts = true, handle = true, statistics = true,
   timeline = true, context = true, functions = true, data = true, aux = true, states = true,
   lines = true, variables = true, inspectors = true }

-- Names by macro. CLASS and FORMAT are words of winIDEA, but may be changed.
local KINDS <const> = { NAME = "f", ["NAME.PARENT"] = "f", FILE = "p", PATH = "p", CONTEXT = "t",
   CLASS = "n", FORMAT = "n" }
local UNITS <const> = { ns = true, us = true, ms = true, s = true, V = true, A = true,
   ["%"] = true, Hz = true }

-- {====== Values ======

-- Returns a literal of a format, in which a user may have written anything.
local function literal_of(text)
   return (text:gsub("[%w\x80-\xff]+", function(word)
      return (WORDS[word:lower()] or word == "\xef\xbb\xbf") and word or masks.text(word)
   end))
end

-- Returns an alias; a name in quotes is the same as without them.
local function alias_of(context, text, kind)
   return masks.inner(text, function(name)
      local inner = name:match '^"(.+)"$'
      if kind == "p" then
         return context.names:path(name, "p")
      end
      return inner and '"' .. context.names:of(inner, kind) .. '"' or context.names:of(name, kind)
   end)
end

local function value_of(context, macro, text, kind)
   if KINDS[macro] then
      return alias_of(context, text, KINDS[macro] == "f" and kind or KINDS[macro])
   elseif macro == "VALUE.UNIT" then
      return UNITS[text] and text or masks.text(text)
   elseif row_format.is_free(macro) then
      return masks.text(text)
   end
   return text
end

-- Returns a row with its fields replaced. `kind` is that of names.
local function replaced_row(context, format, row, kind)
   local fields = row_format.split(format, row)
   if not fields then
      return masks.text(row)
   end
   local parts, at = {}, 1
   for i, field in ipairs(fields) do
      parts[#parts + 1] = literal_of(row:sub(at, field[1] - 1))
      parts[#parts + 1] = value_of(context, format.macros[i], row:sub(field[1], field[2] - 1),
         kind)
      at = field[2]
   end
   parts[#parts + 1] = literal_of(row:sub(at))
   return table.concat(parts)
end

-- }======

-- {====== Headers ======

-- Returns the kind of section by the first of its words, as in `* HANDLE(Functions)`.
local function has_keyword(line)
   local word = line:match "^\xef?\xbb?\xbf?%* (%a+)"
   for _, section in ipairs(SECTIONS) do
      if word and word:upper() == section then
         return true
      end
   end
   return false
end

-- Returns where the name in `CONTEXT(name)` begins and ends. A name may contain brackets: it ends
-- at the last one before a format with HANDLE, else at the last one.
local function context_in(line)
   local _, start = line:upper():find("CONTEXT%(", 1)
   if not start then
      return nil
   end
   local handle = 0
   for at in line:upper():gmatch "()%%HANDLE%%" do
      handle = at
   end
   local last
   for i = #line, start + 1, -1 do
      if line:sub(i, i) == ")" then
         last = last or i
         if handle > i and line:sub(i + 1, i + 2) == " %" then
            last = i
            break
         end
      end
   end
   return last and start + 1, last and last - 1
end

-- Returns a part of a header: macros stay.
local function header_part(text)
   local format, parts = row_format.compile(text), {}
   local at = 1
   for i, literal in ipairs(format.literals) do
      parts[#parts + 1] = literal_of(literal)
      at = at + #literal
      if format.macros[i] then
         local last = text:find("%", at + 1, true)
         local word = text:sub(at, last)
         parts[#parts + 1] = row_format.is_known(format.macros[i]) and word or masks.text(word)
         at = last + 1
      end
   end
   return table.concat(parts)
end

-- Returns a header, and the format of the rows after it: what follows the words of the header, or
-- an option of the user.
local function header(context, line)
   local from, to = context_in(line)
   local front, rest = "", line
   if from and has_keyword(line) then
      front = header_part(line:sub(1, from - 1)) .. alias_of(context, line:sub(from, to), "t")
      rest = line:sub(to + 1)
   end
   local words = #row_format.compile(rest).literals[1]
   local format = rest:sub(words + 1)
   for _, section in ipairs(SECTIONS) do
      local given = (context.state.format_options or {})[section:lower() .. "_format"] or ""
      if given ~= "" and (format == given or format == "" and line:upper():find(section, 1, true))
      then
         format = given
      end
   end
   return front .. header_part(rest), row_format.compile(format)
end

-- }======

-- Returns the rewriter of the rows of a Text1 file.
local function rows_of(context)
   local format, names, has_text
   return function(kind, bytes)
      local line, feed = masks.line(bytes)
      if kind == "header" then
         names = line:find "%* CONTEXTS" and "t" or line:find "%(Functions%)" and "f" or "v"
         line, format = header(context, line)
         has_text = row_format.has_text(format)
      elseif kind == "rest" or not format or line == "" then
         line = masks.text(line)
      elseif has_text or line:find "[^%x,]" then
         line = replaced_row(context, format, line, names)
      end
      return line .. feed
   end
end

---@param context table
---@return fun(kind: string, bytes: string): string
function export_rows.start(context)
   local source = context.files[1].source
   if context.trace.info.dialect == "bin" then
      context.note("anonymised-no-names", "a binary timeline has no names: it is copied as it is")
      return function(kind, bytes)
         return kind == "rest" and masks.words(bytes, context) or bytes
      end
   elseif xml_elements.is_xml(source:read(0, 4096)) then
      local text, is_done = source:read(0, source:size()), false
      return function() -- all at once, since an element may have several lines
         local made = is_done and "" or xml_elements.rewritten(context, text)
         is_done = true
         return made
      end
   end
   return rows_of(context)
end

export_rows.roles = {}

-- The main file beside a binary timeline.
function export_rows.roles.mapping(bytes, context)
   local trace <close>, message = context.state.open({ data = bytes }, { format = "winidea" })
   if not trace then
      context.note("anonymised-dropped", "the file of names is left out: " .. message)
      return ""
   end
   local parts = {}
   context.rewrite(trace, function(made)
      parts[#parts + 1] = made
   end)
   return table.concat(parts)
end

-- A binary timeline beside its main file has no names.
function export_rows.roles.timeline(bytes)
   return bytes
end

return export_rows
