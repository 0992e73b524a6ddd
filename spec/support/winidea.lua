-- Packs records of binary timelines for specs, from the vendor's tables, independently of the
-- decoder.

local records = {}

local types = { leave = 0, suspend = 1, resume = 2, enter = 3, write = 4 }

---A record of version 1.1: FLAGS has the core in bits 4 to 11 and the type in bits 0 to 3.
---@param r table  handle, event, core, data (a float: a double), time
---@return string
function records.new(r)
   local data = math.type(r.data) == "float" and ("<d"):pack(r.data) or ("<i8"):pack(r.data or 0)
   return ("<I4I4"):pack(r.handle, (r.core or 0xff) << 4 | types[r.event]) .. data ..
      ("<i8"):pack(r.time)
end

---A record of version 1.0: EVENT has the type in bits 24 to 27, and writes have none.
---@return string
function records.old(r)
   local data = math.type(r.data) == "float" and ("<d"):pack(r.data) or ("<i8"):pack(r.data or 0)
   local type = r.event == "write" and 0 or types[r.event]
   return ("<I4I4"):pack(r.handle, type << 24) .. data .. ("<i8"):pack(r.time)
end

---The bytes of a list of records.
---@param list table[]
---@param pack fun(r: table): string
---@return string
function records.bytes(list, pack)
   local parts = {}
   for i, r in ipairs(list) do
      parts[i] = pack(r)
   end
   return table.concat(parts)
end

---Converts hexadecimal text to bytes; blanks and bars are skipped.
---@param text string
---@return string
function records.hex(text)
   return (text:gsub("[^%x]", ""):gsub("%x%x", function(digits)
      return string.char(tonumber(digits, 16))
   end))
end

---Lines of text, each with its end.
---@param ... string
---@return string
function records.lines(...)
   return table.concat({ ... }, "\n") .. "\n"
end

-- {====== One trace in all forms ======

-- The columns of times, as Text1 calls them.
local times = {}
for _, kind in ipairs { "NET", "GROSS", "CALL", "PERIOD", "OUTSIDE" } do
   for _, what in ipairs { "", ".MIN", ".MAX", ".AVG" } do
      times[#times + 1] = kind ~= "PERIOD" and "T." .. kind .. what or what ~= "" and
         "T.PERIOD" .. what or nil
   end
end

local letters = { leave = "X", suspend = "S", resume = "R", enter = "E", write = "W" }
local area_macros = { "HANDLE", "VALUE", "VALUE.TYPE", "VALUE.UNIT", "NAME" }
local context_macros = { "HANDLE", "NAME" }
local statistics_macros = { "HANDLE", "VALUE", "COUNT", table.unpack(times) }

---A random trace: contexts, areas, statistics of each context, events. Values are texts by macro.
---@param seed integer
---@return table
function records.random(seed)
   math.randomseed(seed)
   local r = math.random
   local names = { "main", "a < b && c", ' "x".c#f ', "Größe", "]]>", "}", "'q' > 1", "x=&amp;" }
   local trace = { total = r(900000, 999999), contexts = {}, areas = {}, statistics = {},
      events = {} }
   for i = 1, r(0, 3) do
      trace.contexts[i] = { HANDLE = ("0x%x"):format(i), NAME = "TSK: " .. i }
   end
   local function area(kind, index, more)
      local one = { HANDLE = ("%08X"):format(kind << 28 | index), VALUE = "", NAME = "",
         ["VALUE.TYPE"] = "I64", ["VALUE.UNIT"] = "" }
      for name, value in pairs(more) do
         one[name] = value
      end
      trace.areas[#trace.areas + 1] = one
   end
   for i = 0, 4 do
      area(0, i, { NAME = names[r(#names)] .. i })
      for line = 1, r(0, 2) do
         area(1, i * 2 + line, { NAME = names[r(#names)], VALUE = tostring(r(1, 99)) })
      end
      area(2, i, { NAME = "v" .. i })
      for value = 0, r(0, 2) do
         area(3, i, { VALUE = tostring(value), NAME = value == 1 and "ONE" or "" })
      end
   end
   area(4, 0, { NAME = "u", ["VALUE.TYPE"] = "F64", ["VALUE.UNIT"] = "V" })
   for context = 0, #trace.contexts do
      for _, one in ipairs(trace.areas) do
         local row = { HANDLE = one.HANDLE, VALUE = one.VALUE, COUNT = tostring(r(0, 999)) }
         for _, name in ipairs(times) do
            row[name] = r(4) == 1 and "" or tostring(r(0, 1 << 40))
         end
         row.CONTEXT = trace.contexts[context] and trace.contexts[context].NAME
         trace.statistics[#trace.statistics + 1] = row
      end
   end
   local kinds = { "enter", "leave", "suspend", "resume" }
   local time = -500
   for i = 1, r(20, 200) do
      local one = trace.areas[r(#trace.areas)]
      local handle = tonumber(one.HANDLE, 16)
      local is_write = handle >> 28 == 2 or handle >> 28 == 4
      time = time + r(0, 9)
      trace.events[i] = { handle = handle, time = time, core = r(0, 2),
         event = is_write and "write" or kinds[r(4)],
         data = handle >> 28 == 4 and r(0, 99) / 4 or is_write and r(0, 3) or
            handle >> 28 == 3 and tonumber(one.VALUE) or nil,
         context = trace.contexts[1] and r(3) > 1 and
            trace.contexts[r(#trace.contexts)].NAME or nil }
   end
   return trace
end

local function row_of(values, macros)
   local list = {}
   for i, name in ipairs(macros) do
      list[i] = values[name] or ""
   end
   return table.concat(list, ";")
end

local function header_of(macros)
   return "%" .. table.concat(macros, "%;%") .. "%"
end

-- The values of an event, by macro.
local function event_values(event)
   local data = event.data
   return { TIME = tostring(event.time), EVENT = letters[event.event],
      HANDLE = ("%08x"):format(event.handle), CONTEXT = event.context, CORE = event.core and
      tostring(event.core), VALUE = not data and "" or math.type(data) == "float" and
      ("%.2f"):format(data) or ("%08X"):format(data) }
end

---A trace as Text1, with the contexts of events if some have one.
---@param trace table  of records.random
---@param is_main boolean|nil  without the timeline
---@return string
function records.text1(trace, is_main)
   local list = { "* INFO %TOTAL_TIME%", tostring(trace.total),
      "* CONTEXTS " .. header_of(context_macros) }
   for _, context in ipairs(trace.contexts) do
      list[#list + 1] = row_of(context, context_macros)
   end
   list[#list + 1] = "* HANDLE(Functions) " .. header_of(area_macros)
   for _, area in ipairs(trace.areas) do
      list[#list + 1] = row_of(area, area_macros)
   end
   local context = false
   for _, row in ipairs(trace.statistics) do
      if row.CONTEXT ~= context then
         context = row.CONTEXT
         list[#list + 1] = "* STATISTICS(Functions) " .. (context and "CONTEXT(" .. context .. ") "
            or "") .. header_of(statistics_macros)
      end
      list[#list + 1] = row_of(row, statistics_macros)
   end
   local macros = { "HANDLE", "EVENT", "VALUE", "TIME", "CONTEXT" }
   list[#list + 1] = not is_main and "* TIMELINE " .. header_of(macros) or nil
   for _, event in ipairs(is_main and {} or trace.events) do
      list[#list + 1] = row_of(event_values(event), macros)
   end
   return table.concat(list, "\r\n") .. "\r\n"
end

local escapes = { ["<"] = "&lt;", ["&"] = "&#38;", [">"] = "&#x3E;", ['"'] = "&quot;",
   ["'"] = "&apos;" }

-- A row as an element, with its fields as elements or attributes, in one of several styles.
local function element(name, values, macros)
   local r = math.random
   local attributes, inside = {}, {}
   local is_cased, space = r(2) == 1, r(2) == 1 and "\n  " or ""
   for _, macro in ipairs(macros) do
      local value, field = values[macro], macro
      field = r(2) == 1 and field:gsub("%.", "_") or field
      field = r(2) == 1 and field:gsub("^T[._]", "") or field
      field = is_cased and field:lower() or field
      local outer, inner = field:match "^(%u%u+)[._](%u+)$"
      if not value or value == "" and r(2) == 1 then
         inside[#inside + 1] = r(3) == 1 and value and "<" .. field .. "/>" or ""
      elseif r(4) == 1 then
         attributes[#attributes + 1] = (" %s='%s'"):format(field,
            (value:gsub("[<&>\"']", escapes)))
      elseif outer and r(2) == 1 then
         inside[#inside + 1] = ("<%s>%s<%s>%s</%s></%s>"):format(outer, space, inner,
            (value:gsub("[<&>\"']", escapes)), inner, outer)
      elseif r(3) == 1 and not value:find("]]>", 1, true) then
         inside[#inside + 1] = ("<%s><![CDATA[%s]]></%s>"):format(field, value, field)
      else
         inside[#inside + 1] = ("<%s>%s</%s>"):format(field,
            (value:gsub("[<&>\"']", escapes)), field)
      end
   end
   name = is_cased and name:lower() or name
   return ("<%s%s>%s%s%s</%s>"):format(name, table.concat(attributes), r(5) == 1 and
      "<!-- <HANDLE>9</HANDLE> --><OTHER><NAME>no</NAME></OTHER>" or "", space,
      table.concat(inside, space), name)
end

---A trace as XML, in a style that depends on the random numbers: events have cores or contexts.
---@param trace table  of records.random
---@param what "core"|"context"|"none"  what events have beside the area; none: no timeline
---@return string
function records.xml(trace, what)
   local list = { '<?xml version="1.0" encoding="UTF-8"?><Profiler><Info><Total_Time>' ..
      trace.total .. "</Total_Time></Info><Contexts>" }
   for _, context in ipairs(trace.contexts) do
      list[#list + 1] = element("CONTEXT", context, context_macros)
   end
   list[#list + 1] = "</Contexts><MAPPING>"
   for _, area in ipairs(trace.areas) do
      list[#list + 1] = element("AREA", area, area_macros)
   end
   list[#list + 1] = "</MAPPING><STATISTICS><FUNCTIONS>"
   local context
   for _, row in ipairs(trace.statistics) do
      if row.CONTEXT ~= context then
         list[#list + 1] = (context and "</CONTEXT>" or "")
         list[#list + 1] = '<CONTEXT NAME="' .. row.CONTEXT .. '">'
         context = row.CONTEXT
      end
      list[#list + 1] = element("AREA", row, statistics_macros)
   end
   list[#list + 1] = (context and "</CONTEXT>" or "") .. "</FUNCTIONS></STATISTICS>"
   list[#list + 1] = what ~= "none" and "<TIMELINE>" or nil
   for _, event in ipairs(what == "none" and {} or trace.events) do
      list[#list + 1] = element("T", event_values(event),
         { "TIME", "EVENT", "HANDLE", "VALUE", what:upper() })
   end
   list[#list + 1] = what ~= "none" and "</TIMELINE>" or nil
   list[#list + 1] = "</Profiler>\n"
   return table.concat(list, math.random(2) == 1 and "\n" or "")
end

-- }======

-- The examples of the vendor's page.
records.mapping = records.lines(
   "* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%",
   "00000000,main,",
   "10000000,{,51",
   "10000001,{,51",
   "10000002,otm(fn_main);,52",
   "10000003,CPU_Init();,54",
   "10000004,TestStatic1();,59",
   "10000005,TestStatic2();,60",
   "10000006,},97",
   '00000001,"TestStatic1.c"#StaticFunc,',
   "10000007,{,6",
   "10000008,g_cStaticSignal = STATIC;,7",
   "10000009,},8",
   "* HANDLE(Data) %HANDLE%,%NAME%,%VALUE%",
   "20000000,TestStatic1##s_cStatic,",
   "30000000,,0",
   "30000000,,1",
   "20000001,iCounter,",
   "20000002,TestStatic2##s_cStatic,",
   "30000002,,0",
   "30000002,,2")

records.statistics = records.lines(
   "* STATISTICS(Functions) %HANDLE%,%VALUE%,%COUNT%,%T.NET%",
   "00000000,,0,267",
   "10000000,51,0,0",
   "10000001,51,0,0",
   "10000002,52,0,0",
   "10000003,54,0,0",
   "10000004,59,1,133",
   "* STATISTICS(Data) %HANDLE%,%VALUE%,%COUNT%,%T.NET%",
   "20000000,,2,0",
   "30000000,0,1,7521",
   "30000000,1,1,3491",
   "* STATISTICS(Functions) CONTEXT(TSK: extendedTaskFirst) %HANDLE%,%VALUE%,%COUNT%,%T.NET%",
   "00000000,,1,37266",
   "00000010,,195,737457",
   "00000014,,196,1686446",
   "* STATISTICS(Functions) CONTEXT(TSK: extendedTaskSecond) %HANDLE%,%VALUE%,%COUNT%,%T.NET%",
   "00000000,,1,36175",
   "0000000D,,1,757304",
   "00000011,,194,446908")

records.timeline = records.lines(
   "* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%",
   "20000000,W,00000001,4336",
   "00000000,R,,4469",
   "10000004,E,,4469",
   "10000004,S,,4602",
   "00000000,S,,4602")

records.head = records.lines("* INFO %TOTAL_TIME%", "7962907051", "* CONTEXTS %NAME%,%HANDLE%",
   "ID_TASK_1MS,0x0", "ID_TASK_3MS_PHigh,0x1", "ID_TASK_10MS,0x2", "ID_TASK_100MS,0x3",
   "ID_TASK_3MS_PLow,0x4")

records.seed = records.head .. records.mapping .. records.statistics .. records.timeline

-- The records that the rows of the timeline are in a binary timeline.
records.events = {
   { handle = 0x20000000, event = "write", data = 1, time = 4336 },
   { handle = 0, event = "resume", time = 4469 },
   { handle = 0x10000004, event = "enter", time = 4469 },
   { handle = 0x10000004, event = "suspend", time = 4602 },
   { handle = 0, event = "suspend", time = 4602 },
}

return records
