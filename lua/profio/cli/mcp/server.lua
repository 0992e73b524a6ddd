-- The server of `profio mcp`: JSON-RPC 2.0 over two files, a message in each line, as the Model
-- Context Protocol defines it for standard input and output. Each call of a tool runs command lines
-- of profio in this process, one after the other.

local profio = require "profio"
local tools = require "profio.cli.mcp.tools"

local server = {}

-- Versions of the protocol, the newest first. What is used of them is the same in all.
local VERSIONS <const> = { "2025-06-18", "2025-03-26", "2024-11-05" }

local PARSE_ERROR <const>, BAD_REQUEST <const>, NO_METHOD <const>, BAD_PARAMS <const> =
   -32700, -32600, -32601, -32602

local MOST_BYTES <const> = 1 << 20 -- of the output of a command
local LONGEST_NAME <const> = 100   -- bytes of a wrong name in an error

-- {====== Commands ======

local function read_file(path)
   local file <close> = assert(io.open(path, "rb"))
   return file:read(MOST_BYTES + 1) or ""
end

-- Runs a command line. Returns whether it has read its files (also with damage), its output, and
-- its messages.
local function run(words)
   local failure = require "profio.cli.failure"
   local path = os.tmpname()
   local err <close> = assert(io.tmpfile())
   local status = require("profio.cli").main(table.move(words, 2, #words, 4,
      { words[1], "-o", path }), err)
   local output = read_file(path)
   os.remove(path)
   err:seek "set"
   local said = err:read "a"
   if #output > MOST_BYTES then
      return false, "", "the result has more than 1 MiB: ask for fewer rows (top, where)\n"
   end
   return status == failure.READ or status == failure.DAMAGE, output, said
end

-- Returns the result of a tool: texts with the output of its commands, then their messages.
local function call(tool, given)
   local content, is_error = {}, false
   for i, words in ipairs(tool.commands(given)) do
      local ok, output, said = run(words)
      is_error = is_error or i == 1 and not ok
      for _, text in ipairs { output, (i == 1 or ok) and said or "" } do
         if text ~= "" then
            content[#content + 1] = { type = "text", text = text }
         end
      end
   end
   if not content[1] then
      content[1] = { type = "text", text = "no rows" }
   end
   return { content = content, isError = is_error }
end

-- }======

-- {====== Methods ======

-- Returns an array or object that is one for JSON, even if it is empty.
local function as(kind, value)
   return setmetatable(value, { __jsontype = kind })
end

-- Returns the declaration of a tool as JSON Schema.
local function listed(tool)
   local properties = {}
   for name, schema in pairs(tool.properties) do
      properties[name] = { type = schema.type, description = schema.description,
         items = schema.items, minItems = schema.minItems, minimum = schema.minimum,
         pattern = schema.pattern }
   end
   return { name = tool.name, description = tool.description,
      annotations = { readOnlyHint = true },
      inputSchema = { type = "object", properties = as("object", properties),
         required = as("array", tool.required) } }
end

local methods = {}

methods["initialize"] = function(params)
   local version = VERSIONS[1]
   for _, known in ipairs(VERSIONS) do
      version = params.protocolVersion == known and known or version
   end
   return { protocolVersion = version, capabilities = { tools = as("object", {}) },
      serverInfo = { name = "profio", version = profio._VERSION },
      instructions = "Traces of profilers. Begin with the tool next; paths are below the folders "
         .. "that the server was started with." }
end

methods["ping"] = function()
   return as("object", {})
end

methods["tools/list"] = function()
   local list = {}
   for i, tool in ipairs(tools.list) do
      list[i] = listed(tool)
   end
   return { tools = list }
end

methods["tools/call"] = function(params, folders)
   local tool = tools.named(params.name)
   local given = params.arguments or {}
   if not tool or type(given) ~= "table" then
      return nil, BAD_PARAMS, tool and "arguments must be an object"
         or ("no tool '%s'"):format(tostring(params.name):sub(1, LONGEST_NAME))
   end
   local ok, found = pcall(tools.checked, tool, given, folders)
   if not ok then
      return { content = { { type = "text", text = tostring(found) } }, isError = true }
   end
   return call(tool, found)
end

-- }======

-- Returns whether a value may be the id of a request: a text, or a number that JSON can state.
local function is_id(id)
   return type(id) == "string" or math.type(id) == "integer"
      or type(id) == "number" and id - id == 0
end

-- Returns the answer to a message, or nil if it is a notification.
local function answer(json, line, folders)
   local ok, message = pcall(json.decode, line)
   local id = ok and type(message) == "table" and message.id or nil
   local result, code, text
   if not ok or message == nil then
      code, text = PARSE_ERROR, "the line is no JSON"
   elseif type(message) ~= "table" or type(message.method) ~= "string"
      or id ~= nil and not is_id(id) then
      code, text = BAD_REQUEST, "the message is no request"
      id = is_id(id) and id or nil
   elseif id == nil then
      return nil -- a notification
   elseif not methods[message.method] then
      code, text = NO_METHOD, ("no method '%s'"):format(message.method:sub(1, LONGEST_NAME))
   else
      local params = type(message.params) == "table" and message.params or {}
      result, code, text = methods[message.method](params, folders)
   end
   return { jsonrpc = "2.0", id = id or json.null, result = result,
      error = code and { code = code, message = text } or nil }
end

---Serves requests until the input ends.
---@param json table dkjson
---@param input file*
---@param output file*
---@param folders string[] real paths; only files below them are read
function server.run(json, input, output, folders)
   for line in input:lines() do
      local message = line:find "%S" and answer(json, line, folders)
      if message then
         output:write(json.encode(message), "\n")
         output:flush()
      end
   end
end

return server
