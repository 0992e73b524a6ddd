/*
** cells.h - the weights of one run in one metric, as the bytes of the column
** `data` of the table cells. Used by put_cells.c, sum_cells.c and
** function_sums.c, and by the fuzzer.
**
**   OFFSET  SIZE    DESCRIPTION
**   0       1       version of the layout: 1
**   1       1..10   number of cells
**   then for each cell, in ascending order of ids:
**           1..10   id of the stack minus that of the cell before; of the first
**                   cell the id itself. 0: the weight outside of all stacks
**           1..10   weight, not 0; zigzag: 2 * w, or -2 * w - 1 if w is below 0
**
** All numbers are varints: 7 bits a byte, the lowest first; bit 7 is set in all
** bytes but the last one. There are no bytes after the last cell.
*/

#ifndef cells_h
#define cells_h

#include <string.h>

#include "model/base/pack.h"

#define PF_CELLS_VERSION 1
#define PF_STACK_LIMIT   ((uint32_t)1 << 28) /* ids of stacks and frames */

#define PF_CELLS_HEADER (1 + PF_VARINT_SIZE) /* bytes, at most */

typedef struct pf_cells_writer {
  pf_packed *to; /* borrowed */
  size_t start;  /* of the cells; PF_CELLS_HEADER bytes are before them */
  size_t count;
  uint32_t id; /* of the last cell */
} pf_cells_writer;

typedef struct pf_cells_reader {
  pf_cursor cursor; /* over borrowed bytes */
  uint64_t left;    /* cells that were not read yet */
  uint64_t id;      /* of the last cell */
  bool is_first;    /* no cell was read yet */
} pf_cells_reader;


/* Begin to write cells, behind the bytes that there are. */
static inline pf_cells_writer pf_cells_begin (pf_packed *to) {
  if (pf_pack_reserve(to, PF_CELLS_HEADER) != NULL)
    to->used += PF_CELLS_HEADER;
  return (pf_cells_writer){to, to->used, 0, 0};
}

/* Write a cell; ids ascend and are below PF_STACK_LIMIT, no weight is 0. */
static inline void pf_cell_put (pf_cells_writer *writer, uint32_t id,
                                int64_t weight) {
  pf_pack_number(writer->to, id - writer->id);
  pf_pack_signed(writer->to, weight);
  writer->id = id;
  writer->count++;
}

/* Write the header, whose size depends on the number of cells. Returns all
   bytes, which are valid until more are written; none when out of memory. */
static inline pf_bytes pf_cells_end (const pf_cells_writer *writer) {
  uint8_t header[PF_CELLS_HEADER] = {PF_CELLS_VERSION};
  const uint8_t *const end = pf_save_varint(header + 1, writer->count);
  const size_t size = (size_t)(end - header), at = writer->start - size;
  if (writer->to->is_out_of_memory)
    return (pf_bytes){NULL, 0};
  memcpy(writer->to->at + at, header, size);
  return (pf_bytes){writer->to->at + at, writer->to->used - at};
}


/* Begin to read cells. PF_EUNSUPPORTED for a newer layout, PF_EFORMAT if the
   bytes cannot have so many cells as they state. */
static inline pf_status pf_cells_open (pf_cells_reader *reader, pf_bytes data) {
  pf_cursor *const cursor = &reader->cursor;
  uint64_t version;
  *reader = (pf_cells_reader){pf_cursor_over(data, false), 0, 0, true};
  if (data.size < 2 || !pf_take_uint(cursor, 1, &version))
    return PF_EFORMAT;
  if (version != PF_CELLS_VERSION)
    return PF_EUNSUPPORTED;
  return pf_take_varint(cursor, &reader->left) &&
                 reader->left <= pf_left(cursor) / 2
             ? PF_OK
             : PF_EFORMAT;
}

/* Read the next cell: PF_MORE, PF_END after the last one, or PF_EFORMAT: the
   bytes are damaged. Ids ascend, and are below `limit`. */
static inline pf_status pf_cells_next (pf_cells_reader *reader, uint32_t limit,
                                       uint32_t *id, int64_t *weight) {
  uint64_t step, folded;
  if (reader->left == 0)
    return pf_left(&reader->cursor) == 0 ? PF_END : PF_EFORMAT;
  if (!pf_take_varint(&reader->cursor, &step) ||
      !pf_take_varint(&reader->cursor, &folded) || step >= limit - reader->id ||
      folded == 0 || (step == 0 && !reader->is_first))
    return PF_EFORMAT;
  reader->left--;
  reader->is_first = false;
  reader->id += step;
  *id = (uint32_t)reader->id;
  *weight = pf_unzigzag(folded);
  return PF_MORE;
}

#endif
