-- Builds DCPI profiles for specs, byte by byte, from the grammar of the header and the tables of
-- the chunks, independently of the decoder.
--
--    dcpi():header { event = "imiss" }:chunk(0x40, { 1, 0, 2 }):footer(2, 3):bytes()

local builder = {}

local Builder = {}
Builder.__index = Builder

-- The profile of xemacs that dcpicat's manual page prints.
builder.facts = {
   { "version", "pdb-0.07" }, { "image", "19970328081403c0c18b" }, { "epoch", "9805191724" },
   { "platform", "walnut" }, { "event", "cycles" }, { "period", "63488" },
   { "tstart", "000120000000" }, { "tsize", "8388608" }, { "cpuspeed", "333" },
   { "path", "/usr/local/bin/xemacs" },
}

function builder.new()
   return setmetatable({ parts = {}, order = "<", addresses = 0, samples = 0 }, Builder)
end

function Builder:raw(bytes)
   self.parts[#self.parts + 1] = bytes
   return self
end

---Returns a header with these fields changed: a value of false omits the line, `more` is inserted
---before the end, `pad` are the blanks of the last line.
function Builder:header(changes, more, pad)
   for _, fact in ipairs(builder.facts) do
      local value = changes and changes[fact[1]]
      if value == nil then
         value = fact[2]
      end
      if value then
         self:raw(fact[1] .. " " .. value .. "\n")
      end
   end
   return self:raw(more or ""):raw("samples" .. (pad or "") .. "\n")
end

---Adds a chunk of counts; `number` is written instead of their number.
function Builder:chunk(offset, counts, number)
   self:raw((self.order .. "I4I4"):pack(offset, number or #counts))
   for _, count in ipairs(counts) do
      self:raw((self.order .. "I4"):pack(count))
      self.addresses = self.addresses + (count > 0 and 1 or 0)
      self.samples = self.samples + count
   end
   return self
end

---Adds the footer; by default with the sums of the chunks.
function Builder:footer(addresses, samples)
   return self:raw((self.order .. "I4I4"):pack(addresses or self.addresses,
      (samples or self.samples) & 0xffffffff))
end

function Builder:size()
   return #self:bytes()
end

function Builder:bytes()
   self.parts = { table.concat(self.parts) }
   return self.parts[1]
end

---The golden file: 188 bytes of header, 56 of counts.
function builder.golden()
   return builder.new():header(nil, nil, "   "):chunk(0x6cbb8, { 29 })
      :chunk(0x6cbd0, { 10, 1, 2, 0, 3, 0, 2 }):footer(6, 47):bytes()
end

-- The beginning of the text in dcpicat's manual page.
builder.listing = [[
name             xemacs
image            19970328081403c0c18b
label            foo
path             /usr/local/bin/xemacs
epoch            199805191724
platform         walnut
text_start       0x000120000000
text_size        0x000000800000
event            470352 cycles:63488:10000
event            134705 imiss:4096:10000
0x00012006cbb8      29      27
0x00012006cbd0      10       0
0x00012006cbd4       1       0
]]

return setmetatable(builder, { __call = function() return builder.new() end })
