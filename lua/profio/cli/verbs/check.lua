-- profio check: all violations of the format.

local verbs = require "profio.cli.verbs"

local check = {
   name = "check",
   help = "read the whole file and list all violations of its format",
   description = "Read the whole file and list all violations of its format. Status 0: nothing is "
      .. "damaged; 3: something is.",
   usage = "profio check [options] FILE...",
   options = { "-o", "--format", "--set" },
   examples = {
      { "profio check TEST.PRF", "is it whole? The status says it too" },
      { "profio help winidea", "the codes of warnings of a format, with cause and remedy" },
   },
}

check.more = {}
for _, name in ipairs(verbs.opening) do
   if name ~= "--strict" then -- it lists all
      table.insert(check.more, name)
   end
end

function check.prepare(given)
   given.check = true
end

return check
