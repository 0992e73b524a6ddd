-- Names in trace events of Chrome.

local json_texts = require "profio.formats.anonymising.json_texts"

local span_members = {}

local METADATA <const> = { process_name = true, process_labels = true, process_sort_index = true,
   thread_name = true, thread_sort_index = true }
local KEYS <const> = {}
for key in ([[
   name cat ph ts pid tid dur tts tdur id id2 local global scope bind_id s bp cname args sf
   esf stack estack flow_in flow_out use_async_tts traceEvents displayTimeUnit otherData
   metadata stackFrames samples systemTraceEvents controllerTraceDataKey category parent
   creator trace version file line net gross flags number sort_index labels value
   depth]]):gmatch "%S+" do
   KEYS[key] = true
end
local NUMBERS <const> = { line = true, net = true, gross = true, number = true, sort_index = true,
   value = true, depth = true }
local PLAIN <const> = { ph = "^%a$", s = "^%a$", bp = "^%a$", ts = "^[-+%d.eE]+$",
   dur = "^[-+%d.eE]+$", displayTimeUnit = "^[nm]s$", flags = "^open$" }
local KINDS <const> = { name = "f", cat = "n", category = "n", pid = "t", tid = "t", sf = "n",
   parent = "n", scope = "n", id = "n", id2 = "n", ["local"] = "n", global = "n", bind_id = "n" }

-- Returns whether the innermost object of a stack lies in a member.
local function is_in(stack, member)
   for _, container in ipairs(stack) do
      if container.name == member then
         return true
      end
   end
   return false
end

-- Returns whether a text is the id of something, which is no name.
local function is_id(text)
   return text:find "^%d+$" or text:find "^0x%x+$"
end

-- Returns what a text in a member becomes. `phase` is that of the event.
local function text_of(names, phase, stack, raw)
   local top = stack[#stack]
   local key, is_argument = top.key, is_in(stack, "args")
   if PLAIN[key] and raw:find(PLAIN[key]) then
      return raw
   elseif is_argument and key == "file" then
      return raw:find("\\", 1, true) and names:of(json_texts.resolved(raw), "p", #raw)
         or names:path(raw, "p")
   elseif is_argument and key ~= "name" or is_in(stack, "otherData") or is_in(stack, "metadata")
      or top.kind ~= "{" or not KINDS[key]
   then
      return is_id(raw) and phase == "C" and raw or json_texts.hidden(raw)
   elseif key == "name" and phase == "M" and METADATA[raw]
      or key ~= "name" and key ~= "cat" and is_id(raw)
   then
      return raw
   end
   return names:of(json_texts.resolved(raw), is_argument and "t" or KINDS[key], #raw)
end

---@param context table
---@return fun(kind: string, bytes: string): string
function span_members.start(context)
   local names, phase = context.names, nil
   local replace = json_texts.replacer {
      key_of = function(_, raw)
         return (KEYS[raw] or is_id(raw)) and raw or names:of(json_texts.resolved(raw), "v", #raw)
      end,
      text_of = function(...)
         return text_of(names, phase, ...)
      end,
      number_of = function(stack, raw)
         local is_plain = phase == "C" or NUMBERS[stack[#stack].key] or not is_in(stack, "args")
            and not is_in(stack, "otherData") and not is_in(stack, "metadata")
         return is_plain and raw or json_texts.any_number(raw)
      end,
   }
   return function(kind, bytes)
      phase = kind == "event" and bytes:match '"ph"%s*:%s*"(.)"' or nil
      return replace(bytes)
   end
end

return span_members
