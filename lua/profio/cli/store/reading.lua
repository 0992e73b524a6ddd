-- Reads files for profio store add, in this process or in several workers (cli/processes.lua). Each
-- worker reads every Nth run and passes it on through a pipe; this process takes the runs in the
-- order of the command line, and is the only one that writes, so the result does not depend on how
-- many there are. A worker ends when it cannot write to its pipe any more, because this process has
-- ended.

local command_line = require "profio.cli.command_line"
local core = require "profio.core"
local details = require "profio.internal.store.details"
local failure = require "profio.internal.command.failure"
local files = require "profio.cli.files"
local processes = require "profio.cli.processes"
local script = require "profio.cli.script"
local stores = require "profio.internal.store"
local target = require "profio.cli.store.target"
local traces = require "profio.internal.trace"
local warnings = require "profio.cli.warnings"

local reading = {}

---Files that are one run.
---@class profio.RunFiles
---@field paths string[]
---@field labels table<string, string>

---The result of reading one run.
---@class profio.RunRead
---@field prepared table|nil of store:prepare; nil: it failed
---@field message string|nil why it failed
---@field sources string[] the files that were read
---@field damage string|nil the warnings as lines, if one of them is damage; of a run that the store
---has only with --move, by which damaged files stay

---@class profio.Reading
---@field store profio.Store by which runs are prepared; the caller sets it
local Reading = {}
Reading.__index = Reading

-- Reads one run.
local function read(self, group)
   local list = group.paths
   local trace <close>, message = files.one(list[2] and list or list[1], self.opening, self.given)
   if not trace then
      return { message = message, sources = {} }
   end
   local prepared
   prepared, message = self.store:prepare(trace, { labels = group.labels })
   local result = { prepared = prepared, message = message, sources = {} }
   for i, source in ipairs(prepared and traces.of(trace).sources or {}) do
      result.sources[i] = source:path()
   end
   if prepared and warnings.has_damage(trace.warnings) then
      result.damage = warnings.lines(trace, self.err)
   elseif prepared and prepared.is_known and self.given.move
      and warnings.has_damage(trace:check())
   then
      result.damage = "" -- was reported when the run was added
   end
   return result
end

-- {====== Workers ======

-- Writes a result and the bytes of its profile, which are many and are not copied.
local function send(output, result, contexts)
   local bytes = details.pack(result)
   return output:write(string.pack("<I8I8", #bytes, #contexts), bytes, contexts) and output:flush()
end

---In a worker: passes on its runs, up to the first failure that ends the command.
---@param request table
---@param output profio.core.File
function reading.serve(request, output)
   request.argv.has_verb = true
   local sent, given = {}, command_line.parse(request.argv)
   script.load(given)
   local self = setmetatable({ given = given, err = io.stderr, opening = request.opening }, Reading)
   for i = request.first, #request.groups, request.count do
      local done, result = pcall(function()
         self.store = self.store or target.open(request.path, "read")
         return read(self, request.groups[i])
      end)
      local contexts
      if not done then
         result = failure.is(result) and { status = result.status, message = result.message }
            or { raised = tostring(result) }
      elseif result.prepared then
         result.prepared, contexts = stores.packed(result.prepared, sent)
      end
      if not send(output, result, contexts or "") then
         return
      end
   end
end

-- Starts the workers.
local function start(self)
   for i = 1, self.count do
      local worker, pipe = processes.start("profio.cli.store.reading", { argv = self.given.argv,
         opening = self.opening, path = self.path, groups = self.groups, count = self.count,
         first = i })
      if not worker then
         self:close()
         failure.raise(failure.NOTHING, ("%s: --jobs 1 needs none"):format(pipe))
      end
      self.pipes[i], self.workers[i] = pipe, worker
   end
end

-- Ends the command because a worker has not passed on a run.
local function lost(self, number, group)
   local how, status = self.workers[number]:wait()
   failure.raise(failure.NOTHING, ("%s: the process that reads it %s %s; add the files "
      .. "again"):format(group.paths[1], how == "signal" and "was killed by signal"
      or "has ended with status", status))
end

-- Takes a run from the worker that has read it: the result and the bytes of its profile.
local function receive(self, i)
   local number = (i - 1) % self.count + 1
   local pipe = self.pipes[number]
   local sizes = pipe:read(16)
   local size, contexts_size = 0, 0
   if sizes and #sizes == 16 then
      size, contexts_size = string.unpack("<I8I8", sizes)
   end
   local bytes = pipe:read(size) or ""
   local contexts = pipe:read(contexts_size) or ""
   local is_whole, result = details.unpack(bytes)
   if not is_whole or #bytes ~= size or #contexts ~= contexts_size then
      lost(self, number, self.groups[i])
   elseif result.raised then
      error(result.raised, 0)
   elseif result.status then
      failure.raise(result.status, result.message)
   end
   return result, contexts ~= "" and contexts or nil
end

-- }======

---Returns a run.
---@param i integer its number; each is read once, in order
---@return profio.RunRead
function Reading:next(i)
   if self.count == 1 then
      return read(self, self.groups[i])
   end
   local result, contexts = receive(self, i)
   if result.prepared then
      result.prepared = stores.unpacked(result.prepared, contexts, self.dictionary, self.programs)
   end
   return result
end

---Passes over a run that is not wanted.
---@param i integer
function Reading:skip(i)
   if self.count > 1 then
      self:next(i)
   end
end

---Frees the names of the runs so far, which were written.
function Reading:forget()
   self.dictionary = core.dictionary()
end

---Waits until the workers have ended, after all runs were taken.
function Reading:finish()
   for _, worker in ipairs(self.workers) do
      worker:wait()
   end
end

---Ends the workers, also in the middle of their work.
function Reading:close()
   for _, worker in ipairs(self.workers) do
      worker:close()
   end
end

Reading.__close = Reading.close

---Begins to read runs.
---@param given table
---@param err file*
---@param path string of the store, which must exist if there are several workers
---@param groups profio.RunFiles[]
---@param opening table options of profio.open
---@param count integer how many processes read; 1: this one
---@return profio.Reading
function reading.begin(given, err, path, groups, opening, count)
   local self = setmetatable({ given = given, err = err, path = path, groups = groups,
      opening = opening, count = count, pipes = {}, workers = {}, programs = {} }, Reading)
   self:forget()
   if count > 1 then
      start(self)
   end
   return self
end

return reading
