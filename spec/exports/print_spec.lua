-- The page of export html on paper, as Chromium prints it into PDF and pdftoppm draws that.
--
-- Extra: needs Chromium, and pdftoppm and pdftotext of poppler-utils.

local command = require "spec.support.command"
local events = require "spec.support.events"
local folded = require "spec.support.folded"
local viewers = require "spec.support.viewers"

local has_poppler = os.execute "command -v pdftoppm >/dev/null 2>&1"

local function it_prints(name, body)
   if viewers.has_pages and has_poppler then
      it(name, body)
   else
      pending(name .. " (needs chromium, puppeteer-core and poppler-utils)")
   end
end

-- Returns what the page tells before and after it is printed, the text of all sheets, and the first
-- one as { width =, height =, at(x, y) = red, green, blue }, 3 pixels for each mm.
local function printed(page, options, fragment)
   local path = command.folder .. "/printed.pdf"
   local seen = viewers.told(page, ([==[
      const state = () => look(() => [document.documentElement.dataset.scheme,
         document.querySelectorAll('.printed').length,
         document.querySelector('#flames canvas').getBoundingClientRect().width]);
      tell('before', await state());
      await tab.pdf({ path: %q, format: 'A4', landscape: %s });
      await wait();
      tell('after', await state());]==]):format(path, options.landscape or false),
      { scheme = "dark", fragment = fragment or "" })
   local stem = command.folder .. "/printed"
   assert(os.execute(("pdftoppm -r 76.2 -f 1 -l 1 -singlefile %s %s"):format(path, stem)))
   local pipe <close> = io.popen("pdftotext -layout " .. path .. " -")
   local text, picture = pipe:read "a", command.read(stem .. ".ppm")
   local width, height, begin = picture:match "^P6%s+(%d+)%s+(%d+)%s+255%s()"
   width, height = math.tointeger(width), math.tointeger(height)
   return seen, text, { width = width, height = height, at = function(x, y)
      return picture:byte(begin + 3 * (y * width + x), begin + 3 * (y * width + x) + 2)
   end }
end

-- Returns how many pixels of a sheet have a colour, with their first and last columns.
local function count(sheet, red, green, blue)
   local found, first, last = 0, math.huge, -math.huge
   for y = 0, sheet.height - 1 do
      for x = 0, sheet.width - 1 do
         local r, g, b = sheet.at(x, y)
         if math.abs(r - red) + math.abs(g - green) + math.abs(b - blue) <= 6 then
            found, first, last = found + 1, math.min(first, x), math.max(last, x)
         end
      end
   end
   return found, first, last
end

-- Modules a, b and c; a is the first rank, #a68efd, b the second one, #d2932c.
local stacks = "a::main;b::x 30\na::main;c::y 25\na::main 40\n"

describe("the page on paper", function()
   it_prints("is light, as wide as the sheet, with its colours and keys", function()
      for _, options in ipairs { { landscape = false }, { landscape = true } } do
         local page = assert(folded.profile(stacks):export("html", nil, { title = "Letters" }))
         local seen, text, sheet = printed(page, options, "#select=b::x")
         assert.same(seen.before, seen.after)
         assert.equal("dark", seen.after[1])
         assert.equal(0, seen.after[2])
         local wide, high = 297 * 3, 210 * 3
         if not options.landscape then
            wide, high = high, wide
         end
         assert.is_true(math.abs(sheet.width - wide) < 4 and math.abs(sheet.height - high) < 4)
         local white = count(sheet, 255, 255, 255)
         assert.is_true(white > 0.6 * wide * high, white)
         for _, color in ipairs { { 0xa6, 0x8e, 0xfd }, { 0xd2, 0x93, 0x2c } } do
            local pixels = count(sheet, table.unpack(color))
            assert.is_true(pixels > 300, pixels)
         end
         assert.is_nil(text:find("CSV", 1, true) or text:find("Drag to move", 1, true))
         assert.equal(1, select(2, text:gsub("Callers", ""))) -- no panel lies on each sheet
         local _, first, last = count(sheet, 0xa6, 0x8e, 0xfd) -- a is as wide as the picture
         assert.is_true(math.abs(first - 12 * 3) <= 4, first)
         assert.is_true(math.abs(last - (wide - 12 * 3)) <= 6, last)
         assert.matches("Letters%s+file:///[^\n]*#select=b::x", text)
         assert.is_nil(text:find "Search functions" or text:find "Left%-heavy")
      end
   end)

   it_prints("keeps wide tables on the paper, and says what it leaves out", function()
      local lines = {}
      for i = 1, 60 do
         lines[i] = ("mod%d::%s%d %d\n"):format(i, ("long_name_"):rep(7), i, 1000 + i)
      end
      local new, old = folded.profile(table.concat(lines)),
         folded.profile((table.concat(lines):gsub(" 1", " 9")))
      local page = assert((new - old):export "html")
      local _, text, sheet = printed(page, {})
      assert.matches("30 functions are printed, of 60%.", text)
      for y = 0, sheet.height - 1 do
         for x = sheet.width - 11 * 3, sheet.width - 1 do -- the margin at the right
            assert.equal(255 * 3, (function(r, g, b)
               return r + g + b
            end)(sheet.at(x, y)))
         end
      end
   end)

   it_prints("has the whole width of the call graph, also if it was not seen before", function()
      local lines = { ("deep;"):rep(200) .. "deep 9\n" }
      for i = 1, 30 do
         lines[i + 1] = ("main;the_functions_of_module%d::f;g%d 9\n"):format(i, i % 7)
      end
      local told = viewers.told(assert(folded.profile(table.concat(lines)):export "html"), [==[
         const seen = () => look(() => page.call_graph.plan() !== null);
         tell('before', await seen());
         await look(() => window.dispatchEvent(new Event('beforeprint')));
         tell('inks', await look(() => Array.from(document.querySelectorAll(
            '#call-graph .printed canvas'), canvas => {
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width,
               canvas.height);
            const columns = new Set();
            for (let i = 3; i < data.length; i += 4) {
               if (data[i] > 0) { columns.add((i >> 2) % canvas.width); }
            }
            return [Math.min(...columns) > 4, Math.max(...columns) < canvas.width - 4];
         })));]==], { width = 390 })
      assert.is_false(told.before)
      assert.same({ { true, true }, { true, true } }, told.inks)
   end)

   it_prints("has the lanes of the timeline, and says how much does not fit", function()
      math.randomseed(4)
      local trace <close> = events.open((events.program(1500)))
      local _, text = printed(assert(trace:export "html"), { landscape = true })
      assert.matches("Only the upper [%d.]+ %% of this picture fits on the sheet", text)
      local small <close> = events.open "0 enter f t\n9 leave f t\n"
      _, text = printed(assert(small:export "html"), {})
      assert.no.matches("Only the upper", text)
   end)
end)
