-- Opens files of the system, none of which is a trace, and counts those that profio accepts:
--
--    lua5.4 spec/support/check_detection.lua [FILES [SEED [FOLDER...]]]
--
-- A hash of the seed and the path chooses the files, so one seed gives the same ones on one system.
-- It takes equally many of each suffix (.py, .html, .gz, none ...), as long as there are any.
-- Fails when a file is opened without damage, or more than three with damage.

local claims = require "spec.support.claims"

local MOST_DAMAGED = 3
local folders = { "/usr", "/etc", "/var", "/opt", "/boot" }

-- Suffixes of files that profio reads; they are not tried.
local are_traces = { dbf = true, prf = true, pri = true, gmon = true, pprof = true, prof = true }

local function quoted(text)
   return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- The FNV-1a hash of a text, 32 bits.
local function hash(text)
   local sum = 2166136261
   for i = 1, #text do
      sum = (sum ~ text:byte(i)) * 16777619 & 0xffffffff
   end
   return sum
end

local function suffix_of(path)
   local name = path:match "[^/]*$"
   return (name:match "^.+%.(%a[%w_-]*)$" or ""):lower()
end

-- The readable files in some folders: suffix -> list of { path, key }, ordered by the key.
local function list_files(where, seed)
   local by_suffix, suffixes = {}, {}
   local names = {}
   for i, folder in ipairs(where) do
      names[i] = quoted(folder)
   end
   local pipe <close> = assert(io.popen("find " .. table.concat(names, " ") ..
      " -xdev -type f -readable 2>/dev/null | LC_ALL=C sort"))
   for path in pipe:lines() do
      local suffix = suffix_of(path)
      if not are_traces[suffix] and not path:find "%.pb%.gz$" then
         if not by_suffix[suffix] then
            by_suffix[suffix] = {}
            suffixes[#suffixes + 1] = suffix
         end
         table.insert(by_suffix[suffix], { path = path, key = hash(seed .. path) })
      end
   end
   table.sort(suffixes)
   for _, list in pairs(by_suffix) do
      table.sort(list, function(a, b)
         return a.key < b.key or (a.key == b.key and a.path < b.path)
      end)
   end
   return by_suffix, suffixes
end

-- One file of each suffix in turn.
local function choose(count, where, seed)
   local by_suffix, suffixes = list_files(where, seed)
   local chosen, round = {}, 0
   local before
   repeat
      round, before = round + 1, #chosen
      for _, suffix in ipairs(suffixes) do
         local file = by_suffix[suffix][round]
         if file and #chosen < count then
            chosen[#chosen + 1] = file.path
         end
      end
   until #chosen == before
   return chosen, #suffixes
end

local count = math.tointeger(tonumber(arg[1])) or 10000
local seed = arg[2] or "1"
local where = #arg > 2 and table.move(arg, 3, #arg, 1, {}) or folders
local chosen, suffixes = choose(count, where, seed)
local found = { refused = 0, clean = 0, damaged = 0 }
for _, path in ipairs(chosen) do
   local outcome, format = claims.outcome(path)
   found[outcome] = found[outcome] + 1
   if outcome ~= "refused" then
      print(("%s as %s: %s"):format(outcome, format, path))
   end
end
print(("seed %s: %d files of %d suffixes; false claims: %d opened without damage, %d with damage")
   :format(seed, #chosen, suffixes, found.clean, found.damaged))
os.exit(found.clean == 0 and found.damaged <= MOST_DAMAGED)
