-- profio store export: runs as files.

local failure = require "profio.internal.command.failure"
local messages = require "profio.cli.messages"
local plain = require "profio.internal.plain"
local target = require "profio.cli.store.target"
local texts = require "profio.internal.texts"

local export = {
   name = "export",
   of = "store",
   help = "write each run as a pprof file, with a list of the labels",
   description = "Write each run of a store as a pprof file into a folder, with runs.csv, a list "
      .. "of the runs with their labels. profio store add STORE FOLDER adds them again.",
   usage = "profio store export [options] -o FOLDER STORE",
   options = { "-o", "--run" },
   argument = { "STORE", "a store" },
   examples = {
      { "profio store export -o v2 --run version=v2 fleet.db", "the runs of a version as files" },
      { "profio store add other.db v2", "adds them to another store, with their labels" },
   },
}

-- Returns whether some of the runs have histograms and arcs, whose files have addresses only.
local function has_programs(store, where)
   for _, run in ipairs(failure.check(store:runs(where))) do
      if run.kind == "graph" then
         return true
      end
   end
   return false
end

---@param given table
---@param err file*
---@return integer status
function export.run(given, err)
   local path = target.one(given)
   if not given.out then
      failure.use "profio store export expects -o FOLDER"
   end
   local where = target.where(given)
   local store <close> = target.open(path, "read")
   local count, with_calls = store:export(given.out, where)
   failure.check(count, with_calls)
   io.stdout:write(plain(given.out), ": ", texts.counted(count, "run"), " written\n")
   if with_calls > 0 then
      messages.say(err, ("the files of %s do not have the statistics of calls of the store; "
         .. "profio store merge copies them"):format(texts.counted(with_calls, "run")))
   end
   if has_programs(store, where) then
      messages.say(err, "the .gmon files have no names of functions; read and add them with the "
         .. "executable of their program (--exe)")
   end
   return count > 0 and failure.READ or failure.NOTHING
end

return export
