-- profio completion: what a shell needs to complete words of the command, as lua-argparse writes
-- it.

local command_line = require "profio.cli.command_line"
local exports = require "profio.internal.exporting.export_list"
local failure = require "profio.internal.command.failure"
local options = require "profio.internal.options"
local pages = require "profio.cli.help.pages"
local profio = require "profio"
local recorder = require("profio.internal.recording").recorder
local reports = require "profio.reports"
local row_export = require "profio.internal.exporting.row_export"

local completion = {
   name = "completion",
   help = "print the completion of words for a shell",
   description = "Print the completion of words for bash, zsh or fish. make install places it.",
   usage = "profio completion bash|zsh|fish",
   options = {},
   argument = { "SHELL", "bash, zsh or fish" },
   examples = {
      { 'eval "$(profio completion bash)"', "for this shell alone" },
      { "profio completion fish > ~/.config/fish/completions/profio.fish", "for all later ones" },
   },
}

-- Returns the names of a list of reports, exports or formats.
local function names_of(list)
   local names = {}
   for i, entry in ipairs(list) do
      names[i] = entry.name
   end
   return names
end

-- Returns by the name of an option: the values that are offered.
local function choices()
   local declared = recorder.options
   return {
      ["--report"] = names_of(reports.all()),
      ["--export"] = names_of(exports.all()),
      ["--format"] = names_of(profio.formats()),
      ["--output"] = row_export.outputs,
      ["--unit"] = { "ns", "us", "ms", "s" },
      ["--mode"] = options.find(declared, "mode").choices,
      ["--clock"] = options.find(declared, "clock").choices,
   }
end

-- {====== Topics of profio help, which argparse does not complete ======

-- Returns the topics of profio help, and the sections of a page.
local function topics()
   local names = {}
   for i, name in ipairs(pages.names()) do
      names[i] = name:gsub("^format%-", "")
   end
   return table.concat(names, " "), function(topic)
      return table.concat(pages.section_names(pages.read(pages.of(topic))), " ")
   end
end

-- Returns for each topic: its name and its sections, in the form of a shell.
local function sections_as(form)
   local names, sections_of = topics()
   local lines = {}
   for topic in names:gmatch "%S+" do
      local sections = sections_of(topic)
      lines[#lines + 1] = sections ~= "" and form:format(topic, sections) or nil
   end
   return table.concat(lines), names
end

local in_bash = [=[
    if [[ "${COMP_WORDS[1]}" = help ]]; then
        case "$COMP_CWORD $prev" in
            "2 help") opts="%s" ;;
%s            *) opts="" ;;
        esac
        COMPREPLY=($(compgen -W "$opts" -- "$cur"))
        return 0
    fi
]=]

local in_zsh = [=[
_profio() {
  if [[ "$words[2]" = help ]]; then
    case "$CURRENT $words[CURRENT-1]" in
      "3 help") compadd -- %s ;;
%s    esac
    return 0
  fi
]=]

local in_fish = [=[
complete -c profio -n 'string match -q "* help" (string join " " (commandline -poc))' -xa '%s'
]=]

-- }======

-- By shell: the completion for the parser. Argparse expects only a verb as the first word, and the
-- options of the form without a verb also after one; here the first word may be a file, and a verb
-- has its own options alone.
local writers = {}

function writers.bash(parser)
   local sections, names = sections_as '            "3 %s") opts="%s" ;;\n'
   local text = parser:get_bash_complete():gsub('opts="%$opts ', 'opts="')
   return (text:gsub('\n    opts="[^\n]*\n', function(line)
      return line .. in_bash:format(names, sections)
   end, 1))
end

function writers.zsh(parser)
   local text = parser:get_zsh_complete():gsub("\n *%$options\n", "\n")
   text = text:gsub('\n  _describe "command" commands\n', "%0  _files\n")
   local sections, names = sections_as '      "4 %s") compadd -- %s ;;\n'
   return (text:gsub("%f[^\n]_profio%(%) {\n", function()
      return in_zsh:format(names, sections)
   end, 1))
end

function writers.fish(parser)
   local text = parser:get_fish_complete():gsub("(__fish_profio_using_command' )%-xa", "%1-a")
   local sections, names = sections_as(in_fish:gsub("help", "help %%s", 1))
   text = text:gsub("\ncomplete %-c profio %-([ls])",
      "\ncomplete -c profio -n '__fish_profio_using_command' -%1")
   return text .. in_fish:format(names) .. sections
end

---Returns what a shell reads.
---@param shell "bash"|"zsh"|"fish"
---@return string
function completion.text(shell)
   return writers[shell](command_line.whole_parser(choices()))
end

---@param given table
---@return integer status
function completion.run(given)
   local shell = given.files[1]
   if not writers[shell] or given.files[2] then
      failure.use "profio completion expects one of bash, zsh, fish"
   end
   io.stdout:write(completion.text(shell))
   return failure.READ
end

return completion
