-- Decides whether an executable is the program that wrote a gmon.out. The file does not name its
-- program, so only addresses can be compared.

local core = require "profio.core"

local program = {}

local PAGE = 0x1000
local ROUNDED = 16       -- the most bytes by which a C library rounds up the end of the code
local PROLOGUE = 64      -- the most bytes from the start of a function to the call that counts it
local LOOKED_AT = 512    -- arcs of a file that are checked

---Guesses where the program was loaded, from its first histogram.
---@param part profio.core.Part
---@param symbols profio.Symbols
---@return integer bias
---@return string|nil reason
function program.guess_bias(part, symbols)
   local low, high = part:fact "low", part:fact "high"
   if not low or not high then
      return 0
   end
   return require("profio.internal.symbols").guess_bias(symbols.facts, low, high)
end

-- {====== The range ======

-- Returns whether a profile has the range that glibc gives it: from the start of the program to the
-- end of the code, rounded up by a few bytes. Older versions begin at the entry point, others round
-- to a page, and a program that calls monstartup itself may choose a smaller range.
local function is_usual(value, facts, bias)
   return value.dialect == "gnu" and value.low - bias == facts.image_start
      and (value.high - bias) & (PAGE - 1) ~= 0
end

-- Returns whether the range ends elsewhere than the code, and whether that is certain.
local function check_range(value, facts, bias)
   local stop = value.high - bias
   if is_usual(value, facts, bias) then
      return stop < facts.text_end or stop > facts.code_end + ROUNDED, true
   end
   local is_larger = stop > (facts.code_end + PAGE - 1 & ~(PAGE - 1))
   return is_larger or stop < facts.text_end, is_larger
end

-- }======

-- {====== The calls ======

-- Returns the target addresses of the first arcs, each once.
local function callees_of(part)
   local list, known = {}, {}
   local reader = part:reader "arcs"
   for _, row in ipairs(reader and core.rows(reader, { "to" }, LOOKED_AT) or {}) do
      if not known[row.to] then
         known[row.to] = true
         list[#list + 1] = row.to
      end
   end
   if reader then
      reader:close()
   end
   return list
end

-- Returns whether most target addresses cannot be where a function counts its calls: they are
-- outside of the code, far from the start of a function, or several in one function. `cache` has
-- the symbols that were found, by address.
local function check_calls(part, symbols, bias, cache)
   local callees, found, odd = callees_of(part), {}, 0
   local facts = symbols.facts
   for _, to in ipairs(callees) do
      local address = to - bias
      if cache[address] == nil then
         cache[address] = symbols.symbols:find(address) or false
      end
      local symbol = cache[address]
      if symbol then
         local is_far = address - symbol.start > PROLOGUE
         odd = odd + ((is_far or found[symbol.start]) and 1 or 0)
         found[symbol.start] = true
      elseif facts.address_size and facts.code_end > 0
         and (math.ult(address, facts.code_start) or not math.ult(address, facts.code_end))
      then
         odd = odd + 1
      end
   end
   return odd * 2 > #callees
end

-- }======

-- Returns why the executable is, or may be, another program than that of one file, and whether that
-- is certain; nil: it may be the program.
local function mismatch_of(part, symbols, bias, cache)
   local value, facts = {}, symbols.facts
   part:add_info(value, {})
   if facts.address_size and (value.address_size ~= facts.address_size
      or value.byte_order ~= facts.byte_order)
   then
      return ("the file has %d-byte %s-endian addresses, the executable %d-byte %s-endian ones")
         :format(value.address_size, value.byte_order, facts.address_size, facts.byte_order), true
   end
   if facts.address_size and value.low and value.high and facts.code_end > 0 then
      local is_odd, is_certain = check_range(value, facts, bias)
      if is_odd then
         is_certain = is_certain or check_calls(part, symbols, bias, cache)
         return ("the profile covers 0x%x to 0x%x, the code of the executable ends at 0x%x")
            :format(value.low, value.high, facts.code_end + bias), is_certain
      end
   end
   if symbols.symbols:count() > 0 and not facts.only_dynamic
      and check_calls(part, symbols, bias, cache)
   then
      -- a text of nm may lack the functions at such addresses
      return "calls were counted at addresses where no function of the executable begins",
         facts.address_size ~= nil
   end
   return nil
end

---Returns why the executable may be another program than the profiled one.
---@param parts userdata[] the files
---@param symbols profio.Symbols
---@param bias integer run-time address minus link-time address
---@return { part: integer, words: string }[] empty: it may be the program
---@return boolean is_certain it is not the program of any file
function program.mismatch(parts, symbols, bias)
   local list, certain, cache = {}, 0, {}
   for i, part in ipairs(parts) do
      local words, is_certain = mismatch_of(part, symbols, bias, cache)
      if words then
         list[#list + 1] = { part = i, words = words }
         certain = certain + (is_certain and 1 or 0)
      end
   end
   return list, certain == #parts
end

return program
