-- profio mcp: the protocol as its text defines it, and as the client of its authors sees it.
--
-- Tags: user.
-- Long: many commands or rows, or programs that are compiled.
-- Costly: many commands.

local command = require "spec.support.command"
local folded = require "spec.support.folded"
local json = require "dkjson"

local folder = command.folder .. "/served"
os.execute(("rm -rf '%s' && mkdir -p '%s/in/deeper' '%s/second' '%s/out'"):format(folder, folder,
   folder, folder))

local function profile(name, text)
   command.file("served/" .. name, assert(folded.profile(text):export "pprof"))
end

profile("in/a.pb.gz", "main;parse;read 5\nmain;parse 7\nmain;print 11\nmain 1\n")
profile("in/deeper/b.pb.gz", "main;parse 7\n")
profile("second/c.pb.gz", "main;other 7\n")
profile("out/secret.pb.gz", "outer;hidden_here 7\n")
os.execute(("cd '%s/in' && ln -sf ../out/secret.pb.gz link.pb.gz && ln -sf ../out linked && "
   .. "mkfifo pipe.pb.gz"):format(folder))

local function request(id, method, params)
   return { jsonrpc = "2.0", id = id, method = method, params = params }
end

local function tool(name, arguments)
   return request(1, "tools/call", { name = name, arguments = arguments })
end

-- Returns the answers to messages, which are tables or lines.
local function ask(...)
   local lines = {}
   for i, message in ipairs { ... } do
      lines[i] = type(message) == "table" and json.encode(message) or message
   end
   command.file("served/requests", table.concat(lines, "\n") .. "\n")
   local text, status, errors = command.run "profio mcp served/in served/second < served/requests"
   assert.same({ 0, "" }, { status, errors })
   local answers = {}
   for line in text:gmatch "[^\n]+" do
      answers[#answers + 1] = assert(json.decode(line))
   end
   return table.unpack(answers)
end

local function text_of(answer)
   return answer.result.content[1].text
end

describe("profio mcp", function()
   it("agrees on a version of the protocol", function()
      local known, unknown = ask(request(1, "initialize", { protocolVersion = "2024-11-05" }),
         request("b", "initialize", { protocolVersion = "1999-01-01" }))
      assert.same({ 1, "2024-11-05" }, { known.id, known.result.protocolVersion })
      assert.same({ "b", "2025-06-18" }, { unknown.id, unknown.result.protocolVersion })
      assert.is_table(known.result.capabilities.tools)
      assert.equal("profio", known.result.serverInfo.name)
   end)

   it("is not confused by files that have the name of a verb or a report", function()
      for _, name in ipairs { "info", "report", "flat", "compare" } do
         os.execute(("mkdir '%s/in/%s'"):format(folder, name))
      end
      local info, flat, compare, bottom_up = ask(tool("info", { files = { "a.pb.gz" } }),
         tool("flat", { files = { "a.pb.gz" } }),
         tool("compare", { base = { "a.pb.gz" }, new = { "a.pb.gz" } }),
         tool("report", { report = "bottom-up", files = { "a.pb.gz" } }))
      os.execute(("cd '%s/in' && rmdir info report flat compare"):format(folder))
      for _, answer in ipairs { info, flat, compare, bottom_up } do
         assert.is_false(answer.result.isError, text_of(answer))
      end
   end)

   it("refuses options that name files outside of its folders", function()
      command.file("served/in/t.txt", "* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%\n00000000,f,\n"
         .. "* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%\n00000000,E,,0\n00000000,X,,9\n")
      command.file("served/out/names.txt", "00000000,secret,\n")
      for _, option in ipairs { "mapping=" .. folder .. "/out/names.txt", "memo=../out/names.txt",
         "anything=" .. folder .. "/out/names.txt", "source=" .. folder .. "/out" } do
         for _, answer in ipairs { ask(tool("report", { report = "statistics", files = { "t.txt" },
            set = { option } }), tool("compare", { base = { "t.txt" }, new = { "t.txt" },
            set = { option } })) } do
            assert.is_true(answer.result.isError, option)
            assert.is_nil(text_of(answer):find "secret")
         end
      end
      local fine = ask(tool("report", { report = "statistics", files = { "t.txt" },
         set = { "by=area" } }))
      assert.is_false(fine.result.isError, text_of(fine))
      local wrong = ask(tool("report", { report = "statistics", files = { "t.txt" },
         set = { "by" } }))
      os.remove(folder .. "/in/t.txt")
      assert.matches("set expects options such as pieces=40, got 'by'", text_of(wrong), 1, true)
   end)

   it("refuses a number that is a text", function()
      local answer = ask(tool("flat", { files = { "a.pb.gz" }, top = "5" }))
      assert.is_true(answer.result.isError)
      assert.equal("top expects a whole number from 1 on", text_of(answer))
   end)

   it("answers what is no request with an error, and notifications not at all", function()
      local answers = { ask("nonsense", "", "5", '{"id":3}',
         request(nil, "notifications/initialized"),
         request(4, "nosuch"), request(5, "tools/call", { name = "nosuch" }),
         request(6, "tools/call", { name = "flat", arguments = "x" }), ("["):rep(100000),
         request(7, "ping")) }
      local found = {}
      for i, answer in ipairs(answers) do
         found[i] = { answer.id or "none", answer.error and answer.error.code or "none" }
      end
      assert.same({ { "none", -32700 }, { "none", -32600 }, { 3, -32600 }, { 4, -32601 },
         { 5, -32602 }, { 6, -32602 }, { "none", -32700 }, { 7, "none" } }, found)
      assert.same({}, answers[8].result)
   end)

   -- Returns ids and codes of errors of answers; a result has the code "none".
   local function codes(answers)
      local found = {}
      for i, answer in ipairs(answers) do
         found[i] = { answer.id or "none", answer.error and answer.error.code or "none" }
      end
      return found
   end

   it("survives messages that nobody should send", function()
      local long = ("x"):rep(1 << 19)
      local answers = { ask('{"jsonrpc":"2.0","id":1e400,"method":"ping"}',
         '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}',
         ('{"jsonrpc":"2.0","id":"%s","method":"ping"}'):format(long),
         '{"jsonrpc":"2.0","id":{"a":[1]},"method":"ping"}',
         '{"jsonrpc":"2.0","id":true,"method":"ping"}',
         ('{"jsonrpc":"2.0","id":2,"method":"%s"}'):format(long),
         '{"jsonrpc":"2.0","id":3,"method":{"name":"ping"}}',
         '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":[1,2]}',
         '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":{"a":1}}}',
         '{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"flat","arguments":[1]}}',
         '{"jsonrpc":"2.0","id":7,"method":"__index"}', '{"id":8,"method":"ping"',
         '\xff\xfe{"id":9}', '[]',
         '{"jsonrpc":"2.0","id":10,"method":"ping"}{"jsonrpc":"2.0","id":11,"method":"ping"}',
         ('{"a":'):rep(100000), request(12, "ping")) }
      local found = codes(answers)
      assert.same({ { "none", -32600 }, { 9007199254740993, "none" }, { long, "none" },
         { "none", -32600 }, { "none", -32600 }, { 2, -32601 }, { 3, -32600 }, { 4, -32602 },
         { 5, -32602 }, { 6, "none" }, { 7, -32601 }, { "none", -32700 }, { "none", -32700 },
         { "none", -32600 }, { "none", -32700 }, { "none", -32700 }, { 12, "none" } }, found)
      assert.is_true(#json.encode(answers[6]) < 1000)
   end)

   it("reads at most 1 MiB of a line, and goes on after it", function()
      local ping = '{"jsonrpc":"2.0","id":%d,"method":"ping"}'
      local most = (1 << 20) - #ping + 1
      assert.same({ { 1, "none" }, { "none", -32700 }, { "none", -32700 }, { 4, "none" } },
         codes { ask(ping:format(1) .. (" "):rep(most), ping:format(2) .. (" "):rep(most + 1),
            ping:format(3) .. (" "):rep(5 << 20), ping:format(4)) })
   end)

   it("answers batches, and what stands before the end of the input", function()
      command.file("served/requests", table.concat({
         '[{"jsonrpc":"2.0","id":1,"method":"ping"},5,{"jsonrpc":"2.0","method":"ping"},[],'
            .. '{"jsonrpc":"2.0","id":2,"method":"nosuch"}]',
         '[{"jsonrpc":"2.0","method":"ping"}]', "",
         '{"jsonrpc":"2.0","id":3,"method":"ping"}\r', '{"jsonrpc":"2.0","id":4,"met' }, "\n"))
      local text, status, errors = command.run "profio mcp served/in < served/requests"
      assert.same({ 0, "" }, { status, errors })
      local lines = {}
      for line in text:gmatch "[^\n]+" do
         lines[#lines + 1] = assert(json.decode(line))
      end
      assert.same({ { 1, "none" }, { "none", -32600 }, { "none", -32600 }, { 2, -32601 } },
         codes(lines[1]))
      assert.same({ { 3, "none" }, { "none", -32700 } }, codes { lines[2], lines[3] })
      assert.equal(3, #lines)
   end)

   it("has the rows of the command", function()
      for name, words in pairs { flat = "report flat --top 50", tree = "report tree --top 50",
         info = "info" } do
         local answer = ask(tool(name, { files = { "a.pb.gz" } }))
         assert.is_false(answer.result.isError)
         assert.equal(command.run(("cd served/in && profio %s --output json '%s/in/a.pb.gz'")
            :format(words, folder)), text_of(answer))
      end
      local one = json.decode(text_of(ask(tool("report", { report = "flat", top = 1,
         where = { "function~^p" }, files = { "a.pb.gz", "deeper/b.pb.gz" } }))))
      assert.same({ { "parse", 14 } }, { { one[1]["function"], one[1].self } })
   end)

   it("says where to look next, explains and compares", function()
      local nxt, explained, compared = ask(tool("next", { files = { "a.pb.gz" } }),
         tool("explain", { area = "parse", files = { "a.pb.gz" } }),
         tool("compare", { base = { "a.pb.gz" }, new = { "deeper/b.pb.gz" } }))
      assert.matches("\ntree  +[^\n]+", text_of(nxt))
      assert.equal("print", json.decode(nxt.result.content[2].text)[1]["function"])
      assert.equal("parse", json.decode(text_of(explained))[1].area)
      assert.is_false(compared.result.isError, text_of(compared))
      assert.equal(command.run(("cd served/in && profio compare '%s/in/a.pb.gz' --new "
         .. "'%s/in/deeper/b.pb.gz' --output json"):format(folder, folder)), text_of(compared))
   end)

   it("states units, the whole and sentences", function()
      local flat, compared = ask(tool("flat", { files = { "a.pb.gz" }, top = 1 }),
         tool("compare", { base = { "a.pb.gz" }, new = { "deeper/b.pb.gz" }, top = 1 }))
      assert.equal("units: self in ns; self_share is a fraction of 1; total in ns; "
         .. "total_share is a fraction of 1\nthe whole is 24 ns (the sum of self over all "
         .. "functions)\n", flat.result.content[2].text)
      local said = compared.result.content[#compared.result.content].text
      assert.matches("^The whole went from 24 ns to 7 ns ", said)
      assert.matches("change in ns", said, 1, true)
   end)

   it("states times of JSON in ns, whatever the text shows", function()
      command.file("served/in/times.btf", "#version 2.2.1\n#timescale ns\n0,C_0,0,T,A,0,start\n"
         .. "0,A,0,R,f,0,start\n5000000,A,0,R,f,0,terminate\n5000000,C_0,0,T,A,0,terminate\n")
      local flat = ask(tool("flat", { files = { "times.btf" } }))
      assert.equal(5000000, json.decode(text_of(flat))[1].self)
      local said = flat.result.content[#flat.result.content].text
      assert.matches("self in ns;", said, 1, true)
      assert.matches("the whole is 5000000 ns", said, 1, true)
   end)

   it("lists the files in its folders, and no others", function()
      os.execute(("cd '%s/in' && touch notes.txt"):format(folder))
      local answer, other = ask(tool("files", {}), tool("files", { contains = "deeper" }))
      local paths = {}
      for i, row in ipairs(json.decode(text_of(answer))) do
         paths[i] = row.path:gsub("^.*/served/", "") .. " " .. tostring(row.format)
      end
      table.sort(paths)
      assert.same({ "in/a.pb.gz pprof", "in/deeper/b.pb.gz pprof", "in/notes.txt nil",
         "in/times.btf btf", "second/c.pb.gz pprof" }, paths)
      assert.equal(1, #json.decode(text_of(other)))
   end)

   it("takes options of reports, and conditions of both sides of a comparison", function()
      local load, wrong, store, none = ask(tool("report", { report = "load", by = "core",
         set = { "pieces=2" }, files = { "times.btf" } }),
         tool("report", { report = "load", set = { "nosuch=2" }, files = { "times.btf" } }),
         tool("compare", { base = { "a.pb.gz" }, base_run = { "../out/secret.pb.gz" },
            new_run = { "version=v2" } }), tool("compare", { base = { "a.pb.gz" } }))
      assert.is_false(load.result.isError, text_of(load))
      assert.equal(0, json.decode(text_of(load))[1].core)
      assert.matches("units: busy in ns", load.result.content[2].text, 1, true)
      assert.is_true(wrong.result.isError)
      assert.matches("nosuch", text_of(wrong), 1, true)
      assert.equal("base_run expects labels such as version=v1, got '../out/secret.pb.gz'",
         text_of(store))
      assert.equal("compare expects the argument 'new', or 'new_run' for a store", text_of(none))
   end)

   it("names the tools and the arguments that exist", function()
      local argument, missing, name, null = ask(tool("tree", { file = { "a.pb.gz" } }),
         tool("explain", { files = { "a.pb.gz" } }), tool("flut", {}),
         '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"flat","arguments":'
            .. '{"files":["a.pb.gz"],"top":null,"where":null}}}')
      assert.equal("tree has no argument 'file'; it has: files, by, metric, run, set, symbols, "
         .. "top, where", text_of(argument))
      assert.equal("explain expects the argument 'area'; it has: area, files, run, symbols",
         text_of(missing))
      assert.equal("no tool 'flut'; there are: files, info, next, flat, tree, report, explain, "
         .. "compare, changes, trend", name.error.message)
      assert.is_false(null.result.isError)
   end)

   it("returns the id of a request as it was written", function()
      local ids = { "1", "1.0", '"1"', "-0", "1e2", "12345678901234567890123", "9007199254740993",
         '"\\u0041\\"\\\\"', "0.10" }
      local lines = {}
      for i, id in ipairs(ids) do
         lines[i] = ('{"jsonrpc":"2.0","params":{"id":99},"id":%s,"method":"ping"}'):format(id)
      end
      lines[#lines + 1] = "[" .. table.concat(lines, " , ") .. "]"
      lines[#lines + 1] = '{"id":null,"jsonrpc":"2.0","method":"ping"}'
      lines[#lines + 1] = '{"\\u0069d":7.0,"jsonrpc":"2.0","method":"nosuch"}'
      command.file("served/requests", table.concat(lines, "\n") .. "\n")
      local text = command.fine "profio mcp served/in < served/requests"
      local found = {}
      for id in text:gmatch '[\n%[,]?{"id":(.-),"' do
         found[#found + 1] = id
      end
      local expected = table.move(ids, 1, #ids, #ids + 1, table.move(ids, 1, #ids, 1, {}))
      expected[#expected + 1], expected[#expected + 2] = "null", "7.0"
      assert.same(expected, found)
   end)

   it("reads only files below its folders", function()
      local answers = { ask(tool("flat", { files = { "../out/secret.pb.gz" } }),
         tool("flat", { files = { folder .. "/out/secret.pb.gz" } }),
         tool("flat", { files = { "link.pb.gz" } }),
         tool("flat", { files = { "a.pb.gz", "linked/secret.pb.gz" } }),
         tool("flat", { files = { "deeper/../../out/secret.pb.gz" } }),
         tool("flat", { files = { "a.pb.gz" }, symbols = "/etc/passwd" }),
         tool("compare", { base = { "a.pb.gz" }, new = { "link.pb.gz" } }),
         tool("flat", { files = { "pipe.pb.gz" } }), tool("flat", { files = { "." } }),
         tool("report", { report = folder .. "/out/secret.pb.gz", files = { "a.pb.gz" } }),
         tool("flat", { files = { "a.pb.gz" }, metric = folder .. "/out/secret.pb.gz" }),
         tool("explain", { area = folder .. "/out/secret.pb.gz", files = { "a.pb.gz" } }),
         tool("flat", { files = { folder .. "/second/c.pb.gz" } })) }
      for i = 1, 7 do
         assert.is_true(answers[i].result.isError)
         assert.matches("is not below the folders of the server", text_of(answers[i]))
      end
      for i = 8, 12 do
         assert.is_true(answers[i].result.isError, i)
         assert.is_nil(json.encode(answers[i]):find "hidden_here", i)
      end
      assert.is_false(answers[13].result.isError)
   end)

   it("says what is wrong with arguments, and goes on", function()
      local wrong = { { "flat expects the argument 'files'", {} },
         { "files expects a list of strings", { files = "a.pb.gz" } },
         { "files expects a list of strings", { files = {} } },
         { "files expects a text", { files = { 5 } } },
         { "top expects a whole number from 1 on", { files = { "a.pb.gz" }, top = 0 } },
         { "flat has no argument 'out'", { files = { "a.pb.gz" }, out = "x" } },
         { "no column 'nosuch'", { files = { "a.pb.gz" }, where = { "nosuch=1" } } },
         { "No such file", { files = { "gone.pb.gz" } } } }
      for _, case in ipairs(wrong) do
         local answer, ping = ask(tool("flat", case[2]), request(2, "ping"))
         assert.is_true(answer.result.isError)
         assert.is_truthy(text_of(answer):find(case[1], 1, true), text_of(answer))
         assert.equal(2, ping.id)
      end
   end)

   it("ends a request that takes too long, with an error, and goes on", function()
      local evil = ("(.-)"):rep(30) .. "$x"
      profile("in/long.pb.gz", ("ab"):rep(40) .. " 1\n")
      command.file("served/requests", json.encode(tool("flat", { files = { "long.pb.gz" },
         where = { "function~" .. evil } })) .. "\n" .. json.encode(request(2, "ping")) .. "\n")
      local text, status = command.run("timeout 100 " .. command.analyze
         .. " mcp --timeout 1 served/in < served/requests")
      assert.equal(0, status)
      local answers = {}
      for line in text:gmatch "[^\n]+" do
         answers[#answers + 1] = json.decode(line)
      end
      assert.is_true(answers[1].result.isError)
      assert.matches("took longer than 1 s and was ended", text_of(answers[1]))
      assert.same({ 2, 2 }, { answers[2].id, #answers })
   end)

   -- Returns the answers to a request of the tool flat, whose worker runs a chunk in place of its
   -- commands, and to a ping.
   local function served_with(chunk)
      local answers = {}
      command.file("served/requests", json.encode(tool("flat", { files = { "a.pb.gz" } })) .. "\n"
         .. json.encode(request(2, "ping")) .. "\n")
      command.file("served/init.lua", ([[
         if arg[1] == "-e" or arg[2] == "-e" then -- a worker
            package.preload["profio.cli"] = function()
               return { main = function() %s end }
            end
         end]]):format(chunk))
      local text = command.run("LUA_INIT_5_4=@" .. folder .. "/init.lua; export LUA_INIT_5_4; "
         .. command.analyze .. " mcp served/in < served/requests")
      for line in text:gmatch "[^\n]+" do
         answers[#answers + 1] = json.decode(line)
      end
      return answers
   end

   -- Whether the interpreter runs the chunk of LUA_INIT; that of the sanitizers does not.
   local has_init = command.run "LUA_INIT_5_4='io.write(1)' lua5.4 -e ''" == "1"

   it("tells when the process of a request was killed, and goes on", function()
      if not has_init then
         return pending "needs LUA_INIT"
      end
      local answers = served_with 'assert(io.popen "kill -KILL $PPID"):close()'
      assert.matches("killed by signal 9", text_of(answers[1]))
      assert.same({ 2, 2 }, { answers[2].id, #answers })
   end)

   it("expects a time that can be", function()
      for _, seconds in ipairs { "0", "-1", "x", "1.5", "100000" } do
         local _, status, errors = command.run(("profio mcp --timeout %s served/in </dev/null")
            :format(seconds))
         assert.equal(2, status)
         assert.matches("%-%-timeout", errors)
      end
   end)

   it("answers an error inside a tool with an internal error, and goes on", function()
      if not has_init then
         return pending "needs LUA_INIT"
      end
      local answers = served_with 'error("planted", 0)'
      assert.same({ jsonrpc = "2.0", id = 1, error = { code = -32603, message = "planted" } },
         answers[1])
      assert.same({ 2, 2 }, { answers[2].id, #answers })
   end)

   it("expects folders", function()
      local _, status, errors = command.run "profio mcp"
      assert.equal(2, status)
      assert.matches("expects the folders", errors)
      _, status, errors = command.run "profio mcp gone"
      assert.equal(1, status)
      assert.matches("gone", errors)
   end)

   it("serves the client of the protocol's authors", function()
      local modules = command.build .. "/node/protocol/node_modules"
      if not os.execute(("test -e '%s'"):format(modules)) then
         modules = command.root .. "/build/node/protocol/node_modules"
      end
      if not os.execute(("test -e '%s/@modelcontextprotocol' && command -v node >/dev/null")
         :format(modules))
      then
         return pending "needs @modelcontextprotocol/sdk"
      end
      command.file("served/calls", json.encode { { name = "flat", arguments = {
         files = { "a.pb.gz" } } }, { name = "flat", arguments = { files = { "gone" } } },
         { name = "nosuch", arguments = {} } })
      local text, status, errors = command.run(("node '%s/spec/support/mcp_client.js' '%s' %s mcp "
         .. "served/in < served/calls"):format(command.root, modules, command.analyze))
      assert.same({ 0, "" }, { status, errors })
      local seen = assert(json.decode(text))
      assert.equal("profio", seen.server.name)
      local names = {}
      for i, one in ipairs(seen.tools) do
         names[i] = one.name
         assert.equal("object", one.inputSchema.type)
         assert.is_true(one.annotations.readOnlyHint)
      end
      assert.same({ "files", "info", "next", "flat", "tree", "report", "explain", "compare",
         "changes", "trend" }, names)
      assert.equal(11, json.decode(seen.results[1].content[1].text)[1].self)
      assert.is_true(seen.results[2].isError)
      assert.matches("no tool 'nosuch'", seen.results[3].error)
   end)
end)
