-- profio mcp over a store, as the client of the protocol's authors asks: did it get slower, where,
-- since which version?
--
-- Tags: user.
-- Extra: needs Node.js and @modelcontextprotocol/sdk.

local command = require "spec.support.command"
local json = require "dkjson"

local folder = command.folder .. "/versions"

-- Returns the folder of the client's modules, or nil.
local function client_modules()
   for _, build in ipairs { command.build, command.root .. "/build" } do
      local modules = build .. "/node/protocol/node_modules"
      if os.execute(("test -e '%s/@modelcontextprotocol' && command -v node >/dev/null"):format(
         modules))
      then
         return modules
      end
   end
end

-- Writes a store with five runs of each of six versions; from v4 on `read` takes 900 samples,
-- before it 500, and nothing else changes but by noise.
local function write_store()
   os.execute(("rm -rf '%s' && mkdir -p '%s'"):format(folder, folder))
   for version = 1, 6 do
      local names = {}
      for i = 1, 5 do
         names[i] = ("versions/v%d-%d.folded"):format(version, i)
         command.file(names[i], ("main;parse;read %d\nmain;parse %d\nmain;print 1100\nmain 100\n")
            :format((version < 4 and 500 or 900) + 3 * i + version, 700 + i))
      end
      command.fine(("profio store add --label version=v%d versions/nightly.db %s"):format(version,
         table.concat(names, " ")))
   end
end

describe("an assistant with a store", function()
   -- Returns the results of calls, by the client.
   local function ask(modules, calls)
      command.file("versions/calls", json.encode(calls))
      local text = command.fine(("node '%s/spec/support/mcp_client.js' '%s' %s mcp versions "
         .. "< versions/calls"):format(command.root, modules, command.analyze))
      return json.decode(text).results
   end

   it("learns that it got slower, where, and since which version", function()
      local modules = client_modules()
      if not modules then
         return pending "needs @modelcontextprotocol/sdk"
      end
      write_store()

      -- which files are there, and what are runs labelled with?
      local files = ask(modules, { { name = "files", arguments = { contains = ".db" } } })[1]
      local store = json.decode(files.content[1].text)[1]
      assert.equal("store", store.format)
      local key, versions = store.labels[1].key, {}
      for i, label in ipairs(store.labels) do
         versions[i] = label.value
      end
      assert.equal("version", key)
      assert.same({ "v1", "v2", "v3", "v4", "v5", "v6" }, versions)

      -- since which version?
      local changes = ask(modules, { { name = "changes", arguments = { store = store.path,
         by = key } } })[1]
      local steps = json.decode(changes.content[1].text)
      local step
      for _, row in ipairs(steps) do
         step = row["function"] and row or step
      end
      assert.same({ "read", "v3", "v4", 2 }, { step["function"], step.previous, step.by, #steps })
      assert.matches("6 values of 'version', v1 to v6, with 30 runs", changes.content[2].text, 1,
         true)

      -- by how much, and how sure is that?
      local asked = ask(modules, {
         { name = "compare", arguments = { base = { store.path }, where = { "verdict=slower" },
            base_run = { key .. "=" .. step.previous }, new_run = { key .. "=" .. step.by } } },
         { name = "trend", arguments = { store = store.path, by = key,
            ["function"] = step["function"] } },
         { name = "tree", arguments = { files = { store.path }, run = { key .. "=" .. step.by },
            where = { "function~read" } } } })
      local compared = json.decode(asked[1].content[1].text)
      assert.same({ 1, "read", "slower", 512, 913 }, { #compared, compared[1]["function"],
         compared[1].verdict, compared[1].before, compared[1].after })
      assert.matches("The whole went from 2415 to 2816 (+16.6 %, between +13.8 % and +19.5 %), "
         .. "samples of 5 runs on each side", asked[1].content[2].text, 1, true)
      assert.matches("read is slower", asked[1].content[2].text, 1, true)
      assert.matches("before, after and change are of a run", asked[1].content[2].text, 1, true)
      local trend = json.decode(asked[2].content[1].text)
      assert.same({ 6, "v4", 5 * 904 + 45 }, { #trend, trend[4].by, trend[4].self })
      assert.equal("read", json.decode(asked[3].content[1].text)[1]["function"])
      for _, answer in ipairs { files, changes, asked[1], asked[2], asked[3] } do
         assert.is_falsy(answer.isError)
      end
   end)
end)
