-- The colours of the page of export html: distances as people see them, ranks, the contrast of
-- texts, which Chromium draws, and the switch between light and dark.
--
-- Extra: needs Chromium.

local command = require "spec.support.command"
local events = require "spec.support.events"
local folded = require "spec.support.folded"
local json = require "dkjson"
local viewers = require "spec.support.viewers"
local vision = require "spec.support.vision"

local it_looks = viewers.it_browses(it, pending)
local look = viewers.told

-- {====== Known truths ======

-- Test pairs of Sharma, Wu and Dalal, "The CIEDE2000 Color-Difference Formula" (2005).
local pairs_of_sharma = {
   { 50, 2.6772, -79.7751, 50, 0, -82.7485, 2.0425 },
   { 50, 3.1571, -77.2803, 50, 0, -82.7485, 2.8615 },
   { 50, 2.8361, -74.0200, 50, 0, -82.7485, 3.4412 },
   { 50, -1.3802, -84.2814, 50, 0, -82.7485, 1.0000 },
   { 50, -0.9009, -85.5211, 50, 0, -82.7485, 1.0000 },
   { 50, 0, 0, 50, -1, 2, 2.3669 },
   { 50, 2.4900, -0.0010, 50, -2.4900, 0.0009, 7.1792 },
   { 50, 2.4900, -0.0010, 50, -2.4900, 0.0011, 7.2195 },
   { 50, -0.0010, 2.4900, 50, 0.0009, -2.4900, 4.8045 },
   { 50, -0.0010, 2.4900, 50, 0.0011, -2.4900, 4.7461 },
   { 50, 2.5, 0, 50, 0, -2.5, 4.3065 },
   { 50, 2.5, 0, 73, 25, -18, 27.1492 },
   { 50, 2.5, 0, 61, -5, 29, 22.8977 },
   { 50, 2.5, 0, 56, -27, -3, 31.9030 },
   { 50, 2.5, 0, 58, 24, 15, 19.4535 },
   { 50, 2.5, 0, 50, 3.1736, 0.5854, 1.0000 },
   { 60.2574, -34.0099, 36.2677, 60.4626, -34.1751, 39.4387, 1.2644 },
   { 63.0109, -31.0961, -5.8663, 62.8187, -29.7946, -4.0864, 1.2630 },
   { 22.7233, 20.0904, -46.6940, 23.0331, 14.9730, -42.5619, 2.0373 },
   { 36.4612, 47.8580, 18.3852, 36.2715, 50.5065, 21.2231, 1.4146 },
   { 90.8027, -2.0831, 1.4410, 91.1528, -1.6435, 0.0447, 1.4441 },
   { 2.0776, 0.0795, -1.1350, 0.9033, -0.0636, -0.5514, 0.9082 },
}

local function numbers(color)
   local list = {}
   for digits in color:gmatch(color:find "^#" and "%x%x" or "%d+") do
      list[#list + 1] = tonumber(digits, color:find "^#" and 16 or 10)
   end
   return list
end

-- Returns the list of colours in the script.
local function ranked_colors()
   local text = command.read(command.root .. "/lua/profio/exports/html/scripts/colors.js")
   local list = {}
   for color in text:match "RANKED = (%b[])":gmatch "#%x+" do
      list[#list + 1] = color
   end
   return list
end

-- Returns the least distance between colours of different groups, in all kinds of vision.
local function least_distance(groups)
   local least = math.huge
   for _, kind in ipairs(vision.kinds()) do
      local seen = {}
      for i, group in ipairs(groups) do
         for _, color in ipairs(group) do
            local lab = vision.lab(numbers(color), kind)
            for _, other in ipairs(seen) do
               least = other.group ~= i and math.min(least, vision.distance(lab, other.lab))
                  or least
            end
            seen[#seen + 1] = { group = i, lab = lab }
         end
      end
   end
   return least
end

it("the distance of colours is that of published pairs", function()
   for _, p in ipairs(pairs_of_sharma) do
      local found = vision.distance({ p[1], p[2], p[3] }, { p[4], p[5], p[6] })
      assert.is_true(math.abs(found - p[7]) < 1e-4, p[7] .. ": " .. found)
   end
end)

it("the first 8 colours are far apart for all eyes", function()
   local groups = {}
   for i, color in ipairs(ranked_colors()) do
      groups[i] = { color }
   end
   assert.is_true(#groups >= 8)
   assert.is_true(least_distance(table.move(groups, 1, 8, 1, {})) >= 20)
   assert.is_true(least_distance(groups) >= 10)
end)

-- }======

-- A program of ten modules with five functions each; module 1 costs most. `first` is the weight of
-- its functions.
local function modules(first)
   local lines = {}
   for module = 1, 10 do
      for fn = 1, 5 do
         lines[#lines + 1] = ("m%d::f%d %d\n"):format(module, fn,
            module == 1 and first or 100 - 5 * module - fn)
      end
   end
   return table.concat(lines)
end

describe("colours of a page", function()
   it_looks("are those of modules by their ranks, in all parts", function()
      local told = look(assert(folded.profile(modules(101)):export "html"), [==[
         tell('by_function', await look(() => page.by_function));
         tell('colors', await look(() => page.data.functions.name.map((name, id) =>
            [name, page.color(id)])));
         tell('key', await look(() => Array.from(document.querySelectorAll('.key li'), li =>
            [li.textContent, getComputedStyle(li.firstChild).backgroundColor])));
         tell('swatches', await look(() => Array.from(document.querySelectorAll(
            '#functions tbody tr'), row => [page.name(+row.dataset.id),
               getComputedStyle(row.querySelector('.hue')).backgroundColor])));]==])
      assert.is_false(told.by_function)
      local groups, colors, ranked = {}, {}, ranked_colors()
      for _, row in ipairs(told.colors) do
         local module = tonumber(row[1]:match "m(%d+)")
         groups[module] = groups[module] or {}
         table.insert(groups[module], row[2])
         colors[row[1]] = numbers(row[2])
      end
      for _, group in ipairs(groups) do -- five shades, each different
         local seen = {}
         for _, color in ipairs(group) do
            assert.is_nil(seen[color])
            seen[color] = true
         end
      end
      local least = least_distance(table.move(groups, 1, 8, 1, {}))
      assert.is_true(least >= 15, least)
      for i, row in ipairs(told.key) do
         assert.equal("m" .. i, row[1])
         assert.same(numbers(ranked[i]), numbers(row[2]))
      end
      assert.equal(10, #told.key)
      for _, row in ipairs(told.swatches) do
         assert.same(colors[row[1]], numbers(row[2]))
      end
   end)

   it_looks("are those of functions where one module has more than half", function()
      local total = (10 - 1) * 5 * 100
      local told = look(assert(folded.profile(modules(total)):export "html"), [==[
         tell('key', await look(() => Array.from(document.querySelectorAll('.key li'), li =>
            [li.textContent, li.firstChild.style ? li.firstChild.style.background : ''])));
         tell('pale', await look(() => page.data.functions.name.map((name, id) => [name,
            page.color(id)]).filter(([name]) => /^m10/.test(name)).map(pair => pair[1])));
         await look(() => page.set({ zoom: String(page.data.functions.name.indexOf('m3::f2')) }));
         await wait();
         tell('zoomed', await look(() => getComputedStyle(
            document.querySelector('.key')).visibility));]==])
      local ranked = ranked_colors()
      for i, color in ipairs(ranked) do
         assert.same(numbers(color), numbers(told.key[i][2]))
      end
      assert.equal("m1::f1", told.key[1][1])
      assert.equal("and 38 more", told.key[13][1])
      for _, color in ipairs(told.pale) do -- light, and near to grey
         local lab = vision.lab(numbers(color), "normal")
         assert.is_true(lab[1] > 75 and lab[2] ^ 2 + lab[3] ^ 2 < 24 ^ 2, color)
      end
      assert.equal("hidden", told.zoomed) -- one function is drawn, which needs no key
   end)

   it_looks("has a key of what is drawn", function()
      local told = look(assert(folded.profile("a::x;b::y 30\na::x;c::z 25\nd::w 40\n")
         :export "html"), [==[
         const key = () => look(() => document.querySelector('.key').textContent);
         tell('all', await key());
         await look(() => page.set({ zoom: String(page.data.functions.name.indexOf('a::x')) }));
         await wait();
         tell('zoomed', await key());]==])
      assert.equal("adbc", told.all)
      assert.equal("abc", told.zoomed)
   end)
end)

-- {====== Texts ======

-- Collects for each text that canvases draw its colour and all colours behind it.
local record = [==[
   const shots = () => look(async () => {
      const found = [], old = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
         const { a: ratio } = this.getTransform(), high = this.canvas.height;
         const top = Math.max(0, Math.min(high - 1, Math.round((y - 4) * ratio)));
         const wide = Math.ceil(Math.min(this.measureText(text).width, 400) * ratio);
         const { data } = this.getImageData(Math.round(x * ratio), top, Math.max(1, wide), 8);
         const behind = new Set();
         for (let i = 0; i < data.length; i += 4) {
            behind.add(data[i + 3] < 255 ? '' : data.slice(i, i + 3).join(' '));
         }
         found.push({ text, ink: this.fillStyle, alpha: this.globalAlpha,
            clipped: this.clips || false, behind: [...behind].filter(Boolean) });
         old.call(this, text, x, y);
      };
      page.redraw();
      await new Promise(done => setTimeout(done, 300));
      CanvasRenderingContext2D.prototype.fillText = old;
      return found;
   });
]==]

-- Returns the least contrast of texts with what is behind them.
local function least_contrast(list, names)
   local least, which = math.huge, nil
   for _, one in ipairs(list) do
      assert.equal(1, one.alpha)
      for _, color in ipairs(names[one.text] and one.behind or {}) do
         local found = vision.contrast(numbers(one.ink), numbers(color))
         if found < least then
            least, which = found, one
         end
      end
   end
   return least, json.encode(which)
end

describe("texts of a page", function()
   it_looks("have contrast on all fills, also faded ones", function()
      local page = assert(folded.profile(modules(101) .. modules(130):gsub("m", "main;n"))
         :export "html")
      for _, scheme in ipairs { "light", "dark" } do
         for _, fragment in ipairs { "", "#find=f1", "#order=inverted" } do
            local told = look(page, record .. "tell('shots', await shots());",
               { scheme = scheme, fragment = fragment, width = 8000 })
            local names, count = {}, 0
            for _, one in ipairs(told.shots) do
               names[one.text] = one.text:find "[mn]%d" or nil
               count = count + (names[one.text] and 1 or 0)
            end
            assert.is_true(count > 20, count)
            local least, which = least_contrast(told.shots, names)
            assert.is_true(least >= 4.5, which)
         end
      end
   end)

   it_looks("have contrast in timelines: calls, states, and where calls are suspended", function()
      local lines = {}
      for i = 1, 14 do
         local at = 100 * i
         lines[#lines + 1] = ("%d enter work%d t core=0\n%d suspend work%d t\n")
            :format(at, i, at + 50 - i, i)
            .. ("%d resume work%d t core=0\n%d leave work%d t\n"):format(at + 60, i,
            at + 90 + i // 2, i)
         lines[#lines + 1] = ("%d enter state:mode=%d main\n%d leave state:mode=%d main\n")
            :format(at + 91, i, at + 99, i)
      end
      local list = {}
      for line in table.concat(lines):gmatch "[^\n]+" do
         list[#list + 1] = line
      end
      table.sort(list, function(a, b)
         return tonumber(a:match "%d+") < tonumber(b:match "%d+")
      end)
      local trace <close> = events.open(table.concat(list, "\n") .. "\n")
      local page = assert(trace:export "html")
      for _, scheme in ipairs { "light", "dark" } do
         local told = look(page, record .. [==[
            await look(() => page.set({ from: 400, to: 800 }));
            tell('shots', await shots());
            await look(() => page.set({ find: 'work5' }));
            tell('faded', await shots());]==], { scheme = scheme })
         local names, count = {}, 0
         for _, one in ipairs(told.shots) do
            names[one.text] = one.text:find "^work" or one.text:find "^%d+$" or nil
            count = count + (names[one.text] and 1 or 0)
         end
         assert.is_true(count > 8, json.encode(told.shots))
         for _, shots in ipairs { told.shots, told.faded } do
            local whole = {}
            for _, one in ipairs(shots) do -- texts over pauses are drawn once for each part
               whole[#whole + 1] = #one.behind == 1 and one or nil
            end
            local least, which = least_contrast(whole, names)
            assert.is_true(least >= 4.5, which)
         end
      end
   end)
end)

describe("states and lanes of a page", function()
   it_looks("have the colours of their ranks, a state the same one in all variables", function()
      local trace <close> = events.open("0 enter f t1 core=0\n0 enter state:a=1 t1\n" ..
         "40 leave state:a=1 t1\n40 enter state:a=2 t1\n50 leave f t1\n50 enter g t2 core=0\n" ..
         "60 enter state:b=2 t1\n70 leave g t2\n90 leave state:b=2 t1\n100 leave state:a=2 t1\n")
      local told = look(assert(trace:export "html"), [==[
         tell('fills', await look(async () => {
            const found = [], old = CanvasRenderingContext2D.prototype.fillText;
            CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
               const ratio = this.getTransform().a;
               const { data } = this.getImageData(Math.round((x - 1) * ratio),
                  Math.round(y * ratio), 1, 1);
               found.push([text, ...data.slice(0, 3)].join(' '));
               old.call(this, text, x, y);
            };
            page.redraw();
            await new Promise(done => setTimeout(done, 300));
            CanvasRenderingContext2D.prototype.fillText = old;
            return found;
         }));]==])
      local ranked, fills = ranked_colors(), {}
      for _, fill in ipairs(told.fills) do
         fills[fill] = (fills[fill] or 0) + 1
      end
      local first, second = table.concat(numbers(ranked[1]), " "),
         table.concat(numbers(ranked[2]), " ")
      assert.equal(2, fills["2 " .. first])  -- 60 + 30 ns, of variables a and b
      assert.equal(1, fills["1 " .. second]) -- 40 ns
      assert.equal(1, fills["t1 " .. first])
      assert.equal(1, fills["t2 " .. second])
   end)
end)

-- }======

describe("the switch of schemes", function()
   local program = [==[
      const shown = () => look(() => [document.documentElement.dataset.scheme,
         getComputedStyle(document.body).backgroundColor,
         document.querySelector('#bar [aria-label^=Colours] [aria-pressed=true]').value]);
      const press = value => look(value => document.querySelector(
         `#bar [aria-label^=Colours] [value=${value}]`).click(), value);
   ]==]

   it_looks("shows light, dark or that of the system, in the address and from then on", function()
      local told = look(assert(folded.profile "a 1\n":export "html"), program .. [==[
         tell('first', await shown());
         await press('dark');
         tell('dark', await shown());
         await new Promise(done => setTimeout(done, 400));
         tell('address', await look(() => location.hash));
         await tab.goto(await look(() => location.href.replace(/#.*/, '')));
         await tab.reload();
         tell('again', await shown());
         await press('system');
         tell('system', await shown());
         await tab.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
         await wait();
         tell('changed', await shown());]==], { scheme = "light" })
      local light, dark = "rgb(255, 255, 255)", "rgb(22, 24, 28)"
      assert.same({ "light", light, "system" }, told.first)
      assert.same({ "dark", dark, "dark" }, told.dark)
      assert.equal("#scheme=dark", told.address)
      assert.same({ "dark", dark, "dark" }, told.again)
      assert.same({ "light", light, "system" }, told.system)
      assert.same({ "dark", dark, "system" }, told.changed)
   end)

   it_looks("follows the address, and needs no memory of the browser", function()
      local told = look(assert(folded.profile "a 1\n":export "html"), program .. [==[
         tell('linked', await shown());
         await tab.evaluateOnNewDocument(() => Object.defineProperty(window, 'localStorage',
            { get() { throw new Error('refused'); } }));
         await tab.reload();
         await press('dark');
         tell('pressed', await shown());]==], { scheme = "dark", fragment = "#scheme=light" })
      assert.equal("light", told.linked[3])
      assert.equal("dark", told.pressed[1])
   end)

   it_looks("keeps what is pressed and what colours mean where colours are forced", function()
      local told = look(assert(folded.profile(modules(101)):export "html"), record .. [==[
         const cdp = await tab.createCDPSession();
         await cdp.send('Emulation.setEmulatedMedia', { features:
            [{ name: 'forced-colors', value: 'active' }] });
         await wait();
         const color = selector => look(s => getComputedStyle(
            document.querySelector(s)).backgroundColor, selector);
         tell('pressed', await color('[aria-pressed=true]'));
         tell('other', await color('[aria-pressed=false]'));
         tell('swatch', await color('.key .hue'));
         tell('bar', await color('td.bar span'));
         tell('page', await color('body'));
         tell('shots', await shots());]==], { width = 4000 })
      assert.not_equal(told.other, told.pressed)
      assert.not_equal(told.page, told.bar)
      assert.same(numbers(ranked_colors()[1]), numbers(told.swatch))
      local names = {}
      for _, one in ipairs(told.shots) do
         names[one.text] = true
      end
      local least, which = least_contrast(told.shots, names)
      assert.is_true(least >= 4.5, which)
   end)
end)
