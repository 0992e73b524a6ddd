/*
** where.h - the stage that keeps the rows for which all tests of columns hold.
** Used by csrc/lua/stages/conditions.c. The caller closes the reader, which
** then frees its copy of the tests.
*/

#ifndef where_h
#define where_h

#include "model/rows/batch.h"

typedef enum pf_test_kind {
  PF_IS_IN,      /* equal to one of the values */
  PF_IS_BETWEEN, /* from values[0] to values[1], inclusive */
  PF_IS_MATCH,   /* a text that `match` accepts */
  PF_IS_MISSING
} pf_test_kind;

/* A value to compare with: a text for names, bytes and areas (the text of an
   area is its name), an order word (order.h) for other types. */
typedef struct pf_value {
  uint64_t word;
  pf_bytes text;
} pf_value;

/* Set *yes to whether a text matches. Called once per distinct name. */
typedef pf_status (*pf_matcher)(void *context, pf_bytes text, bool *yes,
                                pf_error *error);

typedef struct pf_test {
  size_t column;
  pf_test_kind kind;
  bool negate;
  bool open_low, open_high; /* of PF_IS_BETWEEN: no lower or upper bound */
  const pf_value *values;   /* borrowed with their texts until the reader is
                               closed */
  size_t nvalues;
  pf_matcher match; /* of PF_IS_MATCH */
  void *context;    /* of match, borrowed */
} pf_test;

/* Whether values of this type are tested as texts. */
bool pf_test_is_text (pf_type type);

/* Open a reader of the rows of `input` (borrowed) for which all tests hold. The
   tests are copied, their values are not. PF_ENOMEM. */
pf_status pf_where_open (pf_reader *input, const pf_test *tests, size_t ntests,
                         pf_reader **reader, pf_error *error);

#endif
