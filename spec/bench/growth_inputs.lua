-- Inputs for growth.lua that grow along one axis each: the function that writes the files of size
-- n, the first size, and the largest.

local br = require "spec.support.br_builder"
local dbf = require "spec.support.dbf_builder"
local dcpi = require "spec.support.dcpi_builder"
local disk = require "spec.support.disk"
local gmon = require "spec.support.gmon_builder"
local protobuf = require "spec.support.protobuf"
local winidea = require "spec.support.winidea"

local function write(path, bytes)
   local file <close> = assert(io.open(path, "wb"))
   file:write(bytes)
   return path
end

-- {====== Calls, as text of Xbase++ ======

local HEAD = "TID,TIME,OP,MSG,LINE\r\n"

-- Writes the rows of a trace: put(lane, operation, function) adds one, 1 ms after the last.
local function calls(path, fill)
   local rows, time = { HEAD }, 0
   fill(function(lane, letter, name, at)
      time = at or time + 1
      rows[#rows + 1] = ('%d,%d,"%s","%s",10\r\n'):format(lane, time, letter, name)
   end)
   return { write(path .. ".prf", table.concat(rows)) }
end

local function records(n, path)
   return calls(path, function(put)
      put(1, "I", "MAIN")
      for i = 1, n do
         put(1, "I", "F" .. i % 10)
         put(1, "O", "F" .. i % 10)
      end
      put(1, "O", "MAIN")
   end)
end

local function areas(n, path)
   return calls(path, function(put)
      for i = 1, n do
         put(1, "I", "FUNCTION" .. i)
         put(1, "O", "FUNCTION" .. i)
      end
   end)
end

local function lanes(n, path)
   return calls(path, function(put)
      for lane = 1, n do
         put(lane, "I", "MAIN")
         put(lane, "I", "WORK")
         put(lane, "O", "WORK")
         put(lane, "O", "MAIN")
      end
   end)
end

local function depth(n, path)
   return calls(path, function(put)
      for i = 1, n do
         put(1, "I", "F" .. i)
      end
      for i = n, 1, -1 do
         put(1, "O", "F" .. i)
      end
   end)
end

-- Each call has a distinct stack of eight frames.
local function contexts(n, path)
   local random = 1
   return calls(path, function(put)
      for _ = 1, n // 8 do
         local names = {}
         for i = 1, 8 do
            random = (random * 1103515245 + 12345) & 0x7fffffff
            names[i] = "F" .. (random >> 16) % 30
            put(1, "I", names[i])
         end
         for i = 8, 1, -1 do
            put(1, "O", names[i])
         end
      end
   end)
end

-- Each run begins at time 0, in a separate file.
local function files(n, path)
   local list = {}
   os.execute("mkdir -p '" .. path .. "'")
   for i = 1, n do
      list[i] = write(("%s/%d.prf"):format(path, i), HEAD ..
         '1,1,"I","MAIN",10\r\n1,5,"I","A",10\r\n1,9,"O","A",10\r\n1,12,"O","MAIN",10\r\n')
   end
   return list
end

local function runs(n, path)
   return calls(path, function(put)
      for _ = 1, n do
         put(1, "I", "MAIN", 1)
         put(1, "I", "A", 500)
         put(1, "O", "A", 900)
         put(1, "O", "MAIN", 1200)
      end
   end)
end

local function packets(n, path)
   disk.fresh(path)
   local header = write(path .. "/P.PRF", HEAD)
   for i = 1, n do
      write(("%s/P.PRF.%06d"):format(path, i),
         ('1,%d,"I","MAIN",10\r\n1,%d,"O","MAIN",10\r\n'):format(2 * i, 2 * i + 1))
   end
   return { header }
end

local function columns(n, path)
   local more = (",1"):rep(n)
   local rows = { HEAD:sub(1, -3) .. (",X"):rep(n) .. "\r\n" }
   for i = 1, 20 do
      rows[i + 1] = ('1,%d,"%s","MAIN",10%s\r\n'):format(i, i % 2 == 1 and "I" or "O", more)
   end
   return { write(path .. ".prf", table.concat(rows)) }
end

-- Names that collide in a hash which multiplies words of 8 bytes and shifts the upper bits down by
-- 29: each is a sequence of parts of 16 bytes with two alternatives whose differing bits cancel.
local function names(n, path)
   local bits = 0
   while 1 << bits < n do
      bits = bits + 1
   end
   local pairs_of = { "aaaaaaaaaaaaaaaa", "aaaaaaa\xe1aaaaeaa\xe1" }
   return calls(path, function(put)
      for i = 0, n - 1 do
         local letters = {}
         for bit = 0, 13 do
            letters[bit + 1] = pairs_of[(i >> bit & 1) + 1]
         end
         local name = table.concat(letters)
         put(1, "I", name)
         put(1, "O", name)
      end
   end)
end

-- The operation of each row is unknown.
local function warnings(n, path)
   return calls(path, function(put)
      put(1, "I", "MAIN")
      for i = 1, n do
         put(1, "I", "A")
         put(1, "X", "F" .. i % 10)
         put(1, "O", "A")
      end
   end)
end

-- }======

-- {====== Other formats ======

local function states(n, path)
   local list = {}
   for i = 1, n do
      list[i] = winidea.new { handle = i % 1000 + 1, event = i % 2 == 1 and "enter" or "leave",
         core = 0, time = i * 10 }
   end
   return { write(path .. ".BIN", table.concat(list)) }
end

-- One write for each of many variables.
local function variables(n, path)
   local list = {}
   for i = 1, n do
      list[i] = winidea.new { handle = i, event = "write", core = 0, data = i, time = i * 10 }
   end
   return { write(path .. ".BIN", table.concat(list)) }
end

local function samples(n, path)
   local builder = br():module(0, "A.BR")
   for i = 1, n do
      builder:line(0, i % 5000 + 1, 1):back(0, i % 77 + 1, 1):back(0, i % 1001 + 1, 1):main()
         :time(5):stop()
   end
   return { write(path .. ".br", builder:bytes()) }
end

local function frames(n, path)
   local builder = br():module(0, "A.BR"):line(0, 1, 1)
   for i = 1, n do
      builder:back(0, i % 90000 + 1, 1)
   end
   return { "--format", "br", write(path .. ".br", builder:main():time(5):stop():bytes()) }
end

-- Functions of 16 bytes each; `shape` determines the arcs between them.
local function graph(shape)
   return function(n, path)
      local bins, nm = {}, {}
      for i = 1, n do
         bins[2 * i - 1], bins[2 * i] = i % 7, 0
         nm[i] = ("%016x T f%d\n"):format(0x1000 + 16 * (i - 1), i)
      end
      nm[n + 1] = ("%016x T etext\n"):format(0x1000 + 16 * n)
      local file = gmon("<", 8):header()
         :histogram { low = 0x1000, high = 0x1000 + 16 * n, bins = bins }
      for i = 1, n do
         for _, to in ipairs(shape(i, n)) do
            file:arc(0x1000 + 16 * (i - 1) + 4, 0x1000 + 16 * (to - 1), i % 5 + 1)
         end
      end
      return { "--symbols", write(path .. ".nm", table.concat(nm)),
         write(path .. ".gmon", file:bytes()) }
   end
end

local shapes = {
   chain = function(i, n) return { i % n + 1 < i and 1 or i + 1 <= n and i + 1 or nil } end,
   cycle = function(i, n) return { i % n + 1, (i * 7) % n + 1 } end,
   star = function(i, n) return i == 1 and {} or { 1, n } end,
   random = function(i, n) return { (i * 7919) % n + 1, (i * 104729) % n + 1 } end,
}

local function counts(n, path)
   local builder = dcpi.new():header()
   for i = 1, n do
      builder:chunk(16 * i, { i % 100 + 1 })
   end
   return { write(path .. ".dcpi", builder:footer():bytes()) }
end

-- Locations whose ids collide in a hash that multiplies by the golden ratio.
local function locations(id_of)
   return function(n, path)
      local text = protobuf.texts()
      local list = { protobuf.message(1, protobuf.number(1, text "cpu"),
         protobuf.number(2, text "nanoseconds")) }
      for i = 1, n do
         local id = id_of(i)
         list[#list + 1] = protobuf.message(2, protobuf.packed(1, { id, id_of((i * 7) % n + 1) }),
            protobuf.packed(2, { 5 }))
         list[#list + 1] = protobuf.message(4, protobuf.number(1, id),
            protobuf.message(4, protobuf.number(1, id)))
         list[#list + 1] = protobuf.message(5, protobuf.number(1, id),
            protobuf.number(2, text("f" .. i)))
      end
      list[#list + 1] = text.fields()
      return { write(path .. ".pb", table.concat(list)) }
   end
end

-- One sample whose stack has n frames.
local function pprof_depth(n, path)
   local text, ids = protobuf.texts(), {}
   local list = { protobuf.message(1, protobuf.number(1, text "cpu"),
      protobuf.number(2, text "nanoseconds")) }
   for i = 1, n do
      ids[i] = i
      list[#list + 1] = protobuf.message(4, protobuf.number(1, i),
         protobuf.message(4, protobuf.number(1, i)))
      list[#list + 1] = protobuf.message(5, protobuf.number(1, i),
         protobuf.number(2, text("f" .. i)))
   end
   list[#list + 1] = protobuf.message(2, protobuf.packed(1, ids), protobuf.packed(2, { 5 }))
   list[#list + 1] = text.fields()
   return { write(path .. ".pb", table.concat(list)) }
end

-- Memos of 100 bytes, stored one after the other.
local function memos(n, path)
   local texts, rows = {}, { { "NOTE", "M", 10 }, version = 0x83 }
   for i = 1, n do
      texts[i] = ("memo %d "):format(i):rep(10)
   end
   local bytes, numbers = dbf.dbt3(texts)
   local builder = dbf.new(rows)
   for i = 1, n do
      builder:row { numbers[i] }
   end
   write(path .. ".dbt", bytes)
   return { write(path .. ".dbf", builder:bytes()) }
end

local function fields(n, path)
   local described = { version = 0x03 }
   for i = 1, n do
      described[i] = { "F" .. i, "N", 2 }
   end
   local builder, row = dbf.new(described), {}
   for i = 1, n do
      row[i] = i % 10
   end
   for _ = 1, 50 do
      builder:row(row)
   end
   return { write(path .. ".dbf", builder:bytes()) }
end

-- }======

-- {====== Of commands that take more than one trace, or lists ======

-- A profile of n functions, with other weights for each seed, all below one caller.
local function profile(n, path, seed)
   local text, random = protobuf.texts(), seed
   local list = { protobuf.message(1, protobuf.number(1, text "samples"),
      protobuf.number(2, text "count")) }
   for i = 0, n do
      list[#list + 1] = protobuf.message(4, protobuf.number(1, i + 1),
         protobuf.message(4, protobuf.number(1, i + 1)))
      list[#list + 1] = protobuf.message(5, protobuf.number(1, i + 1),
         protobuf.number(2, text("f" .. (i > 0 and i % 3 == 0 and seed // 3 or "") .. "_" .. i)))
      random = (random * 1103515245 + 12345) & 0x7fffffff
      list[#list + 1] = protobuf.message(2, protobuf.packed(1, i == 0 and { 1 } or { i + 1, 1 }),
         protobuf.packed(2, { (random >> 16) % 100 + 1 }))
   end
   list[#list + 1] = text.fields()
   return write(("%s-%d.pb"):format(path, seed), table.concat(list))
end

-- Three runs of two versions; a third of the functions has another name in the second one.
local function versions(n, path)
   local list = {}
   for seed = 0, 5 do
      list[seed < 3 and seed + 1 or seed + 2] = profile(n, path, seed)
   end
   list[4] = "--new"
   return list
end

local function diff(n, path)
   return { profile(n, path, 3), "--diff", profile(n, path, 0) }
end

-- Runs that are not yet in the store, which is a new one.
local function store(n, path)
   local list = { path .. ".db" }
   for i = 1, n do
      list[i + 1] = profile(5, path .. "-" .. i, i)
   end
   return list
end

local function limits(n, path)
   local lines = {}
   for i = 1, n do
      lines[i] = ("FUNCTION%d net_max <= 1s\n"):format(i)
   end
   return { "--limits", write(path .. ".lim", table.concat(lines)), areas(n, path)[1] }
end

-- Calls of F of which each tenth is slow, because of one callee.
local function explained(n, path)
   return { "F", calls(path, function(put)
      local time = 0
      local function at(duration)
         time = time + duration
         return time
      end
      for i = 1, n do
         put(1, "I", "F", at(1))
         put(1, "I", "G" .. i % 7, at(1))
         put(1, "O", "G" .. i % 7, at(i % 10 == 0 and 50 or 1))
         put(1, "O", "F", at(1))
      end
   end)[1] }
end

local function where(n, path)
   local list = {}
   for i = 1, n do
      list[i] = "f_" .. i
   end
   return { "--where", "function=" .. table.concat(list, ","), profile(n, path, 0) }
end

local function focused(n, path)
   return { "--focus", "f_1", "--hide", "~_2", profile(n, path, 0) }
end

-- }======

local inverse = 0xf1de83e19937733d -- of the golden ratio, modulo 2^64

-- `options`: the only command lines that an axis is for; else all modes, reports and exports.
---@type { name: string, make: fun(n: integer, path: string), first: integer, most: integer,
---options: string[]|nil }[]
return {
   { name = "records", make = records, first = 2000, most = 512000 },
   { name = "areas", make = areas, first = 1000, most = 256000 },
   { name = "lanes", make = lanes, first = 500, most = 64000 },
   { name = "depth", make = depth, first = 500, most = 64000 },
   { name = "contexts", make = contexts, first = 2000, most = 256000 },
   { name = "files", make = files, first = 50, most = 3200 },
   { name = "runs", make = runs, first = 200, most = 51200 },
   { name = "packets", make = packets, first = 100, most = 6400 },
   { name = "columns", make = columns, first = 100, most = 6400 },
   { name = "names", make = names, first = 512, most = 16384 },
   { name = "warnings", make = warnings, first = 2000, most = 512000 },
   { name = "timeline", make = states, first = 4000, most = 512000 },
   { name = "variables", make = variables, first = 500, most = 64000 },
   { name = "samples", make = samples, first = 2000, most = 256000 },
   { name = "frames", make = frames, first = 500, most = 64000 },
   { name = "chain", make = graph(shapes.chain), first = 1000, most = 128000 },
   { name = "cycle", make = graph(shapes.cycle), first = 1000, most = 128000 },
   { name = "star", make = graph(shapes.star), first = 1000, most = 128000 },
   { name = "random", make = graph(shapes.random), first = 1000, most = 128000 },
   { name = "counts", make = counts, first = 4000, most = 512000 },
   { name = "locations", make = locations(function(i) return i end), first = 1000, most = 128000 },
   { name = "ids", make = locations(function(i) return i * inverse end), first = 1000,
     most = 64000 },
   { name = "pprof-depth", make = pprof_depth, first = 500, most = 64000 },
   { name = "memos", make = memos, first = 1000, most = 128000 },
   { name = "fields", make = fields, first = 15, most = 240 },
   { name = "versions", make = versions, first = 500, most = 32000,
     options = { "compare", "compare --output csv", "compare --metric samples --by stack" } },
   { name = "diff", make = diff, first = 500, most = 64000,
     options = { "--report flat", "--export folded" } },
   { name = "store", make = store, first = 20, most = 1280, options = { "store add" } },
   { name = "limits", make = limits, first = 500, most = 32000, options = { "" } },
   { name = "explained", make = explained, first = 2000, most = 256000, options = { "explain" } },
   { name = "where", make = where, first = 500, most = 16000, options = { "--report flat" } },
   { name = "focus", make = focused, first = 500, most = 64000, options = { "--report flat" } },
}
