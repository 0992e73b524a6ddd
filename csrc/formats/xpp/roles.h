/*
** roles.h - decides which field of a trace contains the thread, the time,
** the operation, the function, the line and the parameters. The names of the
** fields are only partly documented, and traces of other programs use other
** names: roles are found by lists of known names, then by the values.
** fields.c, detect_xpp.c and write_table.c assign roles; most files of the
** format use the roles and the functions for texts.
**
** Allocates nothing. Names of candidates are borrowed during the call.
*/

#ifndef roles_h
#define roles_h

#include "bytes/text.h"
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

/* The data type of a field. */
typedef enum xpp_kind {
  XPP_TEXT,
  XPP_NUMBER,
  XPP_MEMO,
  XPP_OTHER
} xpp_kind;

/* Statistics of the values of a field in the rows that were examined. */
typedef struct xpp_stats {
  size_t values;  /* not missing */
  size_t ops;     /* equal to i, I, O or o */
  size_t symbols; /* that could be the name of a function */
  size_t numbers; /* that are integers */
  bool decreases; /* some number is less than the one before */
  int64_t min, max, last;
} xpp_stats;

/* A field to which a role may be assigned. */
typedef struct xpp_candidate {
  pf_bytes name; /* empty: no name */
  xpp_kind kind;
  uint32_t width;   /* bytes; 0: not known */
  bool has_no_text; /* its values are numbers or logical, never text */
  xpp_stats stats;
} xpp_candidate;

/* The field of each role. */
typedef struct xpp_roles {
  size_t field[XPP_ROLES];   /* index of the field, or XPP_NO_FIELD */
  bool is_guessed;           /* at least one was found by its values */
  bool is_absent[XPP_ROLES]; /* the settings say that there is none */
  size_t duplicate;          /* a second field with the name of a role that
                              another field already has; or XPP_NO_FIELD */
} xpp_roles;

/* Roles without a field. */
#define XPP_NO_ROLES                                     \
  {                                                      \
    .field = {XPP_NO_FIELD, XPP_NO_FIELD, XPP_NO_FIELD,  \
              XPP_NO_FIELD, XPP_NO_FIELD, XPP_NO_FIELD}, \
    .duplicate = XPP_NO_FIELD                            \
  }

/* The role that a name stands for, or XPP_ROLES. `exactly`: only the names that
   the profiler writes, no aliases. */
xpp_role xpp_role_of (pf_bytes name, bool exactly);

/* Whether the field of a role must have text; the other roles are numbers,
   which may be written as text. */
static inline bool xpp_needs_text (xpp_role role) {
  return role == XPP_OP || role == XPP_CALL || role == XPP_PARAMS;
}

/* Add a value to the statistics. */
void xpp_stats_text (xpp_stats *stats, pf_bytes value);
void xpp_stats_number (xpp_stats *stats, int64_t value);

/* The text without blanks and tabs around it, and without NULs at its end. */
static inline pf_bytes xpp_trim (pf_bytes text) {
  return pf_trim_also(text, '\0');
}

/* Whether two texts are equal, ignoring the case of ASCII letters. */
bool xpp_is_same_name (pf_bytes left, pf_bytes right);

/* Parses an integer of at most 18 digits, which may be negative. */
bool xpp_parse_integer (pf_bytes text, int64_t *value);

/* Assigns fields to the roles that are still XPP_NO_FIELD: by names, then, if
   that leaves roles open, by values. A field without text gets no role that
   needs it. */
void xpp_map_roles (const xpp_candidate *fields, size_t count,
                    xpp_roles *roles);

/*
** Assigns roles as the option map says: "role=field,role=field"; a field is
** given by its name or its number from 1. PF_EFORMAT with a message for an
** unknown role or field, or if the role needs text and the field has none.
*/
pf_status xpp_map_option (const xpp_candidate *fields, size_t count,
                          pf_bytes text, xpp_roles *roles, pf_error *error);

/* The confidence, 0 to 100, that fields with these roles are a trace; `op`:
   the statistics of the operations. If time and thread exist, more than half of
   the operations must be valid, else all. 0 if both are missing, because the
   profiler omits at most one of them. */
int xpp_roles_score (const xpp_roles *roles, const xpp_stats *op);

/* The role of a field, or XPP_ROLES. */
static inline xpp_role xpp_role_of_field (const xpp_roles *roles,
                                          size_t field) {
  xpp_role role = 0;
  while (role < XPP_ROLES && roles->field[role] != field)
    role++;
  return role;
}

/* Returns true if the minimum is known: the operation and the function. */
static inline bool xpp_is_mapped (const xpp_roles *roles) {
  return roles->field[XPP_OP] != XPP_NO_FIELD &&
         roles->field[XPP_CALL] != XPP_NO_FIELD;
}

#endif
