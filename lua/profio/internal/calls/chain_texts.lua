-- Chains of events as texts:
--
--    Sample leave -> Filter enter -> Actuate leave <= 5ms
--    brake: Pedal write > 10 -> Brake state Active <= 20ms
--    age: Sensor leave in Core0 -> "Task B" enter (age)
--
-- A step is an area, which is a name or ~ and a Lua pattern, and an event: enter, leave, suspend,
-- resume, write (perhaps with a condition on the value) or state with the name of a state; `in` and
-- a lane may stand before or after the event. A bound has a unit, so that it is no condition.

local patterns = require "profio.internal.patterns"
local times = require "profio.internal.times"
local words = require "profio.internal.requirements.words"

local chain_texts = {}

---@class profio.Chain
---@field name string
---@field text string as it was written
---@field steps table[] { area =, pattern =, event =, lane =, state =, test =, operand = }
---@field bound integer|nil the longest time that is allowed, in ns
---@field unit string|nil unit of the bound
---@field age boolean

local events = { enter = true, leave = true, suspend = true, resume = true, write = true,
   state = true }

local MOST_STEPS = 64

-- Reads the condition of a write, if the rest begins with one.
local function condition_of(step, rest)
   local test, operand, after = rest:match "^([<>=!]=?)%s*([-+]?[%w.]+)%s*(.*)$"
   local number = operand and tonumber(operand)
   if not number then
      return rest -- a bound has a unit
   elseif test == "!" then
      words.wrong "no comparison '!'; there are = != < <= > >="
   end
   step.test, step.operand = test == "==" and "=" or test, number
   return after
end

local function lane_of(step, rest)
   if rest:find "^in%s" then
      step.lane, rest = words.word(rest:match "^in%s+(.*)$", "the lane")
   end
   return rest
end

-- Reads a step. Returns it and the rest.
local function step_of(text)
   local is_pattern = text:sub(1, 1) == "~"
   local area, rest = words.word(is_pattern and text:sub(2) or text, "the area of a step")
   local step = { area = area }
   if is_pattern then
      local pattern, problem = patterns.of(area)
      step.pattern = pattern or words.wrong("%s", problem)
   end
   rest = lane_of(step, rest)
   step.event, rest = words.word(rest, ("the event after '%s' (enter, leave, suspend, resume, "
      .. "write or state NAME)"):format(step.area))
   if not events[step.event] then
      words.wrong("no event '%s'; there are enter, leave, suspend, resume, write, state NAME",
         step.event)
   elseif step.event == "state" then
      step.event = "write"
      step.state, rest = words.word(rest, "the name of the state")
      step.state_value = math.tointeger(tonumber(step.state))
   elseif step.event == "write" then
      rest = condition_of(step, rest)
   end
   return step, lane_of(step, rest)
end

-- Sets the bound of a chain, if there is one. Returns the rest.
local function bound_of(chain, rest)
   local sign, text, after = rest:match "^([<>=!]+)%s*(%S+)%s*(.*)$"
   if not sign then
      return rest
   elseif sign ~= "<=" and sign ~= "<" then
      words.wrong("a chain has an upper bound, <= or <, got '%s'", sign)
   end
   local bound, unit = times.parse(text)
   if not (bound and unit) then
      words.wrong("the bound of a chain is a time with a unit, such as 5ms, got '%s'", text)
   end
   chain.bound, chain.unit = sign == "<" and bound - 1 or bound, unit
   return after
end

---Parses a chain. Raises by words.wrong.
---@param text string
---@return profio.Chain
function chain_texts.one(text)
   local name, rest = text:match "^([%w_][%w_.-]*):%s+(.*)$"
   local chain, more = { text = text, steps = {} }, true
   rest = rest or text
   while more do
      chain.steps[#chain.steps + 1], rest = step_of(rest)
      local after = rest:match "^%->%s*(.*)$"
      more, rest = after ~= nil, after or rest
   end
   chain.name = name or text:sub(1, #text - #rest):gsub("%s+$", "")
   rest = bound_of(chain, rest)
   chain.age = rest == "(age)"
   if rest ~= "" and not chain.age and rest ~= "(reaction)" then
      words.wrong("'->', a bound such as <= 5ms, (age) or (reaction) is expected, got '%s'", rest)
   elseif #chain.steps < 2 then
      words.wrong("a chain has at least two steps, A leave -> B enter, got '%s'", text)
   elseif #chain.steps > MOST_STEPS then
      words.wrong("a chain has at most %d steps, got %d", MOST_STEPS, #chain.steps)
   end
   return chain
end

---Parses chains, one in a line; # begins a comment.
---@param text string
---@return profio.Chain[]|nil
---@return string|nil message
---@return integer|nil line of the error
function chain_texts.parse(text)
   return words.lines(text, chain_texts.one)
end

return chain_texts
