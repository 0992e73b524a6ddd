-- Compares the statistics that a file states with those of its timeline.

local calls = require "profio.reports.calls.calls"
local columns = require "profio.reports.columns"
local core = require "profio.core"
local plain = require "profio.internal.plain"
local verify = require "profio.reports.calls.stated_statistics"

local report = {
   name = "verify",
   help = "differences between the file's own statistics and those of its timeline",
   columns = {
      { name = "area", help = "the function, line, variable or state" },
      { name = "handle", help = "the vendor's number of it" },
      { name = "value", help = "distinguishes areas with the same handle" },
      { name = "context", help = "the context; missing: all of them together" },
      { name = "column", help = "the column that differs" },
      { name = "exported", help = "value in the file" },
      { name = "computed", help = "value computed from its events; missing: there are none" },
      { name = "options", help = "options of calls that agree best" },
   },
}

---@param trace profio.Trace
function report.fits(trace)
   local fits, reason = calls.fits(trace)
   if not fits then
      return false, reason
   end
   return trace:has "statistics" and trace.statistics:limit(1):count() > 0,
      "it states no statistics"
end

local fields = { { "area", "name" }, { "handle", "handle" }, { "value", "int" },
   { "context", "name" }, { "column", "name" }, { "exported", "num" }, { "computed", "num" },
   { "options", "name" } }

---@param context profio.Context
---@return userdata
function report.reader(context)
   local best, rows = verify.run(context.trace).best, {}
   for i, d in ipairs(best.differences) do
      rows[i] = { d.area, d.handle, d.value,
         d.context and tostring(d.context), d.column, d.exported, d.computed, best.words }
   end
   return core.rows_reader(fields, rows)
end

-- {====== The text ======

local function shown(number)
   if number == nil then
      return "none"
   end
   return math.tointeger(number) and tostring(math.tointeger(number)) or ("%.3f"):format(number)
end

local function line_of(d)
   local name = plain(d.area or ("%08X"):format(d.handle or 0))
      .. (d.value and "=" .. d.value or "")
   return { d.column, shown(d.exported), shown(d.computed),
      name .. (d.context and " in " .. plain(tostring(d.context)) or "") }
end

local function write_differences(list, out)
   local rows = { { "column", "exported", "computed", "area" } }
   for _, d in ipairs(list) do
      rows[#rows + 1] = line_of(d)
   end
   columns(out, rows, { true, false, false, true })
end

---@param context profio.Context
---@param out profio.Output
function report.text(context, out)
   local result = verify.run(context.trace)
   out:write(("%d numbers in %d rows of the file's own statistics\n\n"):format(result.numbers,
      result.rows))
   out:write "differences  options of calls\n"
   for _, tried in ipairs(result.tried) do
      local count = #tried.differences
      out:write(("%11d  %s%s\n"):format(count, tried.words, count == 0 and "   all agree"
         or tried == result.best and "   the best" or ""))
   end
   if #result.best.differences > 0 then
      out:write("\ndifferences with ", result.best.words, " (times in ns)\n")
      write_differences(result.best.differences, out)
   end
end

-- }======

return report
