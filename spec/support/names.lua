-- Names that are difficult for viewers, as functions of a small timeline.

local profio = require "profio"

local names = {}

---Each with its difficulty.
names.list = {
   "plain", "with spaces in it", "semi;colon;s", "com,ma", "quo\"te'd", "back\\slash", "<b>&amp;",
   "operator()(int, char*)", "(12)", "(3) fn=x", "100% 5", "tab\tand\nline", "gr\xfc\xdf",
   "Zo\xc3\xab", "\xff\xfe", "#hash", "]]>", "</script>", ("long"):rep(2500),
}

profio.register {
   name = "names", help = "calls of functions by their names, for specs",
   score = function()
      return 0
   end,
   tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "name" } } },
   open = function()
      return { events = function(put)
         put(0, "enter", "main")
         for i, name in ipairs(names.list) do
            put(1000 * i, "enter", name)
            put(1000 * i + 10 * i, "leave", name)
         end
         put(1000 * (#names.list + 1), "leave", "main")
      end }
   end,
}

---A trace in which main calls each of the names once, the i-th for 10 * i ns.
---@return profio.Trace
function names.open()
   return assert(profio.open({ data = "names" }, { format = "names" }))
end

---Returns the duration of the trace, and the net time of main.
---@return integer
---@return integer
function names.times()
   local whole, spent = 1000 * (#names.list + 1), 0
   for i in ipairs(names.list) do
      spent = spent + 10 * i
   end
   return whole, whole - spent
end

---Returns a name in which bytes that are not UTF-8 are replaced by U+FFFD.
---@param name string
---@return string
function names.utf8(name)
   if utf8.len(name) then
      return name
   end
   return (name:gsub("[\128-\255]", "\u{fffd}"))
end

---The same, with control characters replaced by blanks.
---@param name string
---@return string
function names.plain(name)
   return (names.utf8(name):gsub("%c", " "))
end

return names
