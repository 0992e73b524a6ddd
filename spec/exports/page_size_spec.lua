-- The size of the page of export html: at most what is asked for, with numbers that equal those of
-- reports, and sums of what is left out.
--
-- Extra: needs Chromium.
-- Unsanitized: callbacks_spec and oom write all exports.

local command = require "spec.support.command"
local events = require "spec.support.events"
local json = require "dkjson"
local profio = require "profio"

local FILES, LINES, FUNCTIONS = 6, 20000, 30000

-- Returns the long name of a function as compilers of C++ write it.
local function name_of(i)
   local part = ("std::map<std::basic_string<char, std::char_traits<char>>, ns%d::Type_%d>"):format(
      i % 97, i % 1009)
   return ("%s::apply<%s, %s>(%s const&) [%d]"):format(part, part, part:rep(i % 4), part, i)
end

-- Writes the sources; returns their paths.
local function sources()
   local paths = {}
   for file = 1, FILES do
      local lines = {}
      for line = 1, LINES do
         lines[line] = ("   call(%d, \"<b>%d</b>\"); // %s"):format(line, file,
            ("x"):rep(line % 40))
      end
      paths[file] = command.file(("size_%d.cpp"):format(file), table.concat(lines, "\n") .. "\n")
   end
   return paths
end

-- Returns a trace of one call of each function, of which some call others.
local function open(count)
   local paths = sources()
   profio.register {
      name = "long", score = function() return 0 end,
      tables = { events = { { "time", "int" }, { "event", "name" }, { "area", "area" },
         { "lane", "name" } } },
      open = function()
         return { events = function(put)
            local time = 0
            for i = 1, count do
               local area = { name = name_of(i), file = paths[i % FILES + 1], line = i % LINES + 1 }
               put(time, "enter", area, "lane " .. i % 3)
               time = time + 100 + i * 7919 % 1000
               if i % 5 == 0 then
                  local inner = { name = name_of(i * 31 % count + 1) }
                  put(time, "enter", inner, "lane " .. i % 3)
                  time = time + i % 313
                  put(time, "leave", inner, "lane " .. i % 3)
               end
               put(time, "leave", area, "lane " .. i % 3)
            end
         end }
      end,
   }
   return assert(profio.open({ data = "x" }, { format = "long" }))
end

local function data_of(page)
   return assert(json.decode(page:match 'id="data">(.-)</script>'))
end

local function sum(list)
   local all = 0
   for _, value in ipairs(list) do
      all = all + value
   end
   return all
end

local function path_of(names, depth)
   return table.concat(names, "\0", 1, depth)
end

-- Returns what the reports of a profile state: functions by name and file, contexts by path, lines
-- by file and number, the number of each and the sum of self.
local function expected_of(profile)
   local told = { flat = {}, contexts = {}, lines = {}, functions = 0, nodes = 0, nlines = 0,
      whole = 0, on_lines = 0 }
   for row in profile:flat { zeros = true }:records() do
      told.flat[row["function"] .. (row.file or "")] = row
      told.functions, told.whole = told.functions + 1, told.whole + row.self
   end
   local names = {}
   for depth, name, self, total in profile:tree():each("depth", "function", "self", "total") do
      names[depth] = name
      told.contexts[path_of(names, depth)] = { self, total }
      told.nodes = told.nodes + 1
   end
   for file, line, self in profile:lines():each("file", "line", "self") do
      if file and (self or 0) ~= 0 then
         told.lines[file .. ":" .. line] = self
         told.nlines, told.on_lines = told.nlines + 1, told.on_lines + self
      end
   end
   return told
end

-- Checks the functions of a page.
local function check_functions(data, told)
   local shown = data.table
   for i, id in ipairs(shown["function"]) do
      local file = data.files[data.functions.file[id + 1] + 1] or ""
      local row = assert(told.flat[data.functions.name[id + 1] .. file])
      assert.same({ row.self, row.total, row.line },
         { shown.self[1][i], shown.total[1][i], data.functions.line[id + 1] })
   end
   assert.equal(told.functions, #shown["function"] + shown.left)
   assert.equal(told.whole, sum(shown.self[1]) + shown.left_self[1])
end

-- Checks the contexts of a page: what is left out is stated where it is left out.
local function check_tree(data, told)
   local tree, names = data.tree, {}
   local totals, sums = {}, {}
   for i = #tree.depth, 1, -1 do -- callees stand after their callers
      local depth = tree.depth[i]
      totals[i] = tree.self[1][i] + tree.rest[1][i] + (sums[depth + 1] or 0)
      sums[depth], sums[depth + 1] = (sums[depth] or 0) + totals[i], 0
   end
   for i, depth in ipairs(tree.depth) do
      names[depth] = data.functions.name[tree["function"][i] + 1]
      assert.same(told.contexts[path_of(names, depth)], { tree.self[1][i], totals[i] })
   end
   assert.equal(told.nodes, #tree.depth + tree.left)
   assert.equal(told.whole, (sums[1] or 0) + tree.outside[1])
end

-- Checks the text of a source in the page. Returns which text it has.
local function check_source(file)
   local source = {}
   for line in io.lines(file.file) do
      source[#source + 1] = line
   end
   for line, text in pairs(file.near or {}) do
      assert.equal(source[tonumber(line)], text)
   end
   assert.is_true(not file.text or #file.text == #source)
   local kind = file.text and "all" or file.near and "near" or "none"
   assert.is_true(kind ~= "none" or file.reason:find "%-%-set size=N" ~= nil)
   return kind
end

-- Checks the lines of a page, and their sources. Returns how many sources have which text.
local function check_lines(data, told)
   local self, count, texts = told.on_lines, told.nlines, { all = 0, near = 0, none = 0 }
   for _, file in ipairs(data.lines.list) do
      for i, line in ipairs(file.line) do
         assert.equal(told.lines[file.file .. ":" .. line], file.self[i])
         self, count = self - file.self[i], count - 1
      end
      local kind = check_source(file)
      texts[kind] = texts[kind] + 1
   end
   assert.same({ data.lines.left, data.lines.left_self }, { count, self })
   return texts
end

describe("the page of a profile", function()
   local trace, profile, told

   setup(function()
      trace = open(FUNCTIONS)
      profile = assert(trace:profile())
      told = expected_of(profile)
   end)

   teardown(function()
      trace:close()
   end)

   for _, size in ipairs { 256 << 10, 1 << 20, 4 << 20 } do
      it(("has at most %d bytes, and states the rest"):format(size), function()
         local page = assert(profile:export("html", nil, { size = size }))
         assert.is_true(#page <= size, #page)
         assert.is_true(#page > 0.75 * size, #page)
         local data = data_of(page)
         check_functions(data, told)
         check_tree(data, told)
         local texts = check_lines(data, told)
         assert.equal(0, texts.all)
         assert.is_true(texts.near > 0)
      end)

      it(("has at most %d bytes with a timeline"):format(size), function()
         local page = assert(trace:export("html", nil, { size = size }))
         assert.is_true(#page <= size, #page)
         local data = data_of(page)
         check_functions(data, told)
         check_tree(data, told)
         check_lines(data, told)
      end)
   end
end)

describe("the timeline of a page", function()
   -- Returns a page and the numbers of kept and of all calls of its only lane.
   local function page_of(trace, size)
      local page = assert(trace:export("html", nil, { size = size }))
      local lane = data_of(page).timeline.tracks[1]
      return page, lane.kept, lane.calls
   end

   it("has all calls if they fit, else as many as fit", function()
      math.randomseed(5)
      local lines, time = {}, 0
      for i = 1, 60000 do
         local long = math.random(900)
         lines[i] = ("%d enter f%d\n%d leave f%d"):format(time, i % 50, time + long, i % 50)
         time = time + long + math.random(99)
      end
      local trace <close> = events.open(table.concat(lines, "\n") .. "\n")
      local whole = page_of(trace, 64 << 20)
      local _, kept, calls = page_of(trace, #whole * 110 // 100)
      assert.equal(60000, calls)
      assert.equal(calls, kept)
      for _, share in ipairs { 70, 50, 30 } do
         local size = #whole * share // 100
         local page, some = page_of(trace, size)
         assert.is_true(some < calls and some > 0)
         assert.is_true(#page <= size and #page > 0.9 * size, #page / size)
      end
   end)

   it("has the calls of a busy lane beside many others", function()
      local lines = {}
      for i = 1, 30000 do
         lines[i] = ("%d enter f busy\n%d leave f busy"):format(i * 10, i * 10 + 5)
      end
      for i = 1, 200 do
         lines[#lines + 1] = ("300100 enter f lane%d\n300200 leave f lane%d"):format(i, i)
      end
      local trace <close> = events.open(table.concat(lines, "\n") .. "\n")
      local _, kept, calls = page_of(trace, 2 << 20)
      assert.same({ 30000, 30000 }, { kept, calls })
   end)
end)
