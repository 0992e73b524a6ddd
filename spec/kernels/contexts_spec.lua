-- Calling contexts compared with a slow model: a profile is a list of stacks with a weight.

local core = require "profio.core"
local events = require "spec.support.call_events"
local profile_parts = require "profio.internal.bodies.profile_parts"

local names = { "a", "b", "c", "main", "x y", "z" }

-- {====== The model ======

-- A random profile: { { stack = { outermost, ... }, weight = n }, ... }
local function random_profile(count)
   local list = {}
   for i = 1, count do
      local stack = {}
      for d = 1, math.random(1, 6) do
         stack[d] = names[math.random(#names)]
      end
      list[i] = { stack = stack, weight = math.random(0, 50) }
   end
   return list
end

local function flat_of(list)
   local rows = {}
   local function row(name)
      rows[name] = rows[name] or { self = 0, total = 0 }
      return rows[name]
   end
   for _, sample in ipairs(list) do
      local seen = {}
      for d, name in ipairs(sample.stack) do
         if not seen[name] then
            seen[name] = true
            row(name).total = row(name).total + sample.weight
         end
         if d == #sample.stack then
            row(name).self = row(name).self + sample.weight
         end
      end
   end
   return rows
end

local function arcs_of(list)
   local rows = {}
   for _, sample in ipairs(list) do
      local seen = {}
      for d, name in ipairs(sample.stack) do
         local key = (sample.stack[d - 1] or "-") .. ">" .. name
         rows[key] = rows[key] or { self = 0, total = 0 }
         if not seen[key] then
            seen[key] = true
            rows[key].total = rows[key].total + sample.weight
         end
         if d == #sample.stack then
            rows[key].self = rows[key].self + sample.weight
         end
      end
   end
   return rows
end

-- }======

-- {====== From the core ======

local function made(list, metric)
   local rows = {}
   for i, sample in ipairs(list) do
      rows[i] = { table.concat(sample.stack, ";"), sample.weight }
   end
   local reader = core.rows_reader({ { "folded", "name" }, { "w", "int" } }, rows)
   return assert(core.contexts { reader = reader, folded = "folded",
      metrics = { { name = metric or "time", unit = "ns", column = "w" } } })
end

local function flat_rows(contexts)
   local rows = {}
   for name, self, total in core.each(contexts:flat(), { "function", "self", "total" }) do
      rows[name] = { self = self, total = total }
   end
   return rows
end

local function arc_rows(reader)
   local rows = {}
   for callee, caller, self, total in core.each(reader,
      { "callee", "caller", "self", "total" }) do
      rows[(caller or "-") .. ">" .. callee] = { self = self, total = total }
   end
   return rows
end

local function without_zeros(rows)
   for key, row in pairs(rows) do
      if row.self == 0 and row.total == 0 then
         rows[key] = nil
      end
   end
   return rows
end

-- The whole profile as text, which depends only on its stacks.
local function text_of(contexts, metric)
   local path, lines = {}, {}
   for depth, name, self in core.each(contexts:tree { metric = metric, zeros = true },
      { "depth", "function", "self" }) do
      path[depth] = name
      if self ~= 0 then
         lines[#lines + 1] = table.concat(path, ";", 1, depth) .. " " .. self
      end
   end
   table.sort(lines)
   return table.concat(lines, "\n")
end

-- }======

local function join(a, b)
   return table.move(b, 1, #b, #a + 1, table.move(a, 1, #a, 1, {}))
end

describe("contexts", function()
   it("have the self and total of the model, for random profiles", function()
      for seed = 1, 200 do
         math.randomseed(seed)
         local list = random_profile(math.random(0, 60))
         local contexts = made(list)
         assert.same(without_zeros(flat_of(list)), flat_rows(contexts))
         assert.same(without_zeros(arcs_of(list)), arc_rows(contexts:graph()))
      end
   end)

   -- Numbers of contexts in the order of their stacks, frame by frame.
   local function numbers_in_order(contexts)
      local path, list = {}, {}
      for depth, name, node in core.each(contexts:tree { zeros = true },
         { "depth", "function", "node" }) do
         path[depth] = name
         list[#list + 1] = { key = table.concat(path, "\0", 1, depth) .. "\0", node = node }
      end
      table.sort(list, function(a, b)
         return a.key < b.key
      end)
      for i, entry in ipairs(list) do
         list[i] = entry.node
      end
      return list
   end

   it("are merged in the same way, sorted or not", function()
      local function key_of(sample)
         return table.concat(sample.stack, "\0")
      end
      -- Contexts in the order of their stacks, and in the opposite order.
      local function both_orders(list, metric)
         table.sort(list, function(a, b)
            return key_of(a) < key_of(b)
         end)
         local forward = made(list, metric)
         table.sort(list, function(a, b)
            return key_of(a) > key_of(b)
         end)
         return forward, made(list, metric)
      end
      for seed = 1, 300 do
         math.randomseed(seed)
         local other = seed % 3 == 0 and "other" or "time"
         local a, unordered_a = both_orders(random_profile(math.random(0, 40)))
         local b, unordered_b = both_orders(random_profile(math.random(0, 40)), other)
         for _, sign in ipairs { 1, -1 } do
            local short, plain = a:merge(b, sign), unordered_a:merge(unordered_b, sign)
            assert.same({ plain:count() }, { short:count() })
            assert.same(plain:metrics(), short:metrics())
            for _, metric in ipairs(plain:metrics()) do
               assert.equal(text_of(plain, metric.name), text_of(short, metric.name))
            end
            for i, node in ipairs(numbers_in_order(short)) do
               assert.equal(i, node)
            end
            assert.equal(text_of(a), text_of(short:merge(b, -sign)))
         end
      end
   end)

   it("are merged in any order and number, and subtracted again", function()
      for seed = 1, 60 do
         math.randomseed(seed)
         local a, b, c = random_profile(30), random_profile(20), random_profile(10)
         local ab = made(a):merge(made(b))
         assert.equal(text_of(made(join(a, b))), text_of(ab))
         assert.equal(text_of(ab), text_of(made(b):merge(made(a))))
         assert.equal(text_of(ab:merge(made(c))), text_of(made(a):merge(made(b):merge(made(c)))))
         assert.equal(text_of(made(a)), text_of(ab:merge(made(b), -1)))
      end
   end)

   it("are narrowed as in the model", function()
      for seed = 1, 60 do
         math.randomseed(seed)
         local list = random_profile(40)
         local contexts = made(list)
         local chosen = { a = {}, b = {}, c = {} }
         for _, frame in ipairs(contexts:frames()) do
            (chosen[frame["function"]] or {})[frame.number] = true
         end
         local kept = {}
         for _, sample in ipairs(list) do
            local focus, ignored, stack = false, false, {}
            for _, name in ipairs(sample.stack) do
               focus = focus or name == "a"
               ignored = ignored or name == "b"
               stack[#stack + 1] = name ~= "c" and name or nil
            end
            if focus and not ignored and #stack > 0 then
               kept[#kept + 1] = { stack = stack, weight = sample.weight }
            end
         end
         assert.equal(text_of(made(kept)), text_of(contexts:narrow("ignore", chosen.b)
            :narrow("hide", chosen.c):narrow("focus", chosen.a)))
      end
   end)

   it("are inverted", function()
      math.randomseed(7)
      local list = random_profile(50)
      local turned = {}
      for i, sample in ipairs(list) do
         turned[i] = { weight = sample.weight, stack = {} }
         for d = #sample.stack, 1, -1 do
            table.insert(turned[i].stack, sample.stack[d])
         end
      end
      assert.equal(text_of(made(turned)), text_of(made(list):invert()))
   end)

   it("have the largest depth at which their stacks have at most so many frames", function()
      -- The frames of the distinct stacks shortened to a depth, or of all inverted ones.
      local function frames(list, depth, inverted)
         local seen, count = {}, 0
         for _, sample in ipairs(list) do
            local size = math.min(depth, #sample.stack)
            local key = table.concat(sample.stack, ";", 1, inverted and #sample.stack or size)
            if sample.weight > 0 and not seen[key] then
               seen[key], count = true, count + size
            end
         end
         return count
      end
      for seed = 1, 200 do
         math.randomseed(seed)
         local list = random_profile(math.random(0, 60))
         local contexts, most = made(list), math.random(0, 100)
         for _, inverted in ipairs { false, true } do
            local depth = 6
            while depth > 1 and frames(list, depth, inverted) > most do
               depth = depth - 1
            end
            local is_all = frames(list, 6, inverted) <= most
            assert.equal(not is_all and depth or nil,
               core.stack_depth(contexts, most, 0, inverted), seed)
         end
      end
   end)

   it("are scaled to whole weights with the right sum, and pruned without loss", function()
      for seed = 1, 40 do
         math.randomseed(seed)
         local contexts = made(random_profile(50))
         local whole = contexts:metrics()[1].total
         for _, factor in ipairs { 0, 1, 0.5, 1 / 3, -1, 2.25 } do
            local scaled = contexts:scale(factor):metrics()[1].total
            assert.is_true(math.abs(scaled - whole * factor) <= 0.5)
         end
         assert.equal(text_of(contexts), text_of(contexts:scale(1)))
         assert.equal(whole, contexts:prune(0.1):metrics()[1].total)
         assert.equal(text_of(contexts), text_of(contexts:prune(0)))
         assert.is_true(contexts:prune(0.1):count() <= contexts:count())
      end
   end)

   it("are scaled exactly up to 64 bits", function()
      local contexts = made { { stack = { "main", "f" }, weight = (1 << 60) + 1 },
         { stack = { "main", "g" }, weight = (1 << 61) + 5 } }
      assert.equal(text_of(contexts), text_of(contexts:scale(1.0)))
      local function total(...)
         return contexts:scale(...):metrics()[1].total
      end
      local whole = (1 << 60) + (1 << 61) + 6
      assert.equal(whole // 2, total(0.5))
      assert.equal(-whole, total(-1))
      assert.equal(2 * whole, total(2))
      assert.equal(whole // 4 + 1, total(0.25)) -- half is rounded up
      assert.equal((1 << 62) + 3, total((1 << 62) + 3, whole))
      assert.equal(0, total(1e-300))
      assert.error_matches(function() total(1, 0) end, "the divisor must be above 0")
      assert.equal(math.maxinteger, total(1e300)) -- and reports that it was cut
      -- the number of contexts, whether a sum is limited, whether a weight is
      assert.same({ 3, true, true }, { contexts:scale(1e300):count() })
   end)

   it("report a limited sum also after a metric was picked", function()
      local contexts = made { { stack = { "f" }, weight = math.maxinteger },
         { stack = { "f" }, weight = 1 } }
      assert.same({ 1, true, true }, { contexts:count() })
      assert.same({ 1, true, true }, { contexts:pick("time", "before"):count() })
      assert.same({ 2, true, false }, { made { { stack = { "f" }, weight = math.maxinteger },
         { stack = { "g" }, weight = 1 } }:count() }) -- each weight is exact
   end)

   it("are independent of the first profile after a merge of dictionaries", function()
      local a = made { { stack = { "main", "f" }, weight = 3 } }
      local before = text_of(a)
      a:merge(made { { stack = { "new" }, weight = 1 } })
      assert.equal(before, text_of(a))
   end)

   it("take a column without values for lines and weights", function()
      local trace <close> = events.open(events.of "0 e f; 5 l f; 5 e g; 6 l g", "calls of names")
      local function none()
         return nil
      end
      local rows = trace:calls():group("area", { none, "area", name = "line" },
         { none, "area", name = "weight" }):aggregate { "net = sum(net)" }
      local contexts = assert(core.contexts { reader = rows:reader(), ["function"] = "area",
         line = "line", metrics = { { name = "time", unit = "ns", column = "net" },
            { name = "nothing", unit = "count", column = "weight" } } })
      assert.same({ f = { self = 5, total = 5 }, g = { self = 1, total = 1 } },
         flat_rows(contexts))
      assert.equal(0, contexts:metrics()[2].total)
   end)

   it("have lines with a row for each function without one, and none of others", function()
      local dictionary = core.dictionary()
      local function profile_of(rows)
         local reader = core.rows_reader({ { "f", "name" }, { "file", "name" }, { "line", "int" },
            { "w", "int" } }, rows, dictionary)
         return assert(core.contexts { reader = reader, ["function"] = "f", file = "file",
            line = "line", metrics = { { name = "time", unit = "ns", column = "w" } } })
      end
      profile_of { { "other", "o.c", 9, 1 } }
      local contexts = profile_of { { "f", "a.c", 3, 6 }, { "g", "a.c", 7, 0 },
         { "h", "a.c", nil, 2 } }
      assert.same({
         { file = "a.c", line = 3, self = 6, total = 6, self_share = 0.75, ["function"] = "f" },
         { file = "a.c", self = 2, total = 2, self_share = 0.25, ["function"] = "h" },
         { file = "a.c", line = 7, self = 0, total = 0, self_share = 0.0, ["function"] = "g" } },
         core.rows(contexts:lines { zeros = true }))
      assert.equal(2, #core.rows(contexts:lines()))
   end)

   it("have the first line that is known of a function", function()
      local reader = core.rows_reader({ { "f", "name" }, { "line", "int" }, { "w", "int" } },
         { { "f", nil, 1 }, { "f", 9, 1 }, { "f", 7, 1 } }, core.dictionary())
      local contexts = assert(core.contexts { reader = reader, ["function"] = "f", line = "line",
         metrics = { { name = "time", unit = "ns", column = "w" } } })
      assert.equal(7, core.rows(contexts:flat())[1].line)
   end)

   it("have lines that only called others, with their total", function()
      local protobuf = require "spec.support.protobuf"
      local number, message, text = protobuf.number, protobuf.message, protobuf.texts()
      local parts = { message(1, number(1, text "time"), number(2, text "nanoseconds")),
         message(2, protobuf.packed(1, { 2, 1 }), protobuf.packed(2, { 5 })) }
      for i, name in ipairs { "main", "f" } do
         parts[#parts + 1] = message(4, number(1, i), message(4, number(1, i), number(2, 10 * i)))
         parts[#parts + 1] = message(5, number(1, i), number(2, text(name)))
      end
      local trace <close> = assert(require("profio").open {
         data = table.concat(parts) .. text.fields() })
      local contexts = profile_parts.contexts(trace:profile())
      assert.same({ { line = 20, self = 5, total = 5, self_share = 1.0, ["function"] = "f" },
         { line = 10, self = 0, total = 5, self_share = 0.0, ["function"] = "main" } },
         core.rows(contexts:lines()))
   end)

   it("report wrong use", function()
      local contexts = made { { stack = { "main" }, weight = 3 } }
      assert.error_matches(function() contexts:flat { metric = "calls" } end,
         "no metric 'calls'; there are: time")
      assert.is_nil(contexts:callers "nobody")
      contexts:close()
      assert.error_matches(function() contexts:flat() end, "profile is closed")
   end)
end)
