/*
** roles.c - assigns roles to fields.
**
** Names that the profiler writes (TID TIME OP MSG LINE PARAMS) have priority
** over those of the documentation and common ones. Case, blanks and underscores
** do not matter, and a name of 10 bytes may be a longer one that was cut. If
** two fields have the name of one role, the first gets it.
**
** Roles that names leave open are found by values: op is the field whose values
** are i I O o; call the widest text field whose values could be names; params a
** memo; time a number that never decreases; thread the number with the smallest
** range before it; line another number.
*/

#include <string.h>

#include "formats/xpp/roles.h"

#define CUT_NAME 10 /* maximum length of a field name in most tables */

const char *const xpp_role_names[XPP_ROLES] = {"thread", "time", "op",
                                               "call",   "line", "params"};

static const struct {
  xpp_role role;
  const char *names; /* the first is the profiler's */
} aliases[] = {
    {XPP_THREAD, "TID THREAD THREADID THREADNO"},
    {XPP_TIME, "TIME TIMELINE MS MSEC ELAPSED TIMESTAMP"},
    {XPP_OP, "OP OPERATION OPER"},
    {XPP_CALL, "MSG CALL CALLNAME NAME FUNCTION FUNC FUNCNAME SYMBOL PROC "
               "PROCNAME METHOD"},
    {XPP_LINE, "LINE LINENO LINENR LINENUMBER LINENUMBERS"},
    {XPP_PARAMS, "PARAMS PARAM PARAMETER PARAMETERS PARAMLIST ARGS"},
};


/* {====== Names ====== */

pf_bytes xpp_trim (pf_bytes text) {
  while (text.size > 0 &&
         (text.at[text.size - 1] == ' ' || text.at[text.size - 1] == '\0' ||
          text.at[text.size - 1] == '\t'))
    text.size--;
  while (text.size > 0 && (text.at[0] == ' ' || text.at[0] == '\t')) {
    text.at++;
    text.size--;
  }
  return text;
}


/* Copies a name in capitals without blanks, underscores and hyphens. Returns
   its size, or capacity + 1 if it is larger than `capacity`. */
static size_t simplify (pf_bytes name, char *simple, size_t capacity) {
  size_t used = 0;
  for (size_t i = 0; i < name.size; i++) {
    const uint8_t c = name.at[i];
    if (c == ' ' || c == '_' || c == '-')
      continue;
    if (used == capacity)
      return capacity + 1;
    simple[used++] = (char)(c >= 'a' && c <= 'z' ? c - 32 : c);
  }
  return used;
}


/* Returns true if a name equals an alias, or its beginning if the name may be
   cut. */
static bool is_alias (const char *name, size_t size, bool may_be_cut,
                      const char *alias, size_t alias_size) {
  if (size == 0 || size > alias_size || memcmp(name, alias, size) != 0)
    return false;
  return size == alias_size || may_be_cut;
}


/* Searches a list of aliases with blanks between. */
static bool is_in_list (const char *name, size_t size, bool may_be_cut,
                        const char *names, bool only_first) {
  for (;;) {
    const size_t length = strcspn(names, " ");
    if (is_alias(name, size, may_be_cut, names, length))
      return true;
    if (names[length] == '\0' || only_first)
      return false;
    names += length + 1;
  }
}


xpp_role xpp_role_of (pf_bytes name, bool exactly) {
  char simple[24];
  const size_t size = simplify(name, simple, sizeof simple);
  if (size > sizeof simple)
    return XPP_ROLES;
  for (size_t i = 0; i < XPP_ROLES; i++)
    if (is_in_list(simple, size, !exactly && name.size == CUT_NAME,
                   aliases[i].names, exactly))
      return aliases[i].role;
  return XPP_ROLES;
}


/* Assigns a role to each field that has a name of one. */
static void map_names (const xpp_candidate *fields, size_t count, bool exactly,
                       xpp_roles *roles) {
  for (size_t i = 0; i < count; i++) {
    const xpp_role role = xpp_role_of(fields[i].name, exactly);
    if (role == XPP_ROLES || roles->field[role] == i)
      continue;
    if (roles->field[role] == XPP_NO_FIELD)
      roles->field[role] = i;
    else if (roles->duplicate == XPP_NO_FIELD)
      roles->duplicate = i;
  }
}

/* }====== */


/* {====== Values ====== */

static bool is_letter (uint8_t c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
         c >= 0x80;
}


/* Accepts NAME, CLASS:METHOD, (b)NAME, NAME()..., but no sentences and
   numbers. */
static bool is_symbol (pf_bytes text) {
  size_t letters = 0;
  for (size_t i = 0; i < text.size; i++) {
    const uint8_t c = text.at[i];
    if (c <= ' ' || c == ',' || c == '"' || c == '=')
      return false;
    letters += is_letter(c);
  }
  return letters > 0;
}


static bool is_operation (pf_bytes text) {
  return text.size == 1 && memchr("iIoO", text.at[0], 4) != NULL;
}


/* Parses an integer of at most 18 digits. */
static bool parse_integer (pf_bytes text, int64_t *value) {
  const bool is_negative = text.size > 0 && text.at[0] == '-';
  const size_t first = is_negative;
  if (text.size == first || text.size - first > 18)
    return false;
  *value = 0;
  for (size_t i = first; i < text.size; i++) {
    if (text.at[i] < '0' || text.at[i] > '9')
      return false;
    *value = *value * 10 + (text.at[i] - '0');
  }
  *value = is_negative ? -*value : *value;
  return true;
}


void xpp_stats_number (xpp_stats *stats, int64_t value) {
  if (stats->numbers == 0)
    stats->min = stats->max = stats->last = value;
  stats->decreases |= value < stats->last;
  stats->last = value;
  if (value < stats->min)
    stats->min = value;
  if (value > stats->max)
    stats->max = value;
  stats->numbers++;
  stats->values++;
}


void xpp_stats_text (xpp_stats *stats, pf_bytes value) {
  int64_t number;
  const pf_bytes text = xpp_trim(value);
  if (text.size == 0)
    return;
  if (parse_integer(text, &number)) {
    xpp_stats_number(stats, number);
    return;
  }
  stats->values++;
  stats->ops += is_operation(text);
  stats->symbols += is_symbol(text);
}


/* Returns true if a field has no role. */
static bool is_free (const xpp_roles *roles, size_t field) {
  for (size_t i = 0; i < XPP_ROLES; i++)
    if (roles->field[i] == field)
      return false;
  return true;
}


/* At least 95 % must be operations: some values may be damaged. */
static bool looks_like_op (const xpp_candidate *field) {
  const xpp_stats *const stats = &field->stats;
  return stats->values > 0 &&
         (stats->values - stats->ops) * 20 <= stats->values;
}


static bool looks_like_number (const xpp_candidate *field) {
  if (field->stats.values > 0)
    return field->stats.numbers == field->stats.values;
  return field->kind == XPP_NUMBER;
}


/* Returns true if `field` fits the role call better than `other` (or NULL):
   more of its values are names, or it is wider. */
static bool is_better_call (const xpp_candidate *field,
                            const xpp_candidate *other) {
  if (other == NULL)
    return true;
  const size_t misses = field->stats.values - field->stats.symbols;
  const size_t others = other->stats.values - other->stats.symbols;
  if (misses != others)
    return misses < others;
  if (field->stats.values != other->stats.values)
    return field->stats.values > other->stats.values;
  return field->width > other->width;
}


static size_t find_op (const xpp_candidate *fields, size_t count,
                       const xpp_roles *roles) {
  for (size_t i = 0; i < count; i++)
    if (is_free(roles, i) && looks_like_op(&fields[i]))
      return i;
  return XPP_NO_FIELD;
}


static size_t find_call (const xpp_candidate *fields, size_t count,
                         const xpp_roles *roles) {
  size_t best = XPP_NO_FIELD;
  for (size_t i = 0; i < count; i++)
    if (is_free(roles, i) && fields[i].kind == XPP_TEXT &&
        fields[i].stats.symbols > 0 &&
        is_better_call(&fields[i], best == XPP_NO_FIELD ? NULL : &fields[best]))
      best = i;
  return best;
}


static size_t find_params (const xpp_candidate *fields, size_t count,
                           const xpp_roles *roles) {
  for (size_t i = 0; i < count; i++)
    if (is_free(roles, i) && fields[i].kind == XPP_MEMO)
      return i;
  for (size_t i = 0; i < count; i++) /* in line, in text */
    if (is_free(roles, i) && fields[i].kind == XPP_TEXT &&
        fields[i].width == 0 && !looks_like_number(&fields[i]))
      return i;
  return XPP_NO_FIELD;
}


/* The number with the smallest range; of several the first. */
static size_t find_thread (const xpp_candidate *fields, size_t count,
                           const xpp_roles *roles) {
  size_t best = XPP_NO_FIELD;
  uint64_t range = 0;
  for (size_t i = 0; i < count; i++) {
    const xpp_stats *const s = &fields[i].stats;
    const uint64_t span = (uint64_t)s->max - (uint64_t)s->min;
    if (!is_free(roles, i) || !looks_like_number(&fields[i]) ||
        (best != XPP_NO_FIELD && span >= range))
      continue;
    best = i;
    range = span;
  }
  return best;
}


/* The first number; with `rising` the first that never decreases. */
static size_t find_number (const xpp_candidate *fields, size_t count,
                           const xpp_roles *roles, bool rising) {
  for (size_t i = 0; i < count; i++)
    if (is_free(roles, i) && looks_like_number(&fields[i]) &&
        !(rising && fields[i].stats.decreases))
      return i;
  return XPP_NO_FIELD;
}


/* Counts the numbers without a role. */
static size_t free_numbers (const xpp_candidate *fields, size_t count,
                            const xpp_roles *roles) {
  size_t found = 0;
  for (size_t i = 0; i < count; i++)
    found += is_free(roles, i) && looks_like_number(&fields[i]);
  return found;
}


/* Assigns a field that a search found, if the role is still open. */
static void assign (xpp_roles *roles, xpp_role role, size_t field) {
  if (roles->field[role] != XPP_NO_FIELD || field == XPP_NO_FIELD)
    return;
  roles->field[role] = field;
  roles->is_guessed = true;
}


static bool is_unassigned (const xpp_roles *roles, xpp_role role) {
  return roles->field[role] == XPP_NO_FIELD;
}


/* Assigns thread, time and line. A single number that increases is a time. */
static void map_numbers (const xpp_candidate *fields, size_t count,
                         const xpp_hints *hints, xpp_roles *roles) {
  const size_t single = find_number(fields, count, roles, true);
  const bool is_time = free_numbers(fields, count, roles) == 1 &&
                       single != XPP_NO_FIELD && !hints->no_time &&
                       fields[single].stats.max > fields[single].stats.min;
  if (is_unassigned(roles, XPP_THREAD) && !is_time)
    assign(roles, XPP_THREAD, find_thread(fields, count, roles));
  if (is_unassigned(roles, XPP_TIME) && !hints->no_time)
    assign(roles, XPP_TIME, find_number(fields, count, roles, true));
  if (is_unassigned(roles, XPP_LINE) && !hints->no_line)
    assign(roles, XPP_LINE, find_number(fields, count, roles, false));
}

/* }====== */


static bool have_names (const xpp_candidate *fields, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (fields[i].name.size > 0)
      return true;
  return false;
}


/* If names give op and call, fields with other names get no role. */
void xpp_map_roles (const xpp_candidate *fields, size_t count,
                    const xpp_hints *hints, xpp_roles *roles) {
  map_names(fields, count, true, roles);
  map_names(fields, count, false, roles);
  if (is_unassigned(roles, XPP_OP))
    assign(roles, XPP_OP, find_op(fields, count, roles));
  if (is_unassigned(roles, XPP_CALL))
    assign(roles, XPP_CALL, find_call(fields, count, roles));
  if (!xpp_is_mapped(roles) ||
      (!roles->is_guessed && have_names(fields, count)))
    return;
  if (is_unassigned(roles, XPP_PARAMS) && !hints->no_params)
    assign(roles, XPP_PARAMS, find_params(fields, count, roles));
  map_numbers(fields, count, hints, roles);
}


int xpp_roles_score (const xpp_roles *roles, const xpp_stats *op) {
  const bool is_full =
      !is_unassigned(roles, XPP_THREAD) && !is_unassigned(roles, XPP_TIME);
  const bool is_bare =
      is_unassigned(roles, XPP_THREAD) && is_unassigned(roles, XPP_TIME);
  if (!xpp_is_mapped(roles) || is_bare)
    return 0;
  if (op->values == 0) /* there are no rows */
    return is_full && !roles->is_guessed ? 94 : 0;
  if (op->ops == op->values)
    return roles->is_guessed ? 85 : 96;
  return is_full && op->ops * 2 > op->values ? 80 : 0;
}


/* {====== The option ====== */

/* Splits off the text before the next comma. */
static pf_bytes next_assignment (pf_bytes *text) {
  const uint8_t *const comma =
      text->size == 0 ? NULL : memchr(text->at, ',', text->size);
  const size_t size = comma == NULL ? text->size : (size_t)(comma - text->at);
  const pf_bytes assignment = {text->at, size};
  const size_t passed = comma == NULL ? size : size + 1;
  *text = (pf_bytes){text->at + passed, text->size - passed};
  return assignment;
}


static bool is_text (pf_bytes left, const char *right) {
  return left.size == strlen(right) && memcmp(left.at, right, left.size) == 0;
}


/* Compares names; the case of letters does not matter. */
static bool is_name (pf_bytes left, pf_bytes right) {
  if (left.size != right.size)
    return false;
  for (size_t i = 0; i < left.size; i++) {
    const uint8_t l = left.at[i], r = right.at[i];
    if (l != r && (!is_letter(l) || l >= 0x80 || (l ^ 0x20) != r))
      return false;
  }
  return true;
}


static size_t field_named (const xpp_candidate *fields, size_t count,
                           pf_bytes name) {
  int64_t number;
  for (size_t i = 0; i < count; i++)
    if (is_name(fields[i].name, name))
      return i;
  if (parse_integer(name, &number) && number >= 1 && (uint64_t)number <= count)
    return (size_t)number - 1;
  return XPP_NO_FIELD;
}


static pf_status map_assignment (const xpp_candidate *fields, size_t count,
                                 pf_bytes assignment, xpp_roles *roles,
                                 pf_error *error) {
  const uint8_t *const sign =
      assignment.size == 0 ? NULL : memchr(assignment.at, '=', assignment.size);
  const size_t size = sign == NULL ? 0 : (size_t)(sign - assignment.at);
  const pf_bytes word = xpp_trim((pf_bytes){assignment.at, size});
  size_t role = 0;
  while (role < XPP_ROLES && !is_text(word, xpp_role_names[role]))
    role++;
  if (role == XPP_ROLES)
    return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                   "map: ROLE=FIELD expected with one of thread, time, op, "
                   "call, line, params; found '%.*s'",
                   (int)(assignment.size < 40 ? assignment.size : 40),
                   (const char *)assignment.at);
  const pf_bytes name =
      xpp_trim((pf_bytes){sign + 1, assignment.size - size - 1});
  roles->field[role] = field_named(fields, count, name);
  if (roles->field[role] != XPP_NO_FIELD)
    return PF_OK;
  return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                 "map: no field '%.*s' among the %zu fields",
                 (int)(name.size < 40 ? name.size : 40), (const char *)name.at,
                 count);
}


pf_status xpp_map_option (const xpp_candidate *fields, size_t count,
                          pf_bytes text, xpp_roles *roles, pf_error *error) {
  while (text.size > 0) {
    const pf_bytes assignment = xpp_trim(next_assignment(&text));
    const pf_status status =
        assignment.size == 0
            ? PF_OK
            : map_assignment(fields, count, assignment, roles, error);
    if (status != PF_OK)
      return status;
  }
  return PF_OK;
}

/* }====== */
