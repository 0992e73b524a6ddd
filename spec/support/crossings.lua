-- Counts how often a reader of the C code changes files: follows the static call graph from the
-- functions given, in the order of the code and each function once, and prints how often a function
-- of another file is entered, how often a file that was left is returned to, and the number of
-- files. A header and its source are one file. A function that is only named (a callback) counts as
-- called.
--
--    lua5.4 spec/support/crossings.lua [--list] [FUNCTION ...]
--
-- Without functions: what trace:call_statistics calls.

local functions_of, files = {}, {} -- by file: by name; paths by name of a public function

local function code_of(path)
   local file <close> = assert(io.open(path))
   return (file:read "a":gsub("/%*.-%*/", " "):gsub('"[^"\n]*"', '""'):gsub("\\\n", " "))
end

-- Finds the functions in a file: a name and parameters in the first column, then a body.
local function read_functions(path)
   local code, list = "\n" .. code_of(path), {}
   for head, body in code:gmatch "\n([%w_][^;{}#]-%)%s*)(%b{})" do
      local name = head:match "([%w_]+) %("
      if name and not head:find "=" then
         list[name] = { name = name, path = path, body = body,
            is_static = head:find "%f[%w]static%f[%W]" ~= nil or head:find "PF_HOT" ~= nil }
         if not list[name].is_static or path:find "%.h$" and not files[name] then
            files[name] = path
         end
      end
   end
   functions_of[path] = list
end

local function each_callee(of, visit)
   for before, name, after in of.body:gmatch "([^%w_]?)%f[%w_]([%a_][%w_]*)%f[^%w_]( ?[(,);}]?)" do
      local path = functions_of[of.path][name] and of.path or files[name]
      local callee = path and functions_of[path][name]
      local is_call = after == "(" or name:find "^pf_" or path == of.path
      if callee and callee ~= of and is_call and before ~= "." and before ~= ">" then
         visit(callee)
      end
   end
end

local entered, returned, nfiles, seen, met, list = 0, 0, 0, {}, {}, {}

local function file_of(path)
   return (path:gsub("%.[ch]$", ""))
end

local function follow(of)
   if seen[of] then
      return
   end
   seen[of] = true
   each_callee(of, function(callee)
      local here, there = file_of(of.path), file_of(callee.path)
      if here ~= there and not seen[callee] then
         entered = entered + 1
         returned = returned + (met[there] and 1 or 0)
         list[#list + 1] = ("%s:%s -> %s:%s"):format(of.path, of.name, callee.path, callee.name)
      end
      nfiles = nfiles + (met[there] and 0 or 1)
      met[there] = true
      follow(callee)
   end)
end

local pipe <close> = assert(io.popen "git ls-files -co --exclude-standard 'csrc/*.[ch]'")
for path in pipe:lines() do
   if io.open(path) then
      read_functions(path)
   end
end
local is_listed = arg[1] == "--list"
local roots = table.pack(table.unpack(arg, is_listed and 2 or 1))
if #roots == 0 then
   roots = { "pf_statistics_open" }
end
for _, name in ipairs(roots) do
   met[file_of(files[name])] = true
   nfiles = nfiles + 1
   follow(functions_of[files[name]][name])
end
if is_listed then
   print(table.concat(list, "\n"))
end
print(("%d functions of other files entered, %d returns to a file that was left, %d files"):format(
   entered, returned, nfiles))
