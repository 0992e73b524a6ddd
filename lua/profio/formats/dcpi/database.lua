--- Finds the profiles of a DCPI database: a directory of epochs with one file for each image and
--- event. The naming of the files was never documented, so the headers are read to identify them.

local core = require "profio.core"
local epoch_order = require "profio.formats.dcpi.epoch_order"
local texts = require "profio.internal.texts"

local database = {}

local DEEPEST = 6        -- levels of folders: links may lead back to a folder above
local MOST_LOOKED = 1000 -- files that are opened to decide whether a directory is a database
local HEAD = 65536       -- bytes within which a header must end

-- {====== Files ======

-- Call f with the path of each plain file below a directory, in order of names, until it returns
-- true; with the path of a folder that is too deep to be searched, and true. Returns nil and a
-- message when a directory cannot be read, else whether f returned true.
local function each_file(directory, f, depth)
   local names, message, code = core.names_in(directory)
   if not names then
      return nil, message, code
   end
   table.sort(names)
   for _, name in ipairs(names) do
      local path = directory:gsub("/$", "") .. "/" .. name
      local mode = name:sub(1, 1) ~= "." and core.kind(path)
      local is_over = mode == "file" and f(path)
      if mode == "folder" then
         if depth < DEEPEST then
            is_over, message, code = each_file(path, f, depth + 1)
         else
            is_over = f(path, true) or false
         end
      end
      if is_over or is_over == nil then
         return is_over, message, code
      end
   end
   return false
end

-- Opens a file; of damaged packed data the part that can be unpacked. nil: it cannot be read.
local function open(path)
   local source, _, _, part = core.named_source(path)
   if part and part:size() == 0 then
      part:close()
      part = nil
   end
   return source or part
end

-- Returns the first bytes of a file if it is a profile; nil: it is none; false: it cannot be read.
local function head_of(path)
   local source = open(path)
   if not source then
      return false
   end
   local best = core.detect(source)[1]
   local head = best and best[1] == "dcpi" and source:read(0, HEAD) or nil
   source:close()
   return head
end

---Returns whether there is a profile below a directory.
---@param directory string
---@return boolean
function database.is_one(directory)
   local looked, found = 0, false
   each_file(directory, function(path, is_folder)
      looked, found = looked + 1, not is_folder and head_of(path) and true or false
      return found or looked >= MOST_LOOKED
   end, 1)
   return found
end

-- }======

-- {====== Headers ======

-- Returns the name of an event. dcpicat prints the sum of its counts before the name, and the
-- period and the share of the time after it.
local function event_of(value)
   local start = value:match "^%d+%s+()"
   return start and value:sub(start):match "^(.+):%d+:%d+$" or value
end

-- Returns the fields of a header with their first values, and the names of all events.
local function header_of(head)
   local header = { events = {} }
   for line in texts.lines(head) do
      local word = line:match "^%S+"
      local value = word and texts.trim(line:sub(#word + 1))
      if not word or word:match "^0[xX]" or (word == "samples" and value == "") then
         break
      elseif word == "event" then
         table.insert(header.events, event_of(value))
      end
      header[word] = header[word] or value
   end
   header.name = header.name or texts.base_name(header.path or "")
   return header
end

local function is_image(header, wanted)
   local path = header.path or ""
   return header.image == wanted or header.name == wanted or path == wanted
      or path:sub(-#wanted - 1) == "/" .. wanted
end

local function has_event(header, wanted)
   for _, event in ipairs(header.events) do
      if event == wanted then
         return true
      end
   end
   return false
end

-- Returns whether the options select a profile.
local function is_selected(header, options)
   return (not options.image or is_image(header, options.image))
      and (not options.event or has_event(header, options.event))
      and (not options.epoch or epoch_order.is_same(header.epoch or "", options.epoch))
      and (not options.label or header.label == options.label)
      and (not options.platform or header.platform == options.platform)
end

-- Sort order of the profiles: time of the epoch, platform, image, event, path.
local function before(a, b)
   for _, word in ipairs { "time", "platform", "image", "event", "file" } do
      local left, right = a[word] or "", b[word] or ""
      if left ~= right then
         return left < right
      end
   end
   return false
end

-- }======

-- Returns the selection as words for a message.
local function selection_words(options)
   local words = {}
   for _, name in ipairs { "image", "event", "epoch", "label", "platform" } do
      words[#words + 1] = options[name] and name .. " " .. options[name]
   end
   return #words > 0 and " of " .. table.concat(words, ", ") or ""
end

-- {====== Texts with several profiles ======

local header_words = { name = true, image = true, label = true, path = true, epoch = true,
   platform = true, event = true, text_start = true, text_size = true }

-- Returns whether the head of a file is text of dcpicat and contains an address.
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

-- Returns the positions at which profiles begin in a text: at a header word after a line of counts.
local function beginnings(text)
   local list = { 1 }
   for at, word in text:gmatch "\n0[xX]%x[^\n]*\n%s*()(%a[%w_]*)" do
      if header_words[word] then
         list[#list + 1] = at
      end
   end
   return list
end

---Splits a text that has several profiles one after the other, as dcpicat prints them for several
---files.
---@param source userdata
---@param options table<string, string> those of database.files
---@return { number: integer, data: string }[]|nil  nil alone: one profile, or no text of dcpicat
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
      if is_selected(header_of(data:sub(1, HEAD)), options) then
         pieces[#pieces + 1] = { number = number, data = data }
      end
   end
   if #pieces == 0 then
      return nil, ("%s: dcpi: no profile%s in this text"):format(source:path(),
         selection_words(options)), "format"
   end
   return pieces
end

-- }======

-- Returns whether the options select at least one profile of a file.
local function is_selected_file(path, head, header, options)
   if is_selected(header, options) then
      return true
   elseif not is_text(head, options) then
      return false
   end
   local source = open(path)
   local pieces = source and database.pieces(source, options)
   if source then
      source:close()
   end
   return pieces ~= nil
end

---Returns the files of a database that the options select, and those that cannot be read: opening
---them gives the error.
---@param directory string
---@param options table<string, string> image, event, epoch, label, platform, or some of them
---@return string[]|nil paths in order of epoch, platform, image, event
---@return string|nil message
---@return string|nil code
function database.files(directory, options)
   local found, count, too_deep = {}, 0, nil
   local done, message, code = each_file(directory, function(path, is_folder)
      if is_folder then
         too_deep = path
         return true
      end
      local head = head_of(path)
      local header = head and header_of(head)
      if header and is_selected_file(path, head, header, options) then
         header.file, header.time, count = path, epoch_order.key(header.epoch), count + 1
         found[#found + 1] = header
      elseif head == false then
         found[#found + 1] = { file = path }
      end
      return false
   end, 1)
   if done == nil then
      return nil, message, code
   elseif too_deep then
      return nil, ("%s: dcpi: folders of more than %d levels are not searched: open the folders of "
         .. "the epochs in %s"):format(too_deep, DEEPEST, directory), "limit"
   elseif count == 0 then
      return nil, ("%s: dcpi: no profile%s in this database"):format(directory,
         selection_words(options)), "format"
   end
   table.sort(found, before)
   local paths = {}
   for i, header in ipairs(found) do
      paths[i] = header.file
   end
   return paths
end

return database
