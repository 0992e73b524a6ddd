-- Simulates power failures while a writer writes to the disk (fsync = true).
--
--    lua5.4 spec/support/power.lua FOLDER STATES SEED [CASE]
--
-- A writer runs with spec/c/disk.c, which logs its requests to the disk. Then STATES states of the
-- disk are built that a power failure can leave: all operations that were synchronised before some
-- operation, and any subset of the later writes and changes of sizes and names; of a write also
-- single sectors. profio.open must find, in order, all records that were written before a flush
-- that had returned.

local lfs = require "lfs"
local processes = require "processes"
local torture = require "spec.support.torture"

local power = {}

local RECORDS, SECTOR = 300, 512

-- {====== The writer ======

local function promise(n)
   io.open("/promise/" .. n)
end

local function write(stream, path)
   local profio = require "profio"
   local given = { ring = { size = "64K" }, fsync = true, flush_every = 7 }
   for name, value in pairs(stream.given) do
      given[name] = value
   end
   local w <close> = assert(profio.create(path, given))
   local emit = w:emitter(table.unpack(stream.columns))
   for i = 1, RECORDS do
      emit(stream.row(i))
      if math.random(15) == 1 then
         for _ = 1, math.random(0, 8) do
            processes.yield() -- the thread may be writing already
         end
         assert(w:flush())
         promise(i)
      end
   end
   assert(w:close())
   promise(RECORDS)
end

-- Returns the disk requests of a writer: { kind =, file =, at =, name =, bytes = }.
local function recorded(stream, folder, seed)
   local log = folder .. "/disk.log"
   os.remove(log)
   local command = ("DISK_LOG='%s' DISK_FOLDER='%s/on' LD_PRELOAD='%s' lua5.4 '%s' --write '%s' "
      .. "'%s' %d"):format(log, folder, package.searchpath("disk", package.cpath), arg[0],
      stream.name, folder .. "/on/" .. stream.file, seed)
   assert(os.execute(command))
   local operations = {}
   local file <close> = assert(io.open(log, "rb"))
   for line in file:lines() do
      local kind, inode, a, _, size, name = line:match "^(%w+) (%d+) (%-?%d+) (%-?%d+) (%d+) (.*)$"
      operations[#operations + 1] = { kind = kind, file = inode, at = tonumber(a),
         name = name:match "[^/]*$", bytes = file:read(tonumber(size)) }
   end
   return operations
end

-- }======

-- {====== Disks ======

local function put(bytes, at, new)
   if at > #bytes then
      bytes = bytes .. ("\0"):rep(at - #bytes)
   end
   return bytes:sub(1, at) .. new .. bytes:sub(at + #new + 1)
end

local function resize(bytes, size)
   return #bytes > size and bytes:sub(1, size) or bytes .. ("\0"):rep(size - #bytes)
end

-- Returns the bytes of a file after an operation.
local function applied(bytes, operation, is_torn)
   if operation.kind == "truncate" then
      return resize(bytes, operation.at)
   elseif operation.kind == "allocate" then
      return resize(bytes, math.max(#bytes, operation.at))
   elseif not is_torn then
      return put(bytes, operation.at, operation.bytes)
   end
   for from = 0, #operation.bytes - 1, SECTOR do
      if math.random(2) == 1 then
         bytes = put(bytes, operation.at + from, operation.bytes:sub(from + 1, from + SECTOR))
      end
   end
   return bytes
end

local function named(names, operation)
   names[operation.name] = operation.kind == "name" and operation.file or nil
end

-- Selects operations that were not synchronised: none, all, or a random subset.
local function chooser()
   local how = math.random(4)
   return function()
      return how > 2 and math.random(2) == 1 or how == 2
   end, how == 4
end

-- The files, by name, after a power failure.
local function state_of(disk)
   local is_there, is_torn = chooser()
   local names, files = {}, {}
   for name, file in pairs(disk.names) do
      names[name] = file
   end
   for _, operation in ipairs(disk.waiting.names or {}) do
      if is_there() then
         named(names, operation)
      end
   end
   for name, file in pairs(names) do
      local bytes = disk.files[file] or ""
      for _, operation in ipairs(disk.waiting[file] or {}) do
         if is_there() then
            bytes = applied(bytes, operation, is_torn and operation.kind == "write")
         end
      end
      files[name] = bytes
   end
   return files
end

-- Adds an operation: it is pending, or it synchronises the pending ones.
local function step(disk, operation)
   local kind = operation.kind
   if kind == "promise" then
      disk.promised = operation.at
      return
   end
   local of = (kind == "name" or kind == "remove" or operation.file == "1") and "names"
      or operation.file
   local waiting = disk.waiting[of] or {}
   disk.waiting[of] = waiting
   if kind ~= "sync" then
      waiting[#waiting + 1] = operation
      return
   end
   for _, one in ipairs(waiting) do
      if of == "names" then
         named(disk.names, one)
      else
         disk.files[of] = applied(disk.files[of] or "", one)
      end
   end
   disk.waiting[of] = nil
end

-- }======

local function clean(folder)
   for name in lfs.dir(folder) do
      if name:match "^[^.]" then
         os.remove(folder .. "/" .. name)
      end
   end
end

-- Writes the files into a folder, as they are found after the next boot.
local function write_files(folder, files)
   local boot = assert(io.open("/proc/sys/kernel/random/boot_id")):read "a"
   clean(folder)
   for name, bytes in pairs(files) do
      local at = name:match "%.ring$" and bytes:find(boot, 1, true)
      local file <close> = assert(io.open(folder .. "/" .. name, "wb"))
      file:write(at and put(bytes, at - 1, ("x"):rep(#boot)) or bytes)
   end
end

-- Checks that all flushed records are found, in order, and no others than those written.
local function check(stream, folder, promised)
   local numbers = torture.numbers_of(stream, folder .. "/" .. stream.file)
   for k, number in ipairs(numbers) do
      if number ~= k then
         error(("record %d stands at place %d"):format(number, k), 0)
      end
   end
   if #numbers < promised then
      error(("%d records found, %d were promised"):format(#numbers, promised), 0)
   end
end

local function play(stream, folder, states, seed)
   clean(folder .. "/on")
   local operations = recorded(stream, folder, seed)
   local disk = { names = {}, files = {}, waiting = {}, promised = 0 }
   local each = states / #operations
   local due, made = 0, 0
   for number, operation in ipairs(operations) do
      step(disk, operation)
      due = due + (disk.promised > 0 and each or 0)
      while due >= 1 do
         due, made = due - 1, made + 1
         write_files(folder .. "/off", state_of(disk))
         local done, message = pcall(check, stream, folder .. "/off", disk.promised)
         if not done then
            error(("%s: %s (after operation %d of %d, seed %d; the files are in %s/off)"):format(
               stream.name, message, number, #operations, seed, folder), 0)
         end
      end
   end
   print(("%-34s %5d operations %6d power failures"):format(stream.name, #operations, made))
end

---Simulates this many power failures for each stream.
---@param folder string
---@param states integer for each stream
---@param seed integer
---@param only string|nil a pattern for the names of streams
function power.run(folder, states, seed, only)
   lfs.mkdir(folder .. "/on")
   lfs.mkdir(folder .. "/off")
   math.randomseed(seed)
   for _, stream in ipairs(torture.streams) do
      if not only or stream.name:find(only) then
         play(stream, folder, states, seed)
      end
   end
   print "no record lost that was promised"
end

if arg[1] == "--write" then
   math.randomseed(math.tointeger(arg[4]))
   for _, stream in ipairs(torture.streams) do
      if stream.name == arg[2] then
         write(stream, arg[3])
      end
   end
else
   local done, message = pcall(power.run, arg[1], math.tointeger(arg[2]) or 100,
      math.tointeger(arg[3]) or 1, arg[4])
   if not done then
      io.stderr:write(message, "\n")
      os.exit(1)
   end
end

return power
