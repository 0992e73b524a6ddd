-- profio info: the facts of a file.

local verbs = require "profio.cli.verbs"

local info = {
   name = "info",
   help = "format, header fields, tables with counts, and warnings",
   usage = "profio info [options] FILE...",
   options = { "--where", "--output", "-o", "--format", "--set" },
   examples = {
      { "profio info gmon.out", "what the file is, and how much is in it" },
      { "profio info --output json --where part=header run.txt.BIN",
         "the fields of its header, for a program" },
   },
}

info.more = verbs.joined({ "--columns", "--sort", "--top", "--explain", "--wide" }, verbs.opening)

function info.prepare(given)
   given.info = true
end

return info
