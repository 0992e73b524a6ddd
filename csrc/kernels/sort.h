/*
** sort.h - the stage that puts rows in order.
*/

#ifndef sort_h
#define sort_h

#include "model/batch.h"

typedef struct pf_sort_key {
  size_t column;
  bool descending;
} pf_sort_key;

/*
** A reader of the rows of `input` (borrowed) in the order of the first key,
** equal ones by the second, and so on; rows that are equal in all keep their
** order. Names and bytes go by their bytes, areas and stacks by their numbers,
** missing values come last in either direction. The first `next` reads the
** whole input into memory (but see pf_sort_keep); of a live file it answers PF_AGAIN and goes on when
** asked again.
*/
pf_status pf_sort_open (pf_reader *input, const pf_sort_key *keys, size_t nkeys,
                        pf_reader **reader, pf_error *error);

/*
** Tell a sort that only its first `rows` rows will be read: it then keeps no
** more than these and a fixed number. Nothing happens when the reader is no
** sort, or has begun.
*/
void pf_sort_keep (pf_reader *reader, uint64_t rows);

#endif
