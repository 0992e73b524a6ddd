-- inside.lua SPEC...: runs specs by busted in the interpreter of the single file, `profio lua`,
-- on any system (inside.sh). The modules in C that busted wants are made from the functions of the
-- program.
--
-- BUSTED_PATH: the folder of the Lua files of busted (/usr/share/lua/5.4).

local core = require "profio.core"

local path = os.getenv "BUSTED_PATH" or "/usr/share/lua/5.4"
package.path = ("./?.lua;%s/?.lua;%s/?/init.lua"):format(path, path)

-- Nobody needs the durations that busted prints.
package.preload.system = function()
   local function none()
      return 0
   end
   return { gettime = none, monotime = none, sleep = none }
end

package.preload.term = function()
   return { isatty = function() return false end }
end

local KINDS <const> = { folder = "directory", file = "file", pipe = "named pipe" }

package.preload.lfs = function()
   local lfs = { _VERSION = "of profio" }

   function lfs.attributes(name, what)
      local kind = core.kind(name)
      if not kind then
         return nil, name .. ": No such file or directory", 2
      end
      local size, time = core.file_state(name)
      local all = { mode = KINDS[kind] or kind, size = size, modification = time }
      return what and all[what] or not what and all or nil
   end

   lfs.symlinkattributes = lfs.attributes
   lfs.currentdir = core.current_folder
   lfs.chdir = core.change_folder
   lfs.mkdir = core.make_folder
   lfs.rmdir = core.remove_folder

   function lfs.dir(name)
      local list, i = { ".", "..", table.unpack(core.names_in(name)) }, 0
      return function()
         i = i + 1
         return list[i]
      end
   end
   return lfs
end

-- On Windows a spec that wants a shell is pending, and what is outside of specs finds none.
if package.config:sub(1, 1) == "\\" then
   local new, busted = require "busted.core", nil
   package.loaded["busted.core"] = function()
      busted = new()
      return busted
   end
   local function no_shell()
      if busted.context.get().descriptor == "it" then
         busted.pending "needs a shell"
      end
      return nil, "there is no shell"
   end
   rawset(io, "popen", no_shell)
   rawset(os, "execute", no_shell)
end

table.insert(arg, 1, "--ignore-lua")
table.insert(arg, 1, "--run=ci")
require "busted.runner" { standalone = false }
