-- profio merge: several files as one.

local verbs = require "profio.cli.verbs"

local merge = {
   name = "merge",
   help = "write several files as one, summed",
   usage = "profio merge [options] [-o OUT] FILE...",
   options = { "-o", "--set", "--format" },
   more = verbs.opening,
   argument = { "FILE", "traces of one format, all readable; the sum goes to OUT, else to "
      .. "standard output" },
   examples = {
      { "profio merge -o gmon.sum gmon.out.*", "the sum of all runs, for gprof too" },
      { "profio merge -o merged/ db", "the epochs of a DCPI database as one" },
   },
}

function merge.prepare(given)
   given.merge = true
end

return merge
