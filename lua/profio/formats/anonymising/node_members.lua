-- Names in profiles of V8.

local json_texts = require "profio.formats.anonymising.json_texts"

local node_members = {}

local KEYS <const> = {}
for key in ([[
   nodes id callFrame functionName scriptId url lineNumber columnNumber hitCount children
   positionTicks line ticks deoptReason startTime endTime samples timeDeltas head selfSize
   size nodeId ordinal profio creator title typeId parent profile lines]]):gmatch "%S+" do
   KEYS[key] = true
end

-- Functions that stand for something of V8.
local FUNCTIONS <const> = { ["(root)"] = true, ["(program)"] = true, ["(idle)"] = true,
   ["(garbage collector)"] = true, ["(anonymous)"] = true, ["(BYTECODE_COMPILER)"] = true,
   ["(EXTERNAL)"] = true, ["(GC)"] = true, ["(V8 API)"] = true, ["(COMPILER)"] = true,
   ["(PARSER)"] = true, ["(IDLE)"] = true, ["(OTHER)"] = true, ["(JS)"] = true }
local TREES <const> = { nodes = true, head = true, samples = true, timeDeltas = true,
   startTime = true, endTime = true, lines = true }

---@param context table
---@return fun(kind: string, bytes: string): string
function node_members.start(context)
   local names = context.names
   local function alias(raw, kind)
      return names:of(json_texts.resolved(raw), kind, #raw)
   end
   local replace = json_texts.replacer {
      key_of = function(_, raw)
         return KEYS[raw] and raw or alias(raw, "v")
      end,
      text_of = function(stack, raw)
         local key = stack[#stack].key
         if key == "functionName" then
            return FUNCTIONS[raw] and raw or alias(raw, "f")
         elseif key == "url" then
            return raw:find("\\", 1, true) and alias(raw, "p") or names:path(raw, "p")
         elseif key == "scriptId" and raw:find "^%d+$" then
            return raw
         end
         return json_texts.hidden(raw)
      end,
      number_of = function(stack, raw)
         for _, container in ipairs(stack) do
            if TREES[container.key] then
               return raw
            end
         end
         return json_texts.any_number(raw)
      end,
   }
   return function(_, bytes)
      return replace(bytes)
   end
end

return node_members
