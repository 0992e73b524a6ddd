-- Lists all that the code declares (options, columns, warnings, reports, exports and verbs), for
-- `profio help WORD` and for the generator of the pages.

local common_warnings = require "profio.internal.common_warnings"
local declarations = require "profio.cli.declarations"
local exports = require "profio.internal.exporting.export_list"
local options = require "profio.internal.options"
local pages = require "profio.cli.help.pages"
local profio = require "profio"
local recorder = require("profio.internal.recording").recorder
local registry = require "profio.internal.opening.registry"
local reports = require "profio.reports"
local script_writer = require "profio.internal.writing.script_writer"
local verbs = require "profio.cli.verbs"

local index = {}

---@class profio.IndexEntry
---@field kind "option"|"setting"|"column"|"warning"|"report"|"export"|"verb"|"format"
---@field name string by which it is found
---@field form string as it is written
---@field help string
---@field remedy string|nil of a warning
---@field owner string|nil what has it

-- {====== Collecting ======

local function add_settings(add, owner, declared)
   for _, option in ipairs(declared or {}) do
      local form, help = options.described(option)
      add { kind = "setting", name = option.name, form = "--set " .. form, help = help,
         owner = owner }
   end
end

local function add_options(add)
   declarations.each(function(option)
      add { kind = "option", name = option[1], help = option[3],
         form = option[2] and option[1] .. " " .. option[2] or option[1] }
   end)
   for _, verb in ipairs(verbs.every()) do
      local title = verbs.title(verb)
      add { kind = "verb", name = verb.name, form = "profio " .. title, help = verb.help }
      for _, option in ipairs(verb.options) do
         if type(option) == "table" then
            add { kind = "option", name = option[1], help = option[3],
               form = option[2] and option[1] .. " " .. option[2] or option[1],
               owner = "profio " .. title }
         end
      end
   end
end

local function add_columns(add, owner, columns)
   for _, column in ipairs(columns or {}) do
      add { kind = "column", name = column.name, form = column.name, help = column.help or "",
         owner = owner }
   end
end

---Returns the codes of the warnings of a format (or of profio.internal.common_warnings), sorted.
---@param described { warnings: table<string, string> }
---@return string[]
function index.codes(described)
   local codes = {}
   for code in pairs(described.warnings) do
      codes[#codes + 1] = code
   end
   table.sort(codes)
   return codes
end

local function add_warnings(add, owner, described)
   for _, code in ipairs(index.codes(described)) do
      add { kind = "warning", name = code, form = code, help = described.warnings[code],
         remedy = (described.remedies or {})[code], owner = owner }
   end
end

local function add_formats(add)
   for _, format in ipairs(profio.formats()) do
      add { kind = "format", name = format.name, form = format.name, help = format.help }
      add_settings(add, "format " .. format.name, format.options)
      add_settings(add, "profio merge to " .. format.name, format.write_options)
      for _, written in ipairs(format.write_options and script_writer.tables(format) or {}) do
         add_columns(add, format.name .. ", table " .. written.name, written.fields)
      end
      add_warnings(add, "format " .. format.name, registry.named(format.name))
   end
   add_warnings(add, nil, common_warnings)
end

local function add_listed(add, kind, list)
   for _, owner in ipairs(list) do
      add { kind = kind, name = owner.name, form = "--" .. kind .. " " .. owner.name,
         help = owner.help }
      add_settings(add, kind .. " " .. owner.name, owner.options)
      add_columns(add, kind .. " " .. owner.name, owner.columns)
   end
end

---Returns all that is declared.
---@return profio.IndexEntry[]
function index.entries()
   local list = {}
   local function add(entry)
      list[#list + 1] = entry
   end
   add_options(add)
   add_settings(add, "profio record", recorder.options)
   add_formats(add)
   add_listed(add, "report", reports.all())
   add_listed(add, "export", exports.all())
   return list
end

-- }======

-- {====== Searching ======

-- Returns how well an entry matches: 1 its name is the word, 2 its name has it, 3 its help.
local function rank(entry, word)
   local name = entry.name:lower():gsub("^%-+", "")
   if name == word then
      return 1
   elseif name:find(pages.pattern(word)) then
      return 2
   end
   local text = table.concat({ entry.form, entry.help, entry.remedy or "", entry.owner or "" }, " ")
   return text:lower():find(pages.pattern(word)) and 3 or nil
end

-- Returns the worst rank of an entry for some words, or nil if it does not have all of them.
local function rank_of_all(entry, words)
   local worst = nil
   for _, word in ipairs(words) do
      local place = rank(entry, word)
      if not place then
         return nil
      end
      worst = math.max(worst or place, place)
   end
   return worst
end

---Returns the entries that mention all of some words, those with this name first.
---@param words string[]
---@return profio.IndexEntry[]
function index.mentioning(words)
   local ranked, cleaned = { {}, {}, {} }, {}
   for i, word in ipairs(words) do
      cleaned[i] = word:lower():gsub("^%-+", "")
   end
   for _, entry in ipairs(index.entries()) do
      local place = rank_of_all(entry, cleaned)
      if place then
         table.insert(ranked[place], entry)
      end
   end
   for i = 2, 3 do
      table.move(ranked[i], 1, #ranked[i], #ranked[1] + 1, ranked[1])
   end
   return ranked[1]
end

-- }======

return index
