--- The encoder, step 2: checks the merged contents and writes a file of version 0.07 (layout in
--- csrc/formats/dcpi/header_dcpi.c and chunk.c) or dcpicat's text (dcpicat.c there).
---
--- Header lines of version 0.07 keep their order and their bytes, except those whose values the
--- merged header replaces: version, epoch, event, period, code range, the option `header`. Damaged
--- lines, whose word or value is empty, are left out. All checks precede the first byte. A gap of
--- one address without samples is written as a count of 0, which takes 4 bytes; a new chunk would
--- take 8.

local headers = require "profio.formats.dcpi.headers"

local write = {}

local INSN_SIZE = 4 -- bytes of an Alpha instruction
local PATH = headers.place.path

local refuse, place = headers.refuse, headers.place

-- {====== Samples ======

local function refuse_sum(address)
   refuse("the counts of address 0x%x add up to more than the file can hold", address)
end

---Adds a count to the sum of an address of an event.
---@param event { sums: table<integer, integer>, order: integer[] } the addresses as they came
---@param address integer
---@param count integer above 0
function write.add(event, address, count)
   local before = event.sums[address]
   if not before then
      event.order[#event.order + 1], event.sums[address] = address, count
   elseif before + count < 0 then
      refuse_sum(address)
   else
      event.sums[address] = before + count
   end
end

-- Returns the addresses with samples of any event in ascending order, and sets the totals.
local function addresses_of(file)
   local list, seen, is_sorted = {}, {}, true
   for i, event in ipairs(file.events) do
      for _, address in ipairs(event.order) do
         if not seen[address] then
            is_sorted = is_sorted and (not list[1] or math.ult(list[#list], address))
            list[#list + 1] = address
         end
         seen[address] = i < #file.events or nil -- the last one has no address twice
      end
   end
   if not is_sorted then
      table.sort(list, math.ult)
   end
   local most = file.is_text and math.maxinteger or 0xffffffff
   for _, event in ipairs(file.events) do
      for _, address in ipairs(list) do
         local count = event.sums[address] or 0
         if count > most - event.total then
            refuse_sum(address)
         end
         event.total = event.total + count
      end
   end
   return list
end

-- Sets the range of the code that no header states to that of the samples; refuses other samples.
local function check_range(file, addresses)
   local first, last = addresses[1] or 0, addresses[#addresses] or -INSN_SIZE
   file.start = file.start or first
   file.size = file.size or last - file.start + INSN_SIZE
   for _, address in ipairs(addresses) do
      local offset = address - file.start
      if math.ult(address, file.start) or not math.ult(offset, file.size) then
         refuse("address 0x%x is outside of the code, 0x%x and %s bytes from there", address,
            file.start, headers.decimal(file.size))
      elseif not file.is_text and (offset % INSN_SIZE ~= 0 or math.ult(0xffffffff, offset)) then
         refuse("address 0x%x is %s bytes into the code: a multiple of %d below 2^32 expected",
            address, headers.decimal(offset), INSN_SIZE)
      end
   end
end

-- }======

-- {====== Checks of the header ======

-- Refuses a file that lacks required values, and a binary one of several events.
local function check_stated(file)
   local missing = {}
   for _, word in ipairs { "image", "epoch", "platform", not file.is_text and "cpuspeed" or nil } do
      missing[#missing + 1] = not file.values[word] and word or nil
   end
   missing[#missing + 1] = #file.events == 0 and "event" or nil
   if missing[1] then
      refuse("the file must state %s: give it in header", table.concat(missing, " "))
   elseif not file.is_text and #file.events > 1 then
      refuse("a 0.07 file holds one event, here are %d: write dcpicat's text, or open only one of "
         .. "them", #file.events)
   end
end

-- Refuses lines that are written as they are given, and would be read as others.
local function check_lines(file)
   for _, line in ipairs(file.lines) do
      local word, value = line.word, line.value
      local number = place[word] or math.huge
      local is_written = number == PATH
         or number > PATH and not file.is_text and word ~= "samples"
      if is_written and word ~= "" and value ~= "" and (not headers.is_value(value)
         or not headers.is_printable(word) or word:find "[ \t]")
      then
         refuse("a header line of \"%s\" cannot be written as \"%s\"", word:sub(1, 40),
            value:sub(1, 40))
      end
   end
   for _, event in ipairs(file.events) do
      if not headers.is_printable(event.name) then
         refuse "an event without a name, or with control bytes in it"
      end
   end
end

-- Marks lines that are left out: an equal line is written before them, or the option `header`,
-- whose lines are written last, has another one of their word. Returns the lines in the order in
-- which they are written.
local function mark_left_out(lines)
   local ordered, overrides, seen = {}, {}, {}
   for _, line in ipairs(lines) do
      overrides[line.word] = not line.profile or overrides[line.word]
   end
   for pass = 1, 2 do
      for _, line in ipairs(lines) do
         if (line.profile ~= nil) == (pass == 1) then
            local key = line.word .. "\0" .. line.value
            line.is_left_out = seen[key] or pass == 1 and overrides[line.word]
            ordered[#ordered + 1], seen[key] = line, true
         end
      end
   end
   return ordered
end

-- }======

-- {====== Version 0.07 ======

-- Returns a line with the value of the merged header.
local function merged_line(file, word)
   local event = file.events[1]
   local value = word == "version" and "pdb-0.07" or word == "event" and event.name
      or word == "period" and headers.decimal(event.period)
      or word == "tstart" and ("%012x"):format(file.start)
      or word == "tsize" and headers.decimal(file.size) or file.values[word]
   return word .. " " .. (value or "")
end

-- Returns whether the value of a line equals that of the merged header.
local function matches_header(file, line)
   local word, value, event = line.word, line.value, file.events[1]
   if word == "version" then
      return value == "pdb-0.07"
   elseif word == "event" then
      return value == event.name
   elseif word ~= "period" and word ~= "tstart" and word ~= "tsize" then
      return value == file.values[word]
   end
   return headers.number(value, word == "tstart" and 16 or 10) == (word == "period" and event.period
      or word == "tstart" and file.start or file.size)
end

-- dcpicat has other words for the code range.
local of_text = { text_start = "tstart", text_size = "tsize" }

-- Returns the text of a line, or nil if it is not written: its word has been written. Paths, and
-- words that version 0 does not define, may be repeated.
local function text_of(file, line, written)
   local word = of_text[line.word] or line.word
   local is_new, original = not written[word], headers.is_printable(line.line or "") and line.line
   if word == "samples" then
      return nil
   end
   written[word] = true
   if (place[word] or PATH) < PATH then
      return is_new and (line.word == word and matches_header(file, line) and original
         or merged_line(file, word)) or nil
   elseif word == "" or line.value == "" or line.is_left_out then
      return nil
   elseif word == "name" and file.values.path -- readers derive it from the path
      and line.value == headers.base_name(file.values.path)
   then
      return nil
   end
   return original or word .. " " .. line.value
end

-- Returns the header: the collected lines in their order, then those of the option `header`, then
-- required lines that are missing. The counts after it are aligned.
local function header_of(file)
   local list, written = {}, {}
   local function add(word)
      list[#list + 1], written[word] = merged_line(file, word), true
   end
   if not file.values.version then
      add "version"
   end
   for _, line in ipairs(file.ordered) do
      list[#list + 1] = text_of(file, line, written)
   end
   for i, word in ipairs(headers.words) do
      if not written[word[1]] and (i <= place.cpuspeed
         or (word[1] == "name" or word[1] == "label") and file.values[word[1]])
      then
         add(word[1])
      end
   end
   list[#list + 1] = "samples"
   local text = table.concat(list, "\n")
   return text .. (" "):rep((3 - #text % 4) % 4) .. "\n"
end

-- Writes chunks of counts, and the footer.
local function put_counts(file, addresses, put)
   local sums = file.events[1].sums
   local first = 1
   while first <= #addresses do
      local start, at, counts = addresses[first], addresses[first], {}
      local last = first
      repeat
         counts[#counts + 1] = addresses[last] - at > INSN_SIZE and "\0\0\0\0" or nil
         at = addresses[last]
         counts[#counts + 1] = ("<I4"):pack(sums[at])
         last = last + 1
      until not addresses[last] or addresses[last] - at > 2 * INSN_SIZE
      put(("<I4I4"):pack(start - file.start, (at - start) // INSN_SIZE + 1), table.concat(counts))
      first = last
   end
   put(("<I4I4"):pack(#addresses, file.events[1].total))
end

-- }======

-- {====== dcpicat's text ======

-- Writes the text: the header, and a line for each address, with a count for each event.
local function put_text(file, addresses, put)
   local values = file.values
   local function line(word, value)
      put(("%-16s %s\n"):format(word, value))
   end
   local name = values.name or headers.base_name(values.path or "")
   line("name", name ~= "" and name or values.image)
   line("image", values.image)
   if values.label then
      line("label", values.label)
   end
   for _, one in ipairs(file.lines) do
      if one.word == "path" and not one.is_left_out then
         line("path", one.value)
      end
   end
   line("epoch", values.epoch)
   line("platform", values.platform)
   line("text_start", ("0x%012x"):format(file.start))
   line("text_size", ("0x%012x"):format(file.size))
   for _, event in ipairs(file.events) do
      line("event", ("%d %s:%s:%s"):format(event.total, event.name, headers.decimal(event.period),
         headers.decimal(event.fraction)))
   end
   for _, address in ipairs(addresses) do
      local counts = {}
      for i, event in ipairs(file.events) do
         counts[i] = (" %7d"):format(event.sums[address] or 0)
      end
      put(("0x%012x%s\n"):format(address, table.concat(counts)))
   end
end

-- }======

---Writes the file, or refuses what it cannot hold.
---@param file table headers.merged with events, lines and is_text
---@param put fun(bytes: string)
function write.file(file, put)
   check_stated(file)
   headers.check(file.values)
   check_lines(file)
   local addresses = addresses_of(file)
   check_range(file, addresses)
   file.ordered = mark_left_out(file.lines)
   if file.is_text then
      put_text(file, addresses, put)
   else
      put(header_of(file))
      put_counts(file, addresses, put)
   end
end

return write
