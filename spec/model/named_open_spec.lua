-- A named file that is replaced after it was checked: a program in C calls bytes/named.h, and
-- replaces a folder by a link just before the file is opened.

local command = require "spec.support.command"

local program = [[
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bytes/named.h"

static int replaces;
int __real_open (const char *path, int flags, ...);
int __wrap_open (const char *path, int flags, ...);

int __wrap_open (const char *path, int flags, ...) {
  if (replaces && (rename("near/sub", "near/old") != 0 || symlink("../far", "near/sub") != 0))
    abort();
  return __real_open(path, flags);
}

int main (int argc, char **argv) {
  const char *const folders[] = {"near"};
  const pf_named_rule rule = {folders, 1, 100};
  char text[8] = "";
  pf_error error;
  int fd;
  replaces = argc > 1;
  const pf_status status = pf_named_open("near/sub/file", &rule, &fd, &error);
  if (status != PF_OK)
    printf("%d %.27s\n", status, error.what);
  else if (read(fd, text, 6) == 6)
    printf("%s\n", text);
  return argv == NULL;
}
]]

describe("a file that a trace names", function()
   it("is not read if its path leads elsewhere when it is opened", function()
      command.file("named_open.c", program)
      local _, status, errors = command.run(([[
         rm -rf near far && mkdir -p near/sub far
         echo secret >far/file && echo public >near/sub/file
         cc -std=c11 -D_POSIX_C_SOURCE=200809L -pthread -I'%s/csrc' named_open.c \
            '%s/csrc/bytes/named.c' '%s/csrc/bytes/error.c' '%s'/csrc/os/posix/*.c \
            -Wl,--wrap=open -o named_open]]):format(command.root, command.root, command.root,
         command.root))
      assert.equal(0, status, errors)
      assert.equal("public\n", (command.run "./named_open"))
      assert.equal("-5 is outside the folders that\n", (command.run "./named_open replace"))
   end)
end)
