-- profio completion: what a shell needs to complete words of the command, as lua-argparse writes
-- it.

local failure = require "profio.cli.failure"
local options = require "profio.internal.options"

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
   local declared = require("profio.recorder").options
   return {
      ["--report"] = names_of(require("profio.reports").all()),
      ["--export"] = names_of(require("profio.exports").all()),
      ["--format"] = names_of(require("profio").formats()),
      ["--output"] = require("profio.exports.row_export").outputs,
      ["--unit"] = { "ns", "us", "ms", "s" },
      ["--mode"] = options.find(declared, "mode").choices,
      ["--clock"] = options.find(declared, "clock").choices,
   }
end

-- By shell: the completion for the parser. Argparse expects only a verb as the first word, and the
-- options of the form without a verb also after one; here the first word may be a file, and a verb
-- has its own options alone.
local writers = {}

function writers.bash(parser)
   return (parser:get_bash_complete():gsub('opts="%$opts ', 'opts="'))
end

function writers.zsh(parser)
   local text = parser:get_zsh_complete():gsub("\n *%$options\n", "\n")
   return (text:gsub('\n  _describe "command" commands\n', "%0  _files\n"))
end

function writers.fish(parser)
   local text = parser:get_fish_complete():gsub("(__fish_profio_using_command' )%-xa", "%1-a")
   return (text:gsub("\ncomplete %-c profio %-([ls])",
      "\ncomplete -c profio -n '__fish_profio_using_command' -%1"))
end

---@param given table
---@return integer status
function completion.run(given)
   local write = writers[given.files[1]]
   if not write or given.files[2] then
      failure.use "profio completion expects one of bash, zsh, fish"
   end
   io.stdout:write(write(require("profio.cli.command_line").whole_parser(choices())))
   return failure.READ
end

return completion
