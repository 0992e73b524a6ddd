-- Runs the snippets of README.md and of the pages of help, and compares what they print with what
-- the page shows.
--
--   `name.c`: and a block      the file name.c, in the folder of the page
--   a block `console`          lines that begin with "$ " run in a shell, one after the other; the
--                              lines below are what the command prints. A line "..." stands for any
--                              lines, each number with a fraction for any other one, and the
--                              unit of gprof's times of a call, which they decide, for any other
--   a block `lua`              runs as a script; a block `text` after it is what it prints
--
-- Each page has a folder of its own, with the files of spec/support/page_files.lua.

local command = require "spec.support.command"

local snippets = {}

---Returns the blocks of a page.
---@param text string of the page, Markdown
---@return { language: string, line: integer, text: string, path: string|nil }[]
function snippets.blocks(text)
   local list, block, number, before = {}, nil, 0, ""
   for line in (text .. "\n"):gmatch "([^\n]*)\n" do
      number = number + 1
      local language = line:match "^```(.*)$"
      if language and block then
         list[#list + 1], block, before = block, nil, ""
      elseif language then
         block = { language = language, line = number, text = "",
            path = before:match "^`([^`]+)`:$" }
      elseif block then
         block.text = block.text .. line .. "\n"
      elseif line ~= "" then
         before = line
      end
   end
   return list
end

---Returns the commands of a block of console: { command, the lines that it prints }.
function snippets.commands(block)
   local list = {}
   for line in block.text:gmatch "([^\n]*)\n" do
      local typed = line:match "^%$ (.*)$"
      if typed then
         list[#list + 1] = { typed = typed, shown = {} }
      elseif list[#list] then
         table.insert(list[#list].shown, line)
      end
   end
   return list
end

---Returns the lines of a text.
function snippets.lines(text)
   local list = {}
   for line in text:gmatch "([^\n]*)\n" do
      list[#list + 1] = line
   end
   return list
end

-- Returns a line without what differs from run to run and with one blank between words.
local function normal(line)
   line = line:gsub("%d+%.%d+%%?", "#"):gsub("[mun]s/call", "us/call"):gsub("%s+", " ")
   return (line:gsub("^ ", ""):gsub(" $", ""))
end

---Compares lines that a page shows with those that its command has printed.
---@param shown string[]
---@param said string
---@return string|nil message  the first line that was not printed
function snippets.missing(shown, said)
   local printed, at, is_gap = snippets.lines(said .. "\n"), 1, #shown == 0
   for i, line in ipairs(printed) do
      printed[i] = normal(line)
   end
   for _, line in ipairs(shown) do
      if line == "..." then
         is_gap = true
      else
         local wanted, first = normal(line), at
         while is_gap and at <= #printed and printed[at] ~= wanted do
            at = at + 1
         end
         if printed[at] ~= wanted then
            return ("'%s' is not in line %d of what was printed:\n%s"):format(line, first, said)
         end
         at, is_gap = at + 1, false
      end
   end
   if not is_gap and table.concat(printed, "", at) ~= "" then
      return ("more was printed than is shown:\n%s"):format(said)
   end
end

---Runs all blocks of a page in order.
---@param folder string relative to the folder of spec.support.command, with the files of the page
---@param text string of the page
---@return string[] failures
---@return integer count number of commands and scripts that ran
function snippets.run(folder, text)
   local failures, count, printed = {}, 0, ""
   local environment = ("cd '%s' && export %s\n"):format(folder, command.in_tree)
   local function run(line, where, shown)
      local said, status, errors = command.run(environment .. line)
      local message = shown and shown[1] and snippets.missing(shown, said .. errors)
      if message or not (shown and shown[1]) and (status ~= 0 or errors ~= "") then
         failures[#failures + 1] = ("%s: %s\n%s"):format(where, line, message or errors)
      end
      count, printed = count + 1, said
   end
   for _, block in ipairs(snippets.blocks(text)) do
      local where = "line " .. block.line
      if block.path then
         command.file(folder .. "/" .. block.path, block.text)
      elseif block.language == "console" then
         for _, typed in ipairs(snippets.commands(block)) do
            run(typed.typed, where, typed.shown)
         end
      elseif block.language == "lua" then
         command.file(folder .. "/snippet.lua", block.text)
         run("lua5.4 snippet.lua", where)
      elseif block.language == "text" then
         local shown = snippets.lines(block.text)
         failures[#failures + 1] = snippets.missing(shown, printed)
      end
   end
   return failures, count
end

return snippets
