-- The server of `profio mcp`: JSON-RPC 2.0 over two files, a message or a batch of messages in each
-- line, as the Model Context Protocol defines it for standard input and output. Each call of a tool
-- runs command lines of profio, one after the other, in a worker (cli/processes.lua), which the
-- system ends after some seconds, whatever it does.

local answer_facts = require "profio.cli.mcp.answer_facts"
local cli = require "profio.cli"
local core = require "profio.core"
local details = require "profio.internal.store.details"
local failure = require "profio.internal.command.failure"
local json = require "dkjson"
local profio = require "profio"
local processes = require "profio.cli.processes"
local request_ids = require "profio.cli.mcp.request_ids"
local tools = require "profio.cli.mcp.tools"

local server = {}

-- Versions of the protocol, the newest first. What is used of them is the same in all.
local VERSIONS <const> = { "2025-06-18", "2025-03-26", "2024-11-05" }

local PARSE_ERROR <const>, BAD_REQUEST <const>, NO_METHOD <const>, BAD_PARAMS <const>,
   INTERNAL <const> = -32700, -32600, -32601, -32602, -32603

local MOST_BYTES <const> = 1 << 20 -- of the output of a command, and of a line of the input
local LONGEST_NAME <const> = 100   -- bytes of a wrong name in an error

-- {====== Commands ======

local function read_file(path)
   local file <close> = core.file(path, "rb")
   return file and file:read(MOST_BYTES + 1) or ""
end

-- Runs a command line whose output is a file. Returns whether it has read its files (also with
-- damage), its output, and its messages.
local function run(words, path, units)
   local err <close> = assert(core.temporary())
   local count = words[1] == "store" and 2 or 1 -- words of the verb
   local argv = table.move(words, 1, count, 1, { has_verb = true, units = units })
   argv[count + 1], argv[count + 2] = "-o", path
   local status = cli.main(table.move(words, count + 1, #words, count + 3, argv), err)
   local output = read_file(path)
   assert(err:seek "set")
   local said = err:read "a"
   if #output > MOST_BYTES then
      return false, "", "the result has more than 1 MiB: ask for fewer rows (top, where)\n"
   end
   return status == failure.READ or status == failure.DAMAGE, output, said
end

-- Returns texts as the content of a result.
local function content_of(...)
   local content = {}
   for _, text in pairs { ... } do
      content[#content + 1] = text ~= "" and { type = "text", text = text } or nil
   end
   return content
end

-- Adds what an answer says besides its rows.
local function add_facts(content, tool, given, path, rows)
   local function quietly(words, units)
      local ok, text = run(words, path, units)
      return ok, text
   end
   local text = answer_facts.of(quietly, rows, tool, tool.whole and tool.whole(given))
   content[#content + 1] = text and { type = "text", text = text } or nil
end

-- Returns the result of a tool: texts with the output of its commands and their messages, and the
-- facts about the last output that has rows.
local function call(tool, given, path, folders)
   if tool.list then
      return { isError = false, content = content_of(tool.list(given, folders, function(words)
         local ok, output = run(words, path)
         return ok, output
      end)) }
   end
   local content, is_error, rows = {}, false, nil
   for i, words in ipairs(tool.commands(given)) do
      local units = {}
      local ok, output, said = run(words, path, units)
      if ok and output:find "^%s*[%[{]" then
         rows = { words = words, output = output, units = units }
      end
      is_error = is_error or i == 1 and not ok
      for _, text in ipairs { output, (i == 1 or ok) and said or "" } do
         if text ~= "" then
            content[#content + 1] = { type = "text", text = text }
         end
      end
   end
   if rows and not is_error then
      add_facts(content, tool, given, path, rows)
   end
   if not content[1] then
      content[1] = { type = "text", text = "no rows" }
   end
   return { content = content, isError = is_error }
end

-- Returns a result that is an error.
local function refused(text)
   return { content = { { type = "text", text = text } }, isError = true }
end

-- Returns what a worker has passed on, or why it has not; raises what it has raised.
local function received(worker, pipe, timeout)
   if not worker then
      return refused(pipe)
   end
   local bytes = pipe:read "a"
   pipe:close()
   local how, number = worker:wait()
   local is_whole, result = details.unpack(bytes)
   if is_whole and how == "exit" and number == 0 then
      return result.result or error(result.raised, 0)
   elseif how == "signal" and number == core.ALARM then
      return refused(("the request took longer than %d s and was ended: ask for less (fewer files, "
         .. "a simpler pattern), or start the server with a larger --timeout\n"):format(timeout))
   end
   return refused(("the process of the request %s %d\n"):format(how == "signal"
      and "was killed by signal" or "has ended with status", number))
end

---In a worker: calls a tool and passes on its result.
---@param request table
---@param output profio.core.File
function server.serve(request, output)
   core.end_after(request.timeout)
   local done, result = pcall(call, tools.named(request.tool), request.given, request.path,
      request.folders)
   output:write(details.pack { result = done and result or nil,
      raised = not done and tostring(result) or nil })
end

-- Calls a tool in a worker.
local function call_apart(tool, given, folders, timeout)
   local folder = assert(core.temporary_folder())
   local path = folder .. "/output"
   local worker, pipe = processes.start("profio.cli.mcp.server", { tool = tool.name, given = given,
      path = path, folders = folders, timeout = timeout })
   local done, result = pcall(received, worker, pipe, timeout)
   core.remove(path)
   core.remove_folder(folder)
   return done and result or error(result, 0)
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

methods["tools/call"] = function(params, folders, timeout)
   local tool = tools.named(params.name)
   local given = params.arguments or {}
   given = given == json.null and {} or given
   if not tool or type(given) ~= "table" then
      return nil, BAD_PARAMS, tool and "arguments must be an object"
         or ("no tool '%s'; there are: %s"):format(tostring(params.name):sub(1, LONGEST_NAME),
            tools.names())
   end
   local ok, found = pcall(tools.checked, tool, given, folders)
   if not ok then
      return refused(tostring(found))
   end
   return call_apart(tool, found, folders, timeout)
end

-- }======

-- Returns whether a value may be the id of a request: a text, or a number that JSON can state.
local function is_id(id)
   return type(id) == "string" or math.type(id) == "integer"
      or type(id) == "number" and id - id == 0
end

-- Returns an answer as JSON: a result, or an error with its code and text. `id` is the id of the
-- request as it is written there.
local function answer_of(id, result, code, text)
   return ('{"id":%s,'):format(id or "null") .. json.encode { jsonrpc = "2.0", result = result,
      error = code and { code = code, message = text } or nil }:sub(2)
end

-- Returns the answer to a message whose id is written as `written`, or nil if it is a notification.
local function answer(message, written, folders, timeout)
   local is_object = type(message) == "table"
   local id = is_object and message.id or nil
   if not is_object or type(message.method) ~= "string" or id ~= nil and not is_id(id) then
      return answer_of(is_id(id) and written or nil, nil, BAD_REQUEST, "the message is no request")
   elseif id == nil then
      return nil -- a notification
   elseif not methods[message.method] then
      return answer_of(written, nil, NO_METHOD, ("no method '%s'"):format(
         message.method:sub(1, LONGEST_NAME)))
   end
   local params = type(message.params) == "table" and message.params or {}
   local ok, result, code, text = pcall(methods[message.method], params, folders, timeout)
   if not ok then
      return answer_of(written, nil, INTERNAL, tostring(result))
   end
   return answer_of(written, result, code, text)
end

-- Returns the next line, at most MOST_BYTES of it, and whether it is longer; nil at the end. Bytes
-- are read one by one, because reading several would wait for the next request.
local function next_line(input)
   local bytes, is_longer = {}, false
   for byte in input:lines(1) do
      if byte == "\n" then
         return table.concat(bytes), is_longer
      elseif #bytes < MOST_BYTES then
         bytes[#bytes + 1] = byte
      else
         is_longer = true
      end
   end
   return #bytes > 0 and table.concat(bytes) or nil, is_longer
end

-- Returns the message or the batch of a line, or nil and what is wrong.
local function decoded(line, is_longer)
   if is_longer then
      return nil, ("the line has more than %d bytes"):format(MOST_BYTES)
   end
   local ok, message, after = pcall(json.decode, line, 1, json.null)
   if not ok or message == nil or line:find("%S", after) then
      return nil, "the line is no JSON"
   end
   return message
end

---Serves requests until the input ends. The answers to a batch are written one by one, as each may
---be long.
---@param input file*
---@param output file*
---@param folders string[] real paths; only files below them are read
---@param timeout integer seconds after which a call of a tool is ended
function server.run(input, output, folders, timeout)
   for line, is_longer in next_line, input do
      local message, wrong = decoded(line, is_longer)
      local is_batch = type(message) == "table" and #message > 0
      local count = 0
      local function put(response)
         if response then
            output:write(not is_batch and "" or count == 0 and "[" or ",", response)
            count = count + 1
         end
      end
      if wrong and line:find "%S" then
         put(answer_of(nil, nil, PARSE_ERROR, wrong))
      elseif not wrong then
         local ids = request_ids.of(line)
         for i, single in ipairs(is_batch and message or { message }) do
            put(answer(single, ids[i], folders, timeout))
         end
      end
      if count > 0 then
         output:write(is_batch and "]\n" or "\n")
         output:flush()
      end
   end
end

return server
