-- A Lua program to be recorded: counts the words of a text, writes the counts as JSON with dkjson,
-- and reads that again.
--
--    export PROFIO_RECORD="mode=sampled,path=words.prf"
--    lua5.4 -lprofio.recorder examples/demo.lua TEXT [ROUNDS]

local json = require "dkjson"

local function read(path)
   local file <close> = assert(io.open(path))
   return file:read "a"
end

local function count(text)
   local found = {}
   for number, line in text:gmatch "()([^\n]*)\n?" do
      for word in line:gmatch "%a+" do
         local lower = word:lower()
         found[lower] = found[lower] or { word = lower, at = {} }
         table.insert(found[lower].at, number)
      end
   end
   return found
end

local function sorted(found)
   local list = {}
   for _, entry in pairs(found) do
      list[#list + 1] = entry
   end
   table.sort(list, function(a, b)
      if #a.at ~= #b.at then
         return #a.at > #b.at
      end
      return a.word < b.word
   end)
   return list
end

local function round(text)
   local written = json.encode(sorted(count(text)))
   local list = assert(json.decode(written))
   assert(#json.encode(list) == #written)
   return list, #written
end

local path, rounds = ...
if not path then
   io.stderr:write "usage: demo.lua TEXT [ROUNDS]: counts its words, packs and unpacks them\n"
   os.exit(2)
end
local text = read(path)
local list, size
for _ = 1, tonumber(rounds or 10) do
   list, size = round(text)
end
print(("%d words, most often '%s'; %d bytes of JSON"):format(#list, list[1].word, size))
