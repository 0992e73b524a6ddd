-- Decides whether an executable is the program that wrote a gmon.out. The file does not name its
-- program, so only addresses can be compared.

local symbol_tables = require "profio.internal.symbols"

local program = {}

local PAGE = 0x1000
local CHECKED = 4096     -- arcs of a file whose calls are checked
local ROUNDED = 16       -- the most bytes by which a C library rounds up the end of the code

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
   return symbol_tables.guess_bias(symbols.facts, low, high)
end

-- {====== The range ======

-- Returns whether a profile has the range that glibc gives it: from the start of the program to the
-- end of the code, rounded up by a few bytes. Older versions begin at the entry point, others round
-- to a page, and a program that calls monstartup itself may choose a smaller range. The end of the
-- code is a symbol of the linker: that of gold is the end of the segment, which has read-only data
-- too, as in linker scripts of microcontrollers.
local function is_usual(part, low, high, facts)
   return part:fact "dialect" == "gnu" and low == facts.image_start and high & (PAGE - 1) ~= 0
end

-- Returns whether the range ends elsewhere than the code, and whether that is certain.
local function check_range(part, low, high, facts)
   if is_usual(part, low, high, facts) then
      return high < facts.text_end or high > facts.segment_end + ROUNDED, true
   end
   local is_larger = high > (facts.segment_end + PAGE - 1 & ~(PAGE - 1))
   return is_larger or high < facts.text_end, is_larger
end

-- }======

-- {====== The calls ======

-- Returns whether most target addresses cannot be where a function counts its calls: they are
-- outside of the code, far from the start of a function, or several in one function.
local function check_calls(part, symbols, bias)
   local called, misplaced = symbols.symbols:check_calls(part, bias)
   return misplaced * 2 > called
end

-- }======

-- Returns why the executable is, or may be, another program than that of one file, and whether that
-- is certain; nil: it may be the program.
local function mismatch_of(part, symbols, bias)
   local facts = symbols.facts
   local size, order = part:fact "address_size", part:fact "byte_order"
   local low, high = part:fact "low", part:fact "high"
   if facts.address_size and (size ~= facts.address_size or order ~= facts.byte_order) then
      return ("the file has %d-byte %s-endian addresses, the executable %d-byte %s-endian ones")
         :format(size, order, facts.address_size, facts.byte_order), true
   end
   if facts.address_size and low and high and facts.code_end > 0 then
      local is_odd, is_certain = check_range(part, low - bias, high - bias, facts)
      if is_odd then
         is_certain = is_certain or check_calls(part, symbols, bias)
         return ("the profile covers 0x%x to 0x%x, the code of the executable ends at 0x%x")
            :format(low, high, facts.segment_end + bias), is_certain
      end
   end
   if facts.has_symbols and not facts.only_dynamic
      and check_calls(part, symbols, bias)
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
   local list, certain = {}, 0
   for i, part in ipairs(parts) do
      local words, is_certain = mismatch_of(part, symbols, bias)
      if words then
         list[#list + 1] = { part = i, words = words }
         certain = certain + (is_certain and 1 or 0)
      end
   end
   return list, certain == #parts
end

---Returns whether no file can have a mismatch. A sum of files has the called addresses of all: if
---none of them is misplaced, none is in any file.
---@param parts userdata[] files, and sums of files
---@param symbols profio.Symbols
---@param bias integer run-time address minus link-time address
---@return boolean
function program.matches(parts, symbols, bias)
   for _, part in ipairs(parts) do
      local _, misplaced = symbols.symbols:check_calls(part, bias)
      if misplaced > 0 or part:rows "arcs" > CHECKED or mismatch_of(part, symbols, bias) then
         return false
      end
   end
   return true
end

return program
