local command = require "spec.support.command"

describe("the tables of code pages", function()
   it("are those of iconv", function()
      if command.run "ldd --version 2>&1":find "GLIBC" == nil then
         return pending "the C library is not glibc"
      end
      local _, status, errors = command.run(("cc -o code_pages '%s/spec/c/code_pages.c'"):format(
         command.root))
      assert.equal(0, status, errors)
      assert.equal(command.read "csrc/model/base/code_pages.c", (command.run "./code_pages"))
   end)
end)
