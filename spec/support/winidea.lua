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
