-- The results of limits as a document: what the verdict is, each limit with its worst occurrence,
-- and what the trace has lost.

local junit = require "profio.cli.compare.junit"
local markup = require "profio.internal.markup"
local messages = require "profio.cli.messages"
local output = require "profio.cli.output"
local texts = require "profio.internal.texts"
local warnings = require "profio.cli.warnings"

local verdict = {}

---The forms of a document.
verdict.forms = { "markdown", "junit", "html" }

---@class profio.Verdict
---@field title string what was checked
---@field is_kept boolean
---@field sentence string
---@field cells string[][] of each limit: state, area, column, value, bound and worst occurrence
---@field results table[] of limits.check
---@field notes string[] damage, losses and notes

-- Returns the notes of a trace: those of the command, and all warnings.
local function notes_of(context)
   local notes = table.move(context.notes, 1, #context.notes, 1, {})
   for _, warning in ipairs(context.trace.warnings) do
      notes[#notes + 1] = ("%s: %s [%s]"):format(warning.kind, messages.command(warning.message),
         warning.code)
   end
   return notes
end

---Returns the verdict.
---@param context profio.Context
---@param results table[] all
---@param shown table[] those to show, failures first
---@param cells string[][] of these
---@return profio.Verdict
function verdict.of(context, results, shown, cells)
   local failed = 0
   for _, result in ipairs(results) do
      failed = failed + (result.state == "ok" and 0 or 1)
   end
   local damage = warnings.has_damage(context.trace.warnings)
      and "; the trace is damaged, and the verdict is of what could be read" or ""
   return { title = context.trace.path, is_kept = failed == 0, results = shown, cells = cells,
      notes = notes_of(context), sentence = failed == 0
         and ("PASSED: %s kept%s"):format(texts.counted(#results, "limit"), damage)
         or ("FAILED: %d of %s not kept%s"):format(failed, texts.counted(#results, "limit"),
            damage) }
end

-- {====== Forms ======

local heads = { "", "area", "column", "value", "limit, worst occurrence" }

local function write_markdown(out, made)
   out:write("**", markup.markdown(made.sentence), "** (", markup.markdown(made.title), ")\n\n| ",
      table.concat(heads, " | "), " |\n|:--|:--|:--|--:|:--|\n")
   for _, row in ipairs(made.cells) do
      out:write(markup.markdown_row(row))
   end
   for i, note in ipairs(made.notes) do
      out:write(i == 1 and "\n" or "", "- ", markup.markdown(note), "\n")
   end
end

local function write_junit(out, made)
   local names, failures = {}, {}
   for i, result in ipairs(made.results) do
      local _, area, column, value, bound = table.unpack(made.cells[i])
      names[i] = result.text .. (result.text:find "^~" and " (" .. area .. ")" or "")
      failures[#failures + 1] = result.state ~= "ok" and { condition = names[i],
         state = "failed", text = ("%s %s: %s, limit %s"):format(area, column, value, bound) }
         or nil
   end
   junit.write(out, "profio verdict", names, failures, table.concat({ made.sentence,
      table.unpack(made.notes) }, "\n"))
end

local style = [[
body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;color:#111;
background:#fff}
h1{font-size:1.3em}
.verdict{font-size:1.2em;font-weight:600;border-left:.4em solid;padding:.3em .8em}
.ok{color:#14532d}.failed{color:#991b1b}
table{border-collapse:collapse}
th,td{text-align:left;padding:.3em .9em .3em 0;border-bottom:1px solid #ccc}
td.number{text-align:right;font-variant-numeric:tabular-nums}
@media (prefers-color-scheme:dark){body{color:#eee;background:#111}.ok{color:#86efac}
.failed{color:#fca5a5}}
]]

local function write_html(out, made)
   local class = made.is_kept and "ok" or "failed"
   out:write('<!DOCTYPE html>\n<html lang="en">\n', markup.policy { styles = { "\n" .. style } },
      '<meta charset="utf-8">\n',
      '<meta name="viewport" content="width=device-width">\n<title>', markup.escaped(made.sentence),
      "</title>\n<style>\n", style, "</style>\n<h1>", markup.escaped(made.title),
      '</h1>\n<p class="verdict ', class, '">', markup.escaped(made.sentence),
      "</p>\n<table>\n<tr>")
   for _, head in ipairs(heads) do
      out:write("<th>", head, "</th>")
   end
   out:write "</tr>\n"
   for i, row in ipairs(made.cells) do
      local is_ok = made.results[i].state == "ok"
      out:write("<tr>")
      for c, text in ipairs(row) do
         out:write(c == 1 and ('<td class="%s">'):format(is_ok and "ok" or "failed")
            or c == 4 and '<td class="number">' or "<td>", markup.escaped(text), "</td>")
      end
      out:write "</tr>\n"
   end
   out:write "</table>\n"
   for i, note in ipairs(made.notes) do
      out:write(i == 1 and "<h2>Notes</h2>\n<ul>\n" or "", "<li>", markup.escaped(note), "</li>\n",
         i == #made.notes and "</ul>\n" or "")
   end
   out:write "</html>\n"
end

local writers = { markdown = write_markdown, junit = write_junit, html = write_html }

-- }======

---Writes a verdict.
---@param out profio.Output
---@param made profio.Verdict
---@param form "markdown"|"junit"|"html"
function verdict.write(out, made, form)
   writers[form](out, made)
end

---Writes a verdict as JUnit XML into a file.
---@param path string
---@param made profio.Verdict
---@param inputs string[] files that are read, which it must not be
function verdict.write_junit_file(path, made, inputs)
   local out <close> = output.open(path, inputs, {})
   write_junit(out, made)
   out:close()
end

---Returns the form that the ending of a file names, or nil.
---@param path string|nil
---@return string|nil
function verdict.form_of(path)
   local ending = path and path:match "%.(%w+)$"
   return ending and ({ html = "html", md = "markdown", xml = "junit" })[ending:lower()]
end

return verdict
