/*
** packed_counts.c - counts by pairs of words (model/base/pair_counts.h) as
** userdata: they are added up from readers and packed bytes, and read as rows.
**
** Called by lua/profio/internal/store. The userdata owns its counts; a reader
** of them pins it and sees what it has at each batch.
*/

#include "lua/arguments.h"
#include "model/base/pair_counts.h"
#include "model/rows/table_reader.h"

#define L_COUNTS "profio.counts"

static pf_pair_counts *counts_check (lua_State *L) {
  return luaL_checkudata(L, 1, L_COUNTS);
}


static int counts_gc (lua_State *L) {
  pf_pair_counts_close(counts_check(L));
  return 0;
}


/* core.counts(dictionary): counts without pairs; the hashes begin with the seed
   of the dictionary, which is not kept. */
static int core_counts (lua_State *L) {
  const uint64_t seed = l_dictionary_check(L, 1)->seed;
  pf_pair_counts *const c = l_new(L, L_COUNTS, sizeof *c, 0);
  c->known.seed = seed;
  return 1;
}


/* Adds the rows of a batch. `columns` are those of the pair and the count; the
   first one is SIZE_MAX if the first word is 0. */
static pf_status add_batch (pf_pair_counts *counts, const pf_batch *batch,
                            const size_t *columns, bool omits_zeros,
                            pf_error *error) {
  pf_status status = PF_OK;
  for (size_t row = 0; row < batch->rows && status == PF_OK; row++) {
    if (!pf_has_value(batch, columns[1], row) ||
        !pf_has_value(batch, columns[2], row) ||
        (columns[0] != SIZE_MAX && !pf_has_value(batch, columns[0], row)))
      continue;
    const int64_t count = batch->columns[columns[2]].ints[row];
    if (count < 0)
      return pf_refuse(error, "a count of %lld: it cannot be below 0",
                       (long long)count);
    if (count == 0 && omits_zeros)
      continue;
    status = pf_pair_counts_add(
        counts,
        columns[0] == SIZE_MAX ? 0 : batch->columns[columns[0]].addrs[row],
        batch->columns[columns[1]].addrs[row], (uint64_t)count, error);
  }
  return status;
}


/* counts:read(reader, columns, omits_zeros): adds the rows of a reader in which
   no value is missing. `columns` are the two of the pair and the one of the
   count, or one and the count: then the first word is 0. Returns true, or nil,
   message, code. */
static int counts_read (lua_State *L) {
  pf_pair_counts *const c = counts_check(L);
  l_reader *const r = l_reader_check(L, 2);
  const bool omits_zeros = lua_toboolean(L, 4);
  size_t columns[3] = {SIZE_MAX, 0, 0};
  lua_settop(L, 3);
  const size_t given = l_length(L, 3);
  luaL_argcheck(L, given == 2 || given == 3, 3,
                "two or three columns expected");
  (void)l_columns_check(L, 3, r->reader, columns + 3 - given, (int)given);
  bool *const wanted = l_scratch(L, r->reader->nfields, sizeof *wanted);
  for (size_t i = 3 - given; i < 3; i++) {
    const pf_type type = r->reader->fields[columns[i]].type;
    luaL_argcheck(L, type == PF_INT || type == PF_ADDR, 3,
                  "columns of integers or addresses expected");
    wanted[columns[i]] = true;
  }
  if (omits_zeros && pf_can(r->reader)->omit_zeros != NULL)
    r->reader->can->omit_zeros(r->reader, columns[2]);
  pf_batch batch;
  pf_error error;
  if (pf_batch_for(&batch, r->reader, wanted) != PF_OK)
    l_no_memory(L);
  pf_status status;
  while ((status = r->reader->next(r->reader, &batch, &error)) == PF_MORE) {
    status = add_batch(c, &batch, columns, omits_zeros, &error);
    if (status != PF_OK)
      break;
  }
  pf_batch_close(&batch);
  if (status < 0)
    return l_failure_of(L, &error, 2);
  lua_pushboolean(L, 1);
  return 1;
}


/* counts:add(packed, offset): adds packed counts, with `offset` (default 0)
   added to each first word. Returns true, or nil, message, code: then a part of
   them may have been added. */
static int counts_add (lua_State *L) {
  pf_pair_counts *const c = counts_check(L);
  pf_error error;
  if (pf_pair_counts_unpack(c, l_text_check(L, 2),
                            (uint64_t)luaL_optinteger(L, 3, 0),
                            &error) != PF_OK)
    return l_failure(L, &error, NULL);
  lua_pushboolean(L, 1);
  return 1;
}


/* counts:pack(): the packed bytes of the counts, which have none afterwards. */
static int counts_pack (lua_State *L) {
  pf_pair_counts *const c = counts_check(L);
  const uint64_t seed = c->known.seed;
  pf_packed *const packed = l_packed_new(L);
  pf_pair_counts_sort(c);
  pf_pair_counts_pack(c, packed);
  pf_pair_counts_close(c);
  c->known.seed = seed;
  return l_push_packed(L, packed);
}


/* counts:size(): the number of pairs. */
static int counts_size (lua_State *L) {
  lua_pushinteger(L, counts_check(L)->known.count);
  return 1;
}


/* A reader of the counts in the order of their first occurrence. */
typedef struct counts_reader {
  pf_reader reader;
  const pf_pair_counts *counts; /* borrowed */
  uint32_t row;
  pf_field fields[3];
} counts_reader;


static pf_status add_row (pf_reader *self, pf_batch *batch, pf_error *error) {
  counts_reader *const t = (counts_reader *)(void *)self;
  (void)error;
  if (t->row >= t->counts->known.count)
    return PF_END;
  const pf_pair_count *const pair = &t->counts->list[t->row++];
  const uint64_t words[] = {pair->a, pair->b, pair->count};
  for (size_t i = 0; i < self->nfields; i++)
    if (batch->columns[i].data != NULL)
      batch->columns[i].addrs[batch->rows] = words[i + 3 - self->nfields];
  batch->rows++;
  return PF_MORE;
}


PF_NEXT_BY_STEPS(counts_next, add_row)


/* counts:reader(fields, dictionary): a reader of the counts with the fields {
   name, type } of the two words and the count, or of the second word and the
   count. The types are int and addr. */
static int counts_reader_of (lua_State *L) {
  pf_pair_counts *const c = counts_check(L);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 3);
  pf_dictionary *const dictionary = l_dictionary_check(L, 3);
  const size_t given = l_length(L, 2);
  luaL_argcheck(L, given == 2 || given == 3, 2, "two or three fields expected");
  lua_newtable(L);
  l_reader *const r = l_reader_new(L);
  counts_reader *const t =
      pf_reader_of(sizeof *t, NULL, given, dictionary, counts_next, &r->error);
  if (t == NULL)
    l_no_memory(L);
  r->reader = &t->reader;
  t->counts = c;
  t->reader.fields = t->fields;
  l_fields_check(L, 2, t->fields, given, 4);
  for (size_t i = 0; i < given; i++)
    luaL_argcheck(L,
                  t->fields[i].type == PF_INT || t->fields[i].type == PF_ADDR,
                  2, "fields of integers or addresses expected");
  return 1;
}


void l_open_packed_counts (lua_State *L) {
  l_class(L, L_COUNTS,
          L_METHODS({"add", counts_add}, {"pack", counts_pack},
                    {"read", counts_read}, {"reader", counts_reader_of},
                    {"size", counts_size}),
          counts_gc, counts_gc);
  L_ADD(L, {"counts", core_counts});
}
