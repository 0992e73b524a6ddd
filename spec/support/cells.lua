-- Profiles for specs of stores: contexts from lists of stacks, as text again, and the layout of
-- cells, packed and unpacked by Lua.

local core = require "profio.core"

local cells = {}

---Returns the contexts of a list of { "main;f", weight, ... }, a weight for each metric.
---@param list table[]
---@param metrics { name: string, unit: string }[]|nil default: time in ns
function cells.contexts(list, metrics)
   metrics = metrics or { { name = "time", unit = "ns" } }
   local fields, columns = { { "folded", "name" } }, {}
   for i, metric in ipairs(metrics) do
      fields[i + 1] = { "w" .. i, "int" }
      columns[i] = { name = metric.name, unit = metric.unit, column = "w" .. i }
   end
   return assert(core.contexts { reader = core.rows_reader(fields, list), folded = "folded",
      metrics = columns })
end

---Returns the lines "main;f time 5" of all weights but 0, sorted.
function cells.lines(contexts)
   local lines = {}
   for _, metric in ipairs(contexts:metrics()) do
      local path = {}
      for depth, name, file, line, self in core.each(
         contexts:tree { metric = metric.name, zeros = true },
         { "depth", "function", "file", "line", "self" }) do
         path[depth] = name .. (file and "@" .. file or "") .. (line and ":" .. line or "")
         if self ~= 0 then
            lines[#lines + 1] = ("%s %s/%s %d"):format(table.concat(path, ";", 1, depth),
               metric.name, metric.unit, self)
         end
      end
   end
   table.sort(lines)
   return lines
end

local function varint(number)
   local bytes = {}
   while number >> 7 ~= 0 do
      bytes[#bytes + 1] = string.char(number & 0x7f | 0x80)
      number = number >> 7
   end
   bytes[#bytes + 1] = string.char(number)
   return table.concat(bytes)
end

cells.varint = varint

---Packs { { id, weight }, ... } as the column cells.data.
function cells.pack(list)
   local parts, last = { "\1", varint(#list) }, 0
   for _, cell in ipairs(list) do
      local id, weight = table.unpack(cell)
      parts[#parts + 1] = varint(id - last)
      parts[#parts + 1] = varint(weight << 1 ~ (weight < 0 and -1 or 0))
      last = id
   end
   return table.concat(parts)
end

---Returns the column cells.data for packed cells, with their checksum.
---@param packed string
---@param run integer
---@param metric integer
---@return string
function cells.sealed(packed, run, metric)
   return packed .. require("profio.store").hasher():add(packed, string.pack("<i8i8", run,
      metric)):digest():sub(1, 8)
end

---Returns the packed cells in the column cells.data; raises if the checksum is another.
---@param data string
---@param run integer
---@param metric integer
---@return string
function cells.unsealed(data, run, metric)
   local packed = data:sub(1, -9)
   assert(#data > 8 and cells.sealed(packed, run, metric) == data, "checksum")
   return packed
end

local function take_varint(data, at)
   local number = 0
   for i = 0, 9 do
      local byte = assert(data:byte(at + i), "cut")
      number = number | (byte & 0x7f) << 7 * i
      if byte < 0x80 then
         assert(i < 9 or byte < 2, "more than 64 bits")
         return number, at + i + 1
      end
   end
   error "too long"
end

---Unpacks the column cells.data into { { id, weight }, ... }; raises for all that is damaged.
---@param data string
---@param limit integer|nil above all ids
function cells.unpack(data, limit)
   local list, id, count, at = {}, 0, take_varint(data, 2)
   assert(data:byte(1) == 1, "layout")
   assert(count >= 0 and count <= #data, "count")
   for i = 1, count do
      local step, folded
      step, at = take_varint(data, at)
      folded, at = take_varint(data, at)
      assert(step > 0 or step == 0 and i == 1, "order")
      id = id + step
      assert(id >= 0 and id < (limit or math.maxinteger) and folded ~= 0, "range")
      list[i] = { id, folded >> 1 ~ -(folded & 1) }
   end
   assert(at == #data + 1, "bytes after the cells")
   return list
end

return cells
