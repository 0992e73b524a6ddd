-- Settings of the Xbase++ profiler (PRI files): lines KEY=VALUE, possibly in [sections]. Changing a
-- value keeps everything else in the file: comments, unknown keys, order, line ends and an end mark
-- (^Z). This is the only parser; csrc/formats/xpp/settings.c reads what `packed` returns.
--
-- The documents describe the keys OPERATIONMODE and OUTFLUSHEVERY; the profiler itself contains
-- BUILTINS, PARAMLIST, LINENUMBERS, OUTFILE, OUTFORMAT, OUTMSGSIZE, OUTNAME, TIMELINE, THREADS,
-- SYMBOLMODE and SYMBOLS. Most of the values are not documented.
--
--    local settings = assert(require("profio.formats.xpp.pri").read "TEST.PRI")
--    settings:set_mode { trace = true, unfiltered = true }
--    settings:set("OUTFLUSHEVERY", 1000)
--    assert(settings:write "TEST.PRI")

local core = require "profio.core"
local outputs = require "profio.internal.writing.outputs"
local texts = require "profio.internal.texts"

local pri = {}

---@class profio.xpp.Settings
local Settings = { __name = "profio.xpp.settings" }
Settings.__index = Settings

-- The documented bits of OPERATIONMODE. 8 and 4096 are documented only together.
local bits = { { "trace", 1 }, { "unfiltered", 4104 }, { "flush", 1024 }, { "packets", 2048 } }

pri.bits = bits

local HEAD = 65536  -- bytes in which OPERATIONMODE must stand
local END_MARK = 26 -- ^Z at the end of a file

-- Returns the length of a line without blanks, its end and end marks of the file.
local function length_of(line)
   local length = #line
   while length > 0 and (line:byte(length) == END_MARK or line:find("^%s", length)) do
      length = length - 1
   end
   return length
end

-- Splits a line into the key, the text up to the value, the value, and the text after it; nil for a
-- line without a setting.
local function parts_of(line)
   if line:find "^%s*[;#%[]" then
      return nil
   end
   local sign = line:find("=", 1, true)
   if not sign then
      return nil
   end
   local last = math.max(length_of(line), sign)
   local start = line:find("%S", sign + 1) or sign + 1
   start = math.min(start, last + 1)
   return texts.trim(line:sub(1, sign - 1)), line:sub(1, start - 1), line:sub(start, last),
      line:sub(last + 1)
end

local function lines_of(text)
   local lines = {}
   for line in text:gmatch "[^\n]*\n?" do
      lines[#lines + 1] = line ~= "" and line or nil
   end
   return lines
end

---Parses settings.
---@param text string
---@return profio.xpp.Settings
function pri.parse(text)
   return setmetatable({ lines = lines_of(text) }, Settings)
end

---Reads settings from a file.
---@param path string
---@return profio.xpp.Settings|nil
---@return string|nil message
function pri.read(path)
   local file <close>, message = core.file(path, "rb")
   if not file then
      return nil, message
   end
   local text
   text, message = file:read "a"
   if not text then -- such as a folder
      return nil, ("%s: %s"):format(path, message)
   end
   return pri.parse(text)
end

-- Returns the number of the last line that sets a key: that line counts.
local function find(self, key)
   for i = #self.lines, 1, -1 do
      local name = parts_of(self.lines[i])
      if name and name:upper() == key:upper() then
         return i
      end
   end
end

---Returns the value of a key; letter case is ignored.
---@param key string
---@return string|nil
function Settings:get(key)
   local i = find(self, key)
   return i and (select(3, parts_of(self.lines[i]))) or nil
end

---Returns the value of a key as a number; nil if it is none, written in decimal digits.
---@param key string
---@return integer|nil
function Settings:number(key)
   local value = self:get(key)
   return value and value:find "^%d+$" and math.tointeger(tonumber(value)) or nil
end

-- Appends a line, before the end mark of the file.
local function append(self, line)
   local last = self.lines[#self.lines]
   local line_end = last and not last:find "\r\n" and last:find "\n" and "\n" or "\r\n"
   local length = #(last or "")
   while length > 0 and last:byte(length) == END_MARK do
      length = length - 1
   end
   local mark = (last or ""):sub(length + 1)
   if mark ~= "" then
      last = last:sub(1, length)
      self.lines[#self.lines] = last ~= "" and last or nil
   end
   if last and last ~= "" and not last:find "\n$" then
      self.lines[#self.lines] = last .. line_end
   end
   self.lines[#self.lines + 1] = line .. line_end .. mark
end

---Changes the value of a key in its line; a new key is appended.
---@param key string
---@param value string|integer
---@return profio.xpp.Settings
function Settings:set(key, value)
   local i = find(self, key)
   if tostring(value):find "[\r\n]" or key:find "[=\r\n]" or key == "" then
      error("a setting is one line KEY=VALUE", 2)
   elseif i then
      local _, before, _, after = parts_of(self.lines[i])
      self.lines[i] = before .. tostring(value) .. after
      return self
   end
   append(self, key .. "=" .. tostring(value))
   return self
end

-- Returns the names of the bits of a mode, and the numbers of those without a name.
local function names_of(mode)
   local list = {}
   for _, bit in ipairs(bits) do
      if mode & bit[2] == bit[2] then
         list[#list + 1], mode = bit[1], mode & ~bit[2]
      end
   end
   local number = 1
   while mode > 0 do
      if mode & number ~= 0 then
         list[#list + 1], mode = number, mode & ~number
      end
      number = number << 1
   end
   return list
end

---Returns which bits of OPERATIONMODE are set, by name; bits without a name by number.
---@return table<string|integer, boolean>
function Settings:mode()
   local names = {}
   for _, name in ipairs(names_of(self:number "OPERATIONMODE" or 0)) do
      names[name] = true
   end
   return names
end

---Sets (true) or clears (false) bits of OPERATIONMODE by name or number; the others stay. Raises if
---its value is no number, because its bits are not known then.
---@param wanted table<string|integer, boolean>
---@return profio.xpp.Settings
function Settings:set_mode(wanted)
   local mode, known = self:number "OPERATIONMODE", {}
   if not mode and self:get "OPERATIONMODE" then
      error(("OPERATIONMODE is '%s', and no number: set it to one first"):format(
         self:get "OPERATIONMODE"), 2)
   end
   mode = mode or 0
   for _, bit in ipairs(bits) do
      known[bit[1]] = bit[2]
   end
   for name, is_set in pairs(wanted) do
      local bit = known[name] or math.tointeger(name)
      if not bit then
         error(("OPERATIONMODE has no bit '%s'; there are trace, unfiltered, flush, packets")
            :format(tostring(name)), 2)
      end
      mode = is_set and mode | bit or mode & ~bit
   end
   return self:set("OPERATIONMODE", mode)
end

---Returns the text of the file.
---@return string
function Settings:text()
   return table.concat(self.lines)
end

-- {====== Traces ======

-- Returns whether a text states OPERATIONMODE, and has no byte 0.
local function has_mode(text)
   return text:upper():find("OPERATIONMODE", 1, true) ~= nil and not text:find("\0", 1, true)
      and pri.parse(text):number "OPERATIONMODE" ~= nil
end

---Returns how sure it is that the first bytes of a file are settings: OPERATIONMODE is one of them,
---and few lines are none; a text about PRI files has many. Keys have letters, digits, " ", "_-.".
---@param head string
---@return integer 0 to 100
function pri.score(head)
   if head:find "[\1-\8\11\14-\25\27-\31]" or not has_mode(head) then
      return 0
   end
   local lines = lines_of(head)
   local others = 0
   for _, line in ipairs(lines) do
      local key = parts_of(line)
      if not (key and key:find "^[%w _.-]+$") and line:find "^%s*[^%s;#%[\26]" then
         others = others + 1
      end
   end
   return others * 4 <= #lines and 95 or 0
end

---Returns whether a source that is no table is a text of settings.
---@param source userdata
---@return boolean
function pri.is_one(source)
   return has_mode(source:read(0, HEAD))
end

-- The keys that say with 0 that a trace lacks a field, each with its bit.
local fields = { { "TIMELINE", 1 }, { "LINENUMBERS", 2 }, { "PARAMLIST", 4 } }

---Returns the settings for csrc/formats/xpp/settings.c, which describes the form.
---@param text string
---@return string
function pri.packed(text)
   local settings = pri.parse(text)
   local mode, lacks, section = settings:number "OPERATIONMODE", 0, ""
   for _, field in ipairs(fields) do
      lacks = lacks | (settings:number(field[1]) == 0 and field[2] or 0)
   end
   local list = { ("<i8i8i8B"):pack(mode or -1, settings:number "OUTFLUSHEVERY" or -1,
      settings:number "OUTMSGSIZE" or -1, lacks),
      ("<s4"):pack(table.concat(mode and names_of(mode) or {}, " ")) }
   for _, line in ipairs(settings.lines) do
      section = line:match "^%s*%[([^%]]*)%]" or section
      local key, _, value = parts_of(line)
      local number = key and key:upper() == "OPERATIONMODE" and value:find "^%d+$"
         and math.tointeger(tonumber(value))
      list[#list + 1] = ("<s4s4s4s4s4"):pack(section, key or "", value or "",
         number and table.concat(names_of(number), " ") or "", line)
   end
   return table.concat(list)
end

-- }======

---Writes the settings into a file, which may be the one they were read from.
---@param path string
---@return true|nil
---@return string|nil message
---@return string|nil code
function Settings:write(path)
   return outputs.write(path, function(file)
      local ok, _, number = file:write(self:text())
      if not ok then
         return core.write_failure(file, number)
      end
      return true
   end)
end

return pri
