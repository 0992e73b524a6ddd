-- Generates what the pages of help take from the code, and checks the pages. Run by `make docs`,
-- and with --check by `make lint`, from the root:
--
--    lua5.4 spec/support/docs.lua [--check]
--
-- A page has regions between two lines of comments, which are replaced:
--
--    <!-- begin: options of winidea -->
--    <!-- end -->

local api = require "spec.support.api"
local common_warnings = require "profio.internal.common_warnings"
local core = require "profio.core"
local declarations = require "profio.cli.declarations"
local exports = require "profio.internal.exporting.export_list"
local index = require "profio.cli.help.index"
local lfs = require "lfs"
local opening = require "profio.internal.opening.open"
local options = require "profio.internal.options"
local pages = require "profio.cli.help.pages"
local profio = require "profio"
local recorder = require "profio.recorder"
local registry = require "profio.internal.opening.registry"
local reports = require "profio.reports"
local verbs = require "profio.cli.verbs"

local docs = {}

-- {====== Tables in Markdown ======

local function cell(text)
   return (tostring(text):gsub("[|\\*_<`%[]", "\\%0"):gsub("%s+", " "))
end

local function code(text)
   return "`" .. text:gsub("|", "\\|") .. "`"
end

-- Returns a table; the first column is code.
local function table_of(titles, rows)
   if #rows == 0 then
      return "None.\n"
   end
   local lines = { "| " .. table.concat(titles, " | ") .. " |", "|" .. ("---|"):rep(#titles) }
   for _, row in ipairs(rows) do
      local cells = {}
      for i, text in ipairs(row) do
         cells[i] = i == 1 and code(text) or cell(text)
      end
      lines[#lines + 1] = "| " .. table.concat(cells, " | ") .. " |"
   end
   return table.concat(lines, "\n") .. "\n"
end

local function settings(declared, prefix)
   local rows = {}
   for i, option in ipairs(declared or {}) do
      local form, help = options.described(option)
      rows[i] = { (prefix or "") .. form, help }
   end
   return table_of({ "option", "meaning" }, rows)
end

-- Returns the files beside a trace, which are named by an option.
local function roles(list)
   local rows = {}
   for i, role in ipairs(list or {}) do
      rows[i] = { role.name, role.help }
   end
   return table_of({ "option of profio.open", "file" }, rows)
end

local function columns(list)
   local rows = {}
   for i, column in ipairs(list) do
      rows[i] = { column.name, column.help }
   end
   return table_of({ "column", "meaning" }, rows)
end

-- }======

-- {====== Formats, from their declarations and the files of spec/fuzz/corpus ======

local MOST_FILES = 25 -- of a format; the files that fuzzing has found, whose names are hashes, last

local function samples_of(format)
   local list, folder = {}, "spec/fuzz/corpus/" .. format
   for name in lfs.dir(folder) do
      if not name:find "^%." then
         list[#list + 1] = (#name == 40 and "2" or "1") .. folder .. "/" .. name
      end
   end
   table.sort(list)
   list = table.move(list, 1, math.min(#list, MOST_FILES), 1, {})
   for i, path in ipairs(list) do
      list[i] = path:sub(2)
   end
   return list
end

-- Returns the tables of a format: { { name =, files =, columns = { { name, type, help, files = } }
-- } } in order of first occurrence, with the number of files that have each.
local function tables_of(format)
   local list = {}
   local function entry_of(in_list, name)
      for _, entry in ipairs(in_list) do
         if entry.name == name then
            entry.files = entry.files + 1
            return entry
         end
      end
      in_list[#in_list + 1] = { name = name, files = 1, columns = {} }
      return in_list[#in_list]
   end
   for _, path in ipairs(samples_of(format)) do
      local trace <close> = profio.open(path, { format = format }) or nil
      for _, name in ipairs(trace and trace.tables or {}) do
         local described = entry_of(list, name)
         for _, field in ipairs(trace:table(name):fields()) do
            local column = entry_of(described.columns, field.name)
            column.type, column.help = column.type or field.type, column.help or field.help or ""
         end
      end
   end
   return list
end

local function tables_text(format)
   local parts = {}
   for _, described in ipairs(tables_of(format)) do
      local rows = {}
      for _, column in ipairs(described.columns) do
         if column.files * 2 > described.files and column.help ~= "" then -- not of one file alone
            rows[#rows + 1] = { column.name, column.type, column.help }
         end
      end
      parts[#parts + 1] = ("### Table %s\n\n%s"):format(code(described.name),
         table_of({ "column", "type", "meaning" }, rows))
   end
   return table.concat(parts, "\n")
end

local function written_text(format)
   local parts = {}
   for _, written in ipairs(core.written(format)) do
      local names = {}
      for i, field in ipairs(written.fields) do
         names[i] = code(field.name)
      end
      parts[#parts + 1] = ("- %s: %s\n"):format(code(written.name), table.concat(names, " "))
   end
   return table.concat(parts)
end

local function warnings_text(described)
   local rows = {}
   for i, name in ipairs(index.codes(described)) do
      rows[i] = { name, described.warnings[name], (described.remedies or {})[name] or "" }
   end
   return table_of({ "code", "cause", "remedy" }, rows)
end

-- Returns the reports that fit some file of a format.
local function reports_text(format)
   local fitting, rows = {}, {}
   for _, path in ipairs(samples_of(format)) do
      local trace <close> = profio.open(path, { format = format }) or nil
      for _, report in ipairs(trace and reports.all() or {}) do
         fitting[report] = fitting[report] or report.fits(trace)
      end
   end
   for _, report in ipairs(reports.all()) do
      rows[#rows + 1] = fitting[report] and { report.name, report.help } or nil
   end
   return table_of({ "report", "what it shows" }, rows)
end

-- }======

-- {====== Regions ======

-- Returns the options of the command, a heading for each group.
local function command_options()
   local parts = {}
   for _, group in ipairs(declarations.groups) do
      local rows = {}
      for i = 2, #group do
         rows[i - 1] = { group[i][1] .. (group[i][2] and " " .. group[i][2] or ""), group[i][3] }
      end
      parts[#parts + 1] = ("### %s\n\n%s"):format(group[1],
         table_of({ "option", "meaning" }, rows))
   end
   return table.concat(parts, "\n")
end

local function verb_options(verb)
   local rows = {}
   for i, option in ipairs(verbs.options(verb)) do
      rows[i] = { option[1] .. (option[2] and " " .. option[2] or ""), option[3] }
   end
   return table_of({ "option", "meaning" }, rows)
end

-- Returns a section for each report or export that has options for --set.
local function owners_text(kind, list)
   local parts = {}
   for _, owner in ipairs(list) do
      if #(owner.options or {}) > 0 then
         parts[#parts + 1] = ("### %s %s\n\n%s"):format(kind, owner.name,
            settings(owner.options, "--set "))
      end
   end
   return table.concat(parts, "\n")
end

local function listed(title, list)
   local rows = {}
   for i, entry in ipairs(list) do
      rows[i] = { entry.name, entry.help }
   end
   return table_of({ title, "what it is" }, rows)
end

-- Escapes what Markdown would read as marks, outside of code.
local function escaped(text)
   local parts, is_code = {}, false
   for part in (text .. "`"):gmatch "([^`]*)`" do
      parts[#parts + 1] = is_code and part or part:gsub("[*<%[]", "\\%0")
      is_code = not is_code
   end
   return table.concat(parts, "`")
end

-- Returns the arguments or the results of a function as items of a list.
local function items_of(list, first)
   local lines = {}
   for i, item in ipairs(list) do
      local name, rest = item[3]:match "^(%w+)  +(.*)$"
      local help = name and name .. ", " .. rest or item[3]
      lines[i] = ("- %s`%s`%s"):format(first and "`" .. item[1] .. "` " or "returns ", item[2],
         help ~= "" and ": " .. escaped(help) or "")
   end
   return lines
end

-- Returns the text above a function; indented lines stay as they are.
local function prose_of(text)
   local lines, is_code = {}, false
   for _, line in ipairs(text) do
      local starts = line:find "^  " ~= nil
      if starts ~= is_code then
         lines[#lines + 1] = starts and "\n```" or "```\n"
         is_code = starts
      end
      lines[#lines + 1] = starts and line or escaped(line)
   end
   lines[#lines + 1] = is_code and "```" or nil
   return table.concat(lines, "\n")
end

local function api_text()
   local parts = {}
   for _, part in ipairs(api.parts) do
      parts[#parts + 1] = ("## %s\n\n%s\n"):format(part.title, part.help)
      for _, f in ipairs(api.functions(part)) do
         local lines = { "### `" .. f.call .. "`\n", prose_of(f.text) }
         if #f.params + #f.returns > 0 then
            lines[#lines + 1] = ""
         end
         table.move(items_of(f.params, true), 1, #f.params, #lines + 1, lines)
         table.move(items_of(f.returns), 1, #f.returns, #lines + 1, lines)
         parts[#parts + 1] = table.concat(lines, "\n") .. "\n"
      end
   end
   return table.concat(parts, "\n")
end

-- By the name of a region: functions that return its text; those after "of" take a word.
local alone = {
   options = command_options,
   verbs = function() return listed("verb", verbs.all()) end,
   reports = function() return listed("report", reports.all()) end,
   exports = function() return listed("export", exports.all()) end,
   formats = function() return listed("format", profio.formats()) end,
   ["options of reports"] = function() return owners_text("Report", reports.all()) end,
   ["options of exports"] = function() return owners_text("Export", exports.all()) end,
   ["options of the recorder"] = function() return settings(recorder.options) end,
   ["options of profio.open"] = function() return settings(opening.options) end,
   ["warnings of any format"] = function() return warnings_text(common_warnings) end,
   ["lua api"] = api_text,
}

local of = {
   { "options of report (.*)", function(n)
      return settings(reports.named(n).options, "--set ")
   end },
   { "options of export (.*)", function(n)
      return settings(exports.named(n).options, "--set ")
   end },
   { "columns of report (.*)", function(n) return columns(reports.named(n).columns) end },
   { "options of verb store (.*)", function(n)
      return verb_options(verbs.named("store").commands.named(n))
   end },
   { "options of verb (.*)", function(n) return verb_options(verbs.named(n)) end },
   { "write options of (.*)", function(n) return settings(registry.named(n).write_options) end },
   { "side files of (.*)", function(n) return roles(registry.named(n).roles) end },
   { "options of (.*)", function(n) return settings(registry.named(n).options, "--set ") end },
   { "tables of (.*)", tables_text },
   { "written tables of (.*)", written_text },
   { "warnings of (.*)", function(n) return warnings_text(registry.named(n)) end },
   { "reports of (.*)", reports_text },
}

-- Returns the text of a region, or raises.
local function region(name)
   if alone[name] then
      return alone[name]()
   end
   for _, entry in ipairs(of) do
      local word = name:match("^" .. entry[1] .. "$")
      if word then
         return entry[2](word)
      end
   end
   error("no region is called '" .. name .. "'", 0)
end

---Returns the text of a page with all regions filled in.
---@param text string
---@return string
function docs.generated(text)
   return (text:gsub("(<!%-%- begin: ([^\n]-) %-%->\n).-(<!%-%- end %-%->)",
      function(first, name, last)
         return first .. "\n" .. region(name) .. "\n" .. last
      end))
end

-- }======

-- {====== Checks ======

-- Returns the verb and whether a line of code calls the command: the words after an assignment.
local function verb_of(line)
   local word, second = line:match "^%s*[%$]?%s*profio%s+(%S+)%s*(%S*)"
   local verb = word and verbs.find(word)
   return verb and verb.commands and verb.commands.find(second) or verb
end

-- Returns the code and the prose of a page as lines: { text =, is_code = }.
local function lines_of(text)
   local list, is_code = {}, false
   for line in text:gmatch "[^\n]*" do
      if line:find "^```" then
         is_code = not is_code
      elseif is_code then
         list[#list + 1] = { text = line, is_code = true }
      else
         local prose = line:gsub("`([^`]*)`", function(span)
            list[#list + 1] = { text = span, is_code = not span:find "^%-" }
            return " "
         end)
         list[#list + 1] = { text = prose }
      end
   end
   return list
end

---Returns the options in a page that do not exist, or not with the verb that they follow. Lines of
---code are examined if they call profio; other programs have options of their own.
---@param text string
---@return string[]
function docs.unknown_options(text)
   local unknown = {}
   for _, line in ipairs(lines_of(text)) do
      local verb = line.is_code and verb_of(line.text)
      local is_ours = not line.is_code or line.text:find "^%s*[%$]?%s*profio%s"
         or line.text:find "analyze%.lua"
      for name in (is_ours and " " .. line.text or ""):gmatch "[%s(,/](%-%-%l[%l-]*)" do
         local is_known = declarations.find(name) ~= nil
         if verb then
            is_known = verb.stops or verbs.accepts(verb, name)
         elseif not is_known then
            for _, other in ipairs(verbs.every()) do
               is_known = is_known or verbs.accepts(other, name)
            end
         end
         unknown[#unknown + 1] = not is_known and name or nil
      end
   end
   return unknown
end

---Returns the links and topics in a page that lead nowhere: `](calls.md)`, `profio help calls`.
---@param text string
---@return string[]
function docs.broken_links(text)
   local broken = {}
   for target in text:gmatch "%]%(([^)#%s]+)[^)]*%)" do
      local file = not target:find "^%a+:" and io.open("lua/profio/help/" .. target)
      if file then
         file:close()
      elseif not target:find "^https?:" then
         broken[#broken + 1] = target
      end
   end
   for word in text:gmatch "`profio help ([%l][%w_-]*)`" do
      if not (pages.of(word) or verbs.find(word) or index.mentioning({ word })[1]) then
         broken[#broken + 1] = "profio help " .. word
      end
   end
   return broken
end

---Returns the public functions of the Lua API that have no description.
---@return string[]
function docs.undescribed()
   local list = {}
   for _, part in ipairs(api.parts) do
      for _, f in ipairs(api.functions(part)) do
         list[#list + 1] = not table.concat(f.text):find "%S" and f.call or nil
      end
   end
   return list
end

-- }======

local function write(path, text)
   local file <close> = assert(io.open(path, "w"))
   assert(file:write(text))
end

local function read(path)
   local file <close> = io.open(path)
   return file and file:read "a"
end

-- Generates all pages, or only compares; returns whether nothing is wrong.
local function run(is_check)
   local is_right = true
   local function wrong(message, ...)
      is_right = false
      print("docs: " .. message:format(...))
   end
   local function put(path, text, made)
      if made ~= text and is_check then
         wrong("%s is not up to date: run make docs", path)
      elseif made ~= text then
         write(path, made)
         print("  docs  " .. path)
      end
   end
   for _, name in ipairs(pages.names()) do
      local text, path = pages.read(name), "lua/profio/help/" .. pages.file(name)
      local made = docs.generated(text)
      put(path, text, made)
      for _, option in ipairs(docs.unknown_options(made)) do
         wrong("%s names an option that does not exist: %s", path, option)
      end
      for _, target in ipairs(docs.broken_links(made)) do
         wrong("%s: nothing is at %s", path, target)
      end
   end
   for _, option in ipairs(docs.unknown_options(read "README.md")) do
      wrong("README.md names an option that does not exist: %s", option)
   end
   for _, call in ipairs(docs.undescribed()) do
      wrong("%s has no description", call)
   end
   return is_right
end

if arg and arg[0] and arg[0]:find "docs%.lua$" then
   os.exit(run(arg[1] == "--check"), true)
end

return docs
