-- A comparison as Markdown for a pull request: what failed, the paragraph, the changed rows, and
-- all others in a fold.

local comparison_text = require "profio.cli.compare.comparison_text"
local markup = require "profio.exports.markup"

local pull_request = {}

-- Escapes a text for a cell of a table: names may contain characters of Markdown.
local function cell(text)
   return (markup.escaped(text):gsub("[\\`*_|~%[%]#]", "\\%0"))
end

local function write_table(out, comparison, records, shown)
   local heads = table.move(comparison_text.heads, 1, #comparison_text.heads, 2, {})
   heads[1] = comparison.by
   out:write("| ", table.concat(heads, " | "), " |\n|:--|--:|--:|--:|--:|--:|--:|:--|\n")
   for _, record in ipairs(records) do
      local cells = comparison_text.cells(record, comparison.by, shown)
      table.insert(cells, 1, table.remove(cells))
      for i, text in ipairs(cells) do
         cells[i] = cell(text)
      end
      out:write("| ", table.concat(cells, " | "), " |\n")
   end
end

local function write_results(out, results)
   for _, result in ipairs(results) do
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
function pull_request.write(out, comparison, rows, results, shown)
   local changed, others = {}, {}
   for _, record in ipairs(rows:rows(table.unpack(rows.columns))) do
      local is_same = record.verdict == "unchanged" or record.verdict == "unknown"
      local list = is_same and others or changed
      list[#list + 1] = record
   end
   write_results(out, results)
   out:write(cell(comparison:text()), "\n\n")
   if #changed > 0 then
      write_table(out, comparison, changed, shown)
      out:write "\n"
   end
   if #others > 0 then
      out:write("<details><summary>", tostring(#others), " without a known change</summary>\n\n")
      write_table(out, comparison, others, shown)
      out:write "\n</details>\n"
   end
end

return pull_request
