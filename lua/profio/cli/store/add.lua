-- profio store add: files as runs of a store.

local contents = require "profio.internal.store.contents"
local core = require "profio.core"
local failure = require "profio.internal.command.failure"
local files = require "profio.cli.files"
local folders = require "profio.internal.store.folders"
local messages = require "profio.cli.messages"
local outputs = require "profio.internal.writing.outputs"
local plain = require "profio.internal.plain"
local progress = require "profio.cli.progress"
local reading = require "profio.cli.store.reading"
local runs = require "profio.cli.runs"
local stores = require "profio.internal.store"
local target = require "profio.cli.store.target"
local texts = require "profio.internal.texts"
local verbs = require "profio.cli.verbs"
local words = require "profio.internal.command.values"

local add = {
   name = "add",
   of = "store",
   help = "add files as runs",
   description = "Add files as runs, each with the files beside it. A run is known by the hash of "
      .. "its files and options: adding it again changes nothing.",
   usage = "profio store add [options] STORE FILE...",
   options = { { "--label", "KEY=VALUE", "a label of the runs, by which --run finds them",
         many = true },
      { "--one-run", false, "all files are one run, as they are one trace for profio report" },
      { "--jobs", "N", "processes that read the files; default: one for each processor, if the "
         .. "files are many" },
      { "--move", false, "remove each file when its run is on the disk, also what a "
         .. "store does not keep of it; damaged files stay" }, "--exe", "--format",
      "--set" },
   argument = { "STORE", "a file, which is created if it does not exist; then traces, and the "
      .. "executable of all of them" },
   examples = {
      { "profio store add fleet.db --label version=v2 --label host=h7 *.pb.gz",
         "each file is a run with these labels" },
      { "profio store add --one-run fleet.db worker1.br worker2.br", "two files, one run" },
   },
}

add.more = {}
for _, name in ipairs(verbs.opening) do
   if name ~= "--run" then
      table.insert(add.more, name)
   end
end

-- Runs that are written in one transaction: until there are so many, so many bytes, or seconds.
local MOST_RUNS, MOST_BYTES, MOST_SECONDS = 256, 64 << 20, 1

-- The same where no other writer waits, and how many runs are passed on at once.
local MOST_PARTS, MOST_PART_BYTES, PART <const> = 1024, 256 << 20, 16

local FEWEST_FILES = 16 -- for each process
local MOST_JOBS = 256

-- {====== Files ======

-- Returns size and time of a file, to see that it did not change before it is removed.
local function state_of(path)
   local size, time, id = core.file_state(path)
   return size and ("%d %d %s"):format(size, time, id)
end

-- Removes files of --move; a file that has changed since the command began is kept.
local function remove(job)
   local moved = job.moved
   job.moved = {}
   for _, path in ipairs(moved) do
      if state_of(path) ~= job.states[path] then
         messages.say(job.err, path .. ": kept, because it has changed since it was read")
         job.status = failure.NOTHING
      else
         local done, message = core.remove(path)
         if not done then
            messages.say(job.err, message)
            job.status = failure.NOTHING
         end
      end
   end
end

-- }======

-- {====== Adding ======

-- Writes the runs that were read since the last call. With `is_part` the transaction goes on.
local function flush(job, is_part)
   local batch = job.batch
   local count, message = job.store:write(batch, { is_part = is_part })
   if not count then
      failure.raise(failure.NOTHING, ("%s\n%s added before that"):format(message,
         texts.counted(job.added, "run")))
   end
   job.sent, job.known, job.batch = job.sent + count, job.known + #batch - count, {}
   for _, prepared in ipairs(batch) do
      stores.release(prepared)
   end
   if not is_part then
      job.added, job.sent, job.runs, job.bytes, job.since = job.added + job.sent, 0, 0, 0, os.time()
      job.reading:forget()
      remove(job)
   end
end

-- Writes what was read if it is enough for a transaction, or for a part of one.
local function flush_if_full(job)
   local most, bytes = MOST_RUNS, MOST_BYTES
   if job.has_parts then
      most, bytes = MOST_PARTS, MOST_PART_BYTES
   end
   if job.runs >= most or job.bytes >= bytes or os.time() - job.since >= MOST_SECONDS then
      flush(job)
   elseif job.has_parts and #job.batch >= PART then
      flush(job, true)
   end
end

-- With --move removes a file when the batch is on the disk; folders stay, and damaged files, which
-- may have more than could be read.
local function move_later(job, path)
   if not job.given.move or not job.states[path] then
      return
   elseif job.damaged[path] then
      messages.say(job.err, path .. ": kept, because it is damaged")
   else
      job.moved[#job.moved + 1] = path
   end
end

-- Adds what was read of a group to the batch. A file that cannot be read may be one beside another
-- file of the command line, so the message waits until all are read.
local function take(job, group, result)
   for _, path in ipairs(result.sources) do
      job.read[path], job.damaged[path] = true, result.damage and true or job.damaged[path]
   end
   if not result.prepared then
      job.failed[#job.failed + 1] = { path = group.paths[1], message = result.message }
      return
   end
   if result.damage then
      job.err:write(result.damage)
      job.status = math.max(job.status, failure.DAMAGE)
   end
   job.left_out = job.left_out + (result.prepared.stored.left_out and 1 or 0)
   job.batch[#job.batch + 1] = result.prepared
   job.runs, job.bytes = job.runs + 1, job.bytes + result.prepared.stored.bytes
   for _, path in ipairs(group.paths) do
      move_later(job, path)
   end
   flush_if_full(job)
end

-- Reports the files that could not be read, except those that were read beside another file.
local function report_failed(job)
   for _, failed in ipairs(job.failed) do
      if job.read[failed.path] then
         move_later(job, failed.path)
      else
         messages.say(job.err, messages.failure(failed.message))
         job.status = failure.NOTHING
      end
   end
   remove(job)
end

local function read_all(job, groups, interrupt)
   local show = progress.of_files(#groups, job.given, job.err)
   for i, group in ipairs(groups) do
      local paths = group.paths
      if interrupt:wait(0) then
         flush(job)
         failure.raise(failure.NOTHING, ("interrupted: %s added to %s; the other files can be "
            .. "added later"):format(texts.counted(job.added, "run"), job.path))
      elseif not paths[2] and job.read[paths[1]] then -- beside a file that was added
         job.reading:skip(i)
         move_later(job, paths[1])
      else
         take(job, group, job.reading:next(i))
      end
      show(i)
   end
   job.reading:finish()
   flush(job)
end

-- }======

-- Returns the states of the files of all runs, by path.
local function states_of(groups)
   local states = {}
   for _, group in ipairs(groups) do
      for _, path in ipairs(group.paths) do
         states[path] = state_of(path)
      end
   end
   return states
end

-- Returns how many processes read the files of --jobs: by default as many as there are processors,
-- but one for a few files.
local function jobs_of(given, count)
   local jobs = given.jobs and words.number(given.jobs, "--jobs")
      or math.min(core.processors(), count // FEWEST_FILES)
   if math.type(jobs) ~= "integer" or jobs < (given.jobs and 1 or 0) or jobs > MOST_JOBS then
      failure.use("--jobs expects a number from 1 to %d, got '%s'", MOST_JOBS, given.jobs)
   end
   return math.max(1, math.min(jobs, count))
end

-- Begins to read, in other processes before the store is opened. They are to be ended before it is
-- closed: the last process that closes a database of SQLite removes the files beside it.
local function begin(given, err, path, groups, opening)
   local count = jobs_of(given, #groups)
   if count > 1 then
      target.open(path, "create"):close()
   end
   return reading.begin(given, err, path, groups, opening, count)
end

-- Returns the runs: lists of files with the labels of each run.
local function groups_of(given, paths, labels)
   if given.one_run then
      return { { paths = paths, labels = labels } }
   end
   local groups = {}
   for _, path in ipairs(paths) do
      local list = { { path = path, labels = {} } }
      if folders.is_one(path) then
         list = failure.check(folders.read(path))
      end
      for _, run in ipairs(list) do
         for key, value in pairs(labels) do
            run.labels[key] = value
         end
         groups[#groups + 1] = { paths = { run.path },
            labels = contents.check_labels(run.labels) }
      end
   end
   return groups
end

---@param given table
---@param err file*
---@return integer status
function add.run(given, err)
   local path = target.first(given, "the files to be added")
   local labels, side = target.labels(given), runs.of(given)
   outputs.check_inputs({ path }, files.named(given))
   local groups = groups_of(given, side.traces, labels)
   local interrupt <close> = core.interrupt()
   local source <close> = begin(given, err, path, groups, files.opening(given, side))
   local store <close> = target.open(path, "create")
   source.store = store
   local closed_first <close> = source -- luacheck: ignore
   local job = { given = given, err = err, path = plain(path), store = store, reading = source,
      states = states_of(groups), read = {}, damaged = {}, failed = {}, batch = {}, moved = {},
      runs = 0, bytes = 0, since = os.time(), sent = 0, added = 0, known = 0, left_out = 0,
      has_parts = stores.has_parts(store), status = failure.READ }
   read_all(job, groups, interrupt)
   report_failed(job)
   io.stdout:write(job.path, ": ", texts.counted(job.added, "run"), " added",
      job.known > 0 and (", %d already there"):format(job.known) or "", "\n")
   if job.left_out > 0 then
      messages.say(err, ("%s: the store has the functions and weights of %s, but not the "
         .. "addresses, mappings, labels of samples or costs of calls that the files %s")
         :format(job.path, texts.counted(job.left_out, "run"),
            given.move and "had" or "have: keep these files if you need them"))
   end
   return job.status
end

return add
