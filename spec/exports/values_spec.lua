-- Values of variables that are not whole numbers, in all exports.
--
-- Unsanitized: callbacks_spec and oom write all exports.

local chrome = require "spec.support.chrome"
local csv = require "spec.support.csv"
local firefox = require "spec.support.firefox"
local json = require "dkjson"
local profio = require "profio"

local values = { 12.25, -0.001, 1.5e300, 3 }

-- Returns a Text1 trace in which these texts are written to a variable, 1 us apart.
local function open(texts)
   local lines = { "* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%\n00000000,main,\n"
      .. "* HANDLE(AUX) %HANDLE%,%NAME%,%VALUE%\n40000001,Battery,\n"
      .. "* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%\n00000000,E,,0\n" }
   for i, text in ipairs(texts) do
      lines[#lines + 1] = ("40000001,W,%s,%d000\n"):format(text, i)
   end
   return assert(profio.open { data = table.concat(lines) .. "00000000,X,,9000\n" })
end

local function export(kind, texts)
   local trace <close> = open(texts or { "12.25", "-0.001", "1.5e300", "3" })
   return assert(trace:export(kind))
end

local function track_of(page)
   local data = assert(json.decode(page:match 'id="data">(.-)</script>', 1, false))
   return data.timeline.tracks[2]
end

describe("values that are not whole", function()
   it("are in the page", function()
      assert.same(values, track_of(export "html").value)
   end)

   it("are in the page as ranges if there are many of them", function()
      local texts = {}
      for i = 1, 4000 do
         texts[i] = ("%d.5"):format(i)
      end
      local track = track_of(export("html", texts))
      assert.same({ 4000, 0, 1.5, 4000.5 }, { track.calls, track.kept, track.low[1],
         math.max(table.unpack(track.high)) })
   end)

   it("are no numbers in the page if they are none", function()
      assert.same({ false, 1.5, false, false, -2 },
         track_of(export("html", { "nan", "1.5", "", "inf", "-2" })).value)
   end)

   it("are counters in chrome", function()
      local seen = {}
      for i, write in ipairs(chrome.read(export "chrome").counters.Battery) do
         seen[i] = write[2]
      end
      assert.same(values, seen)
   end)

   it("are in the names of frames in speedscope and Firefox", function()
      local names = { "Battery=12.25", "Battery=-0.001", "Battery=1.5e+300", "Battery=3" }
      local shared, found = assert(json.decode(export "speedscope")).shared, {}
      for i = 2, 5 do
         found[i - 1] = shared.frames[i].name
      end
      assert.same(names, found)
      local breaches, seen = firefox.check(export "firefox")
      assert.same({}, breaches)
      local total = seen.threads[2].sums.total
      for _, name in ipairs(names) do
         assert.is_true(total[name] > 0, name)
      end
   end)

   it("are in BTF and csv", function()
      local found = {}
      for value in export "btf":gmatch ",SIG,Battery,0,write,([^\n]*)" do
         found[#found + 1] = tonumber(value)
      end
      assert.same(values, found)
      local trace <close> = open { "12.25", "-0.001", "1.5e300", "3" }
      found = {}
      for i, row in ipairs(csv.parse(assert(trace.events:where { event = "write" }
         :export("csv", nil, { columns = { "number" } })))) do
         found[i - 1] = tonumber(row[1])
      end
      found[0] = nil
      assert.same(values, found)
   end)
end)
