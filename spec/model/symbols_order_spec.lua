-- Symbols in any order and number, compared with a simple way to sort them:
-- a list, a comparison sort, and a comparison of neighbours.
--
-- Extra: random tables beside a simple model; symbols_spec has some of them.

local elf = require "spec.support.elf"
local symbol_lists = require "spec.support.symbol_lists"

-- {====== Helpers ======

local list = symbol_lists.ranges

local function read(text, rule, exe)
   return assert(symbol_lists.from_nm(text, rule, exe))
end

-- A line of `nm -S` for each symbol { start =, size =, type =, name = }.
local function text_of(symbols)
   local lines = {}
   for i, s in ipairs(symbols) do
      local size = s.size ~= 0 and ("%016x "):format(s.size) or ""
      lines[i] = ("%016x %s%s %s\n"):format(s.start, size, s.type, s.name)
   end
   return table.concat(lines)
end

local function underscores(symbol)
   return math.min(2, #symbol.name:match "^_*")
end

-- Whether `a` replaces `b` at the same address.
local function is_better(a, b)
   if (a.type == "t") ~= (b.type == "t") then
      return b.type == "t"
   end
   return underscores(a) < underscores(b)
end

-- Addresses and their differences are unsigned; -1 is the maximum.
local function exact_end(s, next_start, text_end)
   local limit = math.ult(s.start, text_end) and text_end or -1
   if not math.ult(limit, next_start) then
      limit = next_start
   end
   local size, most = s.size, limit - s.start
   if size == 0 and limit == -1 then
      size = 4096
   end
   local is_short = size ~= 0 and math.ult(size, most) and math.ult(32, most - size)
   return is_short and s.start + size or limit
end

local function gprof_end(s, next_start, text_end)
   if next_start ~= -1 then
      return next_start
   elseif text_end == 0 then
      return exact_end(s, -1, 0)
   end
   return math.ult(text_end, s.start) and s.start or text_end
end

-- The expected list for symbols in the order of the text.
local function modelled(symbols, rule, text_end)
   local sorted = {}
   for i, s in ipairs(symbols) do
      if rule == "exact" or s.type ~= "W" then
         sorted[#sorted + 1] = setmetatable({ place = i }, { __index = s })
      end
   end
   table.sort(sorted, function(a, b)
      return math.ult(a.start, b.start) or a.start == b.start and a.place < b.place
   end)
   local best = {}
   for _, s in ipairs(sorted) do
      local last = best[#best]
      if last == nil or last.start ~= s.start then
         best[#best + 1] = s
      elseif is_better(s, last) then
         best[#best] = s
      end
   end
   local ending = rule == "exact" and exact_end or gprof_end
   for i, s in ipairs(best) do
      local stop = ending(s, best[i + 1] and best[i + 1].start or -1, text_end)
      best[i] = ("%x-%x %s"):format(s.start, stop, s.name)
   end
   return best
end

-- `count` symbols: few addresses, so that many are equal, and duplicate names.
local function make(count, address)
   local symbols = {}
   for i = 1, count do
      symbols[i] = {
         start = address(i),
         size = ({ 0, 1, 0x10, 0x30, 0x1000, 0x7fffffffffffffff, -1 })[math.random(7)],
         type = ({ "T", "t", "W" })[math.random(3)],
         name = ("_"):rep(math.random(0, 3)) .. "f" .. math.random(count),
      }
   end
   return symbols
end

local function check(symbols, exe, text_end)
   for _, rule in ipairs { "exact", "gprof" } do
      local expected = modelled(symbols, rule, text_end)
      local got = list(read(text_of(symbols), rule, exe))
      for i = 1, math.max(#expected, #got) do -- assert.same takes long for so many
         if expected[i] ~= got[i] then
            assert.equal(expected[i], got[i], "symbol " .. i)
         end
      end
   end
end

-- }======

describe("symbols in any order", function()
   setup(function()
      math.randomseed(20)
   end)

   it("are sorted by address", function()
      for _, count in ipairs { 1, 2, 31, 32, 33, 1000, 3000 } do
         check(make(count, function() return 0x1000 + math.random(count) * 0x20 end), nil, 0)
      end
   end)

   it("keep their order if they are sorted", function()
      check(make(2000, function(i) return 0x400000 + i // 2 * 0x20 end), nil, 0)
   end)

   it("may have any address of 64 bits", function()
      check(make(2000, function() return math.random(0) | 1 end), nil, 0)
      check(make(2000, function() return math.random(8) << 32 | math.random(64) << 4 end), nil, 0)
      check(make(50, function() return -math.random(80) - 1 end), nil, 0)
   end)

   it("may be so many that their number has more than 16 bits", function()
      for _, count in ipairs { 32768, 70000 } do
         check(make(count, function(i) return 0x1000 + (i * 7919) % count * 0x20 end), nil, 0)
      end
   end)

   it("end with the code of the executable given with them", function()
      check(make(100, function() return 0xf00 + math.random(60) * 0x40 end), elf.build {}, 0x2000)
   end)
end)

describe("addresses of 16 digits", function()
   it("may have any digit at any position", function()
      local symbols = {}
      for place = 0, 15 do
         for digit = 1, 15 do
            symbols[#symbols + 1] = { start = digit << 4 * place, size = 0, type = "T",
               name = ("d%x_%d"):format(digit, place) }
         end
      end
      local expected = modelled(symbols, "exact", 0)
      assert.same(expected, list(read(text_of(symbols), "exact")))
      local upper = text_of(symbols):gsub("%f[^\n\0]%x+ ", string.upper)
      assert.same(expected, list(read(upper, "exact")))
   end)

   it("are refused with other characters", function()
      for byte = 0, 255 do
         local c = string.char(byte)
         for place = 1, c:match "[%x\n\r\t ]" and 0 or 16 do
            local digits = ("1"):rep(place - 1) .. c .. ("1"):rep(16 - place)
            local symbols = read(digits .. " T wrong\n0000000000001000 T right\n", "exact")
            if not (place == 2 and c:match "[xX]") then
               assert.equal(1, symbols:count(), ("byte %d at %d"):format(byte, place))
            end
            assert.equal("right", symbols:find(0x1000).name)
         end
      end
   end)
end)
