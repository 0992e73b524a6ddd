-- The names of Business Rules! profiles in a code page. Each name is given as bytes and as the
-- expected UTF-8.
--
-- Tags: stressed.

local br = require "spec.support.br_builder"
local command = require "spec.support.command"
local profio = require "profio"

-- Returns a file of one group in which the line and its caller have names.
local function profile(module, name)
   return br():module(1, "MAIN.BR"):module(2, module)
      :line(2, 10):fn(name):time(5):back(1, 20):main():stop()
      :line(2, 30):gosub():time(7):back(1, 20):main():stop():bytes()
end

-- Returns the names of the module and the function, which are equal in all tables, and the stated
-- code page.
local function names_of(bytes, options)
   options.format = "br"
   local trace <close> = assert(profio.open({ data = bytes }, options))
   local row = trace.samples:rows()[1]
   local frame = trace:stack(row.stack)[1]
   assert.equal(row.module, frame.file)
   assert.equal(row["function"], frame.area)
   assert.equal(row.module, trace.frames:rows()[1].module)
   local raw = {}
   for _, record in ipairs(trace.raw:rows()) do
      raw[record.kind] = record.name
   end
   assert.same({ row.module, frame.area }, { raw.module, raw["function"] })
   assert.equal(row.module .. " gosub", trace:stack(trace.samples:rows()[2].stack)[1].area)
   return { row.module, frame.area }, trace.info.code_page
end

local pages = {
   CP437 = { "GR\x99SSE.BR", "FNPR\x9aF$", "GRÖSSE.BR", "FNPRÜF$" },
   CP1252 = { "GR\xd6SSE.BR", "FN\x80", "GRÖSSE.BR", "FN€" },
   KAMENICKY = { "\x91.BR", "FN\xa8", "ž.BR", "FNš" },
   CP932 = { "\x83\x65.BR", "FN\x83\x58\x83\x67", "テ.BR", "FNスト" },
   ["UTF-8"] = { "GRÖSSE.BR", "FNテ", "GRÖSSE.BR", "FNテ" },
}

describe("br with a code page", function()
   it("shows names as UTF-8 in every table", function()
      for page, case in pairs(pages) do
         local names, stated = names_of(profile(case[1], case[2]), { code_page = page })
         assert.same({ case[3], case[4] }, names, page)
         assert.equal(page, stated)
      end
   end)

   it("leaves bytes unchanged if raw is given", function()
      local case = pages.CP437
      local names, stated = names_of(profile(case[1], case[2]), { code_page = "raw" })
      assert.same({ case[1], case[2] }, names)
      assert.is_nil(stated)
   end)

   it("is CP437 if none is given, unless the names are UTF-8", function()
      local case = pages.CP437
      for _, options in ipairs { {}, { code_page = "auto" } } do
         local names, stated = names_of(profile(case[1], case[2]), options)
         assert.same({ { case[3], case[4] }, "CP437" }, { names, stated })
         names, stated = names_of(profile(case[3], case[4]), options)
         assert.same({ { case[3], case[4] } }, { names, stated })
         names, stated = names_of(profile("MENU.BR", "FNTAX~$"), options)
         assert.same({ { "MENU.BR", "FNTAX~$" }, "CP437" }, { names, stated })
         -- One name that is no UTF-8 decides for all.
         names = names_of(profile(case[3], case[2]), options)
         assert.same({ "GR├ûSSE.BR", case[4] }, names)
      end
   end)

   it("is written as it was read if none is given", function()
      for _, case in ipairs { pages.CP437, pages["UTF-8"] } do
         local bytes = br():module(1, case[1]):line(1, 10):fn(case[2]):time(5)
            :back(1, 20):fn(case[2]):stop():bytes()
         local trace <close> = assert(profio.open({ data = bytes }))
         assert.equal(bytes, trace:save())
      end
   end)

   it("reads names of maximum length, and shows invalid bytes as U+FFFD", function()
      local long, short = ("\xb0"):rep(65535), ("\x99"):rep(255)
      assert.same({ ("░"):rep(65535), ("Ö"):rep(255) },
         (names_of(profile(long, short), { code_page = "CP437" })))
      assert.same({ ("\u{fffd}"):rep(65535), "\u{fffd}" },
         (names_of(profile(("\xff"):rep(65535), "\x81"), { code_page = "UTF-8" })))
   end)

   it("refuses a code page that iconv does not know", function()
      for _, page in ipairs { "nonsense", ("x"):rep(100), "UTF-16" } do
         local trace, message, code = profio.open({ data = profile("A", "B") },
            { format = "br", code_page = page })
         assert.is_nil(trace)
         assert.truthy(message:find("this system knows no code page " .. page:sub(1, 40), 1, true))
         assert.equal("unsupported", code)
      end
   end)

   it("leaves the names of a recording unchanged", function()
      local bytes = br():module(1, "profio.recorder: mode timed, clock cpu")
         :module(2, "größe.lua"):line(2, 1):fn("prüf"):time(1):stop():bytes()
      local trace <close> = assert(profio.open({ data = bytes }, { code_page = "CP437" }))
      assert.equal("größe.lua", trace.samples:rows()[1].module)
      assert.is_nil(trace.info.code_page)
      assert.equal(bytes, trace:save())
   end)

   it("can be set with an option of the command", function()
      local case = pages.CP437
      local path = command.file("page.prf", profile(case[1], case[2]))
      local out = command.run("profio --set code_page=CP437 --table samples " .. path)
      assert.truthy(out:find(case[4], 1, true))
   end)
end)

describe("saving br", function()
   it("writes the bytes of the code page that was given", function()
      for page, case in pairs(pages) do
         local bytes = br():module(1, case[1]):line(1, 10):fn(case[2]):time(5)
            :back(1, 20):fn(case[2]):stop():bytes()
         local trace <close> = assert(profio.open({ data = bytes },
            { code_page = page, backtrace_order = "inner_first" }))
         assert.equal(bytes, trace:save(), page)
         local copy <close> = assert(profio.open { data = trace:save(nil, { code_page = "raw" }) })
         local row = copy.samples:rows()[1]
         assert.same({ case[3], case[4] }, { row.module, row["function"] })
      end
   end)

   it("refuses a name that is too long, or has characters outside of the code page", function()
      local function write(name, page)
         local writer = assert(profio.create(nil, { format = "br", code_page = page }))
         local ok, message = pcall(writer.write, writer,
            { module = "A", line = 1, clause = 0, ["function"] = name })
         writer:close()
         return ok, message
      end
      local ok, message = write("テ", "CP437")
      assert.is_false(ok)
      assert.truthy(message:find("テ: a character is not in code page CP437", 1, true))
      assert.is_true((write("テ", "CP932")))
      assert.is_true((write(("Ö"):rep(255), "CP437")))
      assert.is_false((write(("Ö"):rep(256), "CP437")))
      assert.is_false((write(("Ö"):rep(128), "raw")))
   end)

   it("refuses an unknown code page, and a code page for a recording", function()
      assert.is_nil((profio.create(nil, { format = "br", code_page = "nonsense" })))
      local writer, message = profio.create(nil,
         { format = "br", code_page = "CP437", recorded_by = "profio.recorder: mode timed" })
      assert.is_nil(writer)
      assert.truthy(message:find("the names of a recording are UTF-8", 1, true))
   end)
end)
