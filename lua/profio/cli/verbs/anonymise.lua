-- profio anonymise: a trace with aliases instead of names, to be sent.

local failure = require "profio.internal.command.failure"
local files = require "profio.cli.files"
local outputs = require "profio.internal.writing.outputs"
local runs = require "profio.cli.runs"
local warnings = require "profio.cli.warnings"

local anonymise = {
   name = "anonymise",
   help = "write a trace with aliases instead of names, to be sent",
   description = "Write a trace with aliases instead of names, and without parameters, paths and "
      .. "comments, in its own format. Times, counts and the order stay, so that it shows the "
      .. "same fault. Files beside the trace are written beside OUT.",
   usage = "profio anonymise [options] -o OUT FILE",
   options = { "-o",
      { "--aliases", "CSV", "also write the list of aliases and names, which you keep" },
      { "--known-aliases", "CSV",
         "use the aliases of such a list, of another file of the program" },
      "--set", "--format" },
   more = { "--mapping", "--trust-paths", "--load" },
   argument = { "FILE", "a trace" },
   examples = {
      { "profio anonymise -o fault.prf TEST.PRF", "a file that can be sent" },
      { "profio anonymise -o fault.txt --aliases names.csv run.txt",
         "the list says what an answer about f12 is about" },
   },
}

-- Raises for arguments that cannot be used.
local function check(given)
   if not given.files[1] or given.files[2] then
      failure.use("anonymise expects one FILE, got %d: leave out an executable, which is not sent; "
         .. "--known-aliases gives several files the same aliases", #given.files)
   elseif not given.out then
      failure.use "anonymise: say where to write: -o OUT"
   end
end

---@param given table
---@param err file*
---@return integer status
---@return boolean is_closed
function anonymise.run(given, err)
   check(given)
   outputs.check({ given.out, given.aliases }, files.named(given))
   local side = runs.of(given, true)
   local opened, status = files.open(given, side, err, true)
   local trace <close> = opened
   failure.check(trace:anonymise(given.out, { aliases = given.aliases,
      known_aliases = given.known_aliases }))
   return warnings.report(trace, err) and failure.DAMAGE or status, true
end

return anonymise
