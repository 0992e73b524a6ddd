-- Graphviz reads the call graph: the numbers of its nodes and edges are profio's, also for names
-- that are difficult, and what is left out is said.

local builder = require "spec.support.gmon_builder"
local command = require "spec.support.command"
local folded = require "spec.support.folded"
local names = require "spec.support.names"
local profio = require "profio"
local viewers = require "spec.support.viewers"

local it_looks = viewers.has_graphviz and it or function(name)
   pending(name .. " (needs graphviz)")
end

local all = { nodes = 1000, node_share = 0, arc_share = 0 }

-- Returns the functions and arcs that Graphviz read, as "self total" by name, the title, and the
-- picture.
local function look(text)
   local graph, svg = viewers.graphviz(text)
   assert(graph, svg)
   local nodes, arcs, title_of = {}, {}, {}
   for i, node in ipairs(graph.objects or {}) do
      title_of[i - 1] = node.label:match "^(.-)\\nself"
      nodes[title_of[i - 1]] = { tonumber(node.self), tonumber(node.total) }
   end
   for _, edge in ipairs(graph.edges or {}) do
      arcs[title_of[edge.tail] .. ">" .. title_of[edge.head]] = { tonumber(edge.calls or 0),
         tonumber(edge.total) }
   end
   return nodes, arcs, graph.label, svg
end

local function expected(profile)
   local nodes, arcs = {}, {}
   for _, row in ipairs(profile:flat{ zeros = true }:rows("function", "self", "total")) do
      nodes[row["function"]] = { row.self, row.total }
   end
   for _, row in ipairs(profile:graph():rows("caller", "callee", "calls", "total")) do
      if row.caller then
         arcs[row.caller .. ">" .. row.callee] = { row.calls or 0, row.total }
      end
   end
   return nodes, arcs
end

describe("--export dot", function()
   it_looks("has the numbers of each function and arc", function()
      math.randomseed(23)
      local profile = folded.profile(folded.random(3000))
      local nodes, arcs = expected(profile)
      local seen_nodes, seen_arcs, title = look(assert(profile:export("dot", nil, all)))
      assert.same(nodes, seen_nodes)
      assert.same(arcs, seen_arcs)
      assert.is_nil(title:find("shown", 1, true))
   end)

   it_looks("has the calls of a profile of gprof", function()
      local trace <close> = assert(profio.open { data = builder.new("<", 8):header()
         :arc(0x1000, 0x2000, 7):arc(0x2000, 0x3000, 1):bytes() })
      local nodes, arcs = expected(trace:profile())
      local seen_nodes, seen_arcs, _, svg = look(assert(trace:profile():export("dot", nil, all)))
      assert.same({ nodes, arcs }, { seen_nodes, seen_arcs })
      assert.is_truthy(svg:find(">7 calls<", 1, true))
      assert.is_truthy(svg:find(">1 call<", 1, true))
   end)

   it_looks("shows names as they are, and long ones whole in the tooltip", function()
      local trace <close> = names.open()
      local _, _, _, svg = look(assert(trace:profile():export("dot", nil, all)))
      if viewers.has_xml then
         assert.same({ true, "" }, { viewers.xml(svg) })
      end
      local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;",
         ["'"] = "&#39;" }
      svg = svg:gsub("&#45;", "-"):gsub("&#160;", " ") -- Graphviz's own
      for i, name in ipairs(names.list) do
         local text = names.plain(name):gsub('[&<>"\']', entities)
         assert.is_truthy(svg:find(('xlink:title="%s&#10;self %d ns'):format(text, 10 * i), 1, true)
            or svg:find(('xlink:title="%s\nself %d ns'):format(text, 10 * i), 1, true), text)
         assert.is_true(#text > 60 or svg:find(">" .. text .. "<", 1, true) ~= nil, text)
      end
   end)

   it_looks("leaves out what is small, and says so", function()
      local profile = folded.profile "main;big 600\nmain;mid;small 3\nmain;mid 300\nmain 97\n"
      local nodes, arcs, title = look(assert(profile:export "dot"))
      assert.same({ main = { 97, 1000 }, big = { 600, 600 }, mid = { 300, 303 } }, nodes)
      assert.same({ ["main>big"] = { 0, 600 }, ["main>mid"] = { 0, 303 } }, arcs)
      assert.matches("shown: 3 of 4 functions, which have 997 ns %(99.7 %%%) of self weight, and 2 "
         .. "of 3 arcs", title)
      nodes, arcs = look(assert(profile:export("dot", nil, { nodes = 2, node_share = 0 })))
      assert.same({ main = { 97, 1000 }, big = { 600, 600 } }, nodes)
      assert.same({ ["main>big"] = { 0, 600 } }, arcs)
      assert.same({}, (look(assert(profile:export("dot", nil, { nodes = 0 })))))
   end)

   it("tells the command what is left out", function()
      command.file("calls.gmon", builder.new("<", 8):header():arc(0x1000, 0x2000, 7):bytes())
      local _, status, errors = command.run "profio export -o out.dot --set nodes=1 calls.gmon"
      assert.equal(0, status)
      assert.matches("shown: 1 of 2 functions, .* 0 of 1 arcs; %-%-set nodes=N, "
         .. "%-%-set node_share=0 and %-%-set arc_share=0 show more", errors)
   end)

   it_looks("colours what has grown red, and what has shrunk blue", function()
      local change = folded.profile "main;f 750\nmain;g 250\n"
         - folded.profile "main;f 250\nmain;g 700\n"
      local nodes, arcs, title = look(assert(change:export("dot", nil, all)))
      assert.same({ main = { 0, 50 }, f = { 500, 500 }, g = { -450, -450 } }, nodes)
      assert.same({ ["main>f"] = { 0, 500 }, ["main>g"] = { 0, -450 } }, arcs)
      assert.matches("a difference: red has grown", title)
      local graph = viewers.graphviz(assert(change:export("dot", nil, all)))
      for _, node in ipairs(graph.objects) do
         assert.equal(node.label:find "^g" and "0.600" or "0.050", node.fillcolor:sub(1, 5))
      end
   end)

   it("states shares of weights near 2^63", function()
      local text = assert(folded.profile(("main;f %d\nmain 5\n"):format(1 << 62)):export "dot")
      assert.truthy(text:find("\\nself 53375.996 d (100 %)\\ntotal", 1, true))
   end)

   it("names a metric that there is not", function()
      assert.error_matches(function()
         folded.profile "main 1\n":export("dot", nil, { metric = "misses" })
      end, "no inclusive metric 'misses'; there are: ")
   end)

   it("names the metrics of the file, and refuses calls, which have no inclusive time", function()
      local profile = folded.profile "main 1\n"
      for _, export in ipairs { "dot", "callgrind" } do
         for _, metric in ipairs { "calls", "misses" } do
            local _, message = pcall(profile.export, profile, export, nil, { metric = metric })
            assert.equal(("no inclusive metric '%s'; there are: time, samples"):format(metric),
               message:match "no .*")
         end
      end
   end)

   it_looks("is a graph without functions, too", function()
      assert.same({}, (look(assert(folded.profile "":export "dot"))))
   end)

   it_looks("is refused, or has another sum, where it is broken", function()
      local text = assert(folded.profile "main;f 5\n":export "dot")
      assert.same({ main = { 0, 5 }, f = { 5, 5 } }, (look(text)))
      assert.is_nil((viewers.graphviz((text:gsub("}\n$", "")))))
      assert.is_nil((viewers.graphviz((text:gsub('label="f', 'label=f"', 1)))))
      assert.not_same({ 5, 5 }, look((text:gsub("self=5", "self=4"))).f)
   end)

   it_looks("says in the title what was lost", function()
      local whole = builder.new("<", 8):header():arc(0x1000, 0x2000, 7):bytes()
      local trace <close> = assert(profio.open { data = whole:sub(1, -3), path = "cut.out" })
      local _, _, title = look(assert(trace:profile():export "dot"))
      assert.matches("damaged: cut.out: .*gmon%-truncated", title)
   end)
end)
