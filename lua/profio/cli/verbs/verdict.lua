-- profio verdict: whether a trace keeps its limits, as a document for a test bench.

local failure = require "profio.internal.command.failure"
local row_export = require "profio.internal.exporting.row_export"
local verbs = require "profio.cli.verbs"
local verdicts = require "profio.cli.limits.verdict"

local verdict = {
   name = "verdict",
   help = "say whether a trace keeps its limits, also as a page",
   description = "Compare a trace with a file of limits on times, chains of events, loads and "
      .. "jitter (profio help limits), and write the verdict with the worst occurrence of each, "
      .. "and what the trace has lost. Status 0: all are kept; 4: one is not; 3: all are, but the "
      .. "trace is damaged.",
   usage = "profio verdict --limits FILE [options] FILE...",
   options = { "--limits", "-o", "--from", "--to", "--unit", "--failed",
      { "--output", "FORM", "text, csv, tsv, json, ndjson, markdown, junit or html; default: by "
         .. "the ending of -o: .html, .md, .xml" },
      { "--junit", "XML", "also write JUnit XML into this file" } },
   more = verbs.joined({ "--lane" }, verbs.opening),
   outputs = row_export.outputs_and(verdicts.forms),
   examples = {
      { "profio verdict --limits limits.txt run.txt",
         "which limits are kept? The status says it too" },
      { "profio verdict run.txt --limits limits.txt -o bench.html --junit ci.xml",
         "a page for people, and XML for the CI server" },
   },
}

function verdict.prepare(given)
   if not given.limits then
      failure.use "verdict: give the limits: --limits FILE (profio help limits)"
   end
   given.output = given.output or verdicts.form_of(given.out)
   given.verdict = true
end

return verdict
