-- Arrays that grow: a program in C calls the functions of csrc/model/base/memory.h.

local command = require "spec.support.command"

local program = [[
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "model/base/memory.h"

int main (void) {
  const size_t wanted[] = {SIZE_MAX, SIZE_MAX / 2 + 2, SIZE_MAX / 8 + 2, SIZE_MAX / 16 + 2};
  uint64_t *array = NULL;
  size_t capacity = 0;
  const int grown = pf_grow(&array, &capacity, 20);
  const size_t before = capacity;
  array[19] = 7;
  printf("%d", grown && capacity >= 20);
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
    printf(" %d", pf_grow(&array, &capacity, wanted[i]));
  printf(" %d %d", capacity == before, (int)array[19]);
  free(array);
  return 0;
}
]]

describe("an array", function()
   it("stays as it is if more bytes are wanted than there are addresses", function()
      assert.equal("1 0 0 0 0 1 7", command.run_c("grow", program, "model/base/memory.c"))
   end)
end)
