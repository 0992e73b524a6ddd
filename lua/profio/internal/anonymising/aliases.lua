-- Aliases of names: a letter for the kind of the name, and its number in the order of first
-- occurrence, in as many bytes as the name has: f12____.

local os_states = require "profio.internal.calls.os_states"

local aliases = {}

---@class profio.Aliases
---@field folds boolean names that differ only by case have aliases that differ only by case
---@field list { name: string, alias: string|nil, kind: string }[] in the order of first occurrence
---@field grown integer aliases that are longer than their names
local Aliases = {}
Aliases.__index = Aliases

local SMALL <const>, DIGITS <const> = "abcdefghijklmnopqrstuvwxyz", "0123456789"
local FIRST <const> = SMALL .. SMALL:upper() -- of an alias where case does not fold

---The kinds of names, by the letter with which an alias begins. An id has hexadecimal digits.
aliases.kinds = { f = "function", m = "module", p = "path", t = "thread", v = "variable",
   n = "name", x = "id" }

---Returns an empty list of aliases, which collects names until `settle`.
---@param known { name: string, alias: string, kind: string }[]|nil aliases of an earlier file
---@param folds boolean|nil
---@return profio.Aliases
function aliases.new(known, folds)
   local self = setmetatable({ folds = folds or false, list = {}, by_name = {}, folded = {},
      used = {}, counts = {}, short = {}, grown = 0, is_settled = false }, Aliases)
   for _, entry in ipairs(known or {}) do
      self:add(entry.name, entry.kind, #entry.alias, entry.alias)
   end
   return self
end

-- Returns what is equal for names that are not to be confused.
local function key_of(self, text)
   return self.folds and text:lower() or text
end

-- Adds a name.
function Aliases:add(name, kind, size, alias)
   if self.by_name[name] then
      return
   end
   local entry = { name = name, kind = kind, size = size, alias = alias }
   self.list[#self.list + 1], self.by_name[name] = entry, entry
   local key = key_of(self, name)
   self.folded[key] = self.folded[key] or {}
   table.insert(self.folded[key], entry)
   if alias then
      self.used[key_of(self, alias)] = true
      local digits = alias:match(kind == "x" and "^0*(%x+)$" or "^%a(%d+)") or "0"
      self.counts[kind] = math.max(self.counts[kind] or 0,
         tonumber(digits, kind == "x" and 16 or 10))
   end
end

-- Returns whether a text may be an alias: it is none yet, and no name.
local function is_free(self, text)
   local key = key_of(self, text)
   return not self.used[key] and not self.folded[key] and not os_states.is_usual(text)
end

-- Returns a text of `size` letters and digits for a number from 0 on; nil: there are not so many.
local function short_text(number, size, first)
   local text = {}
   for i = size, 1, -1 do
      local signs = i == 1 and first or SMALL .. DIGITS
      local digit = number % #signs + 1
      text[i], number = signs:sub(digit, digit), number // #signs
   end
   return number == 0 and table.concat(text) or nil
end

-- Returns the next free short alias of a size; nil: there is none.
local function next_short(self, size)
   local number = self.short[size] or 0
   local text
   repeat
      text = short_text(number, size, self.folds and SMALL or FIRST)
      number = number + 1
   until not text or is_free(self, text)
   self.short[size] = number
   return text
end

-- Returns the next numbered alias of a kind, filled up to a size.
local function next_numbered(self, kind, size)
   local text
   repeat
      self.counts[kind] = (self.counts[kind] or 0) + 1
      text = kind == "x" and ("%x"):format(self.counts[kind]) or kind .. self.counts[kind]
      local filling = (kind == "x" and "0" or self.folds and "x" or "_"):rep(size - #text)
      text = kind == "x" and filling .. text or text .. filling
   until is_free(self, text)
   return text
end

-- Returns an alias that no name has: a number, or in a size that has no room for all numbers a
-- short one; a longer one if there is none.
local function fresh(self, entry)
   local size = entry.size
   local is_id = entry.kind == "x"
   local text = (is_id or size > #tostring(#self.list) + 1)
      and next_numbered(self, entry.kind, size)
   if not text or #text > size and not is_id then
      text = next_short(self, size) or text or next_numbered(self, entry.kind, size)
   end
   self.grown = self.grown + (#text > size and 1 or 0)
   return text
end

-- Returns an alias with other letters in upper case for each number from 0 on; nil: it has too few
-- letters.
local function in_case(alias, number)
   local text = alias:lower():gsub("%l", function(letter)
      local is_upper = number % 2 == 1
      number = number // 2
      return is_upper and letter:upper() or letter
   end)
   return number == 0 and text or nil
end

-- Gives an alias to names that differ only by case; without folding that is one name.
local function settle_group(self, group)
   local base
   for _, entry in ipairs(group) do
      base = base or entry.alias
   end
   local taken, number = {}, 0
   for _, entry in ipairs(group) do
      taken[entry.alias or false] = true
   end
   for _, entry in ipairs(group) do
      local text = entry.alias
      while base and not text do
         text = in_case(base, number)
         number = number + 1
         if not text then
            base = nil
         elseif taken[text] then
            text = nil
         end
      end
      entry.alias = text or fresh(self, entry)
      base = base or entry.alias
      taken[entry.alias], self.used[key_of(self, entry.alias)] = true, true
   end
end

---Gives an alias to each name that was collected. From now on `of` returns aliases.
function Aliases:settle()
   for _, entry in ipairs(self.list) do
      if not entry.alias then
         settle_group(self, self.folded[key_of(self, entry.name)])
      end
   end
   self.is_settled = true
end

---Returns the alias of a name; the name itself while names are collected. An empty name is its own
---alias, and so are the usual names of states of tasks, which say nothing about a program, and
---without which reports of tasks find none.
---@param name string as it is decoded: equal names are equal texts
---@param kind string a letter of aliases.kinds
---@param size integer|nil bytes that it has in the file; default: those of the name
---@return string
function Aliases:of(name, kind, size)
   if name == "" or kind == "v" and os_states.is_usual(name) then
      return name
   elseif not self.is_settled then
      self:add(name, kind, size or #name)
      return name
   end
   return self.by_name[name].alias
end

-- Returns the begin of a path that says what it is relative to, which stays.
local function root_of(path)
   return path:match "^%a:[/\\]+" or path:match "^[/\\.]+[/\\]" or path:match "^[/\\]+" or ""
end

---Returns a path with aliases for the folder, as one name, and for the last component: some
---programs show only that.
---@param path string
---@param kind string of the last component
---@return string
function Aliases:path(path, kind)
   local root = root_of(path)
   local folder, separator, base = path:sub(#root + 1):match "^(.*)([/\\])([^/\\]*)$"
   if not folder then
      return root .. self:of(path:sub(#root + 1), kind)
   end
   return root .. self:of(folder, "p") .. separator .. self:of(base, kind)
end

return aliases
