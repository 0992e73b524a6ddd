-- Generates files of several classes that are no traces; a seed determines them.

local look_alikes = {}

local random = math.random

local function words(count)
   local list = {}
   for i = 1, count do
      local letters = {}
      for j = 1, random(1, 9) do
         letters[j] = string.char(random(97, 122))
      end
      list[i] = table.concat(letters)
   end
   return list
end

local function bytes(count)
   local list = {}
   for i = 1, count do
      list[i] = string.char(random(0, 255))
   end
   return table.concat(list)
end

-- Returns rows of cells; `cell(row, column)` returns each of them.
local function delimited(rows, columns, separator, cell)
   local lines = {}
   for row = 1, rows do
      local cells = {}
      for column = 1, columns do
         cells[column] = tostring(cell(row, column))
      end
      lines[row] = table.concat(cells, separator)
   end
   return table.concat(lines, "\n") .. "\n"
end

local classes = {}

function classes.dates()
   local separator = ({ ",", ";", "\t", "|" })[random(4)]
   return delimited(random(1, 80), random(2, 6), separator, function(row, column)
      return column == 1 and ("2024-%02d-%02d"):format(random(12), random(28)) or random(row * 10)
   end)
end

-- Pins with a direction, switches, yes and no: a column of I and O, and rising numbers.
function classes.directions()
   local names = words(80)
   local has_names, step = random(2) == 1, random(1, 3)
   local letters = ({ "IO", "io", "I", "O", "iIoO" })[random(5)]
   return (has_names and "id,io,pin\n" or "") .. delimited(random(1, 80), 3, ",",
      function(row, column)
         local at = random(#letters)
         return column == 1 and row * step or column == 2 and letters:sub(at, at) or names[row]
      end)
end

-- Like the class above, but with column names that a trace has too.
function classes.operations()
   local names = words(60)
   return "name,op,note\n" .. delimited(random(1, 60), 3, ",", function(row, column)
      return column == 1 and names[row] or column == 2 and ("IO"):sub(row % 2 + 1, row % 2 + 1)
         or names[1]
   end)
end

function classes.log()
   local said = words(40)
   return delimited(random(1, 90), 5, " ", function(row, column)
      return column == 1 and ("12:%02d:%02d"):format(row // 60, row % 60) or
         column == 2 and "[" .. random(9) .. "]" or said[random(40)]
   end)
end

function classes.word_list()
   return table.concat(words(random(1, 400)), "\n")
end

function classes.source_code()
   local names = words(30)
   return delimited(random(3, 60), 1, "", function(row)
      return ("%sfor (i = %d; i < o, i; i++) %s('i', 'o', %d);"):format((" "):rep(row % 9), row,
         names[random(30)], random(99))
   end)
end

-- Assembler, settings and tables whose cells are single letters.
function classes.letters()
   return delimited(random(1, 50), random(2, 7), ({ ",", ";", "|", "\t" })[random(4)], function()
      local at = random(6)
      return ("iIoOxy"):sub(at, at)
   end)
end

function classes.noise()
   return bytes(random(0, 3000))
end

function classes.small()
   local size = random(0, 64)
   local kind = random(3)
   return kind == 1 and bytes(size) or kind == 2 and ("\0"):rep(size) or
      (table.concat(words(70), "\n")):sub(1, size)
end

-- Small numbers, as in tables of a program's memory.
function classes.small_numbers()
   local list = {}
   for i = 1, random(1, 600) do
      list[i] = ("<I4"):pack(random(4) == 1 and random(0, 0xffffffff) or random(0, 20))
   end
   return table.concat(list)
end

-- Mostly zeros, with a table of records at some offset.
function classes.sparse()
   local records = {}
   for i = 1, random(1, 200) do
      records[i] = ("<I4I4i8i8"):pack(random(0, 9), 3, 0, i * 100)
   end
   local before = random(2) == 1 and ("\0"):rep(random(20000, 60000)) or bytes(random(9000, 20000))
   return before .. table.concat(records) .. ("\0"):rep(random(20000, 60000))
end

function classes.page()
   local names = words(20)
   return "<!DOCTYPE html>\n<html><body><map name='m'>" ..
      "<area shape='rect' coords='0,0,1,1' href='x'><area>" .. "<name>x</name></area></map><table>"
      .. delimited(random(1, 30), 3, "</td><td>", function(row, column)
         return column == 1 and "<tr><td>" .. row or names[random(20)]
      end) .. "</table></body></html>\n"
end

function classes.xml()
   local inside = ({
      "<AREA/>", "<AREA>12</AREA>", "<AREA><NAME>north</NAME><SIZE>4</SIZE></AREA>",
      "<MAPPING><AREA><NAME>north</NAME></AREA></MAPPING>",
      "<MAPPING><AREA><HANDLE>left</HANDLE><NAME>door</NAME></AREA></MAPPING>",
      "<area><name>hall</name><handle>12</handle></area>",
      "<mapping/><area><name>hall</name><handle>12</handle></area>",
      "<!-- <MAPPING><AREA><NAME>x</NAME><HANDLE>1</HANDLE></AREA></MAPPING> -->",
      "<![CDATA[<MAPPING><AREA><NAME>x</NAME><HANDLE>1</HANDLE></AREA></MAPPING>]]>",
   })[random(9)]
   return '<?xml version="1.0"?>\n<' .. words(1)[1] .. ">" .. inside:rep(random(1, 5)) .. "</a>\n"
end

function classes.picture()
   local heads = { "\x89PNG\r\n\26\n\0\0\0\13IHDR", "\xff\xd8\xff\xe0\0\16JFIF\0", "GIF89a", "BM",
      "RIFF\0\0\1\0WEBPVP8 ", "P6\n2 2\n255\n", "\0\0\1\0\1\0\16\16\0\0\1\0\32\0" }
   return heads[random(#heads)] .. bytes(random(10, 3000))
end

function classes.archive()
   local heads = { "PK\3\4\20\0\0\0\8\0", "PK\5\6", "7z\xbc\xaf\39\28", "BZh91AY&SY",
      "\xfd7zXZ\0", "\x28\xb5\x2f\xfd", "!<arch>\n" }
   return heads[random(#heads)] .. bytes(random(10, 3000))
end

function classes.json()
   local names = words(9)
   return '{"tid":1,"op":"I","rows":[\n' .. delimited(random(1, 40), 1, "", function(row)
      return ('{"time":%d,"op":"%s","name":"%s"},'):format(row * 10, row % 2 == 0 and "I" or "O",
         names[row % 9 + 1])
   end) .. "{}]}\n"
end

-- Lists of messages of two numbers, then other things: the numbers of a profile's fields.
function classes.messages()
   local function varint(value)
      return value < 128 and string.char(value) or string.char(value % 128 + 128, value // 128)
   end
   local function message(number, body)
      return varint(number << 3 | 2) .. varint(#body) .. body
   end
   local list = {}
   for i = 1, random(1, 5) do
      list[i] = message(1, "\8" .. varint(random(1, 9)) .. "\16" .. varint(random(1, 9)))
   end
   for i = 1, random(0, 9) do
      list[#list + 1] = message(2, "\10" .. varint(2) .. "\1\2" .. "\18\9abcdefghi")
      list[#list + 1] = message(({ 3, 4, 5, 6, 11, 14 })[random(6)], words(1)[1] .. i)
   end
   return table.concat(list)
end

function classes.executable()
   return "\127ELF\2\1\1" .. ("\0"):rep(9) .. ("<I2I2I4I8I8I8"):pack(3, 62, 1, 0x1040, 64, 4096) ..
      classes.small_numbers() .. classes.sparse()
end

-- A header that is valid for a table, but without descriptors of fields.
function classes.header()
   local versions = { 0x03, 0x30, 0x31, 0x43, 0x83, 0x8b, 0xf5 }
   return ("<BBBBI4I2I2"):pack(versions[random(#versions)], random(0, 255), random(1, 12),
      random(1, 28), random(0, 1000), random(33, 900), random(2, 600)) .. bytes(random(20, 2000))
end

-- Texts with the keywords of the formats.
function classes.about()
   local quotes = {
      "name             xemacs\nimage            19970328081403c0c18b\nlabel foo\n" ..
         "path             /usr/local/bin/xemacs\nepoch            199805191724\n" ..
         "platform         walnut\ntext_start       0x000120000000\n" ..
         "event            40 cycles:63488:10000\n0x00012006cbb8      29\n",
      "version pdb-0.07\nimage 19970328081403c0c18b\nepoch 9805191724\nplatform walnut\n" ..
         "event cycles\nperiod 63488\ntstart 000120000000\ntsize 8388608\ncpuspeed 333\nsamples\n",
      "[TRACE]\nOPERATIONMODE=4105\nOUTFLUSHEVERY=100\n",
      "* INFO %TOTAL_TIME%\n100\n* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%\n1,E,,5\n",
      "1,4,\"I\",\"MAIN\",10\n1,5,\"I\",\"A\",20\n1,6,\"O\",\"A\",20\n",
      "File: prog\nType: cpu\nShowing nodes accounting for 10ms, 100% of 10ms total\n" ..
         "      flat  flat%   sum%        cum   cum%\n      10ms   100%   100%       10ms   100%\n",
      "gmon.out holds a histogram, seconds and arcs.\n",
   }
   local function prose(count)
      return delimited(count, 9, " ", function() return words(1)[1] end)
   end
   local quote = quotes[random(#quotes)]
   return prose(random(3, 20)) .. "\n" .. quote .. "\n" .. prose(random(8, 40))
end

-- A page of a manual, a list with stars.
function classes.list()
   return table.concat({ "* INFO", "* TIMELINE", "* INFO is 100% of it", "* CONTEXTS (all)",
      "* HANDLE(with care)" }, "\n", random(1, 3)) .. "\n" .. table.concat(words(40), " ")
end

function classes.gmon_text()
   return "gmon" .. table.concat(words(60), " ")
end

look_alikes.classes = {}
for name in pairs(classes) do
   table.insert(look_alikes.classes, name)
end
table.sort(look_alikes.classes)

---Files of a class.
---@param name string
---@param seed integer
---@param count integer
---@return fun(): string|nil
function look_alikes.of(name, seed, count)
   math.randomseed(seed)
   local made = 0
   return function()
      made = made + 1
      return made <= count and classes[name]() or nil
   end
end

return look_alikes
