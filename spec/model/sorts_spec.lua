-- The two sorts of the core: a program in C calls model/base/sorts.h.

local command = require "spec.support.command"

-- Rows are numbers of the elements before the sort: in a stable sort they ascend where words are
-- equal, and each occurs once. Counts cover short runs, several merges and rests; the words vary
-- in few bits, in all bits, and in none.
local program = [[
#include <stdio.h>
#include <stdlib.h>
#include "model/base/sorts.h"

#define MOST 5000

static uint64_t state = 88172645463325252u;

static uint64_t next_number (void) { /* xorshift */
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static int compare (const void *context, const void *left, const void *right) {
  const uint64_t a = ((const pf_pair *)left)->word, b = ((const pf_pair *)right)->word;
  const int sign = *(const int *)context;
  return a < b ? -sign : a > b ? sign : 0;
}

static int is_wrong (const pf_pair *pairs, size_t count, const uint64_t *words, int sign) {
  static bool seen[MOST];
  for (size_t i = 0; i < count; i++)
    seen[i] = false;
  for (size_t i = 0; i < count; i++) {
    const pf_pair pair = pairs[i];
    if (pair.row >= count || seen[pair.row] || words[pair.row] != pair.word)
      return 1;
    seen[pair.row] = true;
    if (i > 0) {
      const int order = compare(&sign, &pairs[i - 1], &pair);
      if (order > 0 || (order == 0 && pairs[i - 1].row >= pair.row))
        return 1;
    }
  }
  return 0;
}

int main (void) {
  static const size_t counts[] = {0, 1, 2, 7, 8, 9, 16, 17, 48, 49, 100, 1023, 1025, MOST};
  static const uint64_t masks[] = {0, 1, 0xff, 0xff00, 0x5000000000000005u, 0xffffffff, UINT64_MAX};
  static pf_pair pairs[MOST], spare[MOST];
  static uint64_t words[MOST];
  int wrong[3] = {0, 0, 0};
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++)
      for (int way = 0; way < 3; way++) {
        const int sign = way == 2 ? -1 : 1;
        for (size_t i = 0; i < counts[c]; i++) {
          words[i] = 0x0123000000000000u ^ (next_number() & masks[m]);
          pairs[i] = (pf_pair){words[i], i};
        }
        if (way == 0)
          pf_sort_pairs(pairs, spare, counts[c]);
        else
          pf_sort(pairs, spare, counts[c], sizeof *pairs, compare, &sign);
        wrong[way] += is_wrong(pairs, counts[c], words, sign);
      }
  printf("%d %d %d", wrong[0], wrong[1], wrong[2]);
  return 0;
}
]]

describe("a sort", function()
   it("puts all elements in order, equal ones in the order of before", function()
      assert.equal("0 0 0", command.run_c("sorts", program, "model/base/sorts.c"))
   end)
end)
