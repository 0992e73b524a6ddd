-- profio export: for another program.

local exports = require "profio.internal.exporting.export_list"
local failure = require "profio.internal.command.failure"
local verbs = require "profio.cli.verbs"

local export = {
   name = "export",
   help = "convert a trace for another program",
   description = "Convert a trace for another program. KIND is one of " .. exports.names()
      .. "; without KIND, the extension of -o OUT tells it.",
   usage = "profio export [KIND] [options] [-o OUT] FILE...",
   options = { "-o", "--table", "--columns", "--where", "--from", "--to", "--focus", "--ignore",
      "--hide", "--diff", "--exe", "--set" },
   argument = { "FILE", "the kind, then traces of one format and their executable" },
   examples = {
      { "profio export speedscope -o run.json program gmon.out",
         "a flame graph for https://www.speedscope.app" },
      { "profio export -o run.pb.gz run.txt.BIN", "for pprof, by the extension" },
   },
}

export.more = verbs.joined({ "--report", "--export", "--lane", "--metric", "--chain",
   "--group", "--aggregate", "--sort", "--top", "--unfilter", "--compat", "--keep",
   "--source" }, verbs.older, verbs.opening)

function export.prepare(given)
   local name = verbs.take_name(given, exports, "export", "kind")
   if not name and given.to and exports.find(given.to) then -- a kind, not a time
      name, given.to = given.to, nil
   end
   if name and given.export then
      failure.use("export: two kinds, %s and --export %s", name, given.export)
   end
   given.export = given.export or name or given.out and exports.of_path(given.out)
   if not given.export then
      failure.use("export: the kind is missing, as in profio export pprof -o OUT FILE; "
         .. "there are: %s", exports.names())
   end
end

return export
