-- The pages of help agree with the code.
--
-- Tags: user.
-- Unsanitized: texts, options and files of Lua alone.

local api = require "spec.support.api"
local declarations = require "profio.cli.declarations"
local docs = require "spec.support.docs"
local export_list = require "profio.internal.exporting.export_list"
local man = require "spec.support.man"
local options = require "profio.internal.options"
local pages = require "profio.cli.help.pages"
local profio = require "profio"
local registry = require "profio.internal.opening.registry"

describe("the pages of help", function()
   it("are up to date: else run make docs", function()
      for _, name in ipairs(pages.names()) do
         local text = pages.read(name)
         assert.is_true(docs.generated(text) == text, name .. ".md")
      end
   end)

   it("name only options that exist", function()
      for _, name in ipairs(pages.names()) do
         assert.same({}, docs.unknown_options(pages.read(name)), name)
         assert.same({}, docs.broken_links(pages.read(name)), name)
      end
      local file <close> = assert(io.open "README.md")
      assert.same({}, docs.unknown_options(file:read "a"))
   end)

   it("tell of each export what reads it", function()
      local text = pages.read "exports"
      for _, export in ipairs(export_list.all()) do
         assert.is_truthy(text:match("\n| `[%w` ]*%f[%w]" .. export.name .. "%f[%W][%w` ]*` |"),
            export.name)
      end
   end)

   it("are there for each format", function()
      for _, name in ipairs { "gmon", "br", "winidea", "dcpi", "dbf", "xpp", "pprof" } do
         assert.equal("format-" .. name, pages.of(name))
         local text = pages.read("format-" .. name)
         for _, format in ipairs(profio.formats()) do
            for code in pairs(format.name == name and format.warnings or {}) do
               assert.is_truthy(text:find("\n| `" .. code .. "` |", 1, true), code)
            end
         end
      end
   end)
end)

describe("CONTRIBUTING.md and the files README.md of folders", function()
   -- Returns the paths of the files whose names match a pattern of find.
   local function files(pattern)
      local list = {}
      local pipe <close> = assert(io.popen("find csrc lua spec examples -name '" .. pattern .. "'"))
      for path in pipe:lines() do
         list[#list + 1] = path
      end
      return list
   end

   it("name only files that exist, but in worked examples", function()
      local endings, count, missing = { ["lua.h"] = true }, 0, {}
      for _, path in ipairs(files "*.*") do
         while path do
            endings[path], path = true, path:match "^[^/]*/(.*)$"
         end
      end
      local texts = files "README.md"
      texts[#texts + 1] = "CONTRIBUTING.md"
      for _, name in ipairs(texts) do
         local file <close> = assert(io.open(name))
         local text = file:read "a":gsub("\n## Worked example.*", "")
         for path in text:gmatch "`([%w_./]*[%w_]+%.[chl][ua]*)`" do
            count = count + 1
            local is_there = endings[path:gsub("^[./]*/", "")] or path:find "NAME"
            missing[#missing + 1] = not is_there and name .. ": " .. path or nil
         end
      end
      assert.is_true(count > 200)
      assert.same({}, missing)
   end)

   it("are short where everybody reads", function()
      local file <close> = assert(io.open "CONTRIBUTING.md")
      assert.is_true(file:seek "end" <= 20 * 1024)
   end)
end)

describe("warnings", function()
   it("have a remedy each, which names existing options", function()
      for _, format in ipairs(profio.formats()) do
         local described = registry.named(format.name)
         for code in pairs(described.remedies and described.warnings or {}) do
            local remedy = described.remedies[code]
            assert.matches("%S", remedy, code)
            assert.same({}, docs.unknown_options(remedy), code)
            for name in remedy:gmatch "%-%-set ([%w_]+)" do
               local is_known = options.find(described.options, name)
                  or options.find(described.write_options, name)
               assert.is_truthy(is_known or code:find "^dbf%-" and format.name == "xpp", code)
            end
         end
         for code in pairs(described.remedies or {}) do
            assert.is_truthy(described.warnings[code], code)
         end
      end
   end)
end)

describe("the man pages", function()
   it("have only requests that man knows, and no text that groff would read as one", function()
      for _, text in ipairs { man.command(), man.library() } do
         assert.matches('^%.TH "profio" "[13]%l*" "" "profio [%d.]+"', text)
         local counts = {}
         for line in text:gmatch "[^\n]+" do
            local request = line:match "^%.(%S*)" or line:match "^'"
            assert.is_true(not request or request:find "^[TSERPPan][HSEPXhd]$" ~= nil, line)
            counts[request or ""] = (counts[request or ""] or 0) + 1
            assert.is_nil(line:gsub("\\[fe&-][BIR]?", ""):gsub("\\%(dq", ""):find("\\", 1, true),
               line)
         end
         assert.same({ counts.RS, counts.EX }, { counts.RE, counts.EE })
      end
   end)

   it("have each option of the command, and each public function", function()
      local page = man.command()
      for _, group in ipairs(declarations.groups) do
         for i = 2, #group do
            assert.is_truthy(page:find(group[i][1]:gsub("%-", "\\-"), 1, true), group[i][1])
         end
      end
      for _, part in ipairs(api.parts) do
         for _, f in ipairs(api.functions(part)) do
            local title = f.call:gsub("%-", "\\-")
            assert.is_truthy(man.library():find('\n.SS "' .. title .. '"\n', 1, true), title)
         end
      end
   end)
end)

describe("docs.unknown_options", function()
   it("finds options in prose and in calls of profio, but not those of other programs", function()
      assert.same({ "--no-such" }, docs.unknown_options "a `--no-such`, `--top` and --where")
      assert.same({ "--flt" }, docs.unknown_options "```\nprofio --flt x\ngprof --line x\n```")
      assert.same({}, docs.unknown_options "`gprof --flat-profile`, `--mode`")
   end)

   it("knows the options of each verb", function()
      assert.same({ "--top" }, docs.unknown_options "```\nprofio merge --top 3 -o x a b\n```")
      assert.same({}, docs.unknown_options "`profio report --top 3 x`")
      assert.same({}, docs.unknown_options "`profio record x.lua --own`")
   end)
end)

describe("docs.broken_links", function()
   it("finds links to missing pages and topics that nothing mentions", function()
      assert.same({ "no-such.md", "profio help qwerty" }, docs.broken_links(
         "[a](no-such.md) [b](options.md) [c](https://x.org) `profio help qwerty` "
         .. "`profio help winidea` `profio help gross`"))
   end)
end)

describe("docs.generated", function()
   it("replaces what stands between two comments", function()
      local text = "a\n<!-- begin: formats -->\nold\n<!-- end -->\nb\n"
      local made = docs.generated(text)
      assert.matches("^a\n<!%-%- begin: formats %-%->\n\n| format .*\n| `winidea` | .*\n<!", made)
      assert.equal(made, docs.generated(made))
      assert.has_error(function()
         docs.generated "<!-- begin: nothing -->\n<!-- end -->"
      end, "no region is called 'nothing'")
   end)
end)

describe("the description for editors", function()
   it("has each method with its arguments", function()
      local text = api.stubs()
      assert.is_truthy(load(text))
      assert.is_truthy(text:find("\nfunction View:each(...) end\n", 1, true))
      assert.is_truthy(text:find("\n---@class profio.Trace: profio.View\n", 1, true))
   end)
end)

describe("the page lua-api", function()
   local page = pages.read "lua-api"

   it("has every public function, with a description", function()
      assert.same({}, docs.undescribed())
      for _, part in ipairs(api.parts) do
         for _, f in ipairs(api.functions(part)) do
            assert.is_truthy(page:find("\n### `" .. f.call .. "`\n", 1, true), f.call)
         end
      end
   end)

   -- Returns the methods of an object, whose __index is their table or a function that uses it.
   local function methods_of(object)
      local found = getmetatable(object).__index
      for i = 1, type(found) == "function" and 20 or 0 do
         local name, value = debug.getupvalue(found, i)
         if name == "methods" then
            return value
         end
      end
      return assert(type(found) == "table" and found)
   end

   it("has every method of traces, profiles and writers", function()
      local trace <close> = assert(profio.open { data = require("spec.support.gmon_builder")("<", 8)
         :header():histogram { low = 0x1000, high = 0x1100, bins = { 1 } }:bytes() })
      local profile <close> = assert(trace:profile())
      local writer <close> = assert(profio.create(nil, { format = "gmon" }))
      for shown, object in pairs { ["trace:"] = trace, ["profile:"] = profile,
         ["writer:"] = writer } do
         local count = 0
         for name, value in pairs(methods_of(object)) do
            if type(value) == "function" and not name:find "^__" then
               count = count + 1
               local is_there = page:find("\n### `" .. shown .. name .. "[%(`]")
                  or shown == "trace:" and page:find("\n### `view:" .. name .. "[%(`]")
               assert.is_truthy(is_there, shown .. name)
            end
         end
         assert.is_true(count > 5, shown)
      end
   end)

   it("has every name that a profile answers to", function()
      local trace <close> = assert(profio.open { data = require("spec.support.gmon_builder")("<", 8)
         :header():histogram { low = 0x1000, high = 0x1100, bins = { 1 } }:bytes() })
      local profile <close> = assert(trace:profile())
      for name in pairs(require "profio.internal.bodies.profile_parts") do
         assert.is_true(name == "facts" or profile[name] == nil, name)
      end
      assert.is_nil(profile.facts_with)
      for name in pairs(require("profio.internal.bodies.algebra").methods) do
         assert.is_truthy(page:find("\n### `profile:" .. name .. "(", 1, true), name)
      end
   end)

   it("has every function of the public modules", function()
      for shown, module in pairs { ["profio."] = profio, ["view:"] = require("profio.view").methods,
         ["recorder."] = require "profio.recorder", ["limits."] = require "profio.limits",
         ["pri."] = require "profio.formats.xpp.pri", ["cli."] = require "profio.cli" } do
         for name, value in pairs(module) do
            if type(value) == "function" then
               assert.is_truthy(page:find("\n### `" .. shown .. name .. "[%(`]"), shown .. name)
            end
         end
      end
   end)
end)
