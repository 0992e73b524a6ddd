-- A comparison as Markdown for a pull request: what failed, the paragraph, the changed rows, and in
-- folds all others, and the statistics of the calls of areas.

local comparison_text = require "profio.cli.compare.comparison_text"
local distinguished = require "profio.internal.naming.distinguished"
local markup = require "profio.internal.markup"
local statistics_diff = require "profio.internal.compare.statistics_diff"
local times = require "profio.internal.times"

local pull_request = {}

local cell = markup.markdown

local function write_table(out, comparison, records, shown)
   local heads = comparison_text.heads(comparison.metric)
   table.insert(heads, 1, comparison.by)
   out:write("| ", table.concat(heads, " | "), " |\n|:--|--:|--:|--:|--:|--:|--:|:--|\n")
   for _, record in ipairs(records) do
      local cells = comparison_text.cells(record, comparison.by, shown)
      table.insert(cells, 1, table.remove(cells))
      out:write(markup.markdown_row(cells))
   end
end

-- Returns a number of the statistics of calls as text: a count, a share of time, or a time.
local function number_text(name, value)
   if value == nil then
      return "none"
   elseif name == "load" then
      return ("%.1f %%"):format(value * 100)
   elseif name == "count" or name:find "_run$" then
      return (math.tointeger(value) and "%d" or "%.1f"):format(math.tointeger(value) or value)
   end
   return times.show(value, times.unit(value))
end

-- Writes the statistics of the calls of areas, in a fold.
local function write_calls(out, comparison, rows, records)
   local known, names = {}, {}
   for _, name in ipairs(rows.columns) do
      known[name] = true
   end
   for _, name in ipairs(statistics_diff.shown) do
      names[#names + 1] = known[name] and name or nil
   end
   out:write("<details><summary>Calls, old → new: ", comparison.calls_note,
      "</summary>\n\n| ", comparison.by, " | ", table.concat(names, " | "), " |\n|:--|",
      ("--:|"):rep(#names), "\n")
   for _, record in ipairs(records) do
      local cells = { record[comparison.by] }
      for i, name in ipairs(names) do
         cells[i + 1] = ("%s → %s"):format(number_text(name, record[name .. "_before"]),
            number_text(name, record[name]))
      end
      out:write(markup.markdown_row(cells))
   end
   out:write "\n</details>\n"
end

---Writes the results of a gate as a list.
---@param out profio.Output
---@param results table[] of comparison:check
function pull_request.write_results(out, results)
   for _, result in ipairs(comparison_text.results(results)) do
      out:write("- **", result.state, "** `", result.condition:gsub("`", "'"), "`: ",
         cell(result.text), "\n")
   end
   if #results > 0 then
      out:write "\n"
   end
end

---Writes a comparison.
---@param out profio.Output
---@param comparison profio.Comparison
---@param rows profio.View
---@param results table[] of comparison:check
---@param shown fun(value: number): string
---@param is_all boolean show small unknown rows
function pull_request.write(out, comparison, rows, results, shown, is_all)
   local changed, others, all = {}, {}, rows:rows(table.unpack(rows.columns))
   distinguished.by_file(all, comparison.by)
   local records, folded = comparison_text.folded(all, comparison, is_all)
   for _, record in ipairs(records) do
      local is_same = record.verdict == "unchanged" or record.verdict == "unknown"
      local list = is_same and others or changed
      list[#list + 1] = record
   end
   pull_request.write_results(out, results)
   out:write(cell(comparison:text()), "\n\n")
   if #changed > 0 then
      write_table(out, comparison, changed, shown)
      out:write "\n"
   end
   local count = #others + (folded and folded.count or 0)
   others[#others + 1] = folded
   if #others > 0 then
      out:write("<details><summary>", tostring(count), " without a known change</summary>\n\n")
      write_table(out, comparison, others, shown)
      out:write "\n</details>\n"
   end
   if comparison.calls_note and #records > 0 then
      out:write "\n"
      write_calls(out, comparison, rows, records)
   end
end

return pull_request
