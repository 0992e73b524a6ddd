-- Wrong use of every public function, from a script file: the message begins with the script's name
-- and the line of the call, and says in words of its own what is wrong.
--
-- Tags: user, stressed.

local command = require "spec.support.command"
local profio = require "profio"
local recorder = require "profio.recorder"
local view = require "profio.view"

-- Variables that the cases use: a trace of gmon, its main table, a trace of events, profiles and
-- writers.
local preamble = [[
local profio, recorder = require "profio", require "profio.recorder"
profio.register { name = "steps", score = function(b) return b:find "^STEPS" and 99 or 0 end,
   tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "name" } } },
   open = function() return { events = function(put) put(1, "enter", "f") put(9, "leave", "f") end }
   end }
local t = assert(profio.open("gmon.out", { symbols = "small.nm" }))
local e = assert(profio.open { data = "STEPS" })
local closed = assert(profio.open "gmon.out")
closed:close()
local v, p, ep = t.histogram, t:profile(), e:profile()
local w = assert(profio.create(nil, { format = "gmon" }))
local shut = assert(profio.create(nil, { format = "br" }))
shut:close()
local st = assert(profio.store "wrong.db")
local number
local function check(f)
   local line = debug.getinfo(2, "l").currentline
   local ok, message = pcall(f)
   message = tostring(message):gsub("\n", " ")
   print(("%d\t%s\t%s"):format(line, ok and "no error" or "error", message))
end
]]

local cases = [[
profio.open()
profio.open(5)
profio.open({})
profio.open({ data = 5 })
profio.open({ 5 })
profio.open("gmon.out", 5)
profio.open("gmon.out", { colour = 1 })
profio.open("gmon.out", { format = "nosuch" })
profio.open("gmon.out", { format = 5 })
profio.open("gmon.out", { address_size = "much" })
profio.open("gmon.out", { exe = 5 })
profio.open("gmon.out", { live = true })
profio.open({ data = "x", memo = "y" }, { format = "gmon" })
profio.create()
profio.create("x", 5)
profio.create("x", { format = "nosuch" })
profio.create("x", { format = "gmon", colour = 1 })
profio.create(5, { format = "gmon" })
profio.create(nil, { format = "br", ring = {} })
profio.create("x", { format = "br", ring = { size = "much" } })
profio.create("x", { format = "br", ring = { colour = 1 } })
profio.register()
profio.register { name = "gmon" }
profio.register { name = "x" }
profio.register { name = "x", score = print, open = print, tables = { t = { { "a", "nosuch" } } } }
profio.register { name = "x", score = print, open = print, tables = { t = { "a" } } }
profio.compare()
profio.compare({}, t)
profio.compare(t, { 5 })
profio.compare(t, t, 5)
profio.compare(t, t, { nosuch = 1 })
profio.compare(t, t, { by = "nosuch" })
profio.compare(t, t, { by = "area" })
profio.compare(t, t, { alpha = "x" })
profio.compare(t, t, { metric = "nosuch" })
profio.compare(t, t, { normalise = "nosuch" })
profio.compare(t, t):rows("nosuch")
profio.compare(t, t).text()
profio.compare(t, t):check()
profio.compare(t, t):difference()
profio.compare(t, t):limits("main count < 3")
profio.compare(t, t):limits(5)
profio.compare(t, t, { alpha = 5 })
profio.compare(t, t):check { "nosuch" }
profio.compare(t, t):check { 5 }
profio.compare(e, e, { calls = true }):limits { 5 }
profio.compare(e, e, { calls = true }):limits { {} }
profio.compare(t, t):check { "self > 2x" }
profio.store()
profio.store("x", 5)
profio.store("x", { mode = "nosuch" })
st.add()
st:add()
st:add("path")
st:add(e, { labels = 5 })
st:add(e, { labels = { 5 } })
st:add(e, { labels = { time = "x" } })
st:prepare(5)
st:write()
st:write { 5 }
st:merge()
st:merge(st)
st:trend()
st:trend(5)
st:trend("f", 5)
st:trend("f", { by = 5 })
st:changes(5)
st:changes { by = 5 }
st:top(5)
st:top({ by = 5 })
st:runs(5)
st:runs { nosuch = "x" }
st:runs { time = "x" }
st.labels()
st:drop()
st:label()
st:label(5)
st:label({ host = "a" }, 5)
st:label({ time = "x" }, {})
st:drop { nosuch = "x" }
st:export()
st:trace { nosuch = "x" }
st:profile(5)
st:profile { colour = 1 }
st:close() st:runs()
profio.formats(1).x.y = 1 -- a bug of the script itself
profio.between("a", {})
profio.between()
profio.match(5)
profio.match("%")
local n = profio.no(nil) v:where { low = n }:rows()
t:table("nosuch")
t:table()
t.table("arcs")
t:nosuch()
t:calls("x")
t:calls()
e:calls { recursion = "nosuch" }
e:calls { colour = 1 }
e:calls { max_depth = 1 }
t:call_statistics()
e:call_statistics { by = "nosuch" }
t:explain "main"
e:explain()
e:explain("main", { quantile = "median" })
e:call_statistics { quantiles = "p5000" }:rows()
t:report()
t:report "nosuch"
t:report("flat", { nosuch = 1 })
t:xpppat()
e:load { pieces = "many" }:rows()
t:chains "A leave -> B enter"
e:chains()
e:chains "A leave"
e:chains { from = 1 }
e:chains { "A leave -> B enter", form = 1 }
e:chains { 12 }
e:chain_events()
e:chain_events "A leave"
e:jobs(5)
e:jobs { nosuch = 1 }
e:jobs { ends = "nosuch" }
e:task_statistics { from = "x" }
t:jobs()
e:chain_statistics { "A leave -> B jump" }
t:profile { from = 5 }
t:profile { colour = 1 }
t:profile(5)
t:export()
t:export("nosuch")
t:export("csv")
t:export("svg", 5)
t:export("svg", nil, { colour = 1 })
t:export("svg", nil, 5)
t:anonymise(5)
t:anonymise(nil, 5)
t:anonymise(nil, { colour = 1 })
t:anonymise(nil, { aliases = 5 })
t:save(nil, 5)
t:save(nil, { format = "nosuch" })
t:save(nil, { colour = 1 })
t:refresh()
t:watch(5)
t:stack("x")
t:row_count()
t:has()
local x = t.nosuch
local x = t[1]
t.options()
t.inputs()
t.losses(5)
t.facts()
t.row_count()
t.check()
t.profile_kind()
t.has_callers()
t.close()
closed:rows()
closed:calls()
closed:check()
closed:profile()
closed:table("arcs")
closed:save()
closed:anonymise()
v:where()
v:where("low=1")
v:where { nosuch = 1 }:rows()
v:where { low = "x" }:rows()
v:where { "low" }
v:filter()
v:filter(print)
v:filter(print, "nosuch"):rows()
v:filter(print, 5)
v:limit()
v:limit("2")
v:limit(1.5)
v:limit(-1)
v:limit(1, "x")
v:range("a")
v:range(1, 1.5)
v:range(1, 2, "nosuch"):rows()
v:range(1, 2, 5)
v:sort()
v:sort(5)
v:sort("nosuch"):rows()
v:sort("")
v:derive()
v:derive { "x" }:rows()
v:derive { "x = nosuch + 1" }:rows()
v:derive { 5 }
v:derive { "a = prev(nosuch)" }:rows()
v:derive { "a = prev(count) by 5" }
v:merge()
v:merge(v, 5)
v:merge(v, "nosuch"):rows()
v:join_asof("v")
v:join_asof(v, 5)
v:join_asof(v, { nosuch = 1 })
v:join_asof(v, { by = 5 })
v:join_asof(v, { columns = { 5 } }):rows()
v:join_asof(v, { on = "nosuch" }):rows()
v:join_asof(v, { within = 0.5 })
v:with_area(5)
v:with_area("nosuch"):rows()
v:pivot("nosuch", "count", { "a" }):rows()
v:pivot(5)
v:pivot("set", "count", 5)
v:pivot("set", "count", { {} })
v:group("nosuch"):rows()
v:group({})
v:group(5)
v:group("bucket(count, 0)")
v:aggregate()
v:aggregate {}
v:aggregate { "sum(nosuch)" }:rows()
v:aggregate { "nosuch(count)" }:rows()
v:aggregate { "sum(" }
v:aggregate { 5 }
v:each("nosuch")
v:each(5)
v:records("nosuch")
v:rows("nosuch")
v:rows(5)
v:print("nosuch")
v:write(5)
v:write { output = "nosuch" }
v:write { columns = { "nosuch" } }
v:export()
v:export("nosuch")
v:export("svg")
v:export("csv", 5)
v:export("csv", nil, 5)
v:export("csv", nil, { colour = 1 })
v:export("csv", nil, { columns = 5 })
v:export("csv", nil, { columns = { "nosuch" } })
v:export("clickhouse", nil, { key = "nosuch" })
v:export("clickhouse", nil, { depth = 0 })
v.count()
v.fields()
v.reader(5)
v.unfilter(5)
v.refilter()
t.arcs:unfilter():rows()
t.arcs:refilter():rows()
p:flat { metric = "nosuch" }:rows()
p:flat(5):rows()
p:flat { nosuch = 1 }
p:flat { depth = 1 }
p:flat { zeros = 1 }
p:flat { include_flat = "x" }
p:with { nosuch = 1 }
p:callers("main", { nosuch = 1 })
ep:tree { nosuch = 1 }
p:graph { metric = "nosuch" }:rows()
p:graph_listing { metric = "nosuch" }:rows()
p:index { metric = "nosuch" }:rows()
p:lines(5):rows()
p:annotations(5):rows()
p:functions(5):rows()
(p + p):unused()
p:focus("main"):unused()
p:tree():rows()
p:bottom_up():rows()
ep:tree { metric = "nosuch" }:rows()
ep:index():rows()
p:callers():rows()
p:callees(5):rows()
p:with(5)
p.metrics()
p.kind()
p.notes()
p.inputs()
p.usual_metric()
p:diff(5)
p:diff(p, "nosuch"):rows()
p:scale("x")
p:scale()
p:scale(0/0)
p:scale(1/0)
p:scale(1e30)
p:normalise()
p:normalise("x")
p:normalise(0/0)
p:normalise(1e30)
p:normalise(ep, "nosuch")
p:focus()
p:focus({})
p:ignore(5)
p:hide({ 5 })
p:group(5)
p:group("nosuch")
ep:prune("x")
ep:prune(0.1, "nosuch")
p:export("nosuch")
p:export("chrome")
p:export("svg", nil, { colour = 1 })
p.close()
local x = p + 5
local x = 5 - p
w:write(5)
w:write { nosuch = 1 }
w:write("nosuch", {})
w:write("histogram", { low = "x" })
w:emitter("nosuch")
w:emitter()
w:emitter("low", "low")
w:emitter("nosuch", { "low" })
w:emitter("arcs", { "form" })
w:emitter("low")("x")
w:stack(5)
w.flush()
w.dump()
w.facts()
w.close()
shut:write { line = 1 }
shut:facts()
shut:flush()
shut:emitter("line")
recorder.start(5)
recorder.start { mode = "calls" }
recorder.start { mode = "aggregate", keep = "5s" }
recorder.start { keep = "soon" }
recorder.dump("x.svg")
recorder.zone()
recorder.zone(5)
recorder.label()
recorder.label("key", {})
recorder.start { mode = "nosuch", path = "x" }
recorder.start { path = "x", colour = 1 }
recorder.start { path = "x", depth = 0 }
recorder.start { path = "x", interval = "soon" }
recorder.start { mode = "timed" }
recorder.start { mode = "aggregate", format = "csv" }
recorder.stop()
recorder.pause()
recorder.resume()
recorder.parse("mode")
recorder.parse(5)
]]

local names, script = {}, { preamble }
for case in cases:gmatch "[^\n]+" do
   names[#names + 1] = case
   script[#script + 1] = ("check(function() %s end)\n"):format(
      (case:gsub("%s*%-%-.*$", "")))
end

-- The results by number of the case: { line, is an error, message }.
local function results()
   command.file("wrong.lua", table.concat(script))
   local text, status, errors = command.run(command.in_tree .. "lua5.4 wrong.lua")
   assert(status == 0, errors)
   local list = {}
   for line, state, message in text:gmatch "(%d+)\t([^\t]*)\t([^\n]*)\n" do
      list[#list + 1] = { line = line, state = state, message = message }
   end
   return list
end

describe("wrong use", function()
   local list = results()

   it("names the line of the script, in words of its own", function()
      assert.equal(#names, #list)
      local wrong = {}
      for i, result in ipairs(list) do
         local begin = "wrong.lua:" .. result.line .. ": "
         local message = result.message
         if not names[i]:find "a bug of the script" and not names[i]:find "nosuch%(%)$"
            and (result.state ~= "error" or message:sub(1, #begin) ~= begin
               or message:find "attempt to" or message:find "bad argument"
               or message:find "profio/" or message:find("wrong.lua", #begin, true))
         then
            wrong[#wrong + 1] = names[i] .. " -> " .. message
         end
      end
      assert.equal("", table.concat(wrong, "\n"))
   end)

   it("is tried with every public function", function()
      local text = cases
      local function has(owner, methods, without)
         for name, f in pairs(methods) do
            if type(f) == "function" and not name:find "^__" and not without[name] then
               assert.is_truthy(text:find("[:.]" .. name .. "%f[^%w_]"), owner .. name)
            end
         end
      end
      has("profio.", profio, {})
      has("recorder.", recorder, { is_recording = true })
      has("view:", view.methods, {})
      local trace <close> = assert(profio.open(command.folder .. "/gmon.out"))
      for _, object in ipairs { trace, trace:profile() } do
         local index = getmetatable(object).__index
         local at, name, methods = 1, debug.getupvalue(index, 1)
         while name ~= "methods" do
            at = at + 1
            name, methods = debug.getupvalue(index, at)
         end
         has(tostring(object) .. ":", methods, {})
      end
      local writer <close> = assert(profio.create(nil, { format = "gmon" }))
      has("writer:", getmetatable(writer), {})
      local store <close> = assert(profio.store(command.folder .. "/wrong.db"))
      has("store:", getmetatable(store).__index, {})
      has("comparison:", require("profio.internal.compare").methods, {})
   end)

   it("names the line that added a stage, even if its error appears later", function()
      command.file("later.lua", ([[
         package.path = "%s/lua/?.lua;%s/lua/?/init.lua;" .. package.path
         local profio = require "profio"
         local trace = assert(profio.open "gmon.out")
         local view = trace.arcs:where { nosuch = 1 }

         print(pcall(view.rows, view))
         print(pcall(function() return view.columns end))
         print(pcall(view.print, view))]]):format(command.root, command.root))
      local text = command.run(("LUA_CPATH='%s/?.so;;' lua5.4 later.lua"):format(command.build))
      assert.equal(("false\tlater.lua:4: no column 'nosuch'; there are: from, to, count, order\n")
         :rep(3), text)
   end)

   it("does not change errors of the user's functions", function()
      local trace <close> = assert(profio.open(command.folder .. "/gmon.out"))
      local own = {}
      local ok, failure = pcall(function()
         trace.arcs:filter(function() error(own) end, "count"):rows()
      end)
      assert.same({ false, own }, { ok, failure })
      ok, failure = pcall(function()
         trace.arcs:filter(function() error("mine", 1) end, "count"):rows()
      end)
      assert.is_false(ok)
      assert.matches("wrong_use_spec.lua:%d+: mine$", failure)
   end)
end)
