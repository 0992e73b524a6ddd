-- profio tables: the tables of a file, or the rows of one.

local verbs = require "profio.cli.verbs"

local tables = {
   name = "tables",
   help = "the tables of a file with their columns, or the rows of one",
   usage = "profio tables [--table NAME] [options] FILE...",
   options = { "--table", "--columns", "--where", "--from", "--to", "--lane", "--group",
      "--aggregate", "--sort", "--top", "--output", "--unit", "-o", "--set" },
   examples = {
      { "profio tables run.txt.BIN", "each table and its columns, with type and meaning" },
      { "profio tables --table timeline --where core=1 --top 20 run.txt.BIN",
         "the first rows of one core" },
   },
}

tables.more = verbs.joined({ "--unfilter", "--explain", "--wide", "--export", "--compat",
   "--follow" }, verbs.opening)

function tables.prepare(given)
   if not given.table then
      given.report = "tables"
   end
end

return tables
