-- Builds gmon files for specs, byte by byte, with string.pack, independently of the decoder.
--
--    gmon("<", 8):header():histogram { low = 0x1000, high = 0x1010, bins = { 1, 2, 3, 4 } }
--       :arc(0x1000, 0x1008, 7):bytes()

local builder = {}

local Builder = {}
Builder.__index = Builder

---@param order "<"|">" little or big
---@param width 4|8 bytes of an address
function builder.new(order, width)
   return setmetatable({ order = order, width = width, parts = {} }, Builder)
end

---Returns an empty builder of the same order and width.
function Builder:like()
   return builder.new(self.order, self.width)
end

---Iterates over all four: for builder, name in builder.each() do ... end
function builder.each()
   local kinds = { { "<", 4 }, { "<", 8 }, { ">", 4 }, { ">", 8 } }
   local i = 0
   return function()
      i = i + 1
      if kinds[i] then
         local order, width = kinds[i][1], kinds[i][2]
         return builder.new(order, width), (order == "<" and "little" or "big"), width
      end
   end
end

---Append numbers; in the format `A` is an address.
function Builder:pack(format, ...)
   self.parts[#self.parts + 1] =
      (self.order .. format:gsub("A", "I" .. self.width)):pack(...)
   return self
end

function Builder:raw(bytes)
   self.parts[#self.parts + 1] = bytes
   return self
end

function Builder:bytes()
   self.parts = { table.concat(self.parts) }
   return self.parts[1]
end

function Builder:size()
   return #self:bytes()
end

-- {====== GNU and LD_PROFILE ======

function Builder:header(version)
   return self:raw "gmon":pack("I4", version or 1):raw(("\0"):rep(12))
end

-- The bytes after the tag of a histogram.
function Builder:histogram_body(set)
   self:pack("AAI4I4c15c1", set.low, set.high, set.nbins or #set.bins, set.rate or 100,
      set.dimension or "seconds", set.abbreviation or "s")
   for _, count in ipairs(set.bins) do
      self:pack("I2", count)
   end
   return self
end

function Builder:histogram(set)
   return self:raw "\0":histogram_body(set)
end

function Builder:arc(from, to, count)
   return self:pack("BAAI4", 1, from, to, count)
end

---Blocks { { address, count }, ... }; the number is written in `size` bytes (4).
function Builder:blocks(list, size)
   self:pack("BI" .. (size or 4), 2, #list)
   for _, block in ipairs(list) do
      self:pack("AA", block[1], block[2])
   end
   return self
end

---The table of arcs of LD_PROFILE, with `spare` unused entries.
function Builder:arc_table(list, spare)
   self:pack("I4I4", 1, #list)
   for _, arc in ipairs(list) do
      self:pack("AAI4", arc[1], arc[2], arc[3])
   end
   return self:raw(("\0"):rep((2 * self.width + 4) * (spare or 0)))
end

-- }======

-- {====== BSD and Apple ======

---Adds a BSD header and its bins. `counter` is a format of string.pack, `old` omits all after
---ncnt, `pad` is appended to the old header.
function Builder:bsd(set)
   local format = set.counter or "I2"
   local size = ("<" .. format):packsize()
   local header = 2 * self.width + (set.old and 4 + #(set.pad or "") or 24)
   self:pack("AAI4", set.low, set.high, set.ncnt or header + size * #set.bins)
   if set.old then
      self:raw(set.pad or "")
   else
      local spare = set.spare or { 0, 0, 0 }
      self:pack("I4I4I4I4I4", 0x51879, set.rate or 100, spare[1] & 0xffffffff, spare[2], spare[3])
   end
   for _, count in ipairs(set.bins) do
      self:pack(format, count)
   end
   return self
end

function Builder:bsd_arc(from, to, count)
   return self:pack("AAA", from, to, count)
end

---Adds a segment of an Apple file; the magic number must precede the first one.
function Builder:piece(type, other)
   local body = other:bytes()
   return self:pack("I4I4", type, #body):raw(body)
end

-- }======

return setmetatable(builder, { __call = function(_, ...) return builder.new(...) end })
