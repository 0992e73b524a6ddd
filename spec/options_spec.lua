-- Declarations of options: each one is complete, and all listings come from them.
--
-- Tags: user.
-- Unsanitized: texts, options and files of Lua alone.

local command = require "spec.support.command"
local exports = require "profio.internal.exporting.export_list"
local opening = require "profio.internal.opening.open"
local options = require "profio.internal.options"
local profio = require "profio"
local recorder = require "profio.recorder"
local reports = require "profio.reports"

-- All lists of options that scripts and the command line can use: { owner, list }.
local function declared()
   local lists = { { "open", opening.options }, { "recorder", recorder.options } }
   for _, format in ipairs(profio.formats()) do
      lists[#lists + 1] = { format.name, format.options }
      lists[#lists + 1] = { format.name .. ", written", format.write_options or {} }
   end
   for _, owners in ipairs { exports.all(), reports.all() } do
      for _, owner in ipairs(owners) do
         lists[#lists + 1] = { owner.name, owner.options or {} }
      end
   end
   return lists
end

describe("declared options", function()
   it("have a name of their own, a type, help, and a default of this type", function()
      for _, entry in ipairs(declared()) do
         local owner, list = table.unpack(entry)
         for i, option in ipairs(list) do
            local what = owner .. ": " .. option.name
            assert.equal(option, options.find(list, option.name), what)
            assert.matches("%S", option.help, what)
            assert.is_true(option.unit == nil or option.type == "int", what)
            assert.equal(option.type == "choice", option.choices ~= nil, what)
            local given = { [option.name] = option.default }
            local checked = options.check(list, given, owner)
            if option.type == "size" and option.default then -- a text such as 4M
               assert.equal("integer", math.type(checked[option.name]), what)
            else
               assert.same(given, checked, what)
            end
            assert.equal(option.name, options.names(list)[i])
         end
      end
   end)

   it("are described with their values, unit and default", function()
      local function described(option)
         return { options.described(option) }
      end
      assert.same({ "width=int", "of the picture; in pixels; default 12" }, described {
         name = "width", type = "int", unit = "pixels", default = 12, help = "of the picture" })
      assert.same({ "order=up|down", "of rows" }, described {
         name = "order", type = "choice", choices = { "up", "down" }, help = "of rows" })
      assert.same({ "gz=bool", "pack it" },
         described { name = "gz", type = "bool", default = false, help = "pack it" })
      assert.same({ "by=text", "column; default: the first" }, described {
         name = "by", type = "text", default = "x", help = "column; default: the first" })
   end)

   it("are all listed by --list-formats, also those of writing", function()
      local text = command.run "profio --list-formats"
      for _, entry in ipairs(declared()) do
         local is_listed = entry[1] ~= "open" and entry[1] ~= "recorder"
         for _, option in ipairs(is_listed and entry[2] or {}) do
            assert.is_truthy(text:find("\n   --set " .. option.name .. "=", 1, true),
               entry[1] .. ": " .. option.name)
         end
      end
      assert.matches("\n   %-%-set line_end=crlf|lf +with %-%-merge: end of the lines", text)
   end)
end)
