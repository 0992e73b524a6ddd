-- Formulas over columns, as view:derive takes them: "share = count / total(count)". A formula
-- becomes steps for the core, which computes whole batches.
--
--    + - * / // %     as in Lua
--    < <= > >= == ~=  1 where it holds, else 0
--    count            a column of numbers; [a name] one whose name is not a plain word
--    12 0x40 1.5 1e3  numbers; one with a point or an exponent is a num
--    total(count)     the sum of a column over all rows
--    running(x)       the sum over the rows so far
--    min(a, b, ...)  max(a, b, ...)  sqrt(x)  abs(x)
--
-- Whole numbers stay whole and exact, except under / and sqrt, which give a num. A whole number
-- that needs more than 64 bits is missing, and the view has a warning. csrc/kernels/formula.h lists
-- the types of all results.

local formulas = {}

local MAX_DEPTH = 100 -- of parentheses and signs

-- {====== Words ======

local patterns = {
   { "space", "^%s+" }, { "number", "^0[xX]%x+" }, { "number", "^%d+%.?%d*[eE][-+]?%d+" },
   { "number", "^%d+%.?%d*" }, { "name", "^[%a_][%w_]*" }, { "quoted", "^%[([^%]]+)%]" },
   { "sign", "^[<>=~]=" }, { "sign", "^//" }, { "sign", "^[-+*/%%<>(),]" },
}

local function next_word(text, at)
   for _, pattern in ipairs(patterns) do
      local first, last, inside = text:find(pattern[2], at)
      if first then
         return pattern[1], inside or text:sub(first, last), last + 1
      end
   end
   error(("derive: character %d of '%s' cannot be read"):format(at, text), 0)
end

-- The words of a text from a position on: { kind, word, position }, ...
local function words_of(text, at)
   local words = {}
   while at <= #text do
      local kind, word, after = next_word(text, at)
      if kind ~= "space" then
         words[#words + 1] = { kind, word, at }
      end
      at = after
   end
   return words
end

-- }======

-- {====== Reading ======

-- A reader of words that writes steps: the operands of an operation, then the operation.
---@class profio.FormulaReader
local Reader = {}
Reader.__index = Reader

-- Raises, and says at which character of the formula; `word` is the next one unless given.
function Reader:fail(what, word)
   word = word or self.words[self.at]
   local place = word and ("character %d"):format(word[3]) or "the end"
   error(("derive: %s at %s of '%s'"):format(what, place, self.text), 0)
end

function Reader:take(sign)
   local word = self.words[self.at]
   local is_there = word ~= nil and word[1] == "sign" and word[2] == sign
   if is_there then
      self.at = self.at + 1
   end
   return is_there
end

function Reader:want(sign)
   if not self:take(sign) then
      self:fail(("'%s' is missing"):format(sign))
   end
end

function Reader:put(...)
   self.steps[#self.steps + 1] = { ... }
end

-- A column, or its sum.
function Reader:column(word, operation)
   if not self.columns[word[2]] then
      self:fail(("there is no column '%s'"):format(word[2]), word)
   end
   self:put(operation, word[2])
end

local is_function = { running = true, sqrt = true, abs = true, min = true, max = true }

function Reader:arguments(word)
   local name = word[2]
   local takes_several = name == "min" or name == "max"
   self:sum()
   while self:take "," do
      if not takes_several then
         self:fail(name .. " takes one value", word)
      end
      self:sum()
      self:put(name)
   end
   self:want ")"
   if not takes_several then
      self:put(name)
   end
end

function Reader:call(word)
   if word[2] == "total" then
      local column = self.words[self.at]
      if not column or (column[1] ~= "name" and column[1] ~= "quoted") then
         self:fail "total takes a column"
      end
      self.at = self.at + 1
      self:column(column, "total")
      self:want ")"
   elseif is_function[word[2]] then
      self:arguments(word)
   else
      self:fail(("there is no function '%s'"):format(word[2]), word)
   end
end

-- A number, whose sign belongs to it: -9223372036854775808 is the least int.
function Reader:number(word, sign)
   local digits = word[2]:match "^0[xX]0*(%x*)$"
   local value = tonumber(sign .. word[2])
   if digits and #digits > 16 or not digits and word[2]:find "^%d+$"
      and math.type(value) ~= "integer" then
      self:fail(("%s has more than 64 bits; %s.0 is a num"):format(word[2],
         digits and "a number such as 1" or word[2]), word)
   elseif digits and #digits == 16 and digits >= "8" and sign == "" then
      self:put("number", value, "addr")
   else
      self:put("number", value)
   end
end

function Reader:value()
   local word = self.words[self.at]
   self.depth = self.depth + 1
   if self.depth > MAX_DEPTH then
      self:fail(("parentheses and signs are nested deeper than %d"):format(MAX_DEPTH))
   elseif self:take "(" then
      self:sum()
      self:want ")"
   elseif self:take "-" then
      local number = self.words[self.at]
      if number and number[1] == "number" then
         self.at = self.at + 1
         self:number(number, "-")
      else
         self:value()
         self:put "negate"
      end
   elseif not word or word[1] == "sign" then
      self:fail "a value is missing"
   else
      self.at = self.at + 1
      if word[1] == "number" then
         self:number(word, "")
      elseif word[1] == "name" and self:take "(" then
         self:call(word)
      else
         self:column(word, "column")
      end
   end
   self.depth = self.depth - 1
end

-- Values with signs between them, from the left.
function Reader:chain(read, signs)
   read(self)
   while true do
      local word = self.words[self.at]
      if not word or word[1] ~= "sign" or not signs[word[2]] then
         return
      end
      self.at = self.at + 1
      read(self)
      self:put(word[2])
   end
end

local products = { ["*"] = true, ["/"] = true, ["//"] = true, ["%"] = true }
local differences = { ["+"] = true, ["-"] = true }
local comparisons = { ["<"] = true, ["<="] = true, [">"] = true, [">="] = true, ["=="] = true,
   ["~="] = true }

function Reader:product()
   self:chain(self.value, products)
end

function Reader:difference()
   self:chain(self.product, differences)
end

function Reader:sum()
   self:chain(self.difference, comparisons)
end

-- }======

---A formula "name = ..." for the core. Raises, with the position of the character, when it is none.
---@param text string
---@param fields profio.Field[] of the rows it is for
---@return { name: string, steps: table[] }
function formulas.compile(text, fields)
   local name, start = text:match "^%s*([%a_][%w_]*)%s*=()"
   if not name then
      name, start = text:match "^%s*%[([^%]]+)%]%s*=()"
   end
   if not name then
      error(("derive expects \"name = formula\", got '%s'"):format(text), 0)
   end
   local columns = {}
   for _, field in ipairs(fields) do
      columns[field.name] = true
   end
   local reader = setmetatable({ text = text, words = words_of(text, start), at = 1, steps = {},
      columns = columns, depth = 0 }, Reader)
   if columns[name] then
      error(("derive: there is a column '%s' already: '%s'"):format(name, text), 0)
   end
   reader:sum()
   local rest = reader.words[reader.at]
   if rest then
      reader:fail(("'%s' stands where nothing is expected"):format(rest[2]))
   end
   return { name = name, steps = reader.steps }
end

return formulas
