/*
** chain.h - concatenates readers with the same schema into one reader: several
** files read as one table. Used by csrc/lua/stages/stages.c; events.c reads the
** column of files. The inputs are copied, their readers and owners borrowed.
*/

#ifndef chain_h
#define chain_h

#include "model/rows/batch.h"

/* One of the concatenated readers. Its reader may be NULL, except of the first
   one: it is opened when the input before has ended, and closed at its end. */
typedef struct pf_chain_input {
  pf_reader *reader; /* borrowed, or NULL */
  /* Open the reader, in any thread. `first` is that of the first input: both
     have the same fields and abilities. */
  pf_status (*open)(void *context, const pf_reader *first, pf_reader **reader,
                    pf_error *error);
  void *context;
  const uint32_t *constants; /* the value (a name) of each constant, or
                                PF_NO_NAME */
  uint64_t ids_used;         /* how many values its id column counts */
  pf_reader **owner; /* the owner's pointer to it; NULL: do not close it */
} pf_chain_input;

/*
** Open a reader of the rows of all inputs, which have the same fields and the
** same dictionary. Its fields are theirs and `nconstants` columns of names,
** with one value for each input; `constants` are the names of the columns
** (copied); the first one is marked as the file of a row (pf_is_file). `id` is
** the index of an int column that counts from 0 in each input: its values are
** increased by the ids that the inputs before have used. SIZE_MAX: there is
** none. An input that has ended is closed and its owner's pointer set to NULL,
** because thousands of files would otherwise keep their buffers to the end.
** PF_ENOMEM.
*/
pf_status pf_chain_open (const pf_chain_input *inputs, size_t ninputs,
                         const char *const *constants, size_t nconstants,
                         size_t id, pf_reader **reader, pf_error *error);

#endif
