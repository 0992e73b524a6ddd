-- Runs of a store as files in a folder: a pprof file for each run (a gmon.out if it has histograms
-- and arcs), and runs.csv with their labels, which allow to add the folder to another store.
--
-- runs.csv has a row for each run, with the columns file, run, time, format and path, and a column
-- `label KEY` for each label; a run without the label has an empty field. All fields are quoted.

local call_sums = require "profio.internal.store.call_sums"
local core = require "profio.core"
local outputs = require "profio.internal.writing.outputs"
local traces = require "profio.internal.trace"
local writer = require "profio.internal.writing.writer"

local folders = {}

local LIST = "/runs.csv"
local facts = { "file", "run", "time", "format", "path" }

-- {====== Writing ======

-- Returns the keys of all labels, in order.
local function keys_of(runs)
   local keys, known = {}, {}
   for _, run in ipairs(runs) do
      for key in pairs(run.labels) do
         keys[#keys + 1] = not known[key] and key or nil
         known[key] = true
      end
   end
   table.sort(keys)
   return keys
end

local function line_of(fields)
   for i, field in ipairs(fields) do
      fields[i] = '"' .. tostring(field):gsub('"', '""') .. '"'
   end
   return table.concat(fields, ",") .. "\r\n"
end

local function write_list(folder, runs)
   local keys, head = keys_of(runs), table.move(facts, 1, #facts, 1, {})
   for _, key in ipairs(keys) do
      head[#head + 1] = "label " .. key
   end
   return outputs.write(folder .. LIST, function(file)
      file:write(line_of(head))
      for _, run in ipairs(runs) do
         local fields = { run.file, run.run, run.time, run.format, run.path }
         for _, key in ipairs(keys) do
            fields[#fields + 1] = run.labels[key] or ""
         end
         file:write(line_of(fields))
      end
      return true
   end)
end

-- Writes one run as a pprof file, or as gmon.out.
local function write_run(store, run, path)
   if run.kind == "graph" then
      local trace <close>, reason, kind = store:trace { run = run.run }
      local inner = trace
      if trace then
         inner, reason, kind = traces.of(trace).stored.inner()
      end
      if not inner then
         return nil, reason, kind
      end
      return writer.save(inner, path, {})
   end
   local profile, message, code = store:profile { where = { run = run.run } }
   if not profile then
      return nil, message, code
   end
   return profile:export("pprof", path)
end

---Writes runs of a store into a folder, which is created if it does not exist. runs.csv is written
---last.
---@param store profio.Store
---@param folder string
---@param where table|nil conditions of the runs
---@return integer|nil count of runs
---@return integer|string|nil count of the runs that have statistics of calls, which the files do
---not have, or message
---@return string|nil code
function folders.write(store, folder, where)
   local runs, message, code = store:runs(where)
   if not runs then
      return nil, message, code
   end
   if core.kind(folder) ~= "folder" then
      local done, why = core.make_folder(folder)
      if not done then
         return nil, "cannot create the folder: " .. why, "io"
      end
   end
   local ok
   for _, run in ipairs(runs) do
      run.file = run.run .. (run.kind == "graph" and ".gmon" or ".pb.gz")
      ok, message, code = write_run(store, run, folder .. "/" .. run.file)
      if not ok then
         return nil, message, code
      end
   end
   ok, message, code = write_list(folder, runs)
   if not ok then
      return nil, message, code
   end
   return #runs, #runs - call_sums.without(runs)
end

-- }======

-- {====== Reading ======

-- Returns the fields of the row at a position, and the position of the next row. nil: the text ends
-- in a quoted field.
local function row_at(text, at)
   local fields = {}
   while true do
      local stop
      if text:sub(at, at) == '"' then
         local from = at + 1
         stop = at
         repeat
            stop = text:find('"', stop + 1, true)
            if not stop then
               return nil
            end
            local is_doubled = text:sub(stop + 1, stop + 1) == '"'
            stop = is_doubled and stop + 1 or stop
         until not is_doubled
         fields[#fields + 1] = text:sub(from, stop - 1):gsub('""', '"')
         stop = stop + 1
      else
         stop = text:find("[,\r\n]", at) or #text + 1
         fields[#fields + 1] = text:sub(at, stop - 1)
      end
      if text:sub(stop, stop) ~= "," then
         local _, last = text:find("^\r?\n?", stop)
         return fields, math.max(last + 1, stop + 1)
      end
      at = stop + 1
   end
end

-- Returns the labels of a row, by the names of the columns.
local function labels_of(head, fields)
   local labels = {}
   for i, name in ipairs(head) do
      local key = name:match "^label (.+)$"
      if key and (fields[i] or "") ~= "" then
         labels[key] = fields[i]
      end
   end
   return labels
end

---Returns whether a path is a folder that `write` has written.
---@param path string
---@return boolean
function folders.is_one(path)
   return core.kind(path .. LIST) == "file"
end

---Returns the runs of such a folder.
---@param folder string
---@return { path: string, labels: table<string, string> }[]|nil
---@return string|nil message
function folders.read(folder)
   local file <close>, message = core.file(folder .. LIST, "rb")
   if not file then
      return nil, message
   end
   local text = file:read "a"
   local head, at = row_at(text, 1)
   local list = {}
   if not head or head[1] ~= "file" then
      return nil, folder .. LIST .. ": its first column is not 'file'"
   end
   while at <= #text do
      local fields, next_row = row_at(text, at)
      if not fields then
         return nil, ("%s%s: row %d has a quote without an end"):format(folder, LIST, #list + 1)
      end
      if fields[1] == "" or fields[1]:find "[/\0]" then
         return nil, ("%s%s: row %d names no file of the folder"):format(folder, LIST, #list + 1)
      end
      list[#list + 1] = { path = folder .. "/" .. fields[1], labels = labels_of(head, fields) }
      at = next_row
   end
   return list
end

-- }======

return folders
