-- Events for the specs of calls: from a text, from a table, or random ones.

local profio = require "profio"

local events = {}

-- A format whose events are those in `given`, which specs set.
local given

local function put_events(put)
   for _, e in ipairs(given) do
      put(e.time, e.event, e.area, e.lane, e.flags)
   end
end

for name, type in pairs { area = "calls of areas", name = "calls of names" } do
   profio.register {
      name = type, score = function() return 0 end,
      tables = { events = { { "time", "int" }, { "event", "name" }, { "area", name },
         { "lane", "int" }, { "flags", "name" } } },
      open = function() return { events = put_events } end,
   }
end

profio.register {
   name = "calls on cores", score = function() return 0 end,
   tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "name" },
      { "lane", "name" }, { "flags", "name" }, { "core", "int" } } },
   open = function()
      return { events = function(put)
         for _, e in ipairs(given) do
            put(e.time, e.event, e.area, e.lane, e.flags, e.core)
         end
      end }
   end,
}

---A trace of these events.
---@param list table[] { time =, event =, area =, lane =, flags =, core = }
---@param format string|nil "calls of areas", "calls of names", or "calls on cores", whose lanes are
---names
---@return profio.Trace
function events.open(list, format)
   given = list
   return assert(profio.open({ data = "x" }, { format = format or "calls of areas" }))
end

local letters = { e = "enter", l = "leave", s = "suspend", r = "resume", w = "write",
   o = "other" }

---Events of a text: "10 e main 2" is an enter of main at 10 in lane 2; further words are flags.
---@param text string with semicolons between the events
---@return table[]
function events.of(text)
   local list = {}
   for time, letter, area, rest in text:gmatch "(%-?%d+) (%a) ([^%s;]+)([^;\n]*)" do
      list[#list + 1] = { time = math.tointeger(time), event = letters[letter],
         area = area, lane = math.tointeger(rest:match "%d+"),
         flags = rest:match "[%a ]+$" and rest:match "([%a ]+)$":gsub("^ +", "") or nil }
   end
   return list
end

local kinds = { "enter", "enter", "enter", "leave", "leave", "leave", "leave", "suspend",
   "resume", "write" }

-- Areas with equal names and different values are different; some specs distinguish them.
local function random_area(random, is_unique)
   local dice, area = random(12)
   if dice <= 7 then
      return { name = ("abcd"):sub(random(4)):sub(1, 1), class = "function" }
   elseif dice <= 9 then
      area = { name = "line " .. random(3), class = "line", value = random(2) }
   elseif dice == 10 then
      return { name = random(2) == 1 and "variable" or "v1", class = "variable" }
   end
   if not area then
      local variable = random(2)
      area = { name = "state " .. random(2), class = "aux state", value = variable,
         parent = variable == 1 and { name = "v1", class = "variable" } or "v2" }
   end
   area.name = area.name .. (is_unique and " of " .. area.value or "")
   return area
end

---At most 60 random events, of which some form complete calls.
---@param random fun(...): integer
---@param is_unique boolean|nil no two areas have one name
---@return table[]
function events.random(random, is_unique)
   local list, time = {}, random(2000) - 1000
   local lanes, flags = random(3), { "gap", "lost", "open", "unwound" }
   for i = 1, random(60) do
      time = time + random(6) - 2 * (random(10) == 1 and 1 or 0) - 1
      local kind = kinds[random(#kinds)]
      list[i] = { time = time, event = kind, area = random_area(random, is_unique),
         lane = random(lanes + 1) - 1, flags = random(40) == 1 and flags[random(#flags)] or nil }
      list[i].lane = list[i].lane > 0 and list[i].lane or nil
   end
   return list
end

local function choice(random, list)
   return list[random(#list)]
end

---Random options of calls.
---@param random fun(...): integer
---@return table
function events.random_options(random)
   return {
      recursion = choice(random, { "all", "outermost" }),
      partial = choice(random, { "include", "include", "exclude" }),
      edges = choice(random, { "exclude", "include" }),
      max_depth = choice(random, { 65536, 65536, 3 }),
   }
end

return events
