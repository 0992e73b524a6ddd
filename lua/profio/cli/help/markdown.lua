-- Makes Markdown readable as text: paragraphs, lists and tables are fitted to a width, and on a
-- terminal headings, bold text and code are marked by escape sequences. It knows the subset that
-- the pages of help use.

local markdown = {}

-- Marks of styles inside texts, which have no width; the escape sequence of each.
local escapes = { ["\1"] = "\27[1m", ["\2"] = "\27[36m", ["\3"] = "\27[0m" }

-- {====== Texts ======

local function width_of(text)
   text = text:gsub("[\1-\3]", "")
   return utf8.len(text) or #text
end

-- Marks each word, so that a style never reaches over the end of a line.
local function styled(text, mark)
   return (text:gsub("%S+", function(word)
      return mark .. word .. "\3"
   end))
end

local function link(text, target)
   local page = target:match "^([%w-]+)%.md"
   if page then
      return text .. " (" .. styled("profio help " .. page, "\2") .. ")"
   end
   return target:find "^#" and text or text == target and target or text .. " (" .. target .. ")"
end

-- A punctuation character after a backslash stands for itself.
local function protected(character)
   return "\6" .. character:byte() .. "\6"
end

-- Converts code, bold text and links outside of code.
local function inline(text)
   local parts, i = {}, 1
   while i <= #text do
      local first, last, code = text:find("`([^`]+)`", i)
      local plain = text:sub(i, (first or #text + 1) - 1):gsub("\\(%p)", protected)
         :gsub("%[([^%]]+)%]%(([^)]+)%)", link):gsub("%*%*([^*]+)%*%*", function(bold)
            return styled(bold, "\1")
         end):gsub("<(https?://[^>]+)>", "%1"):gsub("\6(%d+)\6", utf8.char)
      parts[#parts + 1] = plain
      parts[#parts + 1] = code and styled(code:gsub("\\|", "|"), "\2")
      i = (last or #text) + 1
   end
   return table.concat(parts)
end

-- Splits a text into lines of at most `width` characters; longer words stay whole.
local function wrap(text, width)
   local lines, line = {}, nil
   for word in text:gmatch "%S+" do
      if line and width_of(line) + 1 + width_of(word) <= width then
         line = line .. " " .. word
      else
         lines[#lines + 1] = line
         line = word
      end
   end
   lines[#lines + 1] = line
   return lines
end

-- }======

-- {====== Tables ======

local function cells_of(line)
   local cells = {}
   line = line:gsub("\\|", "\4"):match "^%s*|(.*)|%s*$" or ""
   for cell in (line .. "|"):gmatch "([^|]*)|" do
      cells[#cells + 1] = inline((cell:gsub("\4", "|"):match "^%s*(.-)%s*$"))
   end
   return cells
end

local GAP = 2 -- blanks between two columns
local LONGEST = 48 -- a column is not narrower than its longest word, up to this width

-- Returns the width of each column of the rows, and the width of its longest word.
local function natural_widths(rows)
   local widths, words = {}, {}
   for _, row in ipairs(rows) do
      for i, cell in ipairs(row) do
         widths[i] = math.max(widths[i] or 0, width_of(cell))
         for word in cell:gmatch "%S+" do
            words[i] = math.max(words[i] or 1, math.min(width_of(word), LONGEST))
         end
      end
   end
   return widths, words
end

-- Returns the width of each column; the widest are narrowed until a row fits.
local function column_widths(rows, width)
   local widths, words = natural_widths(rows)
   local total = -GAP
   for _, one in ipairs(widths) do
      total = total + one + GAP
   end
   while total > width do
      local widest
      for i, one in ipairs(widths) do
         if one > (words[i] or 0) and (not widest or one >= widths[widest]) then
            widest = i
         end
      end
      if not widest then
         break
      end
      widths[widest], total = widths[widest] - 1, total - 1
   end
   return widths
end

local function put_row(out, row, widths)
   local parts, height = {}, 1
   for i in ipairs(widths) do
      parts[i] = wrap(row[i] or "", widths[i])
      height = math.max(height, #parts[i])
   end
   for n = 1, height do
      local line = {}
      for i, part in ipairs(parts) do
         local text = part[n] or ""
         line[i] = text .. (" "):rep(widths[i] - width_of(text))
      end
      out[#out + 1] = (table.concat(line, (" "):rep(GAP)):gsub("%s+$", ""))
   end
end

-- The first row has the titles, the second one the alignment.
local function put_table(out, lines, width)
   local rows = {}
   for i, line in ipairs(lines) do
      if i ~= 2 or not line:find "^[%s|:-]+$" then
         rows[#rows + 1] = cells_of(line)
      end
   end
   local widths = column_widths(rows, width)
   for i, title in ipairs(rows[1]) do
      rows[1][i] = styled(title, "\1")
   end
   for i, row in ipairs(rows) do
      if i > 1 or table.concat(row):find "%S" then -- a table may have no titles
         put_row(out, row, widths)
      end
   end
end

-- }======

-- {====== Blocks ======

-- Joins the lines of a paragraph or of an item of a list, with a hanging indent.
local function put_paragraph(out, lines, width)
   local blanks, bullet, text = lines[1]:match "^(%s*)([-*]%s+)(.*)$"
   if not bullet then
      blanks, bullet, text = lines[1]:match "^(%s*)(%d+%.%s+)(.*)$"
   end
   local first = (blanks or "") .. (bullet or "")
   local words = { text or lines[1] }
   table.move(lines, 2, #lines, 2, words)
   for i, line in ipairs(wrap(inline(table.concat(words, " ")), width - #first)) do
      out[#out + 1] = (i == 1 and first or (" "):rep(#first)) .. line
   end
end

local function put_heading(out, level, title)
   title = inline(title)
   out[#out + 1] = styled(title, "\1")
   out[#out + 1] = level == 1 and "\5" .. ("="):rep(width_of(title)) or nil
end

local function is_item(line)
   return line:find "^%s*[-*]%s" ~= nil or line:find "^%s*%d+%.%s" ~= nil
end

-- Returns the lines from `first` on that belong to one block, of a table or a paragraph.
local function block_of(lines, first)
   local is_table, block, i = lines[first]:find "^|" ~= nil, { lines[first] }, first + 1
   while lines[i] and lines[i]:find "%S" and not lines[i]:find "^```" and not lines[i]:find "^#+ "
      and (lines[i]:find "^|" ~= nil) == is_table and not is_item(lines[i])
      and not lines[i]:find "^<!%-%-" do
      block[#block + 1] = lines[i]
      i = i + 1
   end
   return block, i
end

-- Appends the block that begins at a line; returns the number of the line after it.
local function put_block(out, lines, i, width)
   local line = lines[i]
   local marks, title = line:match "^(#+) +(.*)$"
   if line:find "^```" then
      i = i + 1
      while lines[i] and not lines[i]:find "^```" do
         out[#out + 1] = lines[i] == "" and "" or "   " .. lines[i]
         i = i + 1
      end
      return i + 1
   elseif marks then
      put_heading(out, #marks, title)
      return i + 1
   elseif line:find "^<!%-%-" then
      return i + 1
   elseif not line:find "%S" then
      out[#out + 1] = out[#out] ~= "" and "" or nil
      return i + 1
   end
   local block, after = block_of(lines, i)
   local put = line:find "^|" and put_table or put_paragraph
   put(out, block, width)
   return after
end

---Returns Markdown as text of at most `width` columns (words and code may be longer).
---@param text string
---@param width integer
---@param has_color boolean mark headings, bold text and code by escape sequences
---@return string
function markdown.text(text, width, has_color)
   local lines, out, i = {}, {}, 1
   for line in (text .. "\n"):gmatch "([^\n]*)\n" do
      lines[#lines + 1] = line
   end
   width = math.max(20, math.min(width, 100))
   while i <= #lines do
      i = put_block(out, lines, i, width)
   end
   local shown = {}
   for _, line in ipairs(out) do
      if line:sub(1, 1) ~= "\5" or not has_color then -- a bold title needs no line below
         shown[#shown + 1] = line:gsub("\5", ""):gsub("[\1-\3]", has_color and escapes or "")
      end
   end
   return table.concat(shown, "\n"):gsub("^\n+", ""):gsub("\n*$", "") .. "\n"
end

-- }======

return markdown
