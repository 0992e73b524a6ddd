/*
** xpp_roles.h - which field of a trace says what. The names of the fields are not
** documented in full, and traces made by others have others: names are known
** by lists, and where they do not help by what the fields look like.
*/

#ifndef xpp_roles_h
#define xpp_roles_h

#include "profio.h"

typedef enum xpp_role {
  XPP_THREAD,
  XPP_TIME,
  XPP_OP,
  XPP_CALL,
  XPP_LINE,
  XPP_PARAMS,
  XPP_ROLES
} xpp_role;

extern const char *const xpp_role_names[XPP_ROLES];

#define XPP_NO_FIELD SIZE_MAX

/* What a field is made for. */
typedef enum xpp_kind {
  XPP_TEXT,
  XPP_NUMBER,
  XPP_MEMO,
  XPP_OTHER
} xpp_kind;

/* What the values of a field were like, as far as they were looked at. */
typedef struct xpp_stats {
  size_t values;  /* how many there were, missing ones left out */
  size_t ops;     /* that are one of i I O o */
  size_t symbols; /* that could be the name of a function */
  size_t numbers; /* that are whole numbers */
  bool decreases; /* some number is less than the one before */
  int64_t min, max, last;
} xpp_stats;

/* A field, for the mapper. */
typedef struct xpp_candidate {
  pf_bytes name; /* empty: it has none */
  xpp_kind kind;
  uint32_t width; /* bytes; 0: not known */
  xpp_stats stats;
} xpp_candidate;

/* What is known from elsewhere. */
typedef struct xpp_hints {
  bool no_time, no_line, no_params; /* the settings leave them out */
} xpp_hints;

/* Where each role stands, and how that was found. */
typedef struct xpp_roles {
  size_t field[XPP_ROLES]; /* or XPP_NO_FIELD */
  bool is_guessed;         /* some of them by their looks */
  size_t duplicate;        /* a field whose role another one has; or
                              XPP_NO_FIELD */
} xpp_roles;

/* The role that a name stands for, exactly (as the profiler writes it) or by
   an alias; XPP_ROLES: none. */
xpp_role xpp_role_of (pf_bytes name, bool exactly);

/* Look at a value. */
void xpp_stats_text (xpp_stats *stats, pf_bytes value);
void xpp_stats_number (xpp_stats *stats, int64_t value);

/* Blanks and NUL around a text. */
pf_bytes xpp_trim (pf_bytes text);

/* The roles of some fields, by names first, then by looks. */
void xpp_map_roles (const xpp_candidate *fields, size_t count,
                    const xpp_hints *hints, xpp_roles *roles);

/*
** Let a text "role=field,role=field" decide; a field is named, or numbered
** from 1. PF_EFORMAT in words when it says what is not there.
*/
pf_status xpp_map_option (const xpp_candidate *fields, size_t count,
                          pf_bytes text, xpp_roles *roles, pf_error *error);

/* How sure one can be of a trace with these roles, 0 to 100: by names when
   `values` of its operations are mostly letters, by looks when all are. 0
   without a time and a thread: the profiler may leave out one of them only. */
int xpp_roles_score (const xpp_roles *roles, const xpp_stats *op);

/* A trace needs to know at least what happened to which function. */
static inline bool xpp_is_mapped (const xpp_roles *roles) {
  return roles->field[XPP_OP] != XPP_NO_FIELD &&
         roles->field[XPP_CALL] != XPP_NO_FIELD;
}

#endif
