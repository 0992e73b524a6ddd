-- Tags: user, stressed.

local dcpi = require "spec.support.dcpi_builder"
local disk = require "spec.support.disk"
local lfs = require "lfs"
local profio = require "profio"

-- Writes a database into a new directory: { ["path/below"] = bytes }.
local function database(files)
   local root = disk.temporary()
   os.remove(root)
   lfs.mkdir(root)
   for path, bytes in pairs(files) do
      local folder = root
      for part in path:gmatch "([^/]+)/" do
         folder = folder .. "/" .. part
         lfs.mkdir(folder)
      end
      local file <close> = assert(io.open(root .. "/" .. path, "wb"))
      file:write(bytes)
   end
   return root, function()
      disk.remove(root)
   end
end

local function profile(changes, counts)
   return dcpi():header(changes):chunk(0x40, counts):footer():bytes()
end

local old, new = "9805191724", "9805201724"

local function small()
   return database {
      ["9805201724/b"] = profile({ epoch = new, event = "imiss", period = "4096" }, { 3 }),
      ["9805201724/a"] = profile({ epoch = new }, { 5, 6 }),
      ["9805191724/walnut/x"] = profile({ epoch = old }, { 7 }),
      ["9805191724/walnut/y"] = profile({ epoch = old, image = "ab", path = "/bin/ls" }, { 1 }),
      ["9805191724/oak/z"] = profile({ epoch = old, platform = "oak" }, { 2 }),
      ["README"] = "no profile\n",
      ["9805191724/.hidden"] = profile({}, { 1000 }),
   }
end

-- Returns the sums of count by some columns.
local function sums(trace, ...)
   local columns, list = { ... }, {}
   for _, row in ipairs(trace.samples:group(...):aggregate { "n = sum(count)" }:rows()) do
      local words = {}
      for i, column in ipairs(columns) do
         words[i] = row[column]
      end
      list[#list + 1] = table.concat(words, " ") .. " " .. row.n
   end
   return list
end

describe("dcpi, a database", function()
   it("has a period in export pprof if its samples count one event", function()
      local root, remove = small()
      for event, expected in pairs { cycles = 63488, imiss = 4096 } do
         local trace <close> = assert(profio.open(root, { event = event }))
         local info = assert(profio.open { data = assert(trace:profile():export "pprof") }).info
         assert.same({ expected, event, "count" },
            { info.period, info.period_type, info.period_unit })
      end
      local trace <close> = assert(profio.open(root))
      local info = assert(profio.open { data = assert(trace:profile():export "pprof") }).info
      assert.is_nil(info.period)
      remove()
   end)

   it("with folders that are too deep is refused, and not read in part", function()
      local root, remove = database { ["1/a"] = profile({}, { 5 }),
         ["1/2/3/4/5/b"] = profile({}, { 6 }) }
      local trace <close> = assert(profio.open(root))
      assert.equal(2, trace.info.files)
      lfs.mkdir(root .. "/1/2/3/4/5/6")
      local none, message, code = profio.open(root)
      assert.same({ nil, "limit" }, { none, code })
      assert.matches("1/2/3/4/5/6: dcpi: folders of more than 6 levels are not searched", message)
      local part <close> = assert(profio.open(root .. "/1"))
      assert.equal(2, part.info.files)
      remove()
   end)

   it("is a set of profiles, in order of epoch, platform, image and event", function()
      local root, remove = small()
      local trace <close> = assert(profio.open(root))
      assert.same({}, trace.warnings)
      assert.equal(5, trace.info.files)
      assert.same({ old .. " oak xemacs cycles 2", old .. " walnut xemacs cycles 7",
         old .. " walnut ls cycles 1", new .. " walnut xemacs cycles 11",
         new .. " walnut xemacs imiss 3" }, sums(trace, "epoch", "platform", "name", "event"))
      assert.same({ root .. "/9805191724/oak/z", root .. "/9805191724/walnut/x",
         root .. "/9805191724/walnut/y", root .. "/9805201724/a", root .. "/9805201724/b" },
         (function()
            local list = {}
            for file in trace.profiles:each "file" do
               list[#list + 1] = file
            end
            return list
         end)())
      assert.same({ 0, 1, 2, 3, 4 }, (function()
         local list = {}
         for number in trace.samples:group "profile":each "profile" do
            list[#list + 1] = number
         end
         return list
      end)())
      remove()
   end)

   it("is in the order of time, also where epochs have no century", function()
      local root, remove = database {
         a = profile({ epoch = "0001010100" }, { 1 }),
         b = profile({ epoch = "9912312300" }, { 2 }),
         c = profile({ epoch = "199912312200" }, { 3 }) }
      local trace <close> = assert(profio.open(root))
      assert.same({ "199912312200 3", "9912312300 2", "0001010100 1" }, sums(trace, "epoch"))
      local one <close> = assert(profio.open(root, { epoch = "19991231230000" }))
      assert.equal(2, one.samples:aggregate({ "n = sum(count)" }):rows()[1].n)
      remove()
   end)

   it("can be limited to an image, event, epoch, label or platform", function()
      local root, remove = small()
      for _, case in ipairs {
         { { image = "xemacs" }, 4 }, { { image = "/bin/ls" }, 1 }, { { image = "bin/ls" }, 1 },
         { { image = "ab" }, 1 }, { { event = "imiss" }, 1 }, { { epoch = old }, 3 },
         { { epoch = "19" .. old }, 3 }, { { platform = "oak" }, 1 },
         { { platform = "walnut", epoch = new, event = "cycles" }, 1 },
      } do
         local trace <close> = assert(profio.open(root, case[1]))
         assert.equal(case[2], #trace:facts())
      end
      local trace, message, code = profio.open(root, { image = "emacs", epoch = old })
      assert.is_nil(trace)
      assert.equal("format", code)
      assert.equal(root .. ": dcpi: no profile of image emacs, epoch 9805191724 in this database",
         message)
      remove()
   end)

   it("skips files that cannot be read, with a warning", function()
      local root, remove = database { good = profile({}, { 5 }),
         bad = "version pdb-0.07\nimage ab\nevent cycles\n" }
      local trace <close> = assert(profio.open(root))
      assert.equal(1, #trace.warnings)
      assert.equal("dcpi-unreadable", trace.warnings[1].code)
      assert.equal("damage", trace.warnings[1].kind)
      assert.matches("/bad: dcpi: a line \"samples\" expected", trace.warnings[1].message)
      assert.equal(1, trace.samples:count())
      local none, message, code = profio.open(root, { strict = true })
      assert.is_nil(none)
      assert.equal("truncated", code)
      assert.matches("/bad: dcpi: ", message)
      remove()
   end)

   it("names packed files that are damaged, and reads what can be unpacked of them", function()
      local root, remove = database { good = profile({}, { 5 }),
         cut = profile({ event = "imiss" }, { 3 }), head = profile({ event = "dmiss" }, { 9 }) }
      os.execute(("cd '%s' && gzip cut head && truncate -s -8 cut.gz && truncate -s 8 head.gz")
         :format(root))
      local trace <close> = assert(profio.open(root))
      local codes = {}
      for _, warning in ipairs(trace.warnings) do
         codes[#codes + 1] = warning.code .. " " .. warning.message:match "/(%w+)%.gz"
      end
      table.sort(codes)
      assert.same({ "dcpi-unreadable head", "gzip-truncated cut" }, codes)
      assert.same({ "cycles 5", "imiss 3" }, sums(trace, "event"))
      remove()
   end)

   it("is written with the epoch that is known, where a file states none", function()
      local root, remove = database { a = profile({ epoch = false }, { 5 }),
         b = profile({ event = "imiss", epoch = new }, { 3 }) }
      local trace <close> = assert(profio.open(root))
      assert(trace:save(root .. "/merged/"))
      local merged <close> = assert(profio.open(root .. "/merged"))
      assert.same({}, merged.warnings)
      assert.same({ "cycles 5", "imiss 3" }, sums(merged, "event"))
      for epoch in merged.profiles:each "epoch" do
         assert.equal(new, epoch)
      end
      remove()
      root, remove = database { a = profile({ epoch = false }, { 5 }) }
      local alone <close> = assert(profio.open(root))
      local done, message, code = alone:save(root .. "/merged/")
      assert.same({ nil, "unsupported" }, { done, code })
      assert.matches("must state epoch: give it in header", message)
      remove()
   end)

   it("says which events a profile leaves out", function()
      local files, left_out = {}, {}
      for i = 1, 10 do -- a profile has the time and 7 of them
         local event = i == 1 and "cycles" or "event" .. i
         files[("f%02d"):format(i)] = profile({ event = event, image = ("%02d"):format(i) }, { i })
         left_out[#left_out + 1] = i > 7 and event or nil
      end
      local root, remove = database(files)
      local trace <close> = assert(profio.open(root))
      assert.same({}, trace.warnings)
      assert.equal(8, #assert(trace:profile()):metrics())
      assert(trace:profile())
      assert.equal(1, #trace.warnings)
      assert.equal("dcpi-many-events", trace.warnings[1].code)
      assert.matches(table.concat(left_out, ", ") .. "$", trace.warnings[1].message)
      remove()
   end)

   it("may contain packed files and dcpicat's texts", function()
      local root, remove = database { ["e/text"] = dcpi.listing, ["e/golden"] = dcpi.golden() }
      os.execute("gzip -k '" .. root .. "/e/golden' && rm '" .. root .. "/e/golden'")
      local trace <close> = assert(profio.open(root, { event = "cycles" }))
      assert.same({ "19970328081403c0c18b 114" }, sums(trace, "image"))
      remove()
   end)

   it("is not any directory of other files", function()
      local root, remove = database { ["a/b/c"] = "text\n" }
      local trace, message, code = profio.open(root)
      assert.is_nil(trace)
      assert.equal("io", code)
      assert.matches("is a directory", message)
      remove()
   end)

   it("merges its epochs into one file", function()
      local root, remove = small()
      local trace <close> = assert(profio.open(root, { image = "xemacs", event = "cycles",
         platform = "walnut" }))
      local merged <close> = assert(profio.open { data = assert(trace:save()) })
      assert.same({ { address = 0x120000040, count = 12 }, { address = 0x120000044, count = 6 } },
         merged.samples:rows("address", "count"))
      assert.equal(old, merged.info.epoch)
      remove()
   end)
end)

describe("dcpi, a database that is written", function()
   -- Returns the path of a new folder.
   local function nowhere()
      local root = disk.temporary()
      os.remove(root)
      return root, function()
         disk.remove(root)
      end
   end

   local function paths_of(trace, root)
      local list = {}
      for file in trace.profiles:each "file" do
         list[#list + 1] = file:sub(#root + 2)
      end
      return list
   end

   it("has one epoch with the samples of all epochs", function()
      local root, remove = small()
      local made, remove_made = nowhere()
      local trace <close> = assert(profio.open(root))
      local bytes = assert(trace:save(made .. "/"))
      local merged <close> = assert(profio.open(made))
      assert.same({}, merged:check())
      local id = "19970328081403c0c18b"
      assert.same({ old .. "/oak/xemacs-" .. id .. "-cycles",
         old .. "/walnut/xemacs-" .. id .. "-cycles", old .. "/walnut/xemacs-" .. id .. "-imiss",
         old .. "/walnut/ls-ab-cycles" }, paths_of(merged, made))
      assert.same({ "oak xemacs cycles 2", "walnut xemacs cycles 18", "walnut xemacs imiss 3",
         "walnut ls cycles 1" }, sums(merged, "platform", "name", "event"))
      assert.same({ old .. " 24" }, sums(merged, "epoch"))
      local size = 0
      for _, path in ipairs(paths_of(merged, made)) do
         size = size + lfs.attributes(made .. "/" .. path, "size")
      end
      assert.equal(size, bytes)
      local again, message, code = trace:save(made)
      assert.is_nil(again)
      assert.matches("into an empty directory, and %S+ is in this one", message)
      assert.equal("io", code)
      remove()
      remove_made()
   end)

   it("keeps epochs with an option, and adds up the equal epochs of two databases", function()
      local root, remove = small()
      local other, remove_other = database { ["x"] = profile({ epoch = old }, { 100, 10 }) }
      local made, remove_made = nowhere()
      lfs.mkdir(made)
      local trace <close> = assert(profio.open { root, other })
      assert(trace:save(made, { epochs = "kept" }))
      local merged <close> = assert(profio.open(made))
      assert.same({ old .. " oak xemacs cycles 2", old .. " walnut xemacs cycles 117",
         old .. " walnut ls cycles 1", new .. " walnut xemacs cycles 11",
         new .. " walnut xemacs imiss 3" }, sums(merged, "epoch", "platform", "name", "event"))
      remove()
      remove_other()
      remove_made()
   end)

   it("is named in the error if one file cannot hold all profiles", function()
      local root, remove = small()
      local trace <close> = assert(profio.open(root))
      local bytes, message, code = trace:save(root .. "/one")
      assert.is_nil(bytes)
      assert.equal("unsupported", code)
      assert.matches("one file holds one platform.*a directory %(DATABASE/%) holds more", message)
      remove()
   end)

   it("is named in the error if a file cannot be written", function()
      local root, remove = small()
      local trace <close> = assert(profio.open(root))
      local bytes, message, code = trace:save "/dev/null/"
      assert.is_nil(bytes)
      assert.equal("io", code)
      assert.matches("^/dev/null", message)
      remove()
   end)
end)

describe("dcpicat's text of several profiles", function()
   local other = dcpi.listing:gsub("image%s+%S+", "image            00"):gsub("xemacs", "ls")
      :gsub("29", "19")

   it("is read as several profiles", function()
      local trace <close> = assert(profio.open { data = dcpi.listing .. other .. "\n" .. other,
         path = "three.txt" })
      assert.same({ "xemacs cycles 40", "xemacs imiss 27", "ls cycles 60", "ls imiss 54" },
         sums(trace, "name", "event"))
      local first <close> = assert(profio.open { data = dcpi.listing })
      local alone = {}
      for _, row in ipairs(trace.samples:where { image = "19970328081403c0c18b" }
         :rows("address", "count")) do
         alone[#alone + 1] = row
      end
      assert.same(first.samples:rows("address", "count"), alone)
      assert.same({ "three.txt", "three.txt (profile 2)", "three.txt (profile 3)" }, (function()
         local list = {}
         for file in trace.profiles:where { event = "cycles" }:each "file" do
            list[#list + 1] = file
         end
         return list
      end)())
   end)

   it("can be limited to an image, also in a database", function()
      local root, remove = database { both = dcpi.listing .. other, one = dcpi.listing }
      for _, what in ipairs { { data = dcpi.listing .. other }, root } do
         local trace <close> = assert(profio.open(what, { image = "ls" }))
         assert.same({ "ls cycles 30", "ls imiss 27" }, sums(trace, "name", "event"))
      end
      local none, message = profio.open({ data = dcpi.listing .. other }, { image = "vi" })
      assert.is_nil(none)
      assert.matches("no profile of image vi in this text", message)
      remove()
   end)

   it("is not split at a damaged line among the counts", function()
      local damaged = dcpi.listing .. "nonsense\n0x000120080000 1 1\n"
      local trace <close> = assert(profio.open { data = damaged })
      assert.equal(1, #trace:facts())
      assert.equal(41, trace.samples:where { event = "cycles" }:aggregate { "n = sum(count)" }
         :rows()[1].n)
   end)
end)
