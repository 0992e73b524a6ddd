-- Records a Lua program while it runs: every line, samples, calls, or sums.
--
--    lua5.4 -lprofio.recorder script.lua      with PROFIO_RECORD="mode=timed,path=out.prf"
--
--    local recorder = require "profio.recorder"
--    recorder.start { mode = "timed", path = "out.prf" }
--    ...
--    local info = recorder.stop()

require "profio.internal.interpreter"

-- A tail call: no line of this file runs after the recording has begun.
return require("profio.internal.recording").begun()
