-- Real files and edge cases, read from the folder of the corpus. Other programs found the expected
-- contents, which the manifest of the corpus lists.

local profio = require "profio"

local corpus = "../shared/corpus/gmon/"
local manifest = io.open(corpus .. "MANIFEST.md")

local function cells(line)
   local list = {}
   for cell in line:gmatch "|([^|]*)" do
      list[#list + 1] = cell:match "^%s*(.-)%s*$"
   end
   return list
end

local dialects = { ["GNU v1"] = "gnu", ["4.4BSD"] = "4.4bsd", Apple = "apple" }

-- { path, dialect, width, order, contents } of files of other programs.
local function listed()
   local files, folder = {}, nil
   for line in manifest:lines() do
      folder = line:match "^## (%w+/)" or folder
      local row = cells(line)
      for i, cell in ipairs(row) do
         if (cell == "4" or cell == "8") and (row[i + 1] == "LE" or row[i + 1] == "BE") then
            files[#files + 1] = { path = folder .. row[1], width = tonumber(cell),
               dialect = dialects[row[i - 1]] or "ld-profile",
               order = row[i + 1] == "LE" and "little" or "big", contents = row[i + 2] }
         end
      end
   end
   return files
end

local function damage_of(trace)
   local n = 0
   for _, warning in ipairs(trace.warnings) do
      n = n + (warning.kind == "damage" and 1 or 0)
   end
   return n
end

local function sum(view, column)
   local total = 0
   for value in view:each(column) do
      total = total + value
   end
   return total
end

-- Returns whether a file reads without damage with a given width and order.
local function reads_as(path, width, order)
   local trace <close> = profio.open(path,
      { format = "gmon", address_size = width, byte_order = order })
   return trace and damage_of(trace) == 0 and trace.info.records > 0
      and trace.info.address_size == width and trace.info.byte_order == order or false
end

local describe_corpus = manifest and describe or pending

describe_corpus("gmon, the corpus", function()
   local files = manifest and listed() or {}

   it("is there", function()
      assert.is_true(#files > 40)
   end)

   for _, file in ipairs(files) do
      it("reads " .. file.path, function()
         local trace <close> = assert(profio.open(corpus .. file.path))
         assert.equal("gmon", trace.format)
         assert.same({ file.dialect, file.width, file.order },
            { trace.info.dialect, trace.info.address_size, trace.info.byte_order })
         assert.equal(0, damage_of(trace))
         local low, high, bins, rate, samples =
            file.contents:match "hist %((%x+)%-(%x+) (%d+) bins (%d+) Hz (%d+) samples%)"
         if low then
            assert.same({ tonumber(low, 16), tonumber(high, 16), tonumber(bins), tonumber(rate) },
               { trace.info.low, trace.info.high, trace.info.bins, trace.info.rate })
            assert.equal(tonumber(bins), trace.histogram:count())
            assert.equal(tonumber(samples), sum(trace.histogram, "count"))
            assert.equal(tonumber(samples) * 1000000000 // rate, sum(trace.histogram, "spent"))
         end
         local arcs = file.contents:match "(%d+) arcs"
         if arcs then
            assert.same({ tonumber(arcs), tonumber(arcs) }, { trace.info.arcs, trace.arcs:count() })
         end
      end)

      it("reads " .. file.path .. " in one way only", function()
         local ways = {}
         for width = 4, 8, 4 do
            for _, order in ipairs { "little", "big" } do
               if file.dialect ~= "apple" and reads_as(corpus .. file.path, width, order) then
                  ways[#ways + 1] = { width, order }
               end
            end
         end
         assert.same(file.dialect == "apple" and {} or { { file.width, file.order } }, ways)
      end)
   end

   it("reads Apple's file to the last byte", function()
      local trace <close> = assert(profio.open(corpus .. "public/macos-ppc-bash.gmon"))
      assert.equal(6, trace.sets:count())
      assert.equal(5, trace.images:count())
      assert.equal(1243, trace.arcs:count())
      local n = 0
      for order in trace.arcs:each "order" do
         n = n + order
      end
      assert.equal(1243 * 1244 // 2, n)
   end)

   it("attributes the time of the drift experiment to the right addresses", function()
      -- all time was spent in `hot`; gprof attributes all of it to another function
      local trace <close> = assert(profio.open(corpus .. "made/drift-x86_64.gmon"))
      local path = corpus .. "made/drift-x86_64.elf"
      local nm <close> = assert(io.popen("nm -S '" .. path .. "'"))
      local start, size
      for line in nm:lines() do
         local a, s = line:match "^(%x+) (%x+) [Tt] hot$"
         if a then
            start, size = tonumber(a, 16), tonumber(s, 16)
         end
      end
      local inside, all = 0, 0
      for low, high, count in trace.histogram:each("low", "high", "count") do
         all = all + count
         if high > start and low < start + size then
            inside = inside + count
         end
      end
      assert.is_true(all > 0)
      assert.equal(all, inside)
   end)

   -- For each edge case the expected warnings, or the code and words of the error.
   local edges = {
      ["abbr"] = {}, ["adj"] = {}, ["arconly"] = {}, ["base"] = {}, ["big"] = {}, ["dim"] = {},
      ["dim15"] = {}, ["disj"] = {}, ["empty"] = {}, ["last"] = {}, ["out_of_range"] = {},
      ["overlap"] = {}, ["rate1000"] = {}, ["same2"] = {}, ["scale"] = {}, ["straddle"] = {},
      ["bb-w8-le-count4"] = {}, ["bb-w4-be"] = {}, ["bsd44-w8-le"] = {},
      ["bb-w8-le-count8"] = { "gmon-wide-block-number" },
      ["badtag"] = { "gmon-bad-tag" },
      ["hz0"] = { "gmon-no-rate" },
      ["rev"] = { "gmon-reversed-range" },
      ["truncarc"] = { "gmon-truncated" },
      ["trunchist"] = { "gmon-truncated" },
      ["v0"] = { "gmon-version-0" },
      ["oldbsd-w8-le"] = { "gmon-rate-guessed" },
      ["zerobins"] = { "gmon-no-bins" },
      ["v2"] = "unsupported",
      ["short"] = "truncated",
      ["ambiguous-arcs"] = "format",
   }

   for name, expected in pairs(edges) do
      it("reports the anomaly of " .. name, function()
         local trace <close>, message, code = profio.open(corpus .. "synthetic/" .. name .. ".gmon")
         if type(expected) == "string" then
            assert.is_nil(trace)
            assert.equal(expected, code)
            assert.matches("byte %d", message)
            return
         end
         local codes = {}
         for i, warning in ipairs(trace.warnings) do
            codes[i] = warning.code
         end
         assert.same(expected, codes)
      end)
   end
end)
