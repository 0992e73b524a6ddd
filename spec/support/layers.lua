-- Checks the rules of this project that no compiler checks: which layer may include
-- which, the length of files and functions, and the files at the top. Run by
-- `make lint` from the root; prints each breach as file:line: and exits 1.

package.path = "./?.lua;" .. package.path
local lua_layers = require "spec.support.lua_layers"
local specs = require "spec.support.specs"

local may_include = {
   [""] = {},
   os = { "os" },
   bytes = { "os", "bytes" },
   model = { "os", "bytes", "model" },
   formats = { "os", "bytes", "model", "formats" },
   kernels = { "os", "model", "kernels" },
   text = { "os", "bytes", "model", "kernels", "text" },
   lua = { "os", "bytes", "model", "formats", "kernels", "text", "lua" },
   store = { "os", "bytes", "model", "store", "lua" },
   program = { "os", "bytes", "lua", "store", "program" },
}

-- The only pair of formats of which one uses the other.
local may_lean_on = { xpp = "dbf" }

local at_the_top = {
   csrc = true, lua = true, spec = true, examples = true, Makefile = true,
   ["README.md"] = true, LICENSE = true, ["CHANGELOG.md"] = true,
   ["CONTRIBUTING.md"] = true,
}

local lua_headers = {
   ["lua.h"] = true, ["lauxlib.h"] = true, ["lualib.h"] = true, ["luaconf.h"] = true,
   ["lua.hpp"] = true,
}

-- What all of csrc may include beside that: headers of C11, of threads, and of libraries.
local known_headers = {}
for name in ([[assert ctype errno float inttypes limits locale math pthread setjmp signal stdalign
   stdarg stdatomic stdbool stddef stdint stdio stdlib string time demangle libiberty/demangle
   zlib expat]]):gmatch "%S+" do
   known_headers[name .. ".h"] = true
end

-- Of libraries that the module core.so does not need.
local store_headers = { ["sqlite3.h"] = true, ["xxhash.h"] = true, ["curl/curl.h"] = true }

local max_files = 25 -- of a folder in csrc or lua

local breaches = 0

local function breach(file, line, message, ...)
   breaches = breaches + 1
   print(("%s:%d: " .. message):format(file, line, ...))
end

-- Returns the files that git knows or would add, without scratch files.
local function files_of_the_repository()
   local list = {}
   local pipe <close> = assert(io.popen "git ls-files --cached --others --exclude-standard")
   for name in pipe:lines() do
      local file = io.open(name)
      if file then
         file:close()
         list[#list + 1] = name
      end
   end
   return list
end

local function lines_of(name)
   local list = {}
   for line in io.lines(name) do
      list[#list + 1] = line
   end
   return list
end

local function contains(list, wanted)
   for _, value in ipairs(list) do
      if value == wanted then
         return true
      end
   end
   return false
end

-- Of a layer: files of the first folder may not include those of the second one, which build on
-- them.
local may_not_include = { ["model/dictionary/"] = "model/rows/" }

-- The name of the format a file belongs to: formats/x.c and formats/x/y.c are
-- of x; formats.c and formats.h are of none.
local function format_of(path)
   local name = path:match "^formats/([%w_]+)[./]"
   return name ~= "formats" and name or nil
end

local function check_include(file, number, included)
   local here = file:match "^csrc/(.*)$"
   local layer = here:match "^(%w+)/" or ""
   local target = included:match "^(%w+)/"
   if included == "profio.h" then
      return
   elseif not target then
      breach(file, number, "include paths start at csrc: %s", included)
   elseif not contains(may_include[layer], target) then
      breach(file, number, "%s/ may not include %s", layer, included)
   end
   local above = may_not_include[here:match "^.*/" or ""]
   if above and included:sub(1, #above) == above then
      breach(file, number, "%s builds on %s, which may not include it", above,
         here:match "^.*/")
   end
   local mine, other = format_of(here), format_of(included)
   if mine and other and mine ~= other and may_lean_on[mine] ~= other then
      breach(file, number, "the format %s may not include %s", mine, included)
   end
end

local function check_includes(file, lines)
   for number, line in ipairs(lines) do
      local own = line:match '^%s*#%s*include%s*"([^"]+)"'
      local system = line:match "^%s*#%s*include%s*<([^>]+)>"
      if own then
         check_include(file, number, own)
      elseif system and lua_headers[system] and not file:match "^csrc/lua/"
         and not file:match "^csrc/store/" and not file:match "^csrc/program/" then
         breach(file, number, "only csrc/lua/, store/ and program/ include <%s>", system)
      elseif system and store_headers[system] and not file:match "^csrc/store/" then
         breach(file, number, "only csrc/store/ includes <%s>", system)
      elseif system and not (known_headers[system] or lua_headers[system] or store_headers[system]
         or file:match "^csrc/os/") then
         breach(file, number, "only csrc/os/ includes <%s>", system)
      end
      if not file:match "^csrc/os/" and (line:find "^#%s*define _[A-Z]+_SOURCE"
         or line:find "^#%s*if.*_WIN32" or line:find "^#%s*if.*__[a-z]*linux"
         or line:find "^#%s*if.*__APPLE__") then
         breach(file, number, "only csrc/os/ asks which system it is for")
      end
   end
end

-- A reader that runs calls Lua through callback.c alone, which looks afterwards whether the trace
-- is still open. The recorder calls Lua from no reader.
local function check_calls_of_lua(file, lines)
   if file == "csrc/lua/callback.c" or file:match "^csrc/lua/recorder"
      or file:match "^csrc/program/" then
      return
   end
   for number, line in ipairs(lines) do
      if line:find "%f[%w_]lua_p?callk?%(" or line:find "%f[%w_]lua_resume%(" then
         breach(file, number, "only csrc/lua/callback.c calls Lua functions (callback.h)")
      end
   end
end

-- Work of the base utilities is written once: patterns, the files that may contain them, and the
-- functions that all others call.
local base_utilities = {
   { 'PF_NO_OFFSET, *"out of memory"', { "^csrc/bytes/error%.c$" }, "pf_no_memory" },
   { "%f[%w_]realloc%(", { "^csrc/model/base/", "^csrc/bytes/", "^csrc/os/" },
      "pf_grow, pf_widen or pf_array_resize of model/base/memory.h" },
   { "%+ 1%) & [%w_>.-]*mask", { "^csrc/model/base/intern_table%.[ch]$" },
      "pf_id_table or pf_intern_table of model/base" },
   { "put_id %(pf_column", { "^csrc/model/rows/" }, "pf_put_id of model/rows/put_values.h" },
   { "put_int %(pf_column", { "^csrc/model/rows/" }, "pf_put_int of model/rows/put_values.h" },
   { "insertion_sort", { "^csrc/model/base/" }, "pf_sort or pf_sort_pairs of model/base/sorts.h" },
   { "%f[%w]merge_sort %(", { "^csrc/model/base/" }, "pf_sort of model/base/sorts.h" },
}

local function check_base_utilities(file, lines)
   for _, rule in ipairs(base_utilities) do
      local pattern, allowed, instead = table.unpack(rule)
      local is_allowed = false
      for _, place in ipairs(allowed) do
         is_allowed = is_allowed or file:find(place) ~= nil
      end
      for number, line in ipairs(lines) do
         if line:find(pattern) and not is_allowed then
            breach(file, number, "a base utility does that: %s", instead)
         end
      end
   end
end

-- Whether a file is code of the module, for which the limits are smaller than for specs.
local function is_source(file)
   return file:find "^csrc/" or file:find "^lua/"
end

local function check_length(file, lines)
   local limit = file == "csrc/profio.h" and 150 or is_source(file) and 500 or 600
   if #lines > limit then
      breach(file, #lines, "%d lines, at most %d", #lines, limit)
   end
end

-- clang-format wraps code, but leaves comments as they are.
local function check_width(file, lines)
   for number, line in ipairs(lines) do
      if file:find "^csrc/.*%.[ch]$" and #line > 80 then
         breach(file, number, "%d columns, at most 80", #line)
      end
   end
end

-- A function begins with a declaration in the first column, whose last line, maybe a wrapped one,
-- opens the body. A declaration that is over before has no body of its own.
local function_of_c = {
   begins = "^[%w_*].*%(", opens = "%)%s*{$", is_over = "[;}]$", closes = "^}",
}
local function_of_lua = {
   begins = "^%f[%w_%.][%w_%. ]*function[ (]", opens = "%)$", is_over = "end$", closes = "^end",
}

local function check_functions(file, lines, pattern)
   local declared, opened
   local max_function = is_source(file) and 40 or 60
   for number, line in ipairs(lines) do
      if opened and line:match(pattern.closes) then
         local body = number - opened - 1
         if body > max_function then
            breach(file, declared, "a body of %d lines, at most %d", body, max_function)
         end
         declared, opened = nil, nil
      elseif not opened then
         declared = line:match(pattern.begins) and number or declared
         opened = declared and line:match(pattern.opens) and number
         declared = not line:match(pattern.is_over) and declared or nil
      end
   end
end

local function check_top(file)
   local top = file:match "^[^/]+"
   if not (at_the_top[top] or top:match "%.rockspec$" or top:match "^%.") then
      breach(file, 1, "%s has no place at the top", top)
   end
end

-- Files that several folders of lua/profio may have: a format and an export have the name of their
-- file, also where the other one or an engine of stores has it; a verb or a command of one has the
-- name of its file, and a report may have it.
local function may_share_name(file)
   return file:match "/init%.lua$" or file:match "^lua/profio/formats/%w+%.lua$"
      or file:match "^lua/profio/cli/verbs/%w+%.lua$"
      or file:match "^lua/profio/cli/store/%w+%.lua$" or file:match "^lua/profio/exports/%w+%.lua$"
end

-- The lines of specs that may look at a clock or wait for a time, as parts of them, with the
-- reason. All others wait for what happens (spec/support/wait.lua), move their clock
-- (moved_clock.lua), count steps (counted.lua), or send a signal before a call (traced.lua).
local clocks = {
   { 'os.execute("sleep " .. PAUSE)', "wait.lua: between two looks at a condition" },
   { "    sleep %g; looks=", "wait.lua: the same in a shell" },
   { "local time = os.time", "stored.lua: gives the store another time" },
   { "os.time = function() return seconds end", "stored.lua" },
   { "os.time = time", "stored.lua" },
   { "local began, ran = os.time(), 0", "mutants.lua: specs of a change run for a given time" },
   { "if os.time() - began > most_seconds", "mutants.lua" },
   { "local began = os.time()", "mutants.lua: shows how long a change took" },
   { "killer or \"SURVIVED \" .. ran, os.time() - began", "mutants.lua" },
}

local function check_clocks(file, lines)
   if not file:find "^spec/.*%.lua$" or file:find "^spec/bench/" or file:find "/layers%.lua$" then
      return
   end
   for number, line in ipairs(lines) do
      if line:find "%f[%w]sleep [%d\"%%.]" or line:find "%.sleep%(" or line:find "os%.clock"
         or line:find "os%.time" or line:find "timeout %-s" or line:find "date %+%%s" then
         local is_known = false
         for _, known in ipairs(clocks) do
            is_known = is_known or line:find(known[1], 1, true) ~= nil
         end
         if not is_known then
            breach(file, number, "a spec looks at no clock, and waits for no time (see `clocks`)")
         end
      end
   end
end

-- Checks that the modules that are required exist.
local function check_modules(file, lines)
   if file:find "lua_layers_spec%.lua$" then
      return -- it has the text of modules that do not
   end
   for number, line in ipairs(lines) do
      for module in line:gmatch "%f[%w]require%s*%(?%s*[\"'](profio[%w_.]*)[\"']" do
         local path = "lua/" .. module:gsub("%.", "/")
         if module ~= "profio.core" and module ~= "profio.store" and not io.open(path .. ".lua")
            and not io.open(path .. "/init.lua") then
            breach(file, number, "there is no module %s", module)
         end
      end
   end
end

-- Checks that spec/support/specs.lua knows the tags in the comment at the top of a spec.
local function check_tags(file)
   if file:find "_spec%.lua$" then
      for _, word in ipairs(select(2, specs.words_of(file))) do
         breach(file, 1, "%s is no tag of specs: see spec/support/specs.lua", word)
      end
   end
end

-- Checks the size of the folder of a file in csrc or lua, whose README.md does not count.
local all_files_in = {}

local function check_folder(file)
   local folder, name = file:match "^(.*)/([^/]+)$"
   if not folder or name == "README.md" or not (file:find "^csrc/" or file:find "^lua/") then
      return
   end
   all_files_in[folder] = (all_files_in[folder] or 0) + 1
   if all_files_in[folder] == max_files + 1 then
      breach(file, 1, "%s has more than %d files", folder, max_files)
   end
end

-- Checks that the folder of a file in csrc or lua has a README.md, and that the name is unique.
local files_in, place_of = {}, {}

local function check_place(file)
   local folder, name = file:match "^(csrc/.*)/([^/]+%.[ch])$"
   if not folder then
      folder, name = file:match "^(lua/profio.*)/([^/]+%.lua)$"
   end
   if not folder then
      return
   end
   files_in[folder] = (files_in[folder] or 0) + 1
   if files_in[folder] == 1 and not io.open(folder .. "/README.md") then
      breach(file, 1, "%s has no README.md that says what is in it", folder)
   end
   if not may_share_name(file) then
      if place_of[name] and not file:match "^csrc/os/" then
         breach(file, 1, "%s has a file of this name, too", place_of[name])
      end
      place_of[name] = folder
   end
   local last = folder:match "[^/]+$"
   if name:sub(1, #last + 1) == last .. "_" then
      breach(file, 1, "the name repeats that of its folder")
   end
end

local files = files_of_the_repository()

for _, file in ipairs(files) do
   check_top(file)
   check_folder(file)
   check_place(file)
   if file:match "%.[ch]$" or file:match "%.lua$" then
      local lines = lines_of(file)
      check_length(file, lines)
      check_width(file, lines)
      check_clocks(file, lines)
      check_modules(file, lines)
      check_tags(file)
      if file:match "^csrc/" then
         check_includes(file, lines)
         check_calls_of_lua(file, lines)
         check_base_utilities(file, lines)
      end
      check_functions(file, lines, file:match "%.lua$" and function_of_lua or function_of_c)
   end
end

lua_layers.check(files, lines_of, breach)

print(("layers: %d breaches"):format(breaches))
os.exit(breaches == 0)
