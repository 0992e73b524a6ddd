-- Builds Xbase++ traces for specs, byte by byte, from Microsoft's documentation of FoxPro's tables,
-- independently of the decoder.
--
--    xpp.table { { 1, 4, "I", "MAIN", 10 } }          the bytes of a PRF, and those of its PRV
--    xpp.text({ ... }, { separator = ";" })           the same as text

local xpp = {}

-- Fields of the layout that the documents of the format suggest: name, type, size.
xpp.fields = { { "TID", "I", 4 }, { "TIME", "I", 4 }, { "OP", "C", 1 }, { "MSG", "C", 20 },
   { "LINE", "I", 4 }, { "PARAMS", "M", 4 } }

-- The same with all numbers as text, as in old tables.
xpp.text_fields = { { "TID", "N", 4 }, { "TIME", "N", 10 }, { "OP", "C", 1 }, { "MSG", "C", 20 },
   { "LINE", "N", 7 } }

local function record_size(fields)
   local size = 1
   for _, field in ipairs(fields) do
      size = size + field[3]
   end
   return size
end

---Returns the header of a table; in version 0x30 263 bytes follow the fields.
---@param fields table[]
---@param count integer the stated number of records
---@param version integer|nil
---@return string
function xpp.header(fields, count, version)
   version = version or 0x30
   local descriptors, offset, has_memo = {}, 1, false
   for i, field in ipairs(fields) do
      descriptors[i] = ("<c11 c1 I4 B B B c13"):pack(field[1], field[2],
         version == 0x30 and offset or 0, field[3], 0,
         version == 0x30 and field[2] == "I" and 4 or 0, "")
      offset = offset + field[3]
      has_memo = has_memo or field[2] == "M"
   end
   local size = 32 + 32 * #fields + 1 + (version == 0x30 and 263 or 0)
   return ("<B BBB I4 I2 I2 c16 B B c2"):pack(version, 126, 11, 21, count, size,
      record_size(fields), "", has_memo and 2 or 0, 3, "") .. table.concat(descriptors) .. "\r"
      .. ("\0"):rep(version == 0x30 and 263 or 0)
end

-- Collects the blocks of a memo file; returns the number of each.
local function memo_file()
   local blocks, next_block = {}, 8
   return function(text)
      local block = next_block
      local bytes = (">I4 I4"):pack(1, #text) .. text
      bytes = bytes .. ("\0"):rep(-#bytes % 64)
      blocks[#blocks + 1] = bytes
      next_block = next_block + #bytes // 64
      return block
   end, function()
      return (">I4 c2 I2 c504"):pack(next_block, "", 64, "") .. table.concat(blocks)
   end
end

local function packed(field, value, add_memo)
   if field[2] == "I" then
      return ("<i4"):pack(value or 0)
   elseif field[2] == "N" then
      return ("%" .. field[3] .. "s"):format(value or "")
   elseif field[2] == "M" then
      return ("<I4"):pack(value and add_memo(value) or 0)
   end
   return (value or ""):sub(1, field[3]) .. (" "):rep(field[3] - #(value or ""))
end

---A record; false as a row's first value marks it as deleted.
---@param fields table[]
---@param row table values in the order of the fields; deleted = true
---@param add_memo function|nil
---@return string
function xpp.record(fields, row, add_memo)
   local values = { row.deleted and "*" or " " }
   for i, field in ipairs(fields) do
      values[i + 1] = packed(field, row[i], add_memo)
   end
   return table.concat(values)
end

---A table: its bytes, and those of its memo file.
---@param rows table[]
---@param given table|nil fields, version, count (what the header states)
---@return string prf
---@return string prv
function xpp.table(rows, given)
   given = given or {}
   local fields = given.fields or xpp.fields
   local add_memo, memo_bytes = memo_file()
   local records = {}
   for i, row in ipairs(rows) do
      records[i] = xpp.record(fields, row, add_memo)
   end
   return xpp.header(fields, given.count or #rows, given.version) .. table.concat(records) .. "\26",
      memo_bytes()
end

local function cell(value)
   if type(value) == "string" then
      return '"' .. value:gsub('"', '""') .. '"'
   end
   return value == nil and "" or tostring(value)
end

---Rows as text.
---@param rows table[]
---@param given table|nil separator, names (a row of names), line_end, columns (how many)
---@return string
function xpp.text(rows, given)
   given = given or {}
   local lines = {}
   if given.names then
      lines[1] = table.concat(given.names, given.separator or ",")
   end
   for _, row in ipairs(rows) do
      local cells = {}
      for i = 1, given.columns or 6 do
         cells[i] = cell(row[i])
      end
      lines[#lines + 1] = table.concat(cells, given.separator or ",")
   end
   lines[#lines + 1] = ""
   return table.concat(lines, given.line_end or "\r\n")
end

---The packets of a trace: "" is the header packet, then ".000001", ... of `size` rows each.
---@param rows table[]
---@param size integer
---@param form "table"|"text"
---@return { suffix: string, bytes: string }[]
---@return string prv
function xpp.packets(rows, size, form)
   local add_memo, memo_bytes = memo_file()
   local list = { { suffix = "", bytes = form == "table" and xpp.header(xpp.fields, #rows) or "" } }
   for first = 1, #rows, size do
      local records = {}
      for i = first, math.min(first + size - 1, #rows) do
         records[#records + 1] = form == "table" and xpp.record(xpp.fields, rows[i], add_memo)
            or xpp.text { rows[i] }
      end
      list[#list + 1] = { suffix = (".%06d"):format(#list), bytes = table.concat(records) }
   end
   return list, memo_bytes()
end

---The trace whose statistics Alaska has published: MAIN 4..707, A 4..707, B 4..105, C 105..406
---{ B 305..406 }, C 406..707 { B 606..707 }, in one thread.
xpp.golden = {
   { 1, 4, "I", "MAIN", 10 }, { 1, 4, "I", "A", 20 }, { 1, 4, "I", "B", 30 },
   { 1, 105, "O", "B", 31 }, { 1, 105, "I", "C", 40 }, { 1, 305, "I", "B", 30 },
   { 1, 406, "O", "B", 31 }, { 1, 406, "O", "C", 41 }, { 1, 406, "I", "C", 40 },
   { 1, 606, "I", "B", 30 }, { 1, 707, "O", "B", 31 }, { 1, 707, "O", "C", 41 },
   { 1, 707, "O", "A", 21 }, { 1, 707, "O", "MAIN", 11 },
}

return xpp
