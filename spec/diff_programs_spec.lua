-- --diff of two builds of a program: each side has its own executable.
--
-- Long: many commands or rows, or programs that are compiled.
-- Unsanitized: compare_spec and the specs of gmon run the same branches.

local profio = require "profio"
local programs = require "spec.support.programs"

-- The same three functions in another order, behind code that moves them. The program runs for
-- three tenths of a second, in calls that are much shorter than the 10 ms between two samples, so
-- that on any machine both functions get some of about 30.
local function source_of(first, second, padding)
   local bodies = {
      heavy = "APART void heavy(void) { for (long i = 0; i < 300000; i++) sink += i; }\n",
      light = "APART void light(void) { for (long i = 0; i < 200000; i++) sink += i; }\n",
   }
   return "#include <time.h>\nvolatile long sink;\n"
      .. "#define APART __attribute__((noinline))\n" .. padding
      .. bodies[first] .. bodies[second] .. [[
int main(int argc, char **argv)
{
   (void)argv;
   while (clock() < CLOCKS_PER_SEC * 3 / 10) { heavy(); light(); }
   return argc > 9;
}
]]
end

local padding = "APART int moved(int n) { sink += n; return n + (int)sink; }\n" .. [[
APART int other(int n) { for (int i = 0; i < n; i++) sink ^= moved(i) * n + i; return n; }
]]

local built = {}

-- Both builds, made once: { exe =, out = } by name.
local function builds()
   if not built.new then
      for name, text in pairs { old = source_of("heavy", "light", ""),
         new = source_of("light", "heavy", padding) }
      do
         local source = programs.source("diff_" .. name .. ".c", text)
         local exe, files = programs.profiled("diff-" .. name, source, "-no-pie")
         built[name] = { exe = exe, out = files[1] }
      end
   end
   return built.new, built.old
end

-- self by function of a report in csv, from a column on.
local function column_of(text, number)
   local list = {}
   for line in text:gmatch "[^\n]+" do
      local fields = {}
      for field in (line .. ","):gmatch "([^,]*)," do
         fields[#fields + 1] = field
      end
      list[fields[1]] = math.tointeger(tonumber(fields[number]))
   end
   return list
end

local function flat_of(build)
   return column_of(programs.analyze("--report", "flat", "--output", "csv", "--columns",
      "function,self", build.exe, build.out), 2)
end

-- The report diff shows for each side the same self times as the flat profile of that run alone.
local function check_sides(text, new, old)
   local of_new, of_old = flat_of(new), flat_of(old)
   local self, before = column_of(text, 2), column_of(text, 3)
   for _, name in ipairs { "heavy", "light" } do
      assert.is_true(of_new[name] > 0 and of_old[name] > 0)
      assert.equal(of_new[name], self[name])
      assert.equal(of_old[name], before[name])
   end
end

local wanted = { "--report", "diff", "--output", "csv", "--columns",
   "function,self,self_before" }

local function diff(...)
   local words = table.move(wanted, 1, #wanted, 1, {})
   for _, word in ipairs { ... } do
      words[#words + 1] = word
   end
   return programs.analyze(table.unpack(words))
end

describe("--diff of two builds", function()
   if not programs.has "gcc" then
      pending "needs gcc"
      return
   end

   it("resolves the addresses of each side with its own executable", function()
      local new, old = builds()
      for _, words in ipairs {
         { "--diff-exe", old.exe, "--diff", old.out, "--exe", new.exe, new.out },
         { new.exe, old.exe, new.out, "--diff", old.out },
         { "--exe", new.exe, "--diff=" .. old.exe, "--diff=" .. old.out, new.out },
         { new.exe, "--diff-exe=" .. old.exe, "--diff", old.out, "--", new.out },
      } do
         local text, status, err = diff(table.unpack(words))
         assert.equal(0, status, err)
         assert.equal("", err)
         check_sides(text, new, old)
      end
   end)

   it("takes the names of a side from the text of nm", function()
      local new, old = builds()
      local text = programs.source("diff_old.nm", programs.output("nm %s", old.exe))
      local out, status, err = diff("--exe", new.exe, "--diff-symbols", text, "--diff", old.out,
         new.out)
      assert.equal(0, status, err)
      check_sides(out, new, old)
   end)

   it("notes on either side an executable that is not the program", function()
      local new, old = builds()
      local _, status, err = diff(new.exe, "--diff", old.out, new.out)
      assert.equal(0, status)
      assert.matches("diff%-old/gmon%.1: note: the profile covers ", err)
      assert.matches("%[gmon%-executable%-mismatch%]", err)
      assert.is_nil(err:find "diff%-new/gmon%.1: note")
      _, status, err = diff(new.exe, new.exe, "--diff", old.out, new.out)
      assert.equal(0, status)
      assert.matches("diff%-old/gmon%.1: note", err)
   end)

   it("names the files of both sides above the report", function()
      local new, old = builds()
      local text = programs.analyze(new.exe, old.exe, "--diff", old.out, new.out)
      assert.equal(("new: %s %s\nold: %s %s\n\n"):format(new.exe, new.out, old.exe, old.out),
         text:sub(1, #new.exe + #new.out + #old.exe + #old.out + 15))
      assert.is_nil(diff(new.exe, old.exe, "--diff", old.out, new.out):find "new: ")
   end)

   it("goes by names where a program was built in two folders", function()
      local path = programs.source("folder_a.c", source_of("heavy", "light", ""))
      local root = path:match "^(.*)/"
      local profiles = {}
      for _, folder in ipairs { "first", "second" } do
         os.execute(("mkdir -p %s/%s && cp %s %s/%s/same.c"):format(root, folder, path, root,
            folder))
         local exe, files = programs.profiled("same-" .. folder, ("%s/%s/same.c"):format(root,
            folder), "-no-pie")
         local trace <close> = assert(profio.open(files[1], { exe = exe }))
         profiles[#profiles + 1] = assert(trace:profile())
      end
      local rows = profiles[1]:diff(profiles[2]):rows("function", "self", "self_before", "file")
      local names = {}
      for _, row in ipairs(rows) do
         assert.is_nil(names[row["function"]], row["function"])
         names[row["function"]] = row
      end
      assert.is_true(names.heavy.self > 0 and names.heavy.self_before > 0)
      assert.matches("first/same.c$", names.heavy.file)
      assert.equal(3, (profiles[1] - profiles[2]):flat { zeros = true }
         :where { ["function"] = { "heavy", "light", "main" } }:count())
   end)

   it("compares profiles of different traces in Lua", function()
      local new, old = builds()
      local a <close> = assert(profio.open(new.out, { exe = new.exe }))
      local b <close> = assert(profio.open(old.out, { exe = old.exe }))
      local of_new, of_old = flat_of(new), flat_of(old)
      local change = a:profile() - b:profile()
      for name, self in change:flat { zeros = true }:each("function", "self") do
         if name == "heavy" or name == "light" then
            assert.equal(of_new[name] - of_old[name], self)
         end
      end
   end)
end)
