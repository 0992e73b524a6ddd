-- Lua programs in a locale with a decimal comma.

local disk = require "spec.support.disk"

local locales = {}

---Runs a program in the locale de_DE.UTF-8, which is compiled for it.
---@param code string Lua
---@return string|nil output  and messages; nil if no locale can be compiled here
function locales.run_with_commas(code)
   local folder = os.tmpname()
   os.remove(folder)
   os.execute("mkdir " .. folder)
   local output
   if os.execute("localedef -i de_DE -f UTF-8 " .. folder .. "/de_DE.UTF-8 2>/dev/null") then
      local path = folder .. "/program.lua"
      local file <close> = assert(io.open(path, "w"))
      file:write(("package.path, package.cpath = %q, %q\n"):format(package.path, package.cpath),
         'assert(os.setlocale("de_DE.UTF-8", "numeric"))\n',
         'assert(("%.1f"):format(0.5) == "0,5")\n', code)
      file:close()
      -- glibc does not free the parts of LOCPATH, which LeakSanitizer would report.
      local pipe <close> = assert(io.popen(("LOCPATH=%s ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 "
         .. "lua5.4 %s 2>&1"):format(folder, path)))
      output = pipe:read "a"
   end
   disk.remove(folder)
   return output
end

return locales
