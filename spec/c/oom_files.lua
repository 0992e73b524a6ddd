-- The chunks of oom.lua that read and write files.

local core = require "profio.core"
local elf = require "spec.support.elf"
local disk = require "spec.support.disk"
local lfs = require "lfs"
local profio = require "profio"

local folder = os.tmpname()
os.remove(folder)

local function path_of(name)
   return folder .. "/" .. name
end

local function write(name, text)
   local file <close> = assert(io.open(path_of(name), "wb"))
   assert(file:write(text))
   return path_of(name)
end

local function read(name)
   local file <close> = assert(io.open(path_of(name), "rb"))
   return file:read "a"
end

-- After a failure a file must have its old contents, or all of the new text.
local function is_old_or_new(name, old, new)
   local text = read(name)
   assert(text == old or text == new, name .. " is neither old nor new")
end

local chunks = {}

-- The bytes of a trace, its file, the same packed with gzip, a program for it, and many such files.
local gmon, plain, packed, program, with_lines, many

local function saved(path)
   local trace <close> = assert(profio.open(path))
   return (assert(trace:save()))
end

function chunks.file()
   return saved(plain)
end

-- Files that are added up in two threads: core.file_sum.
function chunks.file_sums()
   local one <close> = assert(profio.open(many[1]))
   local all <close> = assert(profio.open(many))
   local row, sum = assert(one:profile()):flat():rows()[1], assert(all:profile()):flat():rows()[1]
   assert(row.self > 0 and sum.self == #many * row.self)
end

function chunks.file_packed()
   return saved(packed .. ".gz")
end

-- Each run has a pipe of its own: the program that writes to it may outlive a run that fails, and
-- would close the pipe of the next one without having written.
local pipes = 0
function chunks.file_pipe()
   os.remove(path_of("pipe" .. pipes))
   pipes = pipes + 1
   os.execute(("cd %s && mkfifo pipe%d && { timeout 5 sh -c 'cat gmon.out > pipe%d' "
      .. ">/dev/null 2>&1 & }"):format(folder, pipes, pipes))
   return saved(path_of("pipe" .. pipes))
end

function chunks.file_written()
   local trace <close> = assert(profio.open(plain))
   for _, name in ipairs { "new", "link" } do
      os.remove(path_of "new")
      write("old", "old")
      local fine, message = trace:save(path_of(name))
      is_old_or_new("old", "old", gmon)
      assert(fine or message:find "no regular file any more", message)
   end
   assert(trace:save "/dev/null")
   assert(trace:export("folded", path_of "old"))
   return read "old"
end

-- A table without a memo in place of one with a memo, while a killed writer has left a file.
function chunks.file_set()
   local function written(name, fields, text)
      local writer <close> = assert(profio.create(name and path_of(name),
         { format = "dbf", fields = fields }))
      assert(writer:write { ID = "1", NOTE = text })
      return writer:close()
   end
   local left = path_of ".profio-01234567"
   local old, beside = written(nil, "ID C(4), NOTE M", "old")
   local new = written(nil, "ID C(4)")
   write("set.dbf", old)
   write("set.fpt", beside.memo)
   write(".profio-01234567", "")
   local done, ok, message = pcall(written, "set.dbf", "ID C(4)")
   local is_new = lfs.attributes(path_of "set.fpt") == nil
   is_old_or_new("set.dbf", is_new and new or old, is_new and new or old)
   os.remove(left)
   for name in lfs.dir(folder) do
      assert(not name:find "^%.profio", name)
   end
   assert(done and ok, done and message or ok)
end

function chunks.file_named()
   local real, message = core.named_file(plain, { folder })
   assert(real or message:find "outside the folders", message) -- the folder cannot be determined
end

function chunks.file_symbols()
   local trace <close> = assert(profio.open(plain, { exe = program }))
   local profile = assert(trace:profile())
   return core.write_listing(profile:flat():reader(),
      { kind = "kind", templates = require "profio.reports.gprof.headings".templates.flat })
end

-- The debug file is read for lines before the executable.
function chunks.file_lines()
   local exe <close> = assert(core.source(with_lines))
   local debug <close> = assert(core.source(with_lines))
   local symbols = assert(core.symbols_elf(exe, debug, "exact", core.dictionary()))
   local list = symbols:all()
   for i, symbol in ipairs(list) do
      list[i] = symbol.name .. " " .. tostring(symbols:line(symbol.start))
   end
   symbols:by_line()
   return list, symbols:count()
end

local head = "* HANDLE(Functions) %HANDLE%,%NAME%,%FILE%,%VALUE%\n1,f,/a.c,\n"
   .. "* TIMELINE %HANDLE%,%EVENT%,%TIME%\n1,E,1\n"

function chunks.file_followed()
   local live = write("live.csv", head)
   local trace <close> = assert(profio.open(live, { live = true }))
   local rows = trace:table("events"):count()
   write("live.csv", head .. "1,X,5\n")
   trace:refresh()
   trace:refresh() -- reads what the first one missed because of a failure
   return rows .. " " .. trace:table("events"):count()
end

-- A ring with a consumer thread, read while it is open, then closed.
function chunks.file_ring()
   collectgarbage() -- closes a writer that the last failure left open
   local path = path_of "ring.br"
   os.remove(path)
   local w <close> = assert(profio.create(path, { format = "br", ring = { size = "64K" } }))
   local emit = w:emitter("module", "line")
   for i = 1, 20 do
      local _, message = emit("M" .. i, i)
      assert(not message, message)
   end
   assert(w:flush())
   do
      local trace <close> = assert(profio.open(path))
      assert(trace:count() == 20)
   end
   assert(w:close())
   return saved(path)
end

-- The ring that a killed writer left beside its file.
function chunks.file_recovered()
   collectgarbage()
   local path, left = path_of "killed.br", path_of "left.br"
   for _, name in ipairs { path, path .. ".ring", left, left .. ".ring" } do
      os.remove(name)
   end
   local w <close> = assert(profio.create(path, { format = "br",
      ring = { size = "64K", full = "overwrite" } }))
   assert(w:write { module = "A.BR", line = 7 })
   os.execute(("cp %s %s; cp %s.ring %s.ring"):format(path, left, path, left))
   assert(w:close())
   local trace <close>, message = profio.open(left)
   assert(trace or message:find "the file is empty", message) -- as it is without the ring
   local rows = trace and #trace:rows "line" or 0
   assert(rows == 1 or not trace or trace.warnings[1].code == "ring-damaged")
end

-- When memory runs out in a hook, the recording ends, but not the program.
function chunks.file_sampled()
   local recorder = require "profio.recorder"
   if recorder.is_recording() then -- the last failure left it so
      pcall(recorder.stop)
   end
   collectgarbage()
   local started, failure = recorder.start {
      mode = "sampled", interval = "20us", path = path_of "sampled.prf",
   }
   if not started and failure:find "cannot create a timer" then
      return
   end
   assert(started, failure)
   for i = 1, 1000 do
      tostring(i)
   end
   local failed = recorder.stop().failure
   assert(not failed or failed:find "cannot create a timer" or failed:find "out of memory"
      or failed:find "no samples", failed)
end

---Add the chunks; `bytes` are a small trace of gmon.
return function(all, bytes)
   disk.folder(folder)
   gmon = bytes
   plain, packed = write("gmon.out", gmon), write("packed", gmon)
   assert(os.execute("gzip -f " .. packed))
   many = {}
   for i = 1, 140 do
      many[i] = write("many" .. i, gmon:sub(1, -22)) -- without blocks
   end
   assert(lfs.link("old", path_of "link", true))
   program = write("program", elf.build {
      symbols = { { name = "main", value = 0x1000, size = 0x20 },
         { name = "leaf", value = 0x1020, size = 0x20 } } })
   with_lines = path_of "with_lines"
   assert(os.execute(("echo 'int main(void) { return 0; }' | cc -g -x c - -o %s")
      :format(with_lines)))
   for name, chunk in pairs(chunks) do
      all[name] = chunk
   end
end
