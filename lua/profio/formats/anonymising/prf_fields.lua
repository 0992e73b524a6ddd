-- Names and parameters in traces of Xbase++: in the records of a table, in the rows of a text, in
-- their memo file and settings.

local masks = require "profio.internal.anonymising.masks"

local prf_fields = {}

-- Names of functions do not depend on case in Xbase++.
prf_fields.folds = true
prf_fields.number = "packet"

local KEPT <const> = { thread = true, time = true, line = true }

-- {====== Values ======

-- Returns the value of a field of a text or with digits, in its bytes.
local function value_of(context, role, text)
   if role == "call" then
      return masks.inner(text, function(name)
         return context.names:of(name, "f")
      end)
   elseif KEPT[role] and not text:find "[^%d .+%-]" or role == "op" and #text <= 1 then
      return text
   end
   return masks.text(text)
end

-- Types of a table whose bytes are no text: numbers, times, numbers of memos. Those of fields
-- without a role may be parameters.
local BINARY <const> = { I = true, B = true, Y = true, T = true, ["+"] = true, O = true,
   ["@"] = true }
local PLAIN <const> = { L = true, D = true, M = true, G = true, P = true, W = true, ["0"] = true }

local function of_record(context, field, bytes)
   if PLAIN[field.type] or BINARY[field.type] and field.role then
      return bytes
   elseif BINARY[field.type] then
      return ("\0"):rep(#bytes)
   elseif field.type == "V" and not field.role then -- its last byte may be the length
      return masks.text(bytes:sub(1, -2)) .. bytes:sub(-1)
   end
   return value_of(context, field.role, bytes)
end

-- }======

-- {====== Tables ======

-- Returns where the names of fields stand in a header: the first, the distance, and their size.
local function layout_of(version)
   if version == 0x04 or version == 0x8C then
      return 69, 48, 32
   elseif version == 0x02 then
      return 9, 16, 11
   end
   return 33, 32, 11
end

-- Returns the header without names of fields that have no role, and without the path of a
-- container.
local function table_header(context, fields, bytes)
   local at, step, size = layout_of(bytes:byte())
   local roles, parts = {}, { bytes:sub(1, at - 1) }
   for _, field in ipairs(fields) do
      roles[field.name] = field.role
   end
   while at + step - 1 <= #bytes and not bytes:find("^[\r\n\0]", at) do
      local name = bytes:sub(at, at + size - 1)
      local text = name:match "^[^\0]*"
      local is_known = roles[text] or text:find "^_NullFlags"
      parts[#parts + 1] = (is_known and text or context.names:of(text, "v"))
         .. masks.text(name:sub(#text + 1)) .. bytes:sub(at + size, at + step - 1)
      at = at + step
   end
   parts[#parts + 1] = masks.text(bytes:sub(at))
   return table.concat(parts)
end

local function table_record(context, fields, bytes)
   local parts, at = { bytes:sub(1, 1) }, 2
   for _, field in ipairs(fields) do
      local value = bytes:sub(at, at + field.size - 1)
      parts[#parts + 1] = #value == field.size and of_record(context, field, value)
         or masks.text(value)
      at = at + field.size
   end
   parts[#parts + 1] = bytes:sub(at)
   return table.concat(parts)
end

-- }======

-- {====== Texts ======

-- Returns the position after the cell at `at`, and whether it is in quotes: a quote ends a cell
-- only before a separator or a line end, as for the decoder.
local function end_of_cell(row, at, separator)
   if row:byte(at) == 34 then
      local quote = at
      while true do
         quote = row:find('"', quote + 1, true)
         if not quote then
            break
         end
         local after = row:sub(quote + 1, quote + 1)
         if after == "" or after == separator or after:find "[\r\n]" then
            return quote + 1, true
         elseif after == '"' then
            quote = quote + 1
         end
      end
   end
   return row:find("[%" .. separator .. "\r\n]", at) or #row + 1, false
end

-- Returns a row whose cells are replaced.
local function text_row(row, separator, replaced)
   local parts, at, column = {}, 1, 1
   while at <= #row do
      local after, is_quoted = end_of_cell(row, at, separator)
      local cell = row:sub(at, after - 1)
      parts[#parts + 1] = is_quoted and '"' .. replaced(column, cell:sub(2, -2)) .. '"'
         or replaced(column, cell)
      if row:sub(after, after) ~= separator then
         parts[#parts + 1] = masks.text(row:sub(after))
         break
      end
      parts[#parts + 1] = separator
      at, column = after + 1, column + 1
   end
   return table.concat(parts)
end

local function text_item(context, fields)
   local stated = context.trace.info.separator
   local separator = stated == "tab" and "\t" or stated
   return function(kind, bytes)
      local is_header = kind == "header"
      if kind == "rest" then
         return masks.text(bytes)
      elseif not is_header and kind ~= "entry" then
         return bytes
      end
      return text_row(bytes, separator, function(column, cell)
         local field = fields[column]
         if is_header then
            return field and field.role and cell or masks.inner(cell, function(name)
               return context.names:of(name, "v")
            end)
         end
         return value_of(context, field and field.role, cell)
      end)
   end
end

-- }======

---@param context table
---@return fun(kind: string, bytes: string): string
function prf_fields.start(context)
   if not context.state.schema.structure then -- settings alone
      return function(_, bytes)
         return prf_fields.roles.pri(bytes)
      end
   end
   local fields = context.trace.structure:rows()
   if not fields[1] or not fields[1].type then
      return text_item(context, fields)
   end
   return function(kind, bytes)
      if kind == "header" then
         return table_header(context, fields, bytes)
      elseif kind == "entry" or kind == "deleted" then
         return table_record(context, fields, bytes)
      elseif kind == "rest" then
         return masks.text(bytes)
      end
      return bytes
   end
end

prf_fields.roles = {}

-- Returns the memos without their text. The first block of a memo file is its header.
function prf_fields.roles.memo(bytes, context)
   local block = #bytes >= 8 and (">I2"):unpack(bytes, 7) or 0
   block = block == 0 and 1 or block
   local at = (512 + block - 1) // block * block + 1
   local parts = { bytes:sub(1, 8), masks.text(bytes:sub(9, at - 1)) }
   while at + 8 <= #bytes + 1 do
      local kind, size = (">I4I4"):unpack(bytes, at)
      local after = at + (8 + size + block - 1) // block * block
      if kind > 4 or size > #bytes then
         break
      end
      parts[#parts + 1] = bytes:sub(at, at + 7)
      parts[#parts + 1] = masks.text(bytes:sub(at + 8, after - 1))
      at = after
   end
   if at <= #bytes then
      context.note("anonymised-masked",
         ("%d bytes of the memo file have no known layout: their text is hidden"):format(
            #bytes - at + 1))
      parts[#parts + 1] = masks.text(bytes:sub(at))
   end
   return table.concat(parts)
end

-- Returns settings whose values are numbers or words of the profiler; all others are hidden.
function prf_fields.roles.pri(bytes)
   return (bytes:gsub("[^\n]+", function(line)
      local key, value = line:match "^([%s%w_]+=)(.*)$"
      if not key then
         return line:find "^%s*%[[%w ]*%]%s*$" and line or masks.text(line)
      elseif value:find "^[%s%d.,+%-]*\x1a?$" or value:lower():find "^%s*[yon][nfes]*%s*$" then
         return line
      end
      return key .. masks.text(value)
   end))
end

-- The name of a code page.
function prf_fields.roles.cpg(bytes)
   return bytes:find "^[%w%-_]+%s*$" and #bytes < 32 and bytes or masks.text(bytes)
end

return prf_fields
