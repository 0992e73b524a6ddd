-- Settings of the Xbase++ profiler (PRI files). Changing a value keeps everything else in the file:
-- comments, unknown keys, order and line ends.
--
--    local settings = assert(require("profio.formats.xpp.pri").read "TEST.PRI")
--    settings:set_mode { trace = true, unfiltered = true }
--    settings:set("OUTFLUSHEVERY", 1000)
--    assert(settings:write "TEST.PRI")

local core = require "profio.core"
local outputs = require "profio.internal.outputs"
local texts = require "profio.internal.texts"

local pri = {}

---@class profio.xpp.Settings
local Settings = { __name = "profio.xpp.settings" }
Settings.__index = Settings

-- The documented bits of OPERATIONMODE. 8 and 4096 are documented only together.
local bits = { { "trace", 1 }, { "unfiltered", 4104 }, { "flush", 1024 }, { "packets", 2048 } }

pri.bits = bits

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
   local start = line:find("%S", sign + 1) or sign + 1
   local value = texts.trim_end(line:sub(start))
   return texts.trim(line:sub(1, sign - 1)), line:sub(1, start - 1), value,
      line:sub(start + #value)
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
   local file <close>, message = io.open(path, "rb")
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
   local last = self.lines[#self.lines]
   local line_end = last and not last:find "\r\n" and last:find "\n" and "\n" or "\r\n"
   if last and not last:find "\n$" then
      self.lines[#self.lines] = last .. line_end
   end
   self.lines[#self.lines + 1] = key .. "=" .. tostring(value) .. line_end
   return self
end

---Returns which bits of OPERATIONMODE are set, by name; bits without a name by number.
---@return table<string|integer, boolean>
function Settings:mode()
   local rest, names = math.tointeger(tonumber(self:get "OPERATIONMODE")) or 0, {}
   for _, bit in ipairs(bits) do
      if rest & bit[2] == bit[2] then
         names[bit[1]], rest = true, rest & ~bit[2]
      end
   end
   local number = 1
   while rest > 0 do
      if rest & number ~= 0 then
         names[number], rest = true, rest & ~number
      end
      number = number << 1
   end
   return names
end

---Sets (true) or clears (false) bits of OPERATIONMODE by name or number; the others stay.
---@param wanted table<string|integer, boolean>
---@return profio.xpp.Settings
function Settings:set_mode(wanted)
   local mode, known = math.tointeger(tonumber(self:get "OPERATIONMODE")) or 0, {}
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
