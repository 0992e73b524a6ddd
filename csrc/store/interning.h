/*
** interning.h - gives frames and stacks the ids that they have in a store, and
** adds new ones to it. Used by put_cells.c; the userdata of a database owns it.
**
** Ids that were found are kept in memory, by content: a stack that is known
** costs no hash and no query. They are forgotten when another process may have
** changed the tables, and after a rollback. Two contents with one hash are an
** error, since the ids in cells would not say which is meant.
*/

#ifndef interning_h
#define interning_h

#include "model/dictionary/stacks.h"
#include "store/content_hash.h"
#include "store/database.h"

/* The id and hash of a frame or stack. */
typedef struct pf_known {
  pf_hash hash;
  uint32_t id; /* 0: not looked up yet */
} pf_known;

typedef struct pf_interning {
  pf_database *database;     /* borrowed */
  pf_dictionary *dictionary; /* owned; of all that is known */
  pf_known *frames, *stacks; /* by area and stack of the dictionary */
  size_t frame_capacity, stack_capacity;
  int64_t data_version; /* of the database, when ids were found */
  uint64_t changes;     /* of the dictionary, then */
} pf_interning;

/* Set *version to a number that changes when another connection commits. Fails
   as the database does. */
pf_status pf_data_version (pf_database *database, int64_t *version,
                           pf_error *error);

/* Begin to use ids in the current transaction; an interning begins as zeros.
   PF_ENOMEM, and failures of the database. */
pf_status pf_interning_begin (pf_interning *interning, pf_database *database,
                              pf_error *error);

/* Free all memory. */
void pf_interning_free (pf_interning *interning);

/*
** Set *frame to the area of the interning's dictionary that equals an area
** (name, file, line) of `from`. It is in the store then. PF_EFORMAT if another
** frame has its hash, PF_ELIMIT for too many frames, PF_ENOMEM, and failures of
** the database.
*/
pf_status pf_interning_frame (pf_interning *interning,
                              const pf_dictionary *from, uint32_t area,
                              uint32_t *frame, pf_error *error);

/* Set *stack to the stack of the interning's dictionary: `parent` (PF_NO_STACK:
   none) with one more frame. It is in the store then. Failures as above. */
pf_status pf_interning_stack (pf_interning *interning, uint32_t parent,
                              uint32_t frame, uint32_t *stack, pf_error *error);

/* All ids that were found and added since pf_interning_begin are valid. */
void pf_interning_end (pf_interning *interning);

/* The id in the store of a stack that pf_interning_stack has set. */
static inline uint32_t pf_interning_id (const pf_interning *interning,
                                        uint32_t stack) {
  return interning->stacks[stack].id;
}

#endif
