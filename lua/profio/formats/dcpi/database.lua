--- A DCPI database: a directory of epochs with a file for each image and event. How the files are
--- called was never documented, so their headers tell what they are.

local core = require "profio.core"
local lfs = require "lfs"

local database = {}

local DEEPEST = 6        -- folders in folders
local MOST_LOOKED = 1000 -- files that are looked at to know a database by
local HEAD = 65536       -- bytes in which a header ends

-- {====== Files ======

-- Call f with the path of each plain file below a directory, in order of names, until it answers
-- true.
local function each_file(directory, f, depth)
   local ok, iterate, state = pcall(lfs.dir, directory)
   local names = {}
   for name in iterate, ok and state or nil do
      names[#names + 1] = name
   end
   table.sort(names)
   for _, name in ipairs(names) do
      local path = directory:gsub("/$", "") .. "/" .. name
      local mode = name:sub(1, 1) ~= "." and lfs.attributes(path, "mode")
      if mode == "file" and f(path)
         or mode == "directory" and depth < DEEPEST and each_file(path, f, depth + 1) then
         return true
      end
   end
   return false
end

-- The first bytes of a file that is a profile, or nil.
local function head_of(path)
   local source = core.source(path)
   if not source then
      return nil
   end
   local best = core.detect(source)[1]
   local head = best and best[1] == "dcpi" and source:read(0, HEAD) or nil
   source:close()
   return head
end

---Whether there is a profile below a directory.
---@param directory string
---@return boolean
function database.is_one(directory)
   local looked, found = 0, false
   each_file(directory, function(path)
      looked, found = looked + 1, head_of(path) ~= nil
      return found or looked >= MOST_LOOKED
   end, 1)
   return found
end

-- }======

-- {====== Headers ======

-- The words of a header with their first values; of dcpicat's text all events.
local function facts_of(head)
   local facts = { events = {} }
   for line in head:gmatch "([^\n]*)\n" do
      local word, value = line:match "^(%S+)[ \t]*(.-)[ \t\r]*$"
      if not word or word:match "^0[xX]" or (word == "samples" and value == "") then
         break
      elseif word == "event" then
         table.insert(facts.events, value:match "^%d+%s+(.+):%d+:%d+$" or value)
      end
      facts[word] = facts[word] or value
   end
   facts.name = facts.name or (facts.path or ""):match "[^/]*$"
   return facts
end

-- Later tools write the century too, and the seconds.
local function same_epoch(stated, wanted)
   local function digits(text)
      return #text == 10 and text or text:sub(3, 12)
   end
   return stated == wanted or digits(stated) == digits(wanted)
end

local function is_image(facts, wanted)
   local path = facts.path or ""
   return facts.image == wanted or facts.name == wanted or path == wanted
      or path:sub(-#wanted - 1) == "/" .. wanted
end

local function has_event(facts, wanted)
   for _, event in ipairs(facts.events) do
      if event == wanted then
         return true
      end
   end
   return false
end

-- Whether a profile is one of those asked for.
local function is_wanted(facts, options)
   return (not options.image or is_image(facts, options.image))
      and (not options.event or has_event(facts, options.event))
      and (not options.epoch or same_epoch(facts.epoch or "", options.epoch))
      and (not options.label or facts.label == options.label)
      and (not options.platform or facts.platform == options.platform)
end

-- The order of the profiles: epoch, platform, image, event, and then their paths.
local function before(a, b)
   for _, word in ipairs { "epoch", "platform", "image", "event", "file" } do
      local left, right = a[word] or "", b[word] or ""
      if left ~= right then
         return left < right
      end
   end
   return false
end

-- }======

-- What was asked for, in words.
local function wanted_words(options)
   local words = {}
   for _, name in ipairs { "image", "event", "epoch", "label", "platform" } do
      words[#words + 1] = options[name] and name .. " " .. options[name]
   end
   return #words > 0 and " of " .. table.concat(words, ", ") or ""
end

---The files of a database, of which options may choose some.
---@param directory string
---@param options table<string, string> image, event, epoch, label, platform, or some of them
---@return string[]|nil paths in order of epoch, platform, image, event
---@return string|nil message
---@return string|nil code
function database.files(directory, options)
   local found = {}
   each_file(directory, function(path)
      local head = head_of(path)
      local facts = head and facts_of(head)
      if facts and is_wanted(facts, options) then
         facts.file = path
         found[#found + 1] = facts
      end
      return false
   end, 1)
   if #found == 0 then
      return nil, ("%s: dcpi: no profile%s in this database"):format(directory,
         wanted_words(options)), "format"
   end
   table.sort(found, before)
   local paths = {}
   for i, facts in ipairs(found) do
      paths[i] = facts.file
   end
   return paths
end

return database
