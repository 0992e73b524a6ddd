-- Functions of one name in several files are rows of their own, and each row says which one it is.

local command = require "spec.support.command"
local function_cost = require "profio.internal.explain.function_cost"
local profio = require "profio"
local programs = require "spec.support.programs"

local needs_gcc = programs.has "gcc" and it or pending

-- Two files with a static function of one name.
local function sources()
   local util = programs.source("same_util.c", [[
static __attribute__((noinline)) int pick(int a) { return a * 3; }
int __attribute__((noinline)) through(int a) { return pick(a) + 1; }
]])
   return programs.source("same_main.c", [[
int through(int);
static __attribute__((noinline)) int pick(int a) { return a + 2; }
static __attribute__((noinline)) int only(int a) { return a - 1; }
int main(void) {
  volatile int sum = only(1);
  for (int i = 0; i < 7; i++) sum += pick(i);
  for (int i = 0; i < 500; i++) sum += through(i);
  return 0;
}
]]), util
end

local function profiled()
   local main, util = sources()
   return programs.profiled("same", main, util)
end

-- Returns the path of a timeline with two functions of one name.
local function timeline()
   return command.file("same.txt", table.concat({
      "* HANDLE(Functions) %HANDLE%,%NAME%,%VALUE%,%FILE%", "00000001,main,1,a.c",
      "00000002,pick,4,a.c", "00000003,pick,7,b.c",
      "* TIMELINE %HANDLE%,%EVENT%,%VALUE%,%TIME%", "00000001,E,,0", "00000002,E,,10",
      "00000002,X,,20", "00000003,E,,30", "00000003,X,,60", "00000001,X,,90", "" }, "\r\n"))
end

local function base(path)
   return path and path:match "[^/]*$"
end

describe("two static functions of one name", function()
   needs_gcc("are known by their files in arcs", function()
      local program, files = profiled()
      local trace <close> = assert(profio.open(files[1], { exe = program }))
      local profile, seen = assert(trace:profile()), {}
      for caller, callee, calls, from, to in profile:graph():each("caller", "callee", "calls",
         "caller_file", "callee_file") do
         if callee == "pick" and caller then
            seen[#seen + 1] = ("%s %s %s %d"):format(caller, base(from), base(to), calls)
         end
      end
      table.sort(seen)
      assert.same({ "main same_main.c same_main.c 7", "through same_util.c same_util.c 500" }, seen)
      local callers = {}
      for caller, calls in profile:callers "pick":each("caller", "calls") do
         callers[caller] = calls
      end
      assert.same({ main = 7, through = 500 }, callers)
   end)

   needs_gcc("have their files in the index, and no other function has", function()
      local program, files = profiled()
      for compat, only in pairs { [""] = "only", ["--compat gprof"] = "only (same_main.c)" } do
         local text = command.run(("profio report graph %s %s %s"):format(compat, program,
            files[1]))
         local cells = {}
         for cell in text:match "\nIndex by function name\n\n(.*)":gmatch "%] (%a+[^%[\n]*)" do
            cells[#cells + 1] = cell:match "^(.-) *$"
         end
         table.sort(cells)
         assert.same({ only, "pick (same_main.c)", "pick (same_util.c)", "through" }, cells)
      end
   end)

   needs_gcc("are two functions in exports", function()
      local program, files = profiled()
      local trace <close> = assert(profio.open(files[1], { exe = program }))
      local dot = trace:export("dot", nil, { node_share = 0, arc_share = 0 })
      local _, nodes = dot:gsub('\nn%d+ %[label="pick', "")
      assert.equal(2, nodes)
      local files_of, called = {}, {}
      for line in trace:export("callgrind"):gmatch "[^\n]+" do
         local number, path = line:match "^c?f[il]=%((%d+)%) (.*)"
         files_of[number or ""] = base(path)
         called.file = line:match "^cfi=%((%d+)%)" or called.file
         called.is_pick = called.is_pick or line:match "^cfn=%(%d+%) pick$" ~= nil
         if line:find "^calls=7 " or line:find "^calls=500 " then
            called[#called + 1] = files_of[called.file]
         end
      end
      assert.is_true(called.is_pick)
      assert.same({ "same_util.c", "same_util.c", "same_main.c" }, table.move(called, 1, #called, 1,
         {}))
   end)

   it("are named with their files for people", function()
      local path = timeline()
      local text, status = command.run(("profio --diff %s %s"):format(path, path))
      assert.equal(0, status)
      assert.matches("pick +a%.c\n", text)
      assert.matches("pick +b%.c\n", text)
   end)

   it("of a timeline have the file where only they are shown", function()
      local path = timeline()
      for _, words in ipairs { "--report statistics", "--report calls", "--report tree",
         "--report bottom-up" } do
         local text, status, errors = command.run(("profio %s %s"):format(words, path))
         assert.same({ 0, "" }, { status, errors })
         assert.matches("pick %(a%.c%)", text, words)
         assert.matches("pick %(b%.c%)", text, words)
         assert.not_matches("main %(", text, words)
      end
      local rows = command.run(
         "profio --report statistics --output csv --columns area,net,file,line " .. path)
      assert.same("area,net,file,line\nmain,50,a.c,1\npick,10,a.c,4\npick,30,b.c,7\n", rows)
   end)

   it("are explained together, with the part of each", function()
      local trace <close> = assert(profio.open(timeline()))
      local made = assert(function_cost.of(assert(trace:profile()), "pick", {}, false))
      assert.equal("The cost of pick is 40 ns with its callees, 40 ns of it itself. It is the sum "
         .. "of 2 functions called pick: 30 ns of b.c, 10 ns of a.c.", made.sentence)
   end)
end)
