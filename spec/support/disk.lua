-- Folders and files for specs, without a shell, which Windows does not have.

local lfs = require "lfs"

local disk = {}

---Makes a folder and those above it; returns its path.
---@param path string
---@return string
function disk.folder(path)
   local done = path:match "^%a:/" or path:match "^/" or ""
   for part in path:sub(#done + 1):gmatch "[^/]+" do
      done = done .. part
      if not lfs.attributes(done, "mode") then
         lfs.mkdir(done) -- another process may have made it
         assert(lfs.attributes(done, "mode") == "directory", "cannot make " .. done)
      end
      done = done .. "/"
   end
   return path
end

---Removes a file, or a folder with all that is in it, if there is one.
---@param path string
function disk.remove(path)
   if lfs.symlinkattributes(path, "mode") == "directory" then
      for name in lfs.dir(path) do
         if name ~= "." and name ~= ".." then
            disk.remove(path .. "/" .. name)
         end
      end
      assert(lfs.rmdir(path))
   else
      os.remove(path)
   end
end

---Makes a folder that is empty; returns its path.
---@param path string
---@return string
function disk.fresh(path)
   disk.remove(path)
   return disk.folder(path)
end

local made = 0

---The path of a file that does not exist yet, in the folder of the build.
---@return string
function disk.temporary()
   made = made + 1
   local build = os.getenv "PROFIO_BUILD" or "build"
   local root = (build:find "^/" or build:find "^%a:") and "" or lfs.currentdir() .. "/"
   local path = ("%s%s/spec-file-%d"):format(root, build, made)
   disk.remove(path)
   return path
end

return disk
