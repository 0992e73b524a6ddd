-- Formulas over columns for view:derive: "share = count / total(count)". A formula is compiled to
-- steps in postfix order for the core, which evaluates whole batches.
--
--    + - * / // %     as in Lua
--    < <= > >= == ~=  1 if true, else 0
--    count            a column of numbers; [a name] for a name that is not an identifier
--    12 0x40 1.5 1e3  numbers; one with a point or an exponent is a num
--    total(count)     the sum of a column over all rows
--    running(x)       the sum over the rows so far
--    min(a, b, ...)  max(a, b, ...)  sqrt(x)  abs(x)
--
-- A formula may also be one of these alone, of a column of any type:
--
--    prev(column)            its value in the row before
--    prev(column) by a, b    in the row before among those in which columns a and b are equal
--    next(column) ...        in the row after
--
-- Whole numbers stay whole and exact, except under / and sqrt, which give a num. A whole number
-- that needs more than 64 bits is missing, and the view has a warning.
-- csrc/kernels/stages/formula.h lists the types of all results.

local formulas = {}

local MAX_DEPTH = 100 -- of parentheses and signs

-- {====== Tokens ======

local patterns = {
   { "space", "^%s+" }, { "number", "^0[xX]%x+" }, { "number", "^%d+%.?%d*[eE][-+]?%d+" },
   { "number", "^%d+%.?%d*" }, { "name", "^[%a_][%w_]*" }, { "quoted", "^%[([^%]]+)%]" },
   { "sign", "^[<>=~]=" }, { "sign", "^//" }, { "sign", "^[-+*/%%<>(),]" },
}

local function next_token(text, at)
   for _, pattern in ipairs(patterns) do
      local first, last, inside = text:find(pattern[2], at)
      if first then
         return pattern[1], inside or text:sub(first, last), last + 1
      end
   end
   error(("derive: character %d of '%s' cannot be read"):format(at, text), 0)
end

-- Returns the tokens of a text from a position on: { kind, token, position }, ...
local function tokens_of(text, at)
   local tokens = {}
   while at <= #text do
      local kind, token, after = next_token(text, at)
      if kind ~= "space" then
         tokens[#tokens + 1] = { kind, token, at }
      end
      at = after
   end
   return tokens
end

-- }======

-- {====== Parser ======

-- Recursive descent parser. It writes steps in postfix order: the operands, then the operation.
---@class profio.FormulaReader
local Reader = {}
Reader.__index = Reader

-- Raises with the position in the formula: of `token`, or of the next token.
function Reader:fail(what, token)
   token = token or self.tokens[self.at]
   local place = token and ("character %d"):format(token[3]) or "the end"
   error(("derive: %s at %s of '%s'"):format(what, place, self.text), 0)
end

function Reader:take(sign)
   local token = self.tokens[self.at]
   local is_there = token ~= nil and token[1] == "sign" and token[2] == sign
   if is_there then
      self.at = self.at + 1
   end
   return is_there
end

function Reader:expect(sign)
   if not self:take(sign) then
      self:fail(("'%s' is missing"):format(sign))
   end
end

function Reader:put(...)
   self.steps[#self.steps + 1] = { ... }
end

-- Writes a step for a column, or for its total.
function Reader:column(token, operation)
   if not self.columns[token[2]] then
      self:fail(("there is no column '%s'"):format(token[2]), token)
   end
   self:put(operation, token[2])
end

local is_function = { running = true, sqrt = true, abs = true, min = true, max = true }

function Reader:arguments(token)
   local name = token[2]
   local takes_several = name == "min" or name == "max"
   self:sum()
   while self:take "," do
      if not takes_several then
         self:fail(name .. " takes one value", token)
      end
      self:sum()
      self:put(name)
   end
   self:expect ")"
   if not takes_several then
      self:put(name)
   end
end

function Reader:call(token)
   if token[2] == "total" then
      local column = self.tokens[self.at]
      if not column or (column[1] ~= "name" and column[1] ~= "quoted") then
         self:fail "total takes a column"
      end
      self.at = self.at + 1
      self:column(column, "total")
      self:expect ")"
   elseif is_function[token[2]] then
      self:arguments(token)
   elseif token[2] == "prev" or token[2] == "next" then
      self:fail(("%s is a formula of its own: \"other = %s(time) by lane\", \"gap = time - other\"")
         :format(token[2], token[2]), token)
   else
      self:fail(("there is no function '%s'"):format(token[2]), token)
   end
end

-- A sign belongs to its number: -9223372036854775808 is the smallest integer.
function Reader:number(token, sign)
   local digits = token[2]:match "^0[xX]0*(%x*)$"
   local value = tonumber(sign .. token[2])
   if digits and #digits > 16 or not digits and token[2]:find "^%d+$"
      and math.type(value) ~= "integer" then
      self:fail(("%s has more than 64 bits; %s.0 is a num"):format(token[2],
         digits and "a number such as 1" or token[2]), token)
   elseif digits and #digits == 16 and digits >= "8" and sign == "" then
      self:put("number", value, "addr")
   else
      self:put("number", value)
   end
end

function Reader:value()
   local token = self.tokens[self.at]
   self.depth = self.depth + 1
   if self.depth > MAX_DEPTH then
      self:fail(("parentheses and signs are nested deeper than %d"):format(MAX_DEPTH))
   elseif self:take "(" then
      self:sum()
      self:expect ")"
   elseif self:take "-" then
      local number = self.tokens[self.at]
      if number and number[1] == "number" then
         self.at = self.at + 1
         self:number(number, "-")
      else
         self:value()
         self:put "negate"
      end
   elseif not token or token[1] == "sign" then
      self:fail "a value is missing"
   else
      self.at = self.at + 1
      if token[1] == "number" then
         self:number(token, "")
      elseif token[1] == "name" and self:take "(" then
         self:call(token)
      else
         self:column(token, "column")
      end
   end
   self.depth = self.depth - 1
end

-- Parses values with binary operators between them, left-associative.
function Reader:chain(read, signs)
   read(self)
   while true do
      local token = self.tokens[self.at]
      if not token or token[1] ~= "sign" or not signs[token[2]] then
         return
      end
      self.at = self.at + 1
      read(self)
      self:put(token[2])
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

-- Returns a column from a text: a name, or [any name].
local function column_in(text)
   return text:match "^%s*([%a_][%w_]*)%s*$" or text:match "^%s*%[([^%]]+)%]%s*$"
end

---Returns the parts of a formula prev(column) or next(column); nil if it is another one. Raises if
---the columns after `by` cannot be read.
---@param text string
---@return { name: string, column: string, next: boolean, by: string[] }|nil
function formulas.lag(text)
   local name, which, column, rest = text:match "^%s*(.-)%s*=%s*(%a+)%s*(%b())(.*)$"
   name, column = name and column_in(name), column and column_in(column:sub(2, -2))
   if not name or not column or which ~= "prev" and which ~= "next" then
      return nil
   end
   local keys = rest:match "^%s+by%s+(.+)$"
   if not keys then
      return not rest:find "%S"
         and { name = name, column = column, next = which == "next", by = {} } or nil
   end
   local by = {}
   for key in (keys .. ","):gmatch "(.-)," do
      by[#by + 1] = column_in(key)
         or error(("derive: after 'by' stand columns, not '%s': '%s'"):format(key, text), 0)
   end
   return { name = name, column = column, next = which == "next", by = by }
end

---Compiles a formula "name = ..." for the core. Raises with the position of an error.
---@param text string
---@param fields profio.Field[] fields of the rows
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
   local reader = setmetatable({ text = text, tokens = tokens_of(text, start), at = 1, steps = {},
      columns = columns, depth = 0 }, Reader)
   if columns[name] then
      error(("derive: there is a column '%s' already: '%s'"):format(name, text), 0)
   end
   reader:sum()
   local rest = reader.tokens[reader.at]
   if rest then
      reader:fail(("'%s' stands where nothing is expected"):format(rest[2]))
   end
   return { name = name, steps = reader.steps }
end

return formulas
