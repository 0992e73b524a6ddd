-- The exports: ways to hand rows to another program. A new one is a file beside this one and a word
-- in this list.

local exports = {}

local order = { "csv", "tsv", "ndjson", "json" }

local by_name = {}

for i, name in ipairs(order) do
   local export = require("profio.exports." .. name)
   assert(export.name == name, "profio.exports." .. name .. " has another name")
   assert(type(export.help) == "string", name .. " has no help")
   assert(type(export.write) == "function", name .. " writes nothing")
   order[i], by_name[name] = export, export
end

---All exports in order: { name =, help =, write = function(reader, options, out) }.
---@return table[]
function exports.all()
   return table.move(order, 1, #order, 1, {})
end

---The export of a name; raises with the names there are.
---@param name string
---@return table
function exports.named(name)
   if not by_name[name] then
      local names = {}
      for i, export in ipairs(order) do
         names[i] = export.name
      end
      error(("no export '%s'; there are: %s"):format(tostring(name), table.concat(names, ", ")), 0)
   end
   return by_name[name]
end

return exports
