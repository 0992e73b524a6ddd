-- The policy of pages of HTML: they run only their own scripts and send nothing, whatever names,
-- sources and addresses say. Chromium enforces it.
--
-- Extra: needs Chromium.

local command = require "spec.support.command"
local events = require "spec.support.events"
local json = require "dkjson"
local profio = require "profio"
local sha256 = require "profio.internal.sha256"
local viewers = require "spec.support.viewers"

local it_looks = viewers.it_browses(it, pending)

-- {====== Hashes ======

local function hex(bytes)
   return (bytes:gsub(".", function(byte)
      return ("%02x"):format(byte:byte())
   end))
end

describe("SHA-256", function()
   it("is that of the standard", function()
      assert.equal("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
         hex(sha256.digest ""))
      assert.equal("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
         hex(sha256.digest "abc"))
      assert.equal("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
         hex(sha256.digest "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))
   end)

   it("is that of sha256sum for all lengths of the last block", function()
      if not os.execute "command -v sha256sum >/dev/null 2>&1" then
         pending "needs sha256sum"
      end
      math.randomseed(91)
      for _, length in ipairs { 1, 54, 55, 56, 57, 63, 64, 65, 118, 119, 120, 128, 1000, 4099 } do
         local bytes = {}
         for i = 1, length do
            bytes[i] = string.char(math.random(0, 255))
         end
         local text = table.concat(bytes)
         local pipe <close> = io.popen("sha256sum <" .. command.file("hashed", text))
         assert.equal(pipe:read(64), hex(sha256.digest(text)), length)
      end
   end)
end)

-- }======

-- {====== A hostile trace ======

local run = "window.hacked=(window.hacked||0)+1"

local hostile = {
   "</script><script>" .. run .. "</script>", "<img src=x onerror=" .. run .. ">",
   "javascript:" .. run, "<svg/onload=" .. run .. ">", "\"><script>" .. run .. "</script>",
   "' onmouseover='" .. run, "<!--<script>", "-->", "]]><script>" .. run .. "</script>",
   "\u{2028}" .. run .. "\u{2029}", "a\0b", "\u{202e}gpj.exe\u{202c}", ("x"):rep(100000),
   "<base href=http://evil.invalid/>", "<style>@import 'http://evil.invalid/'</style>",
   "<meta http-equiv=refresh content='0;url=http://evil.invalid/'>",
   "<link rel=stylesheet href=http://evil.invalid/>", "url(http://evil.invalid/)",
   "${" .. run .. "}",
   "`" .. run .. "`", "\\u003cscript\\u003e", "&lt;script&gt;" .. run,
   "\xff\xfe<script>", "__proto__",
   "constructor", "toString", "hasOwnProperty", "data:text/html,<script>" .. run .. "</script>",
   "<iframe srcdoc='<script>parent." .. run .. "</script>'>", "%3Cscript%3E", "a~1", "(other)",
}

local function open()
   local text = table.concat(hostile, "\n"):gsub("%z", " ")
   local source = command.file("hostile.c", text)
   profio.register {
      name = "hostile", score = function() return 0 end, main = "events",
      tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "area" },
         { "lane", "name" } } },
      open = function()
         return { events = function(put)
            for i, name in ipairs(hostile) do
               local area = { name = name, file = i % 2 == 0 and source or "/" .. name, line = i }
               local state = { name = name .. "=" .. name, class = "state", value = i,
                  parent = { name = name, class = "variable" } }
               put(100 * i, "enter", area, name)
               put(100 * i + 10, "enter", state, name)
               put(100 * i + 20, "suspend", area, name)
               put(100 * i + 60, "resume", area, name)
               put(100 * i + 80, "leave", state, name)
               put(100 * i + 90, "leave", area, name)
            end
         end }
      end,
   }
   return assert(profio.open({ data = "x" }, { format = "hostile" }))
end

-- Counts what the policy refuses, before any script of the page runs.
local watch = [==[
   await tab.evaluateOnNewDocument(() => {
      window.refused = [];
      document.addEventListener('securitypolicyviolation', event =>
         window.refused.push(event.effectiveDirective));
   });
   let dialogs = 0;
   tab.on('dialog', dialog => { dialogs++; dialog.dismiss(); });
   const told = () => look(() => [window.hacked || 0, window.refused.join(' '),
      document.querySelectorAll('script').length, document.querySelectorAll(
      'img,iframe,base,link,[style*="url"],[onerror],[onload],[onmouseover]').length]);
   const settle = () => new Promise(done => setTimeout(done, 10));
]==]

-- }======

describe("the policy of a page", function()
   it_looks("lets no name, source or address run or load anything", function()
      local trace <close> = open()
      for i, title in ipairs { hostile[1], hostile[2] } do
         local page = assert(trace:export("html", nil, { title = title, trust_paths = true }))
         assert.matches("^<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
            .. "<meta http%-equiv=\"Content%-Security%-Policy\"", page)
         assert.is_nil(page:match 'id="data">.-</script>(.*)':match "<%a[^>]* on%a+=")
         assert.is_nil(page:match 'id="data">.-</script>(.*)':match "<%a[^>]* style=")
         local seen = viewers.browse(page, watch .. "const words = " .. json.encode(hostile)
            .. (".slice(0, %d)"):format(i == 1 and 6 or 1)
            .. ".concat(['-1', '1e999', 'NaN', '0.0', '0-1', '9'.repeat(400)]);"
            .. [==[
            await tab.reload();
            await wait();
            tell('first', await told());
            const fields = await look(() => Object.keys(page.state));
            tell('fields', fields.length);
            for (const field of fields) {
               for (const word of words) {
                  await look((field, word) => {
                     location.hash = '#' + new URLSearchParams([[field, word]]);
                  }, field, word);
                  await settle();
               }
            }
            await look(() => { page.data.functions.name.forEach((name, id) => page.select(id)); });
            await wait();
            await look(words => { location.hash = '#' + new URLSearchParams(
               Object.keys(page.state).map((field, i) => [field, words[i % words.length]])); },
               words);
            await tab.reload();
            await wait();
            tell('last', await told());
            tell('dialogs', dialogs);]==], { fragment = i == 1 and "#find=<script>" or "" })
         assert.same({}, seen.errors)
         assert.same({}, seen.requests)
         assert.same({ 0, "", 3, 0 }, seen.told.first)
         assert.same({ 0, "", 3, 0 }, seen.told.last)
         assert.equal(0, seen.told.dialogs)
         assert.is_true(seen.told.fields >= 15)
      end
   end)

   it_looks("refuses scripts, styles and requests that are not the page's own", function()
      local trace <close> = open()
      local seen = viewers.browse(assert(trace:export "html"), watch .. [==[
         await tab.reload();
         await wait();
         tell('found', await look(async () => {
            const found = {}, tried = document.createElement('script');
            tried.textContent = 'window.injected = 1';
            document.body.append(tried);
            found.script = window.injected || 0;
            const box = document.createElement('div');
            box.innerHTML = '<p onclick="window.injected = 2" style="color: red">x</p>';
            document.body.append(box);
            box.firstChild.click();
            found.handler = window.injected || 0;
            found.style = box.firstChild.style.color;
            try { await window.fetch('http://127.0.0.1:9/'); } catch { found.fetch = 'refused'; }
            await new Promise(done => {
               const image = new window.Image();
               image.onerror = done;
               image.src = 'http://127.0.0.1:9/x.png';
            });
            try { new window.WebSocket('ws://127.0.0.1:9/'); } catch { found.socket = 'refused'; }
            await new Promise(done => setTimeout(done, 100));
            found.refused = [...new Set(window.refused)].sort();
            return found;
         }));
         await look(() => { page.set({ find: '^__proto', pattern: 1 }); });
         tell('searched', await look(() => document.getElementById('count').textContent));]==])
      local found = seen.told.found
      assert.equal(0, found.script)
      assert.equal(0, found.handler)
      assert.equal("", found.style)
      assert.equal("refused", found.fetch)
      assert.same({ "connect-src", "img-src", "script-src-attr", "script-src-elem",
         "style-src-attr" }, found.refused)
      assert.matches(" 1 of 32 functions", seen.told.searched)
   end)

   it_looks("is that of verdicts, too", function()
      local text = events.command("0 enter A t\n9 leave A t\n", "--limits",
         command.file("policy.limits", "A count == 1\n"), "--output", "html")
      assert.matches('<html lang="en">\n<meta http%-equiv="Content%-Security%-Policy"', text)
      local seen = viewers.browse(text, watch .. [==[
         await tab.reload();
         tell('refused', await look(() => window.refused.join(' ')));
         tell('width', await look(() => getComputedStyle(
            document.querySelector('table')).borderCollapse));]==])
      assert.same({ refused = "", width = "collapse" }, seen.told)
   end)
end)
