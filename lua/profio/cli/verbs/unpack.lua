-- profio unpack: writes the files that are inside the single file, for another interpreter.

local core = require "profio.core"
local details = require "profio.internal.store.details"
local failure = require "profio.internal.command.failure"
local outputs = require "profio.internal.writing.outputs"
local plain = require "profio.internal.plain"
local resources = require "profio.internal.resources"

local unpack = {
   name = "unpack",
   help = "write the module for another Lua",
   description = "Write the module, the Lua files and the pages of help that are inside this "
      .. "program into a folder, so that lua5.4 and its scripts find them there.",
   usage = "profio unpack FOLDER",
   options = {},
   argument = { "FOLDER", "a folder, which is created if it does not exist" },
   examples = {
      { "profio unpack module", "writes the files, and shows the two variables to be set" },
      { 'eval "$(profio unpack module)"', "the lua5.4 of this shell finds them" },
   },
}

-- Creates the folders of a path, relative to a folder.
local function make_folders(folder, name)
   for at in name:gmatch "()/" do
      local path = folder .. "/" .. name:sub(1, at - 1)
      if core.kind(path) ~= "folder" then
         failure.check(core.make_folder(path))
      end
   end
end

-- Returns the files of the program as a list of { name =, bytes = }.
local function packed_files()
   local packed = resources.program and resources.read "unpacked"
   if not packed then
      failure.raise(failure.NOTHING, "unpack: this profio is no single file: it is unpacked")
   end
   local source <close> = failure.check(core.source_data(packed, "the files of this program"))
   return select(2, details.unpack(source:read()))
end

---@param given table
---@return integer status
function unpack.run(given)
   local folder = given.files[1]
   if not folder or given.files[2] then
      failure.use "profio unpack expects one folder"
   end
   local list = packed_files()
   if core.kind(folder) ~= "folder" then
      failure.check(core.make_folder(folder))
   end
   for _, file in ipairs(list) do
      make_folders(folder, file.name)
      failure.check(outputs.write(folder .. "/" .. file.name, function(output)
         return output:write(file.bytes)
      end))
   end
   local place = plain(failure.check(core.real_path(folder)))
   local form, ending = "export %s='%s'\n", ".so"
   if package.config:sub(1, 1) == "\\" then
      form, ending = "set %s=%s\n", ".dll"
   end
   io.stdout:write(form:format("LUA_PATH", ("%s/?.lua;%s/?/init.lua;;"):format(place, place)),
      form:format("LUA_CPATH", ("%s/?%s;;"):format(place, ending)))
   return failure.READ
end

return unpack
