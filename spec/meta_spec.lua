-- The stub that describes the C core and the native half of stores for editors names everything
-- that they have.
--
-- Tags: user.
-- Unsanitized: texts, options and files of Lua alone.

local core = require "profio.core"
local store = require "profio.store"

local function stub()
   local texts = {}
   for i, name in ipairs { "core", "core_folders", "core_part", "core_overview", "core_events",
      "core_profile", "core_command", "core_recorder", "core_stream", "native_store" } do
      local file <close> = assert(io.open("lua/profio/meta/" .. name .. ".lua"))
      texts[i] = file:read "a"
   end
   return table.concat(texts)
end

-- The names that the core's userdata answer to: { "profio.reader", "close" }, ...
local function methods_of_the_core()
   local list = {}
   for name, metatable in pairs(debug.getregistry()) do
      if type(name) == "string" and name:match "^profio%." and type(metatable) == "table" then
         local index = rawget(metatable, "__index")
         for method in pairs(type(index) == "table" and index or {}) do
            if type(method) == "string" and not method:match "^__" then
               list[#list + 1] = { class = name, method = method }
            end
         end
      end
   end
   return list
end

describe("lua/profio/meta/core.lua", function()
   local text = stub()

   it("has every function of the core", function()
      local missing = {}
      for module, functions in pairs { core = core, store = store } do
         for name, value in pairs(functions) do
            local line = ("\nfunction %s.%s("):format(module, name)
            if type(value) == "function" and not text:find(line, 1, true) then
               missing[#missing + 1] = name
            end
         end
      end
      assert.same({}, missing)
   end)

   it("has every method of the core's userdata", function()
      local missing = {}
      local methods = methods_of_the_core()
      for _, found in ipairs(methods) do
         local class = found.class:match "^profio%.(.*)$"
         if not text:find("\nfunction " .. class .. ":" .. found.method .. "(", 1, true) then
            missing[#missing + 1] = class .. ":" .. found.method
         end
      end
      assert.is_true(#methods > 0)
      assert.same({}, missing)
   end)

   it("has nothing that the core has not", function()
      local gone = {}
      for module, name in text:gmatch "\nfunction (%l+)%.([%w_]+)%(" do
         if type((module == "core" and core or store)[name]) ~= "function" then
            gone[#gone + 1] = name
         end
      end
      for class, method in text:gmatch "\nfunction ([%w_]+):([%w_]+)%(" do
         local metatable = debug.getregistry()["profio." .. class]
         if not metatable or not metatable.__index[method] then
            gone[#gone + 1] = class .. ":" .. method
         end
      end
      assert.same({}, gone)
   end)
end)
