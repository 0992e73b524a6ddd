-- A function is one frame in every export, however many of its lines have weight: the number of
-- functions, and self and total of each of them, are those of the flat profile.

local br = require "spec.support.br_builder"
local command = require "spec.support.command"
local firefox = require "spec.support.firefox"
local folded = require "spec.support.folded"
local json = require "dkjson"
local profio = require "profio"
local programs = require "spec.support.programs"
local protobuf = require "spec.support.protobuf"
local viewers = require "spec.support.viewers"

-- Functions with several lines, one that calls itself, and one name in two modules.
local function traced()
   local b = br():module(1, "A.BR"):module(2, "B.BR")
   local function sample(line, spent, ...)
      b:line(line[1], line[2]):fn(line[3]):time(spent)
      for _, caller in ipairs { ... } do
         b:back(caller[1], caller[2]):fn(caller[3])
      end
      b:back(1, 7):main():stop()
   end
   local tax = { 1, 100, "FNTAX" }
   sample(tax, 1000)
   sample({ 1, 110, "FNTAX" }, 2000)
   sample({ 1, 120, "FNTAX" }, 4000, { 1, 130, "FNTAX" }, { 1, 110, "FNTAX" })
   sample({ 2, 10, "FNADD" }, 8000, tax)
   sample({ 2, 20, "FNADD" }, 16000, { 1, 110, "FNTAX" })
   sample({ 1, 10, "FNADD" }, 32000)
   sample({ 1, 11, "FNADD" }, 64000)
   return assert(profio.open({ data = b:bytes() }, { format = "br" }))
end

-- Returns self and total by "name file", and their number.
local function flat(profile)
   local list, count = {}, 0
   for name, file, self, total in profile:flat():each("function", "file", "self", "total") do
      list[name .. " " .. file], count = { self, total }, count + 1
   end
   return list, count
end

-- Returns self and total of each function, from stacks of them, innermost first, and weights.
local function summed(stacks)
   local list = {}
   local function of(name)
      list[name] = list[name] or { 0, 0 }
      return list[name]
   end
   for _, stack in ipairs(stacks) do
      local seen = {}
      of(stack[1])[1] = of(stack[1])[1] + stack.weight
      for _, name in ipairs(stack) do
         of(name)[2] = of(name)[2] + (seen[name] and 0 or stack.weight)
         seen[name] = true
      end
   end
   return list
end

describe("a function with several lines is one frame", function()
   local trace, profile, wanted, count
   setup(function()
      trace = traced()
      profile = trace:profile()
      wanted, count = flat(profile)
      assert.equal(4, count)
   end)
   teardown(function()
      trace:close()
   end)

   it("in speedscope", function()
      local object = assert(json.decode(profile:export "speedscope"))
      local frames, stacks = object.shared.frames, {}
      assert.equal(count, #frames)
      for i, sample in ipairs(object.profiles[1].samples) do
         local stack = { weight = object.profiles[1].weights[i] }
         for k = #sample, 1, -1 do
            local frame = frames[sample[k] + 1]
            stack[#stack + 1] = frame.name .. " " .. frame.file
         end
         stacks[i] = stack
      end
      assert.same(wanted, summed(stacks))
      if viewers.has_speedscope then
         local path = command.file("one.speedscope.json", profile:export "speedscope")
         local imported = viewers.speedscope(path)
         assert.is_table(imported)
      end
   end)

   it("in cpuprofile, whose nodes have the lines", function()
      local object = assert(json.decode(profile:export "cpuprofile"))
      local parents, nodes, stacks, lines = {}, {}, {}, {}
      for _, node in ipairs(object.nodes) do
         nodes[node.id] = node
         for _, child in ipairs(node.children or {}) do
            parents[child] = node.id
         end
      end
      for _, node in ipairs(object.nodes) do
         local stack, at, ticks = { weight = node.hitCount }, node.id, 0
         while at and at ~= 1 do
            local frame = nodes[at].callFrame
            stack[#stack + 1] = frame.functionName .. " " .. frame.url
            at = parents[at]
         end
         for _, tick in ipairs(node.positionTicks or {}) do
            local key = ("%s %d"):format(stack[1], tick.line)
            lines[key], ticks = (lines[key] or 0) + tick.ticks, ticks + tick.ticks
         end
         assert.equal(node.hitCount, ticks)
         stacks[#stacks + 1] = #stack > 0 and stack or nil
      end
      assert.same(wanted, summed(stacks))
      assert.same({ ["FNTAX A.BR 100"] = 1000, ["FNTAX A.BR 110"] = 2000,
         ["FNTAX A.BR 120"] = 4000, ["FNADD B.BR 10"] = 8000, ["FNADD B.BR 20"] = 16000,
         ["FNADD A.BR 10"] = 32000, ["FNADD A.BR 11"] = 64000 }, lines)
   end)

   it("in firefox, whose frames are the lines of a function", function()
      local text = profile:export "firefox"
      assert.same({}, firefox.check(text))
      local object = assert(json.decode(text, 1, json.null))
      local shared, samples, stacks = object.shared, object.threads[1].samples, {}
      local funcs, strings = shared.funcTable, shared.stringArray
      assert.equal(count, funcs.length)
      for i = 1, samples.length do
         local stack, at = { weight = math.floor(samples.weight[i] * 1e6 + 0.5) }, samples.stack[i]
         while at ~= json.null do
            local func = shared.frameTable.func[shared.stackTable.frame[at + 1] + 1] + 1
            stack[#stack + 1] = strings[funcs.name[func] + 1] .. " "
               .. strings[shared.sources.filename[funcs.source[func] + 1] + 1]
            at = shared.stackTable.prefix[at + 1]
         end
         stacks[i] = stack
      end
      assert.same(wanted, summed(stacks))
   end)

   it("in folded stacks and flame graphs; option lines of svg shows the lines", function()
      local text = profile:export "folded"
      local _, lines = text:gsub("\n", "")
      local _, contexts = profile:export("svg", nil, { rows = 100 }):match
         'metadata class="frames">([^<]*)<':gsub("\n", "")
      assert.equal(4, lines)
      assert.equal(7, contexts) -- with the callers that have no weight, and the root
      assert.same(profile:metrics()[1].total, folded.profile(text):metrics()[1].total)
      local function names(given)
         local list = {}
         for name in profile:export("svg", nil, given):match 'class="names">([^<]*)<'
            :gmatch "[^\n]+" do
            list[#list + 1] = name
         end
         table.sort(list)
         return list
      end
      assert.same({ "A.BR", "FNADD", "FNADD", "FNTAX", "all" }, names())
      assert.same({ "A.BR:7", "FNADD:10", "FNADD:10", "FNADD:11", "FNADD:20", "FNTAX:100",
         "FNTAX:110", "FNTAX:120", "FNTAX:130", "all" }, names { lines = true })
   end)

   it("in pprof and callgrind", function()
      local path = command.file("one.pb.gz", profile:export "pprof")
      local bytes = programs.output("gzip -dc '%s'", path)
      assert.equal(count, protobuf.resolved(bytes).nfunctions)
      local _, functions = profile:export "callgrind":gsub("\nfn=%(%d+%) [^\n]+", "")
      assert.equal(3, functions) -- two functions share a name, which has one number
   end)
end)
