-- Stores in the newest ClickHouse: the same commands over the same runs print the same bytes as
-- over a file of SQLite.
--
-- Extra: needs chdb.
-- Unsanitized: it runs many commands.

local chdb = require "spec.support.chdb"

if not chdb.is_installed() then
   pending "stores in the newest ClickHouse (needs node and chdb)"
   return
end

local command = require "spec.support.command"
local disk = require "spec.support.disk"
local profio = require "profio"
local stored = require "spec.support.stored"

local folder = command.folder .. "/store-newest"
local front

-- Commands whose output has no times of adding; %s stands for the store.
local commands = {
   "store ls --output csv --columns run,time,format,kind,files,bytes,losses,path,labels %s",
   "store ls --output csv --columns run --run version=v1 --run 'host!=h2' %s",
   "store ls --output csv --columns run --run 'version~^v[12]' --run host= %s",
   "store ls --output csv --columns run --run time=2023-11..2023-12 %s",
   "store ls --output csv --columns run,time --sort -time --top 5 %s",
   "store labels --output csv %s", "store labels --output json --run version=v2 %s",
   "report flat --output csv %s", "report flat --output json --run version=v1 %s",
   "report tree --output csv --columns depth,function,self,total --run format=pprof %s",
   "report statistics --output csv --run 'call_bytes>0' %s",
   "export pprof --set packed=false -o - %s", "export folded -o - --run format=pprof %s",
   "export svg --set title=x -o - --run version=v2 %s",
   "report diff --output csv --run version=v2 --diff %s --diff-run version=v1 %s",
   "store trend '~^f[12]' --by day --output csv %s",
   "store trend main --by version --output csv %s", "store top --by version --output csv %s",
   "store top --by run --output csv --run format=pprof %s",
   "store changes --by run --output csv --run format=pprof %s", "check %s",
}

-- Returns what a command prints for a store, and its status.
local function said(line, path)
   local text, status, errors = command.run(("cd '%s' && profio %s"):format(folder,
      (line:gsub("%%s", function() return "'" .. path .. "'" end))))
   local function plain(of)
      return (of:gsub(path:gsub("%p", "%%%0"), "STORE"))
   end
   return { plain(text), status, plain(errors) }
end

-- Checks that two stores answer the same.
local function compare(one, other)
   for _, line in ipairs(commands) do
      local expected = said(line, one)
      assert.same(expected, said(line, other), line)
   end
   assert.same(stored.forms(one), stored.forms(other))
end

describe("a store in the newest ClickHouse", function()
   setup(function()
      disk.fresh(folder)
      front = chdb.start "store-newest-data"
   end)

   teardown(function()
      front:close()
   end)

   it("answers as one in a file", function()
      math.randomseed(60)
      local file, path = folder .. "/a.db", front:address "fleet"
      local files = stored.files("store-newest/files", 14)
      local events = stored.traces(folder, "xpp", 3)
      for _, store in ipairs { file, path } do
         stored.add(store, { table.unpack(files, 1, 5) }, { version = "v1", host = "h1" })
         stored.add(store, { table.unpack(files, 5, 5) }, { version = "v1", host = "h1" })
         stored.add(store, { table.unpack(files, 6, 8) }, { version = "v1", host = "h2" })
         stored.add(store, { table.unpack(files, 9, 14) }, { version = "v2", odd = "\255\0'\\" })
         stored.add(store, events, { version = "v3" })
      end
      compare(file, path)
      for _, store in ipairs { file, path } do
         assert.same({ "STORE: 3 runs labelled\n", 0, "" }, said("store label --run host=h2 "
            .. "--label host=h3 --remove version %s", store))
         assert.same({ "STORE: 6 runs dropped\n", 0, "" }, said("store drop --run version=v2 %s",
            store))
      end
      stored.add(path, { files[12] }, { version = "v2" })
      stored.add(file, { files[12] }, { version = "v2" })
      compare(file, path)
      local merged = folder .. "/merged.db"
      assert.equal(0, said("store merge merged.db %s", path)[2])
      compare(file, merged)
   end)

   it("takes runs of more months at once than an insert may have", function()
      local file, path = folder .. "/b.db", front:address "more"
      for _, store in ipairs { file, path } do
         local opened <close> = assert(profio.store(store))
         local list, month <const> = {}, 31 * 86400 * 1000000000
         for i = 1, 150 do
            list[i] = assert(opened:prepare(assert(profio.open { data = stored.pprof({ main = i },
               { time_nanos = i * month }) })))
         end
         assert.equal(150, opened:write(list))
         assert.equal(10, #opened:runs { time = profio.between(11 * month, 20 * month) })
         assert.matches(tostring(150 * 151 // 2), opened:profile():flat():write { output = "csv" })
      end
      assert.same(stored.forms(file), stored.forms(path))
   end)
end)
