-- The objects of views. All methods but `reader` are in view_methods.lua, which requires this file.

local raise = require "profio.internal.raise"
local view_warnings = require "profio.internal.views.view_warnings"

local lazy_view = {}

local with_methods -- the module that has the methods of views

---@class profio.View
---@field columns string[] the names of its columns, in order
---@field warnings profio.Warning[] warnings about rows read so far; trace.warnings has them too
local View = { __name = "profio.view" }

---Returns a view. A stage is a function that puts one more reader over that of the view.
---@param open fun(): userdata|nil, string|nil, string|nil  opens a new reader
---@param stages { run: (fun(reader: userdata): userdata), where: string }[]
---@param pin any see over
---@param parts (fun(): profio.core.Parts|nil)|nil see over
---@return profio.View
function lazy_view.new(open, stages, pin, parts)
   return setmetatable({ open = open, stages = stages, pin = pin, parts = parts }, View)
end

---Returns a view of the rows of a reader.
---@param open fun(): userdata|nil, string|nil, string|nil  opens a new reader
---@param pin any kept alive as long as the view: its trace, its profile
---@param parts (fun(): profio.core.Parts|nil)|nil opens the same rows in chunks for threads
---@return profio.View
function lazy_view.over(open, pin, parts)
   return lazy_view.new(open, {}, pin, parts)
end

---Puts the stages of a view over a reader. Errors in a stage appear only here: the message names
---the line of the user's code that added the stage.
---@param self profio.View
---@param reader userdata
---@return userdata
function lazy_view.staged(self, reader)
   for _, stage in ipairs(self.stages) do
      local done, result = pcall(stage.run, reader)
      if not done then
         error(raise.positioned(result, stage.where), 0)
      end
      reader = result
   end
   return reader
end

---Returns a view with one more stage.
---@param self profio.View
---@param stage fun(reader: userdata): userdata
---@param is_apart boolean|nil it treats each row alone and calls no Lua, so that it can also be put
---over each chunk
---@return profio.View
function lazy_view.with(self, stage, is_apart)
   local stages = table.move(self.stages, 1, #self.stages, 1, {})
   stages[#stages + 1] = { run = stage, where = raise.where() }
   return lazy_view.new(self.open, stages, self.pin, is_apart and self.parts or nil)
end

---Checks names of columns that a method gets.
---@param what string the method
---@param ... string
---@return string[]|nil list nil: there are none
function lazy_view.names_given(what, ...)
   for i = 1, select("#", ...) do
      raise.expect((select(i, ...)), "string", what .. ": the name of a column")
   end
   return select("#", ...) > 0 and { ... } or nil
end

---Opens the view. A failure raises, since the trace could be opened before.
---@param self profio.View
---@return userdata
function lazy_view.run(self)
   local reader, message = self.open()
   if not reader then
      error(message, 0)
   end
   return lazy_view.staged(self, reader)
end

---@param value any
---@return boolean
function lazy_view.is_one(value)
   return getmetatable(value) == View
end

---Sets the module in whose field `methods` views find their methods.
---@param module { methods: table<string, function> }
function lazy_view.take_methods(module)
   with_methods = module
end

local methods = { reader = lazy_view.run }

raise.publish_methods(methods, "view", lazy_view.is_one)

function View:__index(key)
   if key == "columns" then
      local names = {}
      for i, field in ipairs(lazy_view.run(self):fields()) do
         names[i] = field.name
      end
      return names
   elseif key == "warnings" then
      return view_warnings.of(self.pin or self.open)
   elseif math.type(key) then -- as ipairs asks
      error("a view has no items: for row in view:records() do, or view:rows()", 2)
   end
   return methods[key] or with_methods.methods[key]
end

---#view is the number of its rows, which are read.
function View:__len()
   return with_methods.methods.count(self)
end

function View.__pairs()
   error("a view has no keys: for row in view:records() do, or view:rows()", 2)
end

function View:__tostring()
   local done, names = pcall(View.__index, self, "columns")
   return ("profio.view (%s)"):format(done and table.concat(names, ", ") or "of a closed trace")
end

return lazy_view
