-- Steps in text, as Markdown for a pull request, and as JUnit's XML for a CI server.

local columns = require "profio.reports.columns"
local comparison_text = require "profio.cli.compare.comparison_text"
local junit = require "profio.cli.compare.junit"
local markup = require "profio.internal.markup"
local plain = require "profio.internal.plain"
local pull_request = require "profio.cli.compare.pull_request"
local texts = require "profio.internal.texts"

local forms = {}

local heads = { "change", "interval", "before", "after", "runs", "p", "from", "function" }

-- Returns the name of the function of a row; that of the whole is in parentheses.
local function name_of(name)
   return name or "(the whole)"
end

-- Returns the texts of a row, in the order of the heads.
local function cells_of(row, shown)
   local before, after = row.before or row.before_share, row.after or row.after_share
   local change = row.relative and comparison_text.percent(row.relative)
      or (before == 0 and "new" or "gone")
   return { change, comparison_text.interval(row), shown(before), shown(after),
      ("%d, %d"):format(row.runs_before, row.runs_after), comparison_text.p(row.p_adjusted), row.by,
      name_of(row["function"]) }
end

---Returns what was compared and found as a sentence.
---@param result profio.ChangesResult
---@param rows table[] that are shown
---@return string
function forms.summary(result, rows)
   local runs, versions, functions = 0, result.versions, 0
   for _, version in ipairs(versions) do
      runs = runs + version.runs
   end
   for _, one in ipairs(result.tested) do
      functions = functions + (one.name and 1 or 0)
   end
   return ("%s in %s%s over %s of '%s'%s with %s, at a level of %g %%."):format(
      texts.counted(#rows, "step"), texts.counted(functions, "function"),
      functions < #result.tested and " and the whole" or "",
      texts.counted(#versions, "value"), result.by, versions[1] and (", %s to %s,"):format(
         versions[1].name, versions[#versions].name) or "", texts.counted(runs, "run"),
      100 * result.alpha)
end

---Writes a table of the steps, and the summary.
---@param out profio.Output
---@param result profio.ChangesResult
---@param rows table[]
---@param shown fun(value: number): string formats a weight
---@param gate { conditions: string[], results: table[] } of --fail
---@param top integer|nil of --top
function forms.text(out, result, rows, shown, gate, top)
   local lines, most = { heads }, math.min(#rows, top or comparison_text.MOST)
   for i = 1, most do
      lines[i + 1] = cells_of(rows[i], shown)
   end
   if most > 0 then
      columns(out, lines, { [7] = true, [8] = true })
      out:write(#rows > most and ("%d more; --top shows more\n"):format(#rows - most) or "", "\n")
   end
   out:write(plain(forms.summary(result, rows)), "\n")
   comparison_text.write_results(out, gate.results)
end

---Writes the summary, the steps and the notes as Markdown.
---@param out profio.Output
---@param result profio.ChangesResult
---@param rows table[]
---@param shown fun(value: number): string
---@param gate { conditions: string[], results: table[] }
function forms.markdown(out, result, rows, shown, gate)
   pull_request.write_results(out, gate.results)
   out:write(markup.markdown(forms.summary(result, rows)), "\n")
   if rows[1] then
      out:write("\n| ", table.concat(heads, " | "), " |\n|--:|--:|--:|--:|--:|--:|:--|:--|\n")
   end
   for _, row in ipairs(rows) do
      out:write(markup.markdown_row(cells_of(row, shown)))
   end
   for _, note in ipairs(result.notes) do
      out:write("\nNote: ", markup.markdown(note), "\n")
   end
end

-- Returns the names of the whole and of each function, and a result for each step to a larger
-- weight.
local function slower(result, rows, shown)
   local names, results = {}, {}
   for i, one in ipairs(result.tested) do
      names[i] = name_of(one.name)
   end
   for _, row in ipairs(rows) do
      if row.size > 0 then
         local cells = cells_of(row, shown)
         results[#results + 1] = { condition = cells[8], state = "failed",
            text = ("%s at %s: %s from %s to %s%s"):format(cells[8], row.by, cells[1], cells[3],
               cells[4], cells[2] ~= "" and (" (%s)"):format(cells[2]) or "") }
      end
   end
   return names, results
end

---Writes a test case for each condition of the gate; without them one for the whole and for each
---function, of which those that became slower have failed.
---@param out profio.Output
---@param result profio.ChangesResult
---@param rows table[]
---@param shown fun(value: number): string
---@param gate { conditions: string[], results: table[] }
function forms.junit(out, result, rows, shown, gate)
   local names, results = gate.conditions, gate.results
   if not names[1] then
      names, results = slower(result, rows, shown)
   end
   local summary = { forms.summary(result, rows), table.unpack(result.notes) }
   junit.write(out, "profio store changes", names, results, table.concat(summary, " "))
end

return forms
