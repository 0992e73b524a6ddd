-- Compares the page of export html with speedscope and with a page of d3-flame-graph, all of one
-- profile, by the processor time of the browser and the time between frames.

local folded = require "spec.support.folded"
local json = require "dkjson"
local profio = require "profio"
local timing = require "spec.bench.timing"

local bench = {}

local STACKS = 14000 -- about 100,000 contexts
local modules = "build/node/pages/node_modules"

-- Returns a profile of random stacks in which few functions are common.
local function made()
   local lines = {}
   math.randomseed(5)
   for i = 1, STACKS do
      local stack = {}
      for depth = 1, math.random(4, 24) do
         stack[depth] = "function_" .. math.random(depth < 3 and 4 or depth < 8 and 12 or 60)
      end
      lines[i] = table.concat(stack, ";") .. " " .. math.random(1, 1000)
   end
   return folded.profile(table.concat(lines, "\n") .. "\n")
end

-- Returns the tree of a profile in the form of d3-flame-graph, and its number of contexts.
local function d3_tree(profile)
   local open, count = { [0] = { name = "all", value = 0, children = {} } }, 0
   for depth, name, total in profile:tree { metric = "time" }:each("depth", "function", "total") do
      local node = { name = name, value = total, children = {} }
      open[depth], count = node, count + 1
      table.insert(open[depth - 1].children, node)
      open[0].value = open[0].value + (depth == 1 and total or 0)
   end
   return open[0], count
end

local function write(name, text)
   local path = timing.folder .. "/" .. name
   local file <close> = assert(io.open(path, "wb"))
   file:write(text)
   return path
end

local function read(path)
   local file <close> = io.open(path, "rb")
   return file and file:read "a"
end

-- Returns a page that draws the tree with d3-flame-graph, or nil if it is not installed.
local function d3_page(tree)
   local d3 = read(modules .. "/d3/dist/d3.min.js")
   local graph = read(modules .. "/d3-flame-graph/dist/d3-flamegraph.umd.min.js")
   return d3 and graph and table.concat { "<!DOCTYPE html><meta charset=utf-8><div id=c></div>",
      "<script>", d3, "</script><script>", graph, "</script><script>const tree = ",
      json.encode(tree), "; const chart = flamegraph.default()",
      ".width(1240).transitionDuration(0);",
      "d3.select('#c').datum(tree).call(chart);</script>" }
end

-- Returns { load =, action =, frame =, worst =, work = } in seconds and heap in MB, medians of
-- `rounds`; or nil. `place` is JavaScript for where the mouse zooms and drags, or "".
local function times_of(rounds, path, place, ...)
   local words = {}
   for i, action in ipairs { place, ... } do
      words[i] = "'" .. action:gsub("'", "'\\''") .. "'"
   end
   local pipe <close> = assert(io.popen(("node spec/bench/page_times.mjs %s %d 'file://%s' " ..
      "%s 2>/dev/null"):format(modules, rounds, path, table.concat(words, " "))))
   return (json.decode(pipe:read "a"))
end

local function row(label, times)
   if not times then
      timing.print("%-16s (not installed)", label)
   else
      timing.print("%-16s load %6.2f s  heap %5.0f MB  zoom %-8s frames %4.0f ms, worst %4.0f ms, "
         .. "work %5.1f ms",
         label, times.load, times.heap, times.action and ("%.3f s"):format(times.action) or "",
         1000 * times.frame, 1000 * times.worst, 1000 * times.work)
   end
end

-- Prints the time to write the page of a timeline of 2 million events on two lanes, and that of its
-- profile and its statistics of calls, which the page has too.
local function write_timeline()
   local path = timing.folder .. "/paged"
   assert(os.execute(("%s/timeline %s 2000000 2000 20"):format(timing.folder, path)))
   local trace <close> = assert(profio.open(path .. ".txt"))
   local seconds = timing.functions({
      function() assert(trace:export("html", path .. ".html")) end,
      function() assert(trace:profile()):close() end,
      function() trace:call_statistics():rows() end }, 5)
   timing.print("\na page of 2,000,000 events: %.2f s; their profile %.2f s, statistics %.2f s",
      table.unpack(seconds))
   for _, ending in ipairs { ".txt", ".txt.BIN", ".html" } do
      os.remove(path .. ending)
   end
end

-- Prints the processor time after a range of time is selected in a page of a million calls: its
-- flame graph and functions should be there within 0.1 s.
local function select_ranges(here)
   local path, actions = timing.folder .. "/ranges", { "page.prepare_range()" }
   assert(os.execute(("%s/timeline %s 2360000 20 3"):format(timing.folder, path)))
   local trace <close> = assert(profio.open(path .. ".txt"))
   assert(trace:export("html", path .. ".html", { size = "128M" }))
   for from = 1, 6 do
      actions[from + 1] = ([[{ const { length } = page.tracks;
         page.set({ range: Math.round(length * %d / 20) + '-' + Math.round(length * 0.95) }); }]])
         :format(from)
   end
   local times = times_of(3, here .. path .. ".html", "", table.unpack(actions))
   timing.print("\na range of time over %d calls: %s", trace:calls():count(), times
      and ("loaded in %.2f s, each range %.3f s"):format(times.load, times.action)
      or "(Chromium is not installed)")
   for _, ending in ipairs { ".txt", ".txt.BIN", ".html" } do
      os.remove(path .. ending)
   end
end

--- A profile of 100,000 contexts in Chromium, a range of a timeline, and the time to write the page
--- of one.
function bench.page()
   write_timeline()
   local pipe <close> = assert(io.popen "pwd")
   local here, profile = pipe:read "l" .. "/", made()
   select_ranges(here)
   local tree, count = d3_tree(profile)
   timing.settle()
   timing.print("\na flame graph of %d contexts in Chromium: processor time, and frames while the "
      .. "mouse\nzooms and drags (d3-flame-graph: while it zooms)", count)
   local mine = timing.folder .. "/page.html"
   assert(profile:export("html", mine, { size = "16M" }))
   row("--export html", times_of(3, here .. mine, [[(() => {
      const canvas = document.querySelector("#flames canvas");
      canvas.scrollIntoView();
      const { x, y, width } = canvas.getBoundingClientRect();
      return [x + width / 2, y + 100]; })()]],
      "page.set({ zoom: String(page.flames.root().children()[0].fn) })", "page.set({ zoom: '' })",
      "page.set({ zoom: String(page.flames.root().children()[1].fn) })", "page.set({ zoom: '' })"))
   local d3 = d3_page(tree)
   local zoom = "{ const all = d3.select('#c').datum(); chart.%s }"
   -- Once: it takes a minute and a half.
   row("d3-flame-graph", d3 and times_of(1, here .. write("d3.html", d3), "",
      zoom:format "zoomTo(all.children[0])", zoom:format "resetZoom()",
      zoom:format "zoomTo(all.children[1])", zoom:format "resetZoom()"))
   local scope = "build/node/node_modules/speedscope/dist/release/index.html"
   local profiled = assert(profile:export "speedscope")
   local text = write("scope.js", ("speedscope.loadFileFromBase64('p.json', btoa(%s))"):format(
      json.encode(profiled)))
   row("speedscope", read(scope) and times_of(3, here .. scope .. "#localProfilePath=" .. here ..
      text, "[640, 500]"))
   for _, name in ipairs { "page.html", "d3.html", "scope.js" } do
      os.remove(timing.folder .. "/" .. name)
   end
end

return bench
