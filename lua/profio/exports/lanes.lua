-- What exports of timelines have in common: the lanes of a trace, and writing piece by piece.

local conditions = require "profio.conditions"
local core = require "profio.core"

local lanes = {}

---@param trace profio.Trace
function lanes.fits(trace)
   return trace.events ~= nil, "it has no table of events"
end

-- {====== Lanes ======

---@class profio.Lane
---@field number integer by first sight among the events, from 0
---@field title string
---@field value any nil: it is not known, or there are no lanes
---@field narrow fun(rows: profio.View): profio.View  only the rows of this lane

local function has_lanes(trace)
   for _, column in ipairs(trace.events.columns) do
      if column == "lane" then
         return true
      end
   end
   return false
end

-- A lane whose value is not known has one all the same.
local function lane_of(number, value)
   local wanted = value
   if value == false then
      wanted = conditions.missing
   end
   return { number = number, title = value == false and "(no lane)" or tostring(value),
      value = value or nil, narrow = function(rows)
         return rows:where { lane = wanted }
      end }
end

---The lanes of a trace, by first sight.
---@param trace profio.Trace
---@return profio.Lane[]
function lanes.of(trace)
   if not has_lanes(trace) then
      return { { number = 0, title = "main", narrow = function(rows)
         return rows
      end } }
   end
   local list = {}
   for value in trace.events:group("lane"):aggregate { "n = count" }:each "lane" do
      list[#list + 1] = lane_of(#list, value)
   end
   return list
end

---Whether all lanes have names, of which rows can be told apart.
---@param list profio.Lane[]
---@return boolean
function lanes.has_names(list)
   for _, lane in ipairs(list) do
      if type(lane.value) ~= "string" then
         return false
      end
   end
   return #list > 0
end

---The first time of the events, and how long they last: numbers of JSON are doubles, so times begin
---at 0 there.
---@param trace profio.Trace
---@return integer first
---@return integer length
function lanes.first(trace)
   local row = trace.events:aggregate { "first = min(time)", "last = max(time)" }:rows()[1] or {}
   return row.first or 0, (row.last or 0) - (row.first or 0)
end

-- }======

-- {====== Text ======

---A text as json has it.
---@param text string
---@return string
function lanes.json(text)
   local reader = core.rows_reader({ { "text", "name" } }, { { text } })
   return (core.write_listing(reader, { template = "{text:json}" }))
end

---The same inside an element of a page: no tag may end it.
---@param text string
---@return string
function lanes.script(text)
   return (lanes.json(text):gsub("<", "\\u003c"))
end

---What was lost of a trace, as further members of a json object; "" when nothing was.
---@param trace profio.Trace
---@return string
function lanes.losses(trace)
   local list = {}
   for i, words in ipairs(trace:losses()) do
      list[i] = lanes.json(words)
   end
   return #list == 0 and "" or ',"losses":[' .. table.concat(list, ",") .. "]"
end

-- A file that keeps its first failure: what comes after it is not written.
local Out = {}
Out.__index = Out

---@param file file*
function lanes.out(file)
   return setmetatable({ file = file, failure = nil }, Out)
end

function Out:write(...)
   if self.failure then
      return
   end
   local ok, message, number = self.file:write(...)
   if not ok then
      self.failure = { message, "io", number == 32 and "EPIPE" or nil }
   end
end

---Write by a function of the core, which takes the file as its third argument.
---@param write function
---@param what any
---@param options table
---@return any what it answers; 0 after a failure
function Out:call(write, what, options)
   if self.failure then
      return 0
   end
   local done, message, code, broken = write(what, options, self.file)
   if not done then
      self.failure = { message, code, broken }
   end
   return done or 0
end

---Write each row of a view by a template; see core.write_listing.
---@param rows profio.View|profio.core.Reader
---@param template string|table one for all rows, or { kind =, templates = }
---@return integer count
function Out:listing(rows, template)
   local options = type(template) == "table" and template or { template = template }
   local reader = type(rows) == "userdata" and rows or rows:reader()
   return self:call(core.write_listing, reader, options)
end

---What the export answers.
---@return true|nil
---@return string|nil message
---@return string|nil code
---@return "EPIPE"|nil
function Out:result()
   if self.failure then
      return nil, self.failure[1], self.failure[2], self.failure[3]
   end
   return true
end

-- }======

return lanes
