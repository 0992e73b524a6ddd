--- A DCPI database: a directory of epochs with a file for each image and event. How the files are
--- called was never documented, so their headers tell what they are.

local core = require "profio.core"
local lfs = require "lfs"
local texts = require "profio.texts"

local database = {}

local DEEPEST = 6        -- folders in folders
local MOST_LOOKED = 1000 -- files that are looked at to know a database by
local HEAD = 65536       -- bytes in which a header ends

-- {====== Files ======

-- Call f with the path of each plain file below a directory, in order of names, until it answers
-- true. Returns nil and a message when a directory cannot be read, else whether f answered true.
local function each_file(directory, f, depth)
   local names, message, code = core.names_in(directory)
   if not names then
      return nil, message, code
   end
   table.sort(names)
   for _, name in ipairs(names) do
      local path = directory:gsub("/$", "") .. "/" .. name
      local mode = name:sub(1, 1) ~= "." and lfs.attributes(path, "mode")
      local is_over = mode == "file" and f(path)
      if mode == "directory" and depth < DEEPEST then
         is_over, message, code = each_file(path, f, depth + 1)
      end
      if is_over or is_over == nil then
         return is_over, message, code
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

-- The name of an event; dcpicat prints the sum of its counts before it, and its period and share
-- of the time behind it.
local function event_of(value)
   local start = value:match "^%d+%s+()"
   return start and value:sub(start):match "^(.+):%d+:%d+$" or value
end

-- The words of a header with their first values; of dcpicat's text all events.
local function facts_of(head)
   local facts = { events = {} }
   for line in texts.lines(head) do
      local word = line:match "^%S+"
      local value = word and texts.trim(line:sub(#word + 1))
      if not word or word:match "^0[xX]" or (word == "samples" and value == "") then
         break
      elseif word == "event" then
         table.insert(facts.events, event_of(value))
      end
      facts[word] = facts[word] or value
   end
   facts.name = facts.name or texts.base_name(facts.path or "")
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

-- {====== Texts of several profiles ======

local header_words = { name = true, image = true, label = true, path = true, epoch = true,
   platform = true, event = true, text_start = true, text_size = true }

-- Whether the head of a file is that of dcpicat's text with an address in it.
local function is_text(head, options)
   for line in texts.lines(head) do
      if line:find "^0[xX]%x" then
         return options.dialect ~= "pdb"
      elseif line:find "^samples[ \t]*$" then
         return false
      end
   end
   return false
end

-- Where profiles begin in a text: a word of a header behind a line of counts.
local function beginnings(text)
   local list = { 1 }
   for at, word in text:gmatch "\n0[xX]%x[^\n]*\n%s*()(%a[%w_]*)" do
      if header_words[word] then
         list[#list + 1] = at
      end
   end
   return list
end

---The profiles of a text that has several, one behind the other, as dcpicat's output of several
---files has.
---@param source userdata
---@param options table<string, string> those of database.files
---@return { number: integer, data: string }[]|nil  nil alone: it has one, or is no such text
---@return string|nil message
---@return string|nil code
function database.pieces(source, options)
   if not is_text(source:read(0, HEAD), options) then
      return nil
   end
   local text = source:read(0, source:size())
   local starts, pieces = beginnings(text), {}
   if #starts == 1 then
      return nil
   end
   for number, start in ipairs(starts) do
      local data = text:sub(start, (starts[number + 1] or #text + 1) - 1)
      if is_wanted(facts_of(data:sub(1, HEAD)), options) then
         pieces[#pieces + 1] = { number = number, data = data }
      end
   end
   if #pieces == 0 then
      return nil, ("%s: dcpi: no profile%s in this text"):format(source:path(),
         wanted_words(options)), "format"
   end
   return pieces
end

-- }======



-- Whether some profile of a file is asked for.
local function is_wanted_file(path, head, facts, options)
   if is_wanted(facts, options) then
      return true
   elseif not is_text(head, options) then
      return false
   end
   local source = core.source(path)
   local pieces = source and database.pieces(source, options)
   if source then
      source:close()
   end
   return pieces ~= nil
end

---The files of a database, of which options may choose some.
---@param directory string
---@param options table<string, string> image, event, epoch, label, platform, or some of them
---@return string[]|nil paths in order of epoch, platform, image, event
---@return string|nil message
---@return string|nil code
function database.files(directory, options)
   local found = {}
   local done, message, code = each_file(directory, function(path)
      local head = head_of(path)
      local facts = head and facts_of(head)
      if facts and is_wanted_file(path, head, facts, options) then
         facts.file = path
         found[#found + 1] = facts
      end
      return false
   end, 1)
   if done == nil then
      return nil, message, code
   elseif #found == 0 then
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
