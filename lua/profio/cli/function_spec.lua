-- Specifications of functions, as in --focus, --ignore and --hide:
--
--    main            the function of that name
--    ~^Db            functions whose name matches a Lua pattern
--    io.c            functions of a source file (its name, or the end of its path)
--    io.c:read       the function of that name in this file
--    io.c:120        the function that begins at that line
--    read/parse      (--ignore only) calls from read to parse
--
-- A prefix restricts the effect to one part of a graph's reports: flat= to the rows of the flat
-- profile, graph= to the entries of the call graph, time= to the time charged to callers.

local failure = require "profio.internal.command.failure"
local patterns = require "profio.internal.patterns"

local function_spec = {}

local places = { flat = true, graph = true, time = true }

local function is_file(path, wanted)
   return path == wanted or (path or ""):sub(-#wanted - 1) == "/" .. wanted
end

---Converts a specification to a test.
---@param text string
---@return fun(row: table): boolean  for a row of profile:functions(), or a frame
function function_spec.test(text)
   local pattern = text:match "^~(.+)$"
   if pattern then
      local compiled, problem = patterns.of(pattern)
      if not compiled then
         failure.use("%s", problem)
      end
      return function(row)
         return compiled:find(row["function"]) ~= nil
      end
   end
   local file, rest = text:match "^(.-[^:]):([^:].*)$"
   return function(row)
      return row["function"] == text or row.symbol == text or is_file(row.file, text)
         or (file and is_file(row.file, file) and (row["function"] == rest or row.symbol == rest
            or tostring(row.line) == rest))
   end
end

---Splits "graph=main" into the part of the reports (nil: all) and the specification.
---@param text string
---@return string|nil place flat, graph or time
---@return string rest
function function_spec.place(text)
   local place, rest = text:match "^(%l+)=(.+)$"
   if place and places[place] then
      return place, rest
   end
   return nil, text
end

---Splits "from/to"; nil if the text is no such pair.
---@param text string
---@return string|nil from
---@return string|nil to
function function_spec.pair(text)
   return text:match "^([^~/][^/]*)/([^/]+)$"
end

---Returns the ids of the functions that match a specification.
---@param text string
---@param functions table[] rows of profile:functions()
---@return integer[]
---@return string[] names
function function_spec.find(text, functions)
   local test, numbers, names = function_spec.test(text), {}, {}
   for _, row in ipairs(functions) do
      if test(row) then
         numbers[#numbers + 1], names[#names + 1] = row.number, row["function"]
      end
   end
   return numbers, names
end

return function_spec
