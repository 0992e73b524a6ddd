/*
** where.h - conditions on columns, run in C: equal, one of, between, a match,
** missing, and the opposite of each. All conditions must hold.
**
** A missing value meets PF_IS_MISSING and nothing else. The opposite of a test
** holds wherever the test does not, so also for missing values: "not equal to
** x" is true of what is not there.
*/

#ifndef where_h
#define where_h

#include "model/batch.h"

typedef enum pf_test_kind {
  PF_IS_IN,      /* equal to one of the values */
  PF_IS_BETWEEN, /* from values[0] to values[1], both ends included */
  PF_IS_MATCH,   /* text that `match` accepts */
  PF_IS_MISSING
} pf_test_kind;

/* What a column is compared with: a text for names, bytes and areas (the text
   of an area is its name), an order word (order.h) for the rest. */
typedef struct pf_value {
  uint64_t word;
  pf_bytes text;
} pf_value;

/* Whether a text matches. Of a name it is asked once per distinct name. */
typedef pf_status (*pf_matcher)(void *context, pf_bytes text, bool *yes,
                                pf_error *error);

typedef struct pf_test {
  size_t column;
  pf_test_kind kind;
  bool negate;
  bool open_low, open_high; /* of PF_IS_BETWEEN: there is no such end */
  const pf_value *values;   /* the texts too are borrowed until closed */
  size_t nvalues;
  pf_matcher match; /* of PF_IS_MATCH */
  void *context;    /* of match, borrowed */
} pf_test;

/* Whether values of this type are tested as texts. */
bool pf_test_is_text (pf_type type);

/* A reader of the rows of `input` (borrowed) for which all tests hold. The
   tests are copied, their values are not. */
pf_status pf_where_open (pf_reader *input, const pf_test *tests, size_t ntests,
                         pf_reader **reader, pf_error *error);

#endif
