/*
** sort.c - stores all rows, then sorts their indexes by the last key first.
** Each sort is stable, so the first key has precedence (LSD radix sort). With a
** limit, rows that will not be read are dropped from time to time.
*/

#include <string.h>

#include "kernels/base/order.h"
#include "kernels/stages/stages.h"
#include "model/base/sorts.h"
#include "model/dictionary/areas.h"
#include "model/rows/store.h"
#include "model/rows/table_reader.h"

/* With a limit: rows stored beyond twice the limit before the rest is
   dropped. */
#define PRUNE_MARGIN 65536u
#define TEXT_MARGIN  ((uint64_t)32 << 20) /* bytes */

typedef struct sort_reader {
  pf_reader reader;
  pf_sort_key *keys;
  size_t nkeys;
  uint64_t limit; /* number of rows that will be read; UINT64_MAX: all */
  bool *wanted;   /* columns that the user or the keys need */
  pf_batch batch;
  bool has_threshold; /* rows whose first key is above `threshold` are
                         dropped */
  uint64_t threshold;
  bool begun, done; /* the batch is open; the rows are sorted */
  pf_error failure; /* the first failure, returned again by every `next` */

  /* The store only has the wanted columns. */
  size_t ncolumns;
  size_t *columns;       /* their indexes in the input */
  size_t *store_column;  /* by index in the input: index in the store */
  pf_field *fields;      /* of the store */
  pf_column *projection; /* the same columns of a batch */
  pf_store store;
  pf_dictionary *texts; /* copies of bytes, which the input keeps only until its
                           next `next` */
  uint64_t bytes;       /* size of the texts now */
  uint64_t bytes_after_trim; /* size after rows were last dropped */
  size_t *order;
  pf_reader *rows; /* the reader of the store, in order */
} sort_reader;


/* Project a batch of the input onto the columns of the store. */
static pf_batch select_columns (const sort_reader *s, const pf_batch *batch) {
  for (size_t i = 0; i < s->ncolumns; i++)
    s->projection[i] = batch->columns[s->columns[i]];
  return (pf_batch){batch->rows, s->ncolumns, s->projection};
}


/* Open the store for the wanted columns, and a batch for the input. */
static pf_status begin (sort_reader *s) {
  const size_t n = s->reader.nfields;
  s->begun = true;
  s->texts = pf_dictionary_new();
  s->columns = calloc(n + 1, sizeof *s->columns);
  s->store_column = calloc(n + 1, sizeof *s->store_column);
  s->fields = calloc(n + 1, sizeof *s->fields);
  s->projection = calloc(n + 1, sizeof *s->projection);
  if (s->texts == NULL || s->columns == NULL || s->store_column == NULL ||
      s->fields == NULL || s->projection == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < n; i++)
    if (s->wanted[i]) {
      s->store_column[i] = s->ncolumns;
      s->fields[s->ncolumns] = s->reader.fields[i];
      s->columns[s->ncolumns++] = i;
    }
  if (pf_store_open(&s->store, s->fields, s->ncolumns, s->reader.dictionary) !=
      PF_OK)
    return PF_ENOMEM;
  return pf_batch_for(&s->batch, s->reader.input, s->wanted);
}


/* Replace the ids of names by their ranks. */
static pf_status rank_words (const pf_dictionary *names, pf_pair *pairs,
                             size_t count) {
  const uint32_t known = pf_names_count(names);
  uint32_t *const ranks = malloc(((size_t)known + 1) * sizeof *ranks);
  if (ranks == NULL || pf_rank_names(names, ranks, known) != PF_OK) {
    free(ranks);
    return PF_ENOMEM;
  }
  for (size_t i = 0; i < count; i++)
    pairs[i].word = pairs[i].word < known ? ranks[pairs[i].word] + 1u : 0;
  free(ranks);
  return PF_OK;
}


/* Write one block of values as order words; for bytes their ids in `texts`, for
   areas the ids of their names. */
static void block_words (const sort_reader *s, const pf_column *column,
                         size_t from, size_t count, uint64_t *words) {
  pf_column block = *column;
  const size_t size = pf_type_size(column->type);
  block.data = (uint8_t *)column->data + from * size;
  if (column->type != PF_BYTES)
    pf_order_column(&block, count, words);
  else
    for (size_t i = 0; i < count; i++)
      words[i] = pf_find_name(s->texts, block.bytes[i]);
  for (size_t i = 0; column->type == PF_AREA && i < count; i++)
    words[i] = pf_area_name(s->reader.dictionary, (uint32_t)words[i]);
}


/* Write pairs of the present rows in the order so far; the missing ones go to
   the end of order[], in their order. Returns the number of present rows. */
static size_t make_pairs (sort_reader *s, const pf_column *column,
                          const uint64_t *words, pf_pair *pairs) {
  const size_t rows = s->store.rows;
  size_t present = 0, missing = 0;
  for (size_t i = 0; i < rows; i++) {
    const size_t row = s->order[i];
    if (pf_is_missing(column, row))
      s->order[missing++] = row;
    else
      pairs[present++] = (pf_pair){words[row], row};
  }
  memmove(s->order + present, s->order, missing * sizeof *s->order);
  return present;
}


/* Sort s->order by one key. `words` and `pairs` are scratch space: one word and
   two pairs for each row. */
static pf_status sort_by (sort_reader *s, const pf_sort_key *key,
                          uint64_t *words, pf_pair *pairs) {
  const pf_column *const column =
      &s->store.columns[s->store_column[key->column]];
  /* Write the words of the whole column, by row. */
  for (size_t at = 0; at < s->store.rows; at += PF_BATCH_ROWS) {
    const size_t left = s->store.rows - at;
    block_words(s, column, at, left < PF_BATCH_ROWS ? left : PF_BATCH_ROWS,
                words + at);
  }
  const size_t present = make_pairs(s, column, words, pairs);
  if (column->type == PF_NAME || column->type == PF_AREA ||
      column->type == PF_BYTES)
    if (rank_words(column->type == PF_BYTES ? s->texts : s->reader.dictionary,
                   pairs, present) != PF_OK)
      return PF_ENOMEM;
  for (size_t i = 0; key->descending && i < present; i++)
    pairs[i].word = ~pairs[i].word;
  pf_sort_pairs(pairs, pairs + s->store.rows, present);
  for (size_t i = 0; i < present; i++)
    s->order[i] = pairs[i].row;
  return PF_OK;
}


static pf_status sort_rows (sort_reader *s) {
  const size_t rows = s->store.rows;
  free(s->order);
  s->order = malloc((rows + 1) * sizeof *s->order);
  uint64_t *const words = malloc((rows + 1) * sizeof *words);
  pf_pair *const pairs = malloc((rows + 1) * 2 * sizeof *pairs);
  pf_status status = PF_ENOMEM;
  if (s->order != NULL && words != NULL && pairs != NULL) {
    status = PF_OK;
    for (size_t i = 0; i < rows; i++)
      s->order[i] = i;
    for (size_t k = s->nkeys; k-- > 0 && status == PF_OK;)
      status = sort_by(s, &s->keys[k], words, pairs);
  }
  free(words);
  free(pairs);
  return status;
}


/* Sort the first `count` elements of s->order by row. */
static pf_status unsort (sort_reader *s, size_t count) {
  bool *const kept = calloc(s->store.rows, sizeof *kept);
  if (kept == NULL)
    return PF_ENOMEM;
  for (size_t i = 0; i < count; i++)
    kept[s->order[i]] = true;
  size_t n = 0;
  for (size_t row = 0; row < s->store.rows; row++)
    if (kept[row])
      s->order[n++] = row;
  free(kept);
  return PF_OK;
}


/* Copy the first `count` rows of s->order to another store, with their
   texts. */
static pf_status copy_rows (sort_reader *s, size_t count, pf_store *store,
                            pf_dictionary *texts) {
  pf_error error;
  pf_batch batch;
  pf_reader *rows = NULL;
  pf_status status = pf_batch_open(&batch, s->fields, s->ncolumns, NULL);
  if (status == PF_OK)
    status = pf_store_reader(&s->store, s->order, count, &rows, &error);
  while (status == PF_OK && rows->next(rows, &batch, &error) == PF_MORE)
    status = pf_store_append_copies(store, texts, &batch);
  if (rows != NULL)
    rows->close(rows);
  pf_batch_close(&batch);
  return status;
}


/* Set the threshold to the last of the first `count` rows. */
static void set_threshold (sort_reader *s, size_t count) {
  const pf_sort_key *const key = &s->keys[0];
  const pf_column *const column =
      &s->store.columns[s->store_column[key->column]];
  s->has_threshold = count > 0 && !pf_type_is_id(column->type) &&
                     column->type != PF_BYTES && column->type != PF_HANDLE &&
                     !pf_is_missing(column, s->order[count - 1]);
  if (!s->has_threshold)
    return;
  block_words(s, column, s->order[count - 1], 1, &s->threshold);
  s->threshold = key->descending ? ~s->threshold : s->threshold;
}


/* Drop rows of the batch above the threshold. */
static void drop_late_rows (sort_reader *s) {
  const pf_sort_key *const key = &s->keys[0];
  const pf_column *const column = &s->batch.columns[key->column];
  const uint64_t flip = key->descending ? UINT64_MAX : 0;
  uint64_t words[PF_BATCH_ROWS];
  uint16_t keep[PF_BATCH_ROWS];
  size_t count = 0;
  pf_order_column(column, s->batch.rows, words);
  for (size_t i = 0; i < s->batch.rows; i++) {
    keep[count] = (uint16_t)i;
    count += (words[i] ^ flip) <= s->threshold && !pf_is_missing(column, i);
  }
  if (count < s->batch.rows)
    pf_batch_keep(&s->batch, keep, count);
}


/* Keep only the rows that would be read if the input ended here. */
static pf_status prune (sort_reader *s) {
  const size_t count = (size_t)s->limit;
  pf_store store;
  pf_dictionary *const texts = pf_dictionary_new();
  pf_status status =
      pf_store_open(&store, s->fields, s->ncolumns, s->reader.dictionary);
  if (texts == NULL)
    status = PF_ENOMEM;
  if (status == PF_OK)
    status = sort_rows(s);
  if (status == PF_OK)
    set_threshold(s, count);
  if (status == PF_OK)
    status = unsort(s, count);
  if (status == PF_OK)
    status = copy_rows(s, count, &store, texts);
  if (status != PF_OK) {
    pf_store_close(&store);
    pf_dictionary_free(texts);
    return status;
  }
  pf_store_close(&s->store);
  pf_dictionary_free(s->texts);
  s->store = store;
  s->texts = texts;
  s->bytes = 0;
  for (uint32_t i = 0; i < pf_names_count(texts); i++)
    s->bytes += pf_name(texts, i).size;
  s->bytes_after_trim = s->bytes;
  return PF_OK;
}


static pf_status read_input (sort_reader *s, pf_error *error) {
  if (!s->begun && begin(s) != PF_OK)
    return pf_no_memory(error);
  for (;;) {
    const pf_status status =
        s->reader.input->next(s->reader.input, &s->batch, error);
    if (status != PF_MORE)
      return status;
    if (s->has_threshold)
      drop_late_rows(s);
    const pf_batch batch = select_columns(s, &s->batch);
    for (size_t i = 0; i < batch.ncolumns; i++) {
      const pf_column *const c = &batch.columns[i];
      for (size_t row = 0; c->type == PF_BYTES && row < batch.rows; row++)
        s->bytes += pf_is_missing(c, row) ? 0 : c->bytes[row].size;
    }
    if (pf_store_append_copies(&s->store, s->texts, &batch) != PF_OK)
      return pf_no_memory(error);
    /* Drop superfluous rows when there are many, or many bytes of them. */
    const uint64_t rows = s->store.rows;
    const bool is_full =
        (rows > PRUNE_MARGIN && (rows - PRUNE_MARGIN) / 2 > s->limit) ||
        (rows > s->limit && s->bytes > TEXT_MARGIN + 2 * s->bytes_after_trim);
    if (is_full && prune(s) != PF_OK)
      return pf_no_memory(error);
  }
}


/* Read and sort the input, once. */
static pf_status read_and_sort (sort_reader *s, pf_error *error) {
  if (s->done)
    return PF_OK;
  if (s->failure.status != PF_OK) {
    *error = s->failure;
    return s->failure.status;
  }
  pf_status status = read_input(s, error);
  if (status == PF_END || status == PF_AGAIN) {
    pf_batch_close(&s->batch);
    status = sort_rows(s) != PF_OK
                 ? pf_no_memory(error)
                 : pf_store_reader(&s->store, s->order, s->store.rows, &s->rows,
                                   error);
    s->done = status == PF_OK;
  }
  if (status < PF_OK)
    s->failure = *error;
  return status;
}


static pf_status sort_next (pf_reader *self, pf_batch *batch, pf_error *error) {
  sort_reader *const s = (sort_reader *)(void *)self;
  pf_batch_clear(batch);
  const pf_status status = read_and_sort(s, error);
  if (status != PF_OK)
    return status;
  pf_batch part = select_columns(s, batch);
  const pf_status answer = s->rows->next(s->rows, &part, error);
  batch->rows = part.rows;
  for (size_t i = 0; i < s->ncolumns; i++)
    batch->columns[s->columns[i]].has_missing = part.columns[i].has_missing;
  return answer;
}


/* The sort reads its input into a batch of its own, so it does not mark columns
   for it. */
/* cppcheck-suppress constParameter ; the type is that of pf_reader.want */
static void sort_want (pf_reader *self, bool *wanted) {
  sort_reader *const s = (sort_reader *)(void *)self;
  for (size_t i = 0; i < self->nfields; i++)
    s->wanted[i] = s->wanted[i] || wanted[i];
}


static void sort_expect_rows (pf_reader *self, uint64_t rows) {
  sort_reader *const s = (sort_reader *)(void *)self;
  if (!s->begun && rows < s->limit)
    s->limit = rows;
}


static const pf_abilities abilities = {.expect_rows = sort_expect_rows};


static void sort_close (pf_reader *self) {
  sort_reader *const s = (sort_reader *)(void *)self;
  if (s->rows != NULL)
    s->rows->close(s->rows);
  pf_store_close(&s->store);
  pf_batch_close(&s->batch);
  pf_dictionary_free(s->texts);
  free(s->columns);
  free(s->store_column);
  free(s->fields);
  free(s->projection);
  free(s->order);
  free(s->wanted);
  free(s->keys);
  free(s);
}


pf_status pf_sort_open (pf_reader *input, const pf_sort_key *keys, size_t nkeys,
                        pf_reader **reader, pf_error *error) {
  sort_reader *const s = pf_stage_new(sizeof *s, input, sort_next, error);
  if (s == NULL)
    return PF_ENOMEM;
  s->reader.want = sort_want;
  s->reader.close = sort_close;
  s->reader.can = &abilities;
  s->nkeys = nkeys;
  s->limit = UINT64_MAX;
  s->keys = calloc(nkeys + 1, sizeof *s->keys);
  s->wanted = calloc(input->nfields + 1, sizeof *s->wanted);
  if (s->keys == NULL || s->wanted == NULL) {
    sort_close(&s->reader);
    return pf_no_memory(error);
  }
  for (size_t i = 0; i < nkeys; i++) {
    s->keys[i] = keys[i];
    s->wanted[keys[i].column] = true;
  }
  *reader = &s->reader;
  return PF_OK;
}
