-- Functions on the command line, as --focus, --ignore and --hide name them:
--
--    main            the function of that name
--    ~^Db            functions in whose name a Lua pattern is found
--    io.c            functions of a source file (its name, or the end of its path)
--    io.c:read       the function of that name there
--    io.c:120        the function that begins on that line
--    read/parse      (--ignore only) the calls of parse by read
--
-- A word and = in front name one of the three things a profile does with functions: flat=, graph=
-- and time= act on the rows of the flat profile, the entries of the call graph, or the time handed
-- to callers only.

local failure = require "profio.cli.failure"

local symspec = {}

local places = { flat = true, graph = true, time = true }

local function is_file(path, wanted)
   return path == wanted or (path or ""):sub(-#wanted - 1) == "/" .. wanted
end

---The test that a specification stands for.
---@param text string
---@return fun(row: table): boolean  of a row of profile:functions(), or a frame
function symspec.test(text)
   local pattern = text:match "^~(.+)$"
   if pattern then
      local ok, message = pcall(string.find, "", pattern)
      if not ok then
         failure.use("'%s' is no Lua pattern: %s", pattern, message)
      end
      return function(row)
         return row["function"]:find(pattern) ~= nil
      end
   end
   local file, rest = text:match "^(.-[^:]):([^:].*)$"
   return function(row)
      return row["function"] == text or row.symbol == text or is_file(row.file, text)
         or (file and is_file(row.file, file) and (row["function"] == rest or row.symbol == rest
            or tostring(row.line) == rest))
   end
end

---Cut "graph=main" into where it acts (nil: everywhere) and the specification.
---@param text string
---@return string|nil place flat, graph or time
---@return string rest
function symspec.place(text)
   local place, rest = text:match "^(%l+)=(.+)$"
   if place and places[place] then
      return place, rest
   end
   return nil, text
end

---The two functions of "from/to", or nil when the text is no such pair.
---@param text string
---@return string|nil from
---@return string|nil to
function symspec.pair(text)
   return text:match "^([^~/][^/]*)/([^/]+)$"
end

---The numbers of the functions that a specification names.
---@param text string
---@param functions table[] rows of profile:functions()
---@return integer[]
---@return string[] names
function symspec.find(text, functions)
   local test, numbers, names = symspec.test(text), {}, {}
   for _, row in ipairs(functions) do
      if test(row) then
         numbers[#numbers + 1], names[#names + 1] = row.number, row["function"]
      end
   end
   return numbers, names
end

return symspec
