-- The law of lua/profio, of which spec/support/lua_layers.lua finds breaches.
--
-- Unsanitized: texts and files of Lua alone.

local lua_layers = require "spec.support.lua_layers"

-- Returns the breaches in files below lua/profio, which are given as texts by name, with a list of
-- modules that are loaded late.
local function breaches_of(texts, late)
   local files, found = {}, {}
   texts["internal/later.lua"] = late or ""
   for name in pairs(texts) do
      files[#files + 1] = "lua/profio/" .. name
   end
   table.sort(files)
   lua_layers.check(files, function(file)
      local lines = {}
      for line in texts[file:match "^lua/profio/(.*)$"]:gmatch "([^\n]*)\n?" do
         lines[#lines + 1] = line
      end
      return lines
   end, function(file, line, message, ...)
      found[#found + 1] = ("%s:%d: "):format(file:match "^lua/profio/(.*)$", line)
         .. message:format(...)
   end)
   return found
end

describe("the law of Lua modules", function()
   it("allows to require modules of the same and of lower layers", function()
      assert.same({}, breaches_of { ["cli/a.lua"] = 'local b = require "profio.exports.b"',
         ["exports/b.lua"] = 'local c = require("profio.internal.c").d',
         ["internal/c.lua"] = 'local f = require "profio.internal.f" -- require "profio.cli.a"',
         ["internal/f/init.lua"] = 'local lfs = require "lfs"' })
   end)

   it("refuses to require a higher layer, in each form", function()
      for _, form in ipairs { 'local b = require "profio.%s"',
         'return f(1, require("profio.%s").x)',
         'local b = later "profio.%s"', 'local found = pcall(require, "profio.%s")' } do
         for _, pair in ipairs { { "internal/a", "formats.b" }, { "formats/a", "exports.b" },
            { "reports/a", "exports.b" }, { "exports/a", "reports.b" }, { "reports/a", "b" },
            { "a", "cli.b" } } do
            local name = "profio." .. pair[2]
            assert.same({ ("%s.lua:1: %s is above profio.%s"):format(pair[1], name,
               (pair[1]:gsub("/", "."))) },
               breaches_of({ [pair[1] .. ".lua"] = form:format(pair[2]),
                  [pair[2]:gsub("%.", "/") .. ".lua"] = "" },
                  form:find "later" and ("--    %s  rarely"):format(name)))
         end
      end
   end)

   it("refuses circles, also of modules that are loaded late", function()
      assert.same({ "internal/a.lua:1: a circle of 3 modules: profio.internal.a profio.internal.b "
         .. "profio.internal.c" }, breaches_of({
         ["internal/a.lua"] = 'local b = require "profio.internal.b"',
         ["internal/b.lua"] = 'local c = later "profio.internal.c"',
         ["internal/c.lua"] = 'local a = require "profio.internal.a"',
         ["internal/d.lua"] = 'local a = require "profio.internal.a"' },
         "--    profio.internal.c  rarely"))
   end)

   it("wants each module at the top, the name in the text, and late ones in the list", function()
      assert.same({ "internal/a.lua:1: `require` and `later` stand at the top",
         "internal/a.lua:2: profio.internal.b is not in the list of lua/profio/internal/later.lua",
         "internal/a.lua:3: the name of a module is computed",
         "internal/later.lua:1: no file loads profio.internal.c late" }, breaches_of({
         ["internal/a.lua"] = '   local b = require "profio.internal.b"\n'
            .. 'local c = later "profio.internal.b"\nlocal d = require("profio.internal." .. name)',
         ["internal/b.lua"] = "" }, "--    profio.internal.c  rarely"))
   end)

   it("limits the length of public modules", function()
      assert.same({ "view.lua:151: 151 lines, a public module has at most 150" },
         breaches_of { ["view.lua"] = ("\n"):rep(151), ["internal/c.lua"] = ("\n"):rep(300) })
   end)
end)
