-- Counting of arcs as calls between functions: the function of an address is compared with a search
-- through all functions.

local core = require "profio.core"
local elf = require "spec.support.elf"
local profiles = require "spec.support.profiles"

local state

local function random(bound)
   state = (state * 1103515245 + 12345) % 2147483648
   return state // 64 % bound
end

-- The name in profiles of the function or narrow gap that contains an address; else the address.
local function holder_of(all, address)
   local last, next
   for _, symbol in ipairs(all) do
      if symbol.start <= address then
         last = symbol
      else
         next = next or symbol
      end
   end
   if last and address < last.stop then
      return last.name
   end
   local is_gap = last and next and next.start - last.stop <= 4096
   return ("0x%x"):format(is_gap and last.stop or address)
end

-- Arcs between random addresses, some of them before, between and after all symbols.
local function some_arcs(all, count)
   local low, span = all[1].start - 8, all[#all].start - all[1].start + 64
   local arcs = {}
   for i = 1, count do
      local near = all[1 + random(#all)].start + random(5) - 2
      arcs[i] = { low + random(span), i % 2 == 0 and near or low + random(span), 1 + random(9) }
   end
   return arcs
end

local function calls_found(given)
   local found = {}
   for _, row in ipairs(core.rows(assert(profiles.make(given)):graph())) do
      found[(row.caller or "-") .. " " .. row.callee] = row.calls
   end
   return found
end

-- A caller before or after all functions is outside the program.
local function calls_expected(all, arcs)
   local sums = {}
   for _, arc in ipairs(arcs) do
      local is_outside = arc[1] < all[1].start or arc[1] >= all[#all].stop
      local caller = is_outside and "-" or holder_of(all, arc[1])
      local key = caller .. " " .. holder_of(all, arc[2])
      sums[key] = (sums[key] or 0) + arc[3]
   end
   return sums
end

-- Compare the calls of a profile with the model; `sized` symbols are those of an executable.
local function check(symbols, sized, count)
   local text = {}
   for i, symbol in ipairs(symbols) do
      text[i] = ("%016x T %s\n"):format(symbol[2], symbol[1])
   end
   local source = assert(core.source_data(table.concat(text), "nm"))
   local read = core.symbols_nm(source, nil, nil, "exact", core.dictionary())
   if sized then
      local list = {}
      for i, symbol in ipairs(symbols) do
         list[i] = { name = symbol[1], value = symbol[2], size = symbol.size }
      end
      source = assert(core.source_data(elf.build { symbols = list }, "elf"))
      read = core.symbols_elf(source, nil, "exact", core.dictionary())
   end
   local all = assert(read):all()
   local arcs = some_arcs(all, count)
   assert.same(calls_expected(all, arcs), calls_found { symbols = symbols, arcs = arcs })
end

describe("arcs", function()
   before_each(function()
      state = 7
   end)

   it("lead to functions that are close together, with or without gaps", function()
      for _ = 1, 30 do
         local symbols, at, most = {}, 0x1000 + random(64), 1 + random(120)
         while at + most < 0x2000 do
            local size = 1 + random(most)
            symbols[#symbols + 1] = { "f" .. #symbols, at, size = size }
            at = at + size + (random(3) == 0 and 1 + random(90) or 0)
         end
         check(symbols, true, 300)
      end
   end)

   it("lead to functions that are far apart", function()
      for _, widest in ipairs { 100, 60000, 70000, 1 << 30 } do
         local symbols, at = {}, 0x10000
         for i = 1, 200 do
            symbols[i] = { "f" .. i, at }
            at = at + 1 + random(widest)
         end
         check(symbols, false, 300)
      end
   end)

   it("lead to the right functions if there are many", function()
      local symbols, at = {}, 0x10000
      for i = 1, 30000 do
         symbols[i] = { "f" .. i, at }
         at = at + 1 + random(random(4) == 0 and 200 or 20)
      end
      check(symbols, false, 60)
   end)
end)
