-- Writes what is generated from the code for an installation: man pages, completion, and a
-- description of the Lua API for editors. `make` runs it, from the root, and it needs nothing but
-- Lua and the core; completion also argparse, else it is left out, with a note:
--
--    lua5.4 spec/support/generate.lua FOLDER

if not package.searchpath("lfs", package.cpath) then
   -- Where LuaFileSystem is not yet installed, only the names of the pages of help are asked for.
   package.preload.lfs = function()
      return { dir = function(path)
         local pipe = assert(io.popen("ls '" .. path .. "'"))
         return pipe:lines()
      end }
   end
end

local api = require "spec.support.api"
local man = require "spec.support.man"

local function completion(shell)
   return function()
      if package.searchpath("argparse", package.path) then
         return require("profio.cli.verbs.completion").text(shell)
      end
      print("  --  without completion for " .. shell .. ", which needs argparse")
   end
end

-- The files, by their path below FOLDER, and the functions that return their text.
local files <const> = {
   ["man/man1/profio.1"] = man.command,
   ["man/man3/profio.3lua"] = man.library,
   ["bash-completion/completions/profio"] = completion "bash",
   ["zsh/site-functions/_profio"] = completion "zsh",
   ["fish/vendor_completions.d/profio.fish"] = completion "fish",
   ["lua/profio/meta/profio.lua"] = api.stubs,
}

for path, text_of in pairs(files) do
   local text, place = text_of(), arg[1] .. "/" .. path
   if text then
      assert(os.execute(("mkdir -p '%s'"):format(place:match "^(.*)/")))
      local file <close> = assert(io.open(place, "w"))
      assert(file:write(text))
   end
end
