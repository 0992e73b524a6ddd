-- The hash tables of the core: a program in C calls model/base/id_table.h and intern_table.h.

local command = require "spec.support.command"

-- Words and texts come from a rule, so that the program knows each id without a table.
local program = [[
#include <stdio.h>
#include <stdlib.h>
#include "model/base/id_table.h"
#include "model/base/intern_table.h"

#define COUNT 100000u

static uint64_t word_of (uint64_t i) { /* i -> word is one to one */
  return i % 3 == 0 ? i << 40 : i % 3 == 1 ? i : UINT64_MAX - i;
}

static int check_ids (void) {
  pf_id_table table;
  uint32_t id, wrong = 0;
  pf_id_table_init(&table);
  wrong += pf_id_table_find(&table, 0) != PF_NO_ID;
  for (int round = 0; round < 2; round++)
    for (uint32_t i = 0; i < COUNT; i++) {
      const uint64_t word = word_of(i);
      wrong += round == 0 && pf_id_table_find(&table, word) != PF_NO_ID;
      wrong += pf_id_table_words(&table, &word, 1, &id) != PF_OK || id != i;
      wrong += pf_id_table_find(&table, word) != i || table.words[i] != word;
    }
  wrong += table.count != COUNT;
  pf_id_table_free(&table);
  return wrong;
}

static int check_missing (void) {
  const uint64_t words[] = {0, 7, 0, 7, 0};
  const bool missing[] = {true, false, false, true, true};
  const uint32_t expected[] = {0, 1, 2, 0, 0};
  uint32_t ids[5], wrong = 0;
  pf_id_table table;
  pf_id_table_init(&table);
  wrong += pf_id_table_nullable(&table, words, missing, 5, ids) != PF_OK;
  for (int i = 0; i < 5; i++)
    wrong += ids[i] != expected[i];
  pf_id_table_free(&table);
  return wrong;
}

static int check_small (void) {
  uint32_t wrong = 0, ids[2000], values[2000];
  pf_id_table table;
  pf_id_table_init(&table);
  for (uint32_t i = 0; i < 2000; i++) /* 1000 values, each twice, some of them large */
    values[i] = i % 1000 % 10 == 0 ? UINT32_MAX - i % 1000 : 999 - i % 1000;
  wrong += pf_id_table_small(&table, values, 2000, ids) != PF_OK;
  for (uint32_t i = 0; i < 2000; i++)
    wrong += ids[i] != i % 1000;
  pf_id_table_free(&table);
  return wrong;
}

static bool is_same (const void *context, uint32_t number) {
  return *(const uint64_t *)context == word_of(number);
}

/* With hashes of `bits` bits, so that many entries collide. */
static int check_interned (unsigned bits, uint32_t count) {
  const uint64_t mask = ((uint64_t)1 << bits) - 1;
  pf_intern_table table = {.seed = 5}, copy = {.seed = 6};
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t word = word_of(i), hash = pf_mix(table.seed, word) & mask;
    wrong += pf_intern_table_find(&table, hash, is_same, &word) != PF_NOT_INTERNED;
    wrong += !pf_intern_table_reserve(&table) || pf_intern_table_add(&table, hash) != i;
  }
  wrong += !pf_intern_table_copy(&copy, &table) || copy.seed != 5;
  pf_intern_table_free(&table);
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t word = word_of(i), hash = pf_mix(copy.seed, word) & mask;
    wrong += pf_intern_table_find(&copy, hash, is_same, &word) != i;
  }
  pf_intern_table_free(&copy);
  return wrong;
}

int main (void) {
  printf("%d %d %d %d %d", check_ids(), check_missing(), check_small(),
         check_interned(64 - 1, COUNT), check_interned(6, 2000));
  return 0;
}
]]

describe("a hash table", function()
   it("gives each key the same number again, and no other key its number", function()
      assert.equal("0 0 0 0 0", command.run_c("hash_tables", program, "model/base/id_table.c",
         "model/base/intern_table.c", "model/base/memory.c"))
   end)
end)
