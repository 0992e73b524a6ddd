-- The stores that a command of `profio store` works on.

local contents = require "profio.internal.store.contents"
local core = require "profio.core"
local failure = require "profio.internal.command.failure"
local files = require "profio.cli.files"
local profio = require "profio"

local target = {}

-- Returns the first of the files of a command, which must be a store.
local function store_of(given)
   local path = given.files[1]
   if core.is_executable(path) then
      failure.use("profio store %s expects a STORE, and %s is an executable", given.verb.name, path)
   end
   return path
end

---Checks that a command names one store and nothing else.
---@param given table
---@return string path
function target.one(given)
   if #given.files ~= 1 then
      failure.use("profio store %s expects one STORE, got %s", given.verb.name,
         #given.files == 0 and "none" or table.concat(given.files, " "))
   end
   return store_of(given)
end

---Takes the store, which is the first word, from the files of a command.
---@param given table
---@param others string what follows it
---@return string path
function target.first(given, others)
   if #given.files < 2 then
      failure.use("profio store %s expects a STORE and %s", given.verb.name, others)
   end
   local path = store_of(given)
   table.remove(given.files, 1)
   return path
end

---Makes a command stand for a report of a store.
---@param given table
---@param report string
---@param options table<string, string> of the report, by name
function target.compare(given, report, options)
   given.report, given.format = report, "store"
   for name, value in pairs(options) do
      table.insert(given.set, name .. "=" .. value)
   end
end

---Opens a store; a failure ends the command.
---@param path string
---@param mode "read"|"write"|"create"
---@return profio.Store
function target.open(path, mode)
   return failure.check(profio.store(path, { mode = mode }))
end

---Returns the conditions of --run for a store.
---@param given table
---@return table
function target.where(given)
   return files.selection(given.run) or {}
end

---Returns the conditions of a command that changes runs: those of --run, or none with --all.
---@param given table
---@param expected string the options that the command expects
---@return table
function target.some(given, expected)
   if (given.run ~= nil) == (given.all ~= nil) then
      failure.use("profio store %s expects %s", given.verb.name, expected)
   end
   return target.where(given)
end

---Returns the labels of --label.
---@param given table
---@return table<string, string>
function target.labels(given)
   local labels = {}
   for _, text in ipairs(given.label) do
      local key, value = text:match "^([^=]+)=(.+)$"
      if not key then
         failure.use("--label expects KEY=VALUE, got '%s'", text)
      elseif labels[key] then
         failure.use("--label: '%s' is given twice", key)
      end
      labels[key] = value
   end
   return contents.check_labels(labels)
end

return target
