/*
** fuzz_cells.c - cells of a store from any bytes: what can be read is in order
** and within the limit, comes back when it is written again, and no part of it
** is complete.
*/

#include "fuzz.h"
#include "store/cells.h"

#define LIMIT 100000

typedef struct cell {
  uint32_t id;
  int64_t weight;
} cell;


/* Read all cells into an array of `capacity` elements (NULL: none). */
static pf_status read_all (pf_bytes bytes, cell *cells, size_t capacity,
                           size_t *count) {
  pf_cells_reader reader;
  cell next;
  pf_status status = pf_cells_open(&reader, bytes);
  *count = 0;
  while (status == PF_MORE &&
         (status = pf_cells_next(&reader, LIMIT, &next.id, &next.weight)) ==
             PF_MORE) {
    MUST(next.id < LIMIT && next.weight != 0);
    if (cells != NULL) {
      MUST(*count < capacity);
      MUST(*count == 0 || cells[*count - 1].id < next.id);
      cells[*count] = next;
    }
    ++*count;
  }
  MUST(status == PF_END || status == PF_EFORMAT || status == PF_EUNSUPPORTED);
  return status;
}


static void check_again (const cell *cells, size_t count, size_t size) {
  pf_packed bytes = {.at = NULL};
  cell *const again = malloc((count + 1) * sizeof *again);
  size_t same;
  MUST(again != NULL);
  pf_cells_writer writer = pf_cells_begin(&bytes);
  for (size_t i = 0; i < count; i++)
    pf_cell_put(&writer, cells[i].id, cells[i].weight);
  const pf_bytes written = pf_cells_end(&writer);
  MUST(written.at != NULL && written.size <= size);
  MUST(read_all(written, again, count + 1, &same) == PF_END);
  MUST(same == count);
  for (size_t i = 0; i < count; i++)
    MUST(again[i].id == cells[i].id && again[i].weight == cells[i].weight);
  free(bytes.at);
  free(again);
}


int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  size_t count, less;
  cell *const cells = malloc((size / 2 + 1) * sizeof *cells);
  MUST(cells != NULL);
  if (read_all((pf_bytes){data, size}, cells, size / 2 + 1, &count) == PF_END) {
    check_again(cells, count, size);
    for (size_t part = 1; part <= 40 && part <= size; part++)
      MUST(read_all((pf_bytes){data, size - part}, NULL, 0, &less) != PF_END);
  }
  free(cells);
  return 0;
}
