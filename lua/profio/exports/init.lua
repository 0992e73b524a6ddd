-- The exports: ways to hand rows, a profile or a whole trace to another program. A new one is a
-- file beside this one and a word in this list.
--
-- An export is a table:
--    name     its word on the command line
--    help     one line
--    endings  of the names of such files, or nil; a file named callgrind.out.1 is one of callgrind
--    takes    "rows" (a reader of the core), "profile" or "trace"; nil: rows
--    options  { { name =, type =, default =, help = }, ... } of those that take a profile or trace
--    fits     function(trace): true, or false and a reason; nil: fits every trace
--    weighs_profile  true: a metric asks for the profile in place of the timeline
--    write_profile  the same for a profile, where a trace is taken too
--    is_whole, write_trace  of those that take a profile: function(trace), whether the trace itself
--             is written, and what writes it
--    uses     which options of the command an export of the whole uses; set here, of the others
--    write    function(what, options, file): true (rows: how many), or nil, message, code and
--             "EPIPE" when the reader of a pipe left. An export that reads further files adds their
--             paths to options.inputs

local options = require "profio.options"
local outputs = require "profio.outputs"
local raise = require "profio.raise"

local exports = {}

local order = {
   "csv",
   "tsv",
   "ndjson",
   "json",
   "btf",
   "pprof",
   "speedscope",
   "callgrind",
   "chrome",
   "folded",
   "firefox",
   "svg",
   "html",
}

local by_name = {}

local is_listed = {}
for _, name in ipairs(order) do
   is_listed[name] = true
end

-- The options of the command that an export uses (see profio.cli.together): rows are shaped by all
-- that shape rows, profiles are narrowed and compared.
local function uses_of(export)
   if export.takes == "rows" then
      return { "rows" }
   end
   local uses = { "span of events" }
   if export.takes == "profile" or export.write_profile then
      table.move({ "functions", "diff" }, 1, 2, 2, uses)
   end
   for _, option in ipairs(export.options or {}) do
      uses[#uses + 1] = option.name == "metric" and "metric" or nil
   end
   return uses
end

-- An export of the list. Its file is read when it is first wanted: most commands want none.
local function load(name)
   local export = by_name[name]
   if not export then
      export = require("profio.exports." .. name)
      assert(export.name == name, "profio.exports." .. name .. " has another name")
      assert(type(export.help) == "string", name .. " has no help")
      assert(type(export.write) == "function", name .. " writes nothing")
      export.takes = export.takes or "rows"
      export.uses = uses_of(export)
      by_name[name] = export
   end
   return export
end

---All exports in order.
---@return table[]
function exports.all()
   local list = {}
   for i, name in ipairs(order) do
      list[i] = load(name)
   end
   return list
end

---Their names, for help texts: "csv, tsv, ...".
---@return string
function exports.names()
   return table.concat(order, ", ")
end

---The export of a name, or nil.
---@param name string
---@return table|nil
function exports.find(name)
   return is_listed[name] and load(name) or nil
end

---The export of a name; raises with the names there are.
---@param name string
---@return table
function exports.named(name)
   if not is_listed[name] then
      error(("no export '%s'; there are: %s"):format(tostring(name), exports.names()), 0)
   end
   return load(name)
end

---The export of profiles whose files are named so, or nil.
---@param path string
---@return string|nil kind
function exports.of_path(path)
   local name = path:lower():match "[^/]*$"
   if name:find "^callgrind%.out" then
      return "callgrind"
   end
   for _, kind in ipairs(order) do
      for _, ending in ipairs(load(kind).endings or {}) do
         if name:sub(-#ending) == ending then
            return kind
         end
      end
   end
   return nil
end

---Whether an export that takes a profile writes a trace itself.
---@param export table
---@param trace profio.Trace
---@return boolean
function exports.is_whole(export, trace)
   return export.is_whole ~= nil and export.is_whole(trace)
end

-- Into a file of that path: only a complete one replaces an older one. Files that the export itself
-- has read are inputs too.
local function into_file(write, what, given, path)
   return outputs.write(path, function(file)
      local done, message, code, broken = write(what, given, file)
      if not done then
         return nil, message, code, broken
      end
      outputs.check({ path }, given.inputs)
      return true
   end)
end

---Write a profile or a trace through an export. Raises when the export takes something else, for
---options it does not have, and when the path is a file that the trace or profile was read from.
---@param kind string
---@param takes "profile"|"trace"
---@param what any
---@param given table|nil options of the export
---@param path string|nil nil: the bytes are returned
---@param inputs string[] paths of the files that were read
---@return boolean|string|nil
---@return string|nil message
---@return string|nil code
function exports.run(kind, takes, what, given, path, inputs)
   raise.expect(path, "string?", "export: the path")
   local export = exports.named(kind)
   local write = export.write
   if takes == "profile" and export.write_profile then
      write = export.write_profile
   elseif takes == "trace" and exports.is_whole(export, what) then
      write = export.write_trace
   elseif export.takes ~= takes then
      error(("export '%s' takes %s, not a %s"):format(kind, export.takes == "rows" and
         "the rows of a view: view:write" or "a " .. export.takes, takes), 0)
   end
   given = options.check(export.options or {}, given or {}, "export '" .. kind .. "'")
   if takes == "trace" and export.fits then
      local fits, reason = export.fits(what)
      if not fits then
         return nil, ("export '%s' does not fit this trace: %s"):format(kind, reason), "unsupported"
      end
   end
   given.inputs, given.notes = table.move(inputs, 1, #inputs, 1, {}), {}
   if path then
      outputs.check({ path }, given.inputs)
      return into_file(write, what, given, path)
   end
   local file <close> = assert(io.tmpfile())
   local done, message, code = write(what, given, file)
   if not done then
      return nil, message, code
   end
   file:seek "set"
   return file:read "a"
end

return exports
