/*
** roles.c - assigns roles to fields.
**
** Names that the profiler writes (TID TIME OP MSG LINE PARAMS) have priority
** over those of the documentation and common ones. Case, blanks and underscores
** do not matter, and a name of 10 bytes may be a longer one that was cut. If
** two fields have the name of one role, the first gets it.
**
** Roles that names leave open are found by values, in this order: op is the
** field whose values are i I O o; call the text field whose values are most
** often names; params a memo, or a text in line; thread the number with the
** smallest range; time a number that never decreases; line another number. A
** single number that increases is the time.
*/

#include <string.h>

#include "formats/xpp/roles.h"
#include "model/dictionary/names.h"

#define CUT_NAME 10 /* maximum length of a field name in most tables */

const char *const xpp_role_names[XPP_ROLES] = {"thread", "time", "op",
                                               "call",   "line", "params"};

/* The names of fields by role; the first of each is the profiler's. */
static const char *const aliases[XPP_ROLES] = {
    [XPP_THREAD] = "TID THREAD THREADID THREADNO",
    [XPP_TIME] = "TIME TIMELINE MS MSEC ELAPSED TIMESTAMP",
    [XPP_OP] = "OP OPERATION OPER",
    [XPP_CALL] = ("MSG CALL CALLNAME NAME FUNCTION FUNC FUNCNAME SYMBOL PROC "
                  "PROCNAME METHOD"),
    [XPP_LINE] = "LINE LINENO LINENR LINENUMBER LINENUMBERS",
    [XPP_PARAMS] = "PARAMS PARAM PARAMETER PARAMETERS PARAMLIST ARGS"};


bool xpp_is_same_name (pf_bytes left, pf_bytes right) {
  if (left.size != right.size)
    return false;
  for (size_t i = 0; i < left.size; i++) {
    const uint8_t l = left.at[i], r = right.at[i], low = l | 0x20;
    if (l != r && (low < 'a' || low > 'z' || low != (r | 0x20)))
      return false;
  }
  return true;
}


/* Searches a list of aliases with blanks between. A name that may be cut equals
   the beginning of an alias. */
static bool is_in_list (const char *name, size_t size, bool may_be_cut,
                        const char *names, bool only_first) {
  for (;;) {
    const size_t length = strcspn(names, " ");
    if (size > 0 && (size == length || (may_be_cut && size < length)) &&
        memcmp(name, names, size) == 0)
      return true;
    if (names[length] == '\0' || only_first)
      return false;
    names += length + 1;
  }
}


/* Case, blanks, underscores and hyphens do not matter. */
xpp_role xpp_role_of (pf_bytes name, bool exactly) {
  char simple[24];
  size_t used = 0;
  for (size_t i = 0; i < name.size; i++) {
    const uint8_t c = name.at[i];
    if (c == ' ' || c == '_' || c == '-')
      continue;
    if (used == sizeof simple)
      return XPP_ROLES;
    simple[used++] = (char)(c >= 'a' && c <= 'z' ? c - 32 : c);
  }
  const bool may_be_cut = !exactly && name.size == CUT_NAME;
  xpp_role role = 0;
  while (role < XPP_ROLES &&
         !is_in_list(simple, used, may_be_cut, aliases[role], exactly))
    role++;
  return role;
}


/* Assigns a role to each field that has a name of one. */
static void map_names (const xpp_candidate *fields, size_t count, bool exactly,
                       xpp_roles *roles) {
  for (size_t i = 0; i < count; i++) {
    const xpp_role role = xpp_role_of(fields[i].name, exactly);
    if (role == XPP_ROLES || roles->field[role] == i ||
        (fields[i].has_no_text && xpp_needs_text(role)))
      continue;
    if (roles->field[role] == XPP_NO_FIELD)
      roles->field[role] = i;
    else if (roles->duplicate == XPP_NO_FIELD)
      roles->duplicate = i;
  }
}


static bool is_letter (uint8_t c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
         c >= 0x80;
}


bool xpp_parse_integer (pf_bytes text, int64_t *value) {
  const bool is_negative = text.size > 0 && text.at[0] == '-';
  const pf_bytes digits = pf_text_after(text, is_negative);
  uint64_t size;
  if (digits.size > 18 || pf_parse_uint(digits, 10, &size) != PF_OK)
    return false;
  *value = is_negative ? -(int64_t)size : (int64_t)size;
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


/* A symbol is NAME, CLASS:METHOD, (b)NAME, NAME()...; not a sentence or
   number. */
void xpp_stats_text (xpp_stats *stats, pf_bytes value) {
  int64_t number;
  const pf_bytes text = xpp_trim(value);
  if (text.size == 0)
    return;
  if (xpp_parse_integer(text, &number)) {
    xpp_stats_number(stats, number);
    return;
  }
  size_t letters = 0;
  bool is_symbol = true;
  for (size_t i = 0; i < text.size; i++) {
    const uint8_t c = text.at[i];
    is_symbol &= c > ' ' && c != ',' && c != '"' && c != '=';
    letters += is_letter(c);
  }
  stats->values++;
  stats->ops += text.size == 1 && memchr("iIoO", text.at[0], 4) != NULL;
  stats->symbols += is_symbol && letters > 0;
}


static bool is_free_field (const xpp_roles *roles, size_t field) {
  return xpp_role_of_field(roles, field) == XPP_ROLES;
}


static bool looks_like_number (const xpp_candidate *field) {
  if (field->stats.values > 0)
    return field->stats.numbers == field->stats.values;
  return field->kind == XPP_NUMBER;
}


/* The text field that fits best: with the fewest values that are no names; of
   equal ones that with the most values, then the widest. */
static size_t find_call (const xpp_candidate *fields, size_t count,
                         const xpp_roles *roles) {
  size_t best = XPP_NO_FIELD;
  for (size_t i = 0; i < count; i++) {
    const xpp_stats *const s = &fields[i].stats;
    if (!is_free_field(roles, i) || fields[i].kind != XPP_TEXT ||
        s->symbols == 0)
      continue;
    if (best != XPP_NO_FIELD) {
      const xpp_stats *const b = &fields[best].stats;
      const size_t misses = s->values - s->symbols;
      const size_t others = b->values - b->symbols;
      if (misses != others         ? misses > others
          : s->values != b->values ? s->values < b->values
                                   : fields[i].width <= fields[best].width)
        continue;
    }
    best = i;
  }
  return best;
}


static size_t find_params (const xpp_candidate *fields, size_t count,
                           const xpp_roles *roles) {
  for (size_t i = 0; i < count; i++)
    if (is_free_field(roles, i) && fields[i].kind == XPP_MEMO)
      return i;
  for (size_t i = 0; i < count; i++) /* in line, in text */
    if (is_free_field(roles, i) && fields[i].kind == XPP_TEXT &&
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
    if (!is_free_field(roles, i) || !looks_like_number(&fields[i]) ||
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
    if (is_free_field(roles, i) && looks_like_number(&fields[i]) &&
        !(rising && fields[i].stats.decreases))
      return i;
  return XPP_NO_FIELD;
}


/* Assigns a field that a search found, if the role is still open. */
static void assign (xpp_roles *roles, xpp_role role, size_t field) {
  if (roles->field[role] != XPP_NO_FIELD || field == XPP_NO_FIELD ||
      roles->is_absent[role])
    return;
  roles->field[role] = field;
  roles->is_guessed = true;
}


/* If names give op and call, fields with other names get no role. A single
   number that increases is a time. */
void xpp_map_roles (const xpp_candidate *fields, size_t count,
                    xpp_roles *roles) {
  bool has_names = false;
  size_t numbers = 0, op = XPP_NO_FIELD;
  map_names(fields, count, true, roles);
  map_names(fields, count, false, roles);
  for (size_t i = count; i-- > 0;) {
    const xpp_stats *const stats = &fields[i].stats;
    has_names |= fields[i].name.size > 0;
    if (is_free_field(roles, i) && stats->values > 0 &&
        (stats->values - stats->ops) * 20 <= stats->values)
      op = i; /* at least 95 % are operations: some values may be damaged */
  }
  assign(roles, XPP_OP, op);
  assign(roles, XPP_CALL, find_call(fields, count, roles));
  if (!xpp_is_mapped(roles) || (!roles->is_guessed && has_names))
    return;
  assign(roles, XPP_PARAMS, find_params(fields, count, roles));
  for (size_t i = 0; i < count; i++)
    numbers += is_free_field(roles, i) && looks_like_number(&fields[i]);
  const size_t single = find_number(fields, count, roles, true);
  const bool is_time = numbers == 1 && single != XPP_NO_FIELD &&
                       !roles->is_absent[XPP_TIME] &&
                       fields[single].stats.max > fields[single].stats.min;
  if (!is_time)
    assign(roles, XPP_THREAD, find_thread(fields, count, roles));
  assign(roles, XPP_TIME, find_number(fields, count, roles, true));
  assign(roles, XPP_LINE, find_number(fields, count, roles, false));
}


int xpp_roles_score (const xpp_roles *roles, const xpp_stats *op) {
  const int clocks = (roles->field[XPP_THREAD] != XPP_NO_FIELD) +
                     (roles->field[XPP_TIME] != XPP_NO_FIELD);
  if (!xpp_is_mapped(roles) || clocks == 0)
    return 0;
  if (op->values == 0) /* there are no rows */
    return clocks == 2 && !roles->is_guessed ? 94 : 0;
  if (op->ops == op->values)
    return roles->is_guessed ? 85 : 96;
  return clocks == 2 && op->ops * 2 > op->values ? 80 : 0;
}


/* The field of a name, in any case of letters, or of a number. */
static size_t field_named (const xpp_candidate *fields, size_t count,
                           pf_bytes name) {
  int64_t number;
  for (size_t i = 0; i < count; i++)
    if (xpp_is_same_name(fields[i].name, name))
      return i;
  if (xpp_parse_integer(name, &number) && number >= 1 &&
      (uint64_t)number <= count)
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
  while (role < XPP_ROLES &&
         pf_text_compare(word, pf_bytes_of(xpp_role_names[role])) != 0)
    role++;
  if (sign == NULL || role == XPP_ROLES)
    return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                   "map: ROLE=FIELD expected with one of thread, time, op, "
                   "call, line, params; found '%.*s'",
                   PF_SHOWN(assignment, 40));
  const pf_bytes name =
      xpp_trim((pf_bytes){sign + 1, assignment.size - size - 1});
  const size_t field = field_named(fields, count, name);
  roles->field[role] = field;
  if (field != XPP_NO_FIELD &&
      !(fields[field].has_no_text && xpp_needs_text((xpp_role)role)))
    return PF_OK;
  if (field != XPP_NO_FIELD)
    return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                   "map: a field of text expected for %s, found '%.*s'",
                   xpp_role_names[role], (int)(name.size < 40 ? name.size : 40),
                   (const char *)name.at);
  return pf_fail(error, PF_EFORMAT, PF_NO_OFFSET,
                 "map: no field '%.*s' among the %zu fields",
                 PF_SHOWN(name, 40), count);
}


pf_status xpp_map_option (const xpp_candidate *fields, size_t count,
                          pf_bytes text, xpp_roles *roles, pf_error *error) {
  while (text.size > 0) {
    const uint8_t *const comma = memchr(text.at, ',', text.size);
    const size_t size = comma == NULL ? text.size : (size_t)(comma - text.at);
    const size_t passed = comma == NULL ? size : size + 1;
    const pf_bytes assignment = xpp_trim((pf_bytes){text.at, size});
    const pf_status status =
        assignment.size == 0
            ? PF_OK
            : map_assignment(fields, count, assignment, roles, error);
    if (status != PF_OK)
      return status;
    text = (pf_bytes){text.at + passed, text.size - passed};
  }
  return PF_OK;
}
