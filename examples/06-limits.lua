-- Timing limits in continuous integration: the build fails when a function takes too long.
-- Works with winidea and xpp: lua5.4 06-limits.lua [TRACE LIMITS]; status 4 if a limit is exceeded.
--
-- The command does the same: profio --limits LIMITS TRACE

local limits = require "profio.limits"
local profio = require "profio"

-- A short timeline as winIDEA exports it, and what is required of it.
local timeline = { data = [[
* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%
00000000,main,
00000001,read_sensor,
* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%
00000000,E,,0
00000001,E,,1000000
00000001,X,,1800000
00000001,E,,11000000
00000001,X,,12400000
00000000,X,,20000000
]] }

local required = [[
read_sensor  gross_max      <= 1.5ms
read_sensor  period_jitter  <= 50us
~^ma         count          == 1      # a Lua pattern
]]

local function text_of(path)
   local file <close> = assert(io.open(path, "rb"))
   return file:read "a"
end

local list, message, line = limits.parse(arg[2] and text_of(arg[2]) or required)
if not list then
   error(("limits, line %d: %s"):format(line, message), 0)
end

local trace <close> = assert(profio.open(arg[1] or timeline))
local rows = trace:call_statistics { by = "context", quantiles = limits.quantiles(list) }:rows()

local failed = 0
for _, result in ipairs(limits.check(list, rows, nil, limits.exact(trace))) do
   failed = failed + (result.state == "ok" and 0 or 1)
   print(result.state, result.area, result.column, result.value, result.operator, result.bound)
end
print(("%d of %d limits are not kept"):format(failed, #list))
os.exit(failed == 0 and 0 or 4, true)
