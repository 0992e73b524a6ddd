-- Formulas over columns, as view:derive takes them: "share = count / total(count)". A formula
-- becomes steps for the core, which computes whole batches.
--
--    + - * / <        as usual; a < b is 1 or 0
--    count            a column; [a name] one whose name is no plain word
--    total(count)     its sum over all rows
--    running(x)       the sum over the rows so far
--    min(a, b, ...)  max(a, b, ...)  sqrt(x)  abs(x)
--
-- The result is a whole number when everything in it is and nothing divides or takes a root.

local formulas = {}

-- {====== Words ======

local patterns = {
   { "space", "^%s+" }, { "number", "^%d+%.?%d*[eE][-+]?%d+" }, { "number", "^%d+%.?%d*" },
   { "name", "^[%a_][%w_]*" }, { "quoted", "^%[([^%]]+)%]" }, { "sign", "^[-+*/<(),]" },
}

local function next_word(text, at)
   for _, pattern in ipairs(patterns) do
      local first, last, inside = text:find(pattern[2], at)
      if first then
         return pattern[1], inside or text:sub(first, last), last + 1
      end
   end
   error(("derive: '%s' cannot be read from '%s' on"):format(text, text:sub(at)), 0)
end

-- { { kind, word }, ... }
local function words_of(text)
   local words, at = {}, 1
   while at <= #text do
      local kind, word, after = next_word(text, at)
      if kind ~= "space" then
         words[#words + 1] = { kind, word }
      end
      at = after
   end
   return words
end

-- }======

-- {====== Reading ======

-- A reader of words that writes steps; `is_int` is of what was read last.
---@class profio.FormulaReader
local Reader = {}
Reader.__index = Reader

function Reader:fail(what)
   error(("derive: %s in '%s'"):format(what, self.text), 0)
end

function Reader:see(sign)
   local word = self.words[self.at]
   return word ~= nil and word[1] == "sign" and word[2] == sign
end

function Reader:take(sign)
   local is_there = self:see(sign)
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

function Reader:put(operation, operand)
   self.steps[#self.steps + 1] = { operation, operand }
end

-- The type of a column; raises when there is none.
function Reader:column(name)
   local field = self.types[name]
   if not field then
      self:fail(("there is no column '%s'"):format(name))
   end
   return field
end

local of_one = { running = "run", sqrt = "root", abs = "size" }
local of_several = { min = "least", max = "most" }

function Reader:arguments(name)
   local is_int, count = self:sum(), 1
   while self:take "," do
      local other = self:sum()
      is_int, count = is_int and other, count + 1
      self:put(of_several[name])
   end
   self:want ")"
   if of_one[name] and count > 1 then
      self:fail(name .. " takes one value")
   elseif of_one[name] then
      self:put(of_one[name])
   end
   return is_int and name ~= "sqrt"
end

function Reader:total()
   local word = self.words[self.at]
   if not word or (word[1] ~= "name" and word[1] ~= "quoted") then
      self:fail "total takes a column"
   end
   self.at = self.at + 1
   local is_int = self:column(word[2]) == "int"
   self:put("total", word[2])
   self:want ")"
   return is_int
end

function Reader:call(name)
   if name == "total" then
      return self:total()
   elseif of_one[name] or of_several[name] then
      return self:arguments(name)
   end
   self:fail(("there is no function '%s'"):format(name))
end

function Reader:value()
   if self:take "(" then
      local is_int = self:sum()
      self:want ")"
      return is_int
   elseif self:take "-" then
      local is_int = self:value()
      self:put "negate"
      return is_int
   end
   local word = self.words[self.at]
   if not word or word[1] == "sign" then
      self:fail "a value is missing"
   end
   self.at = self.at + 1
   if word[1] == "number" then
      self:put("number", tonumber(word[2]))
      return math.type(tonumber(word[2])) == "integer"
   elseif word[1] == "name" and self:take "(" then
      return self:call(word[2])
   end
   self:put("column", word[2])
   return self:column(word[2]) == "int"
end

-- Values with signs between them, from the left: `signs` maps them to operations.
function Reader:chain(read, signs)
   local is_int = read(self)
   while true do
      local sign
      for each in pairs(signs) do
         sign = self:see(each) and each or sign
      end
      if not sign then
         return is_int
      end
      self.at = self.at + 1
      local other = read(self)
      is_int = is_int and other and sign ~= "/"
      self:put(signs[sign])
   end
end

function Reader:product()
   return self:chain(self.value, { ["*"] = "multiply", ["/"] = "divide" })
end

function Reader:difference()
   return self:chain(self.product, { ["+"] = "add", ["-"] = "subtract" })
end

function Reader:sum()
   return self:chain(self.difference, { ["<"] = "less" })
end

-- }======

---A formula "name = ..." for the core.
---@param text string
---@param fields profio.Field[] of the rows it is for
---@return { name: string, type: "int"|"num", steps: table[] }
function formulas.compile(text, fields)
   local name, rest = text:match "^%s*([%a_][%w_]*)%s*=%s*(.+)$"
   if not name then
      name, rest = text:match "^%s*%[([^%]]+)%]%s*=%s*(.+)$"
   end
   if not name then
      error(("derive wants \"name = formula\", got '%s'"):format(text), 0)
   end
   local types = {}
   for _, field in ipairs(fields) do
      types[field.name] = field.type
   end
   local reader = setmetatable({ text = text, words = words_of(rest), at = 1, steps = {},
      types = types }, Reader)
   if types[name] then
      reader:fail(("there is a column '%s' already"):format(name))
   end
   local is_int = reader:sum()
   if reader.words[reader.at] then
      reader:fail(("'%s' stands where nothing is expected"):format(reader.words[reader.at][2]))
   end
   return { name = name, type = is_int and "int" or "num", steps = reader.steps }
end

return formulas
