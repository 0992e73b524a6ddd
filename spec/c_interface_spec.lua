-- Each function that C gives to Lua is described once, by a comment at the C function that begins
-- with its name and its parameters: core.where(reader, tests), store.hasher(), source:size().
--
-- Tags: user.
-- Unsanitized: texts of the sources alone.

local core = require "profio.core"
local store = require "profio.store"

-- Returns the comments of the files below the folders of the binding, with blanks for line breaks.
local function comments()
   local list = {}
   local pipe <close> = assert(io.popen "find csrc/lua csrc/store -name '*.[ch]'")
   for path in pipe:lines() do
      local file <close> = assert(io.open(path))
      for comment in file:read "a":gmatch "/%*(.-)%*/" do
         list[#list + 1] = comment:gsub("\n%*%*", " "):gsub("%s+", " ")
      end
   end
   return list
end

-- Returns the names of the methods of the userdata of the core: "reader:close", ...
local function methods_of_the_core()
   local list = {}
   for name, metatable in pairs(debug.getregistry()) do
      local class = type(name) == "string" and name:match "^profio%.(.*)$"
      local methods = class and type(metatable) == "table" and rawget(metatable, "__index")
      for method in pairs(type(methods) == "table" and methods or {}) do
         list[#list + 1] = class .. ":" .. method
      end
   end
   return list
end

describe("the comments of C", function()
   local described = {}
   for _, comment in ipairs(comments()) do
      for name, rest in comment:gmatch "([%l_]+[.:][%l_%d]+)([({].?)" do
         described[name] = described[name] or rest
      end
   end

   it("describe each function of the core and of stores", function()
      local missing = {}
      for module, functions in pairs { core = core, store = store } do
         for name, value in pairs(functions) do
            local full = module .. "." .. name
            local is_known = type(value) ~= "function" or described[full]
            missing[#missing + 1] = not is_known and full or nil
         end
      end
      assert.same({}, missing)
   end)

   it("describe each method of the core's userdata, but those that only free it", function()
      local missing, methods = {}, methods_of_the_core()
      for _, name in ipairs(methods) do
         local is_known = described[name] or name:find ":close$" or name:find ":__"
         missing[#missing + 1] = not is_known and name or nil
      end
      assert.is_true(#methods > 100)
      assert.same({}, missing)
   end)

   it("describe nothing that there is not", function()
      local gone, there = {}, {}
      for _, name in ipairs(methods_of_the_core()) do
         there[name] = true
         there[name:match "^[^:]*"] = true
      end
      for full in pairs(described) do
         local owner, mark, name = full:match "^(.-)([.:])(.*)$"
         local module = mark == "." and ({ core = core, store = store })[owner]
         if module and type(module[name]) ~= "function"
            or mark == ":" and there[owner] and not there[full] then
            gone[#gone + 1] = full
         end
      end
      assert.same({}, gone)
   end)
end)
