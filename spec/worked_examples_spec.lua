-- The worked examples at the end of the README.md of four folders are built from these texts in a
-- copy of the source, and their specs are run there.
--
-- Extra: compiles the examples into a module of their own.
-- Unsanitized: texts of the command; other specs run the same branches of the C code.

local command = require "spec.support.command"

local copy = command.folder .. "/worked"

-- The folders, in an order in which each example may use those before it: all use the format.
local folders = { "csrc/formats", "csrc/kernels/group", "lua/profio/reports",
   "lua/profio/exports" }

-- Returns the blocks of the examples: { path =, language =, text = }. A block below a line with a
-- path is that file, the lines of a `diff` block are changed in it.
local function blocks()
   local list = {}
   for _, folder in ipairs(folders) do
      local example = command.read(folder .. "/README.md"):match "\n## Worked example: .*"
      for path, language, text in example:gmatch "\n`([^`\n]+)`:\n\n```(%l+)\n(.-\n)```\n" do
         list[#list + 1] = { path = path, language = language, text = text }
      end
   end
   return list
end

-- Returns the text of a file with the changes of a diff block: parts separated by "@@", whose lines
-- begin with " ", "-" or "+". The old lines of each part must occur exactly once.
local function changed(text, diff)
   for part in (diff .. "@@\n"):gmatch "(.-)@@\n" do
      local old = part:gsub("%f[^\n\0]%+[^\n]*\n", ""):gsub("%f[^\n\0][ -]", "")
      local new = part:gsub("%f[^\n\0]%-[^\n]*\n", ""):gsub("%f[^\n\0][ +]", "")
      local first, last = text:find(old, 1, true)
      assert(first, "not found:\n" .. old)
      assert(not text:find(old, last, true), "found twice:\n" .. old)
      text = text:sub(1, first - 1) .. new .. text:sub(last + 1)
   end
   return text
end

local function write(path, text)
   local file <close> = assert(io.open(copy .. "/" .. path, "w"))
   file:write(text)
end

-- Copies the source and the objects, with their times, so that make compiles only what changes. The
-- folder of the objects may be a link, which must not be written through.
local copying = [[
set -e
rm -rf "$copy" && mkdir -p "$copy/build/obj"
cd "$root" && cp -pR csrc lua spec examples Makefile .busted "$copy"
cp -pR "$build/obj/." "$copy/build/obj" && touch "$copy/build/has-headers"
chmod -R u+w "$copy"
]]

local function is_readable(path)
   local file = io.open(path)
   return file ~= nil and file:close()
end

describe("the worked examples", function()
   local function prepare()
      local said, status = command.run(("copy='%s' root='%s' build='%s'\n%s"):format(copy,
         command.root, command.build, copying))
      assert.equal(0, status, said)
      for _, block in ipairs(blocks()) do
         local text = block.text
         if block.language == "diff" then
            text = changed(command.read(copy .. "/" .. block.path), text)
         end
         write(block.path, text)
      end
   end

   it("build, and pass their specs", function()
      local objects = command.build .. "/obj/formats/formats"
      if not is_readable(command.build .. "/profio/core.so") or is_readable(objects .. ".gcno") then
         return pending "this build has no module, or one that counts what runs"
      end
      prepare()
      local in_copy = ("cd '%s' && PROFIO_BUILD=build "):format(copy)
      local said, status = command.run(in_copy .. "make 2>&1")
      assert.equal(0, status, said)
      local count = 0
      for _, block in ipairs(blocks()) do
         if block.path:match "_spec%.lua$" then
            count = count + 1
            said, status = command.run(in_copy .. "lua5.4 /usr/bin/busted " .. block.path
               .. " 2>&1")
            assert.equal(0, status, said)
            assert.matches("[1-9]%d* success", said)
         end
      end
      assert.equal(4, count)
   end)
end)
