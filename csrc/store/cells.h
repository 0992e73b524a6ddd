/*
** cells.h - the weights of one run in one metric, as the bytes of the column
** `data` of the table cells. Used by put_cells.c, sum_cells.c and
** function_sums.c, and by the fuzzer. Nothing is allocated.
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

#include "bytes/cursor.h"

#define PF_CELLS_VERSION 1
#define PF_STACK_LIMIT   ((uint32_t)1 << 28) /* ids of stacks and frames */

#define PF_CELLS_HEADER 11 /* bytes before the cells, at most */

/* The size that `count` cells have at most. */
#define PF_CELLS_BOUND(count) (PF_CELLS_HEADER + (size_t)(count)*15)

typedef struct pf_cells_writer {
  uint8_t *start, *at; /* of the cells; PF_CELLS_HEADER bytes are before them */
  size_t count;
  uint32_t id; /* of the last cell */
} pf_cells_writer;

typedef struct pf_cells_reader {
  const uint8_t *at, *end; /* borrowed */
  uint64_t left;           /* cells that were not read yet */
  uint64_t id;             /* of the last cell */
  bool is_first;           /* no cell was read yet */
} pf_cells_reader;


/* Read a varint; false if it is cut or exceeds 64 bits. */
static inline bool pf_varint_take (pf_cells_reader *reader, uint64_t *number) {
  const uint8_t *at = reader->at;
  uint64_t value = 0;
  for (unsigned shift = 0; at != reader->end && shift < 64; shift += 7) {
    const uint64_t bits = *at & 0x7f;
    if (shift == 63 && bits > 1)
      return false;
    value |= bits << shift;
    if (*at++ < 0x80) {
      reader->at = at;
      *number = value;
      return true;
    }
  }
  return false;
}


/* Begin to write cells into borrowed memory of PF_CELLS_BOUND bytes. */
static inline pf_cells_writer pf_cells_begin (uint8_t *memory) {
  uint8_t *const start = memory + PF_CELLS_HEADER;
  return (pf_cells_writer){start, start, 0, 0};
}

/* Write a cell; ids ascend and are below PF_STACK_LIMIT, no weight is 0. */
static inline void pf_cell_put (pf_cells_writer *writer, uint32_t id,
                                int64_t weight) {
  writer->at = pf_save_varint(writer->at, id - writer->id);
  writer->at = pf_save_varint(writer->at, pf_zigzag(weight));
  writer->id = id;
  writer->count++;
}

/* Write the header, whose size depends on the number of cells. Returns all
   bytes, which end at writer->at. */
static inline pf_bytes pf_cells_end (const pf_cells_writer *writer) {
  uint8_t header[PF_CELLS_HEADER] = {PF_CELLS_VERSION};
  const uint8_t *const end = pf_save_varint(header + 1, writer->count);
  const size_t size = (size_t)(end - header);
  uint8_t *const start = writer->start - size;
  memcpy(start, header, size);
  return (pf_bytes){start, (size_t)(writer->at - start)};
}


/* Begin to read cells. PF_EUNSUPPORTED for a newer layout, PF_EFORMAT if the
   bytes cannot have so many cells as they state. */
static inline pf_status pf_cells_open (pf_cells_reader *reader, pf_bytes data) {
  *reader = (pf_cells_reader){data.at, data.at + data.size, 0, 0, true};
  if (data.size < 2)
    return PF_EFORMAT;
  if (*reader->at++ != PF_CELLS_VERSION)
    return PF_EUNSUPPORTED;
  return pf_varint_take(reader, &reader->left) &&
                 reader->left <= (size_t)(reader->end - reader->at) / 2
             ? PF_OK
             : PF_EFORMAT;
}

/* Read the next cell: PF_MORE, PF_END after the last one, or PF_EFORMAT: the
   bytes are damaged. Ids ascend, and are below `limit`. */
static inline pf_status pf_cells_next (pf_cells_reader *reader, uint32_t limit,
                                       uint32_t *id, int64_t *weight) {
  uint64_t step, folded;
  if (reader->left == 0)
    return reader->at == reader->end ? PF_END : PF_EFORMAT;
  if (!pf_varint_take(reader, &step) || !pf_varint_take(reader, &folded) ||
      step >= limit - reader->id || folded == 0 ||
      (step == 0 && !reader->is_first))
    return PF_EFORMAT;
  reader->left--;
  reader->is_first = false;
  reader->id += step;
  *id = (uint32_t)reader->id;
  *weight = (int64_t)(folded >> 1 ^ (0 - (folded & 1)));
  return PF_MORE;
}

#endif
