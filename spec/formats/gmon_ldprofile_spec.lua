-- Files that ld.so writes for LD_PROFILE: the histogram has link-time addresses of the library, the
-- addresses of arcs are relative to the start of its text segment.
--
-- Tags: stressed.

local builder = require "spec.support.gmon_builder"
local profio = require "profio"
local programs = require "spec.support.programs"

local library = [[
volatile long sink;
#define APART __attribute__((noinline))
APART void leaf(long n) { for (long i = 0; i < n; i++) sink += i; }
APART void heavy(long n) { for (int i = 0; i < 4; i++) leaf(n); }
APART void light(void) { leaf(1000); }
]]

local caller = [[
void heavy(long), light(void);
int main(void)
{
   for (int i = 0; i < 5; i++) heavy(8000000);
   for (int i = 0; i < 7; i++) light();
   return 0;
}
]]

-- Builds a library and a program that calls it, and lets ld.so profile the library.
local function profiled()
   local source = programs.source("ldprofile_lib.c", library)
   local main = programs.source("ldprofile_main.c", caller)
   local folder = source:match "^(.*)/" .. "/ldprofile"
   programs.output("mkdir -p %s; rm -f %s/*.profile", folder, folder)
   programs.output("gcc -O1 -g -fPIC -shared -Wl,-soname,libprofiled.so.1 "
      .. "-o %s/libprofiled.so.1 %s", folder, source)
   programs.output("gcc -O1 -o %s/main %s %s/libprofiled.so.1", folder, main, folder)
   programs.output("cd %s && LD_LIBRARY_PATH=. LD_PROFILE=libprofiled.so.1 LD_PROFILE_OUTPUT=$PWD "
      .. "./main", folder)
   return folder .. "/libprofiled.so.1"
end

describe("arcs of LD_PROFILE", function()
   it("are relative to the start of the text segment", function()
      for b, _, width in builder.each() do
         local bytes = b:header(0x1ffff):pack("I4", 0)
            :histogram_body { low = 0x1000, high = 0x1010, bins = { 1, 2, 3, 4 } }
            :arc_table({ { 0, 0x8, 2 }, { 0x8, 0, 4 } }, 3):bytes()
         local trace <close> = assert(profio.open { data = bytes })
         assert.equal(width, trace.info.address_size)
         assert.same({ { from = 0, to = 0x1008, count = 2 },
            { from = 0x1008, to = 0x1000, count = 4 } }, trace.arcs:rows())
         local stated = trace.raw:where { kind = "arc" }:rows("from", "to")
         assert.same({ { from = 0, to = 8 }, { from = 8, to = 0 } }, stated)
      end
   end)

   it("keep their base if a reader starts in the middle", function()
      local arcs = {}
      for i = 1, 5000 do
         arcs[i] = { i, i + 1, 1 }
      end
      local bytes = builder.new("<", 8):header(0x1ffff):pack("I4", 0)
         :histogram_body { low = 0x1000, high = 0x1010, bins = { 1, 2, 3, 4 } }
         :arc_table(arcs, 0):bytes()
      local trace <close> = assert(profio.open { data = bytes })
      local last
      for from, to in trace.arcs:each("from", "to") do
         last = { from, to }
      end
      assert.same({ 0x1000 + 5000, 0x1000 + 5001 }, last)
   end)

   it("resolve to the functions that nm lists", function()
      if not programs.has "gcc" or not programs.has "nm" then
         pending "needs gcc and nm"
         return
      end
      local path = profiled()
      local file = io.open(path .. ".profile")
      if not file then
         pending "this system's ld.so does not know LD_PROFILE"
         return
      end
      file:close()
      local trace <close> = assert(profio.open(path .. ".profile", { exe = path }))
      local calls = {}
      for from, to, count in trace.arcs:each("from_function", "to_function", "count") do
         local key = (from or "outside") .. ">" .. to
         calls[key] = (calls[key] or 0) + count
      end
      assert.same({ ["outside>heavy"] = 5, ["outside>light"] = 7, ["heavy>leaf"] = 20,
         ["light>leaf"] = 7 }, calls)
      local starts = {}
      for address, name in programs.output("nm %s", path):gmatch "(%x+) T ([^\n]+)" do
         starts[name] = math.tointeger(tonumber(address, 16))
      end
      for to, name in trace.arcs:each("to", "to_function") do
         assert.is_true(to >= starts[name] and to - starts[name] < 16, name)
      end
      assert.same({}, trace.warnings)
   end)
end)
