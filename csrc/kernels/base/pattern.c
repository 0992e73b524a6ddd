/*
** pattern.c - compiles a pattern to items and matches them with backtracking.
** A pattern has no alternatives and no repeated groups, so an item is passed at
** most once on the way to a place: each repeated item has at most one choice
** that is still open, and captures need not be restored.
*/

#include "kernels/base/pattern.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "model/system/parallel.h"
#include "model/base/memory.h"
#include "os/os.h"

#define STEPS_PER_LOOK 65536 /* comparisons of a byte between two looks */

typedef enum item_kind {
  ITEM_ONE,      /* a byte of the set */
  ITEM_MOST,     /* as many as possible: x* x+ x? */
  ITEM_FEWEST,   /* as few as possible: x- */
  ITEM_OPEN,     /* capture `a` begins */
  ITEM_CLOSE,    /* capture `a` ends */
  ITEM_POSITION, /* capture `a` is a place, which equals no text: () */
  ITEM_SAME,     /* the text of capture `a` again: %1 */
  ITEM_BALANCED, /* from byte a to its partner b: %bxy */
  ITEM_FRONTIER, /* between a byte outside of the set and one inside: %f[set] */
  ITEM_END,      /* the end of the text: $ at the end of a pattern */
  ITEM_FOUND     /* the end of the pattern */
} item_kind;

typedef struct item {
  item_kind kind;
  uint8_t a, b;
  size_t least, most; /* repetitions of ITEM_MOST */
  uint8_t set[32];    /* a bit per byte */
} item;

struct pf_pattern {
  bool is_anchored; /* ^ at its begin */
  size_t nitems;
  item items[];
};


static void add_byte (item *to, unsigned byte) {
  to->set[byte >> 3] |= (uint8_t)(1u << (byte & 7));
}


static bool has (const item *of, uint8_t byte) {
  return (of->set[byte >> 3] >> (byte & 7) & 1) != 0;
}


typedef struct compiler {
  const uint8_t *at, *end;
  pf_pattern *pattern;
  size_t ncaptures, nopen, nrepetitions;
  uint8_t open[PF_MOST_CAPTURES];
  bool is_closed[PF_MOST_CAPTURES];
  pf_error *error;
} compiler;


static pf_status wrong (const compiler *c, const char *what) {
  return pf_fail(c->error, PF_EFORMAT, PF_NO_OFFSET, "%s", what);
}


static bool is_of_class (int byte, int letter) {
  switch (tolower(letter)) {
    case 'a': return isalpha(byte) != 0;
    case 'c': return iscntrl(byte) != 0;
    case 'd': return isdigit(byte) != 0;
    case 'g': return isgraph(byte) != 0;
    case 'l': return islower(byte) != 0;
    case 'p': return ispunct(byte) != 0;
    case 's': return isspace(byte) != 0;
    case 'u': return isupper(byte) != 0;
    case 'w': return isalnum(byte) != 0;
    case 'x': return isxdigit(byte) != 0;
    case 'z': return byte == 0; /* of Lua 5.1, still known to 5.4 */
    default: return byte == letter;
  }
}


/* Add the bytes of the class %letter; of other bytes, the byte itself. */
static void add_class (item *to, uint8_t letter) {
  const bool is_class =
      isalpha(letter) && strchr("acdglpsuwxz", tolower(letter)) != NULL;
  const bool is_inverse = is_class && isupper(letter);
  for (int byte = 0; byte < 256; byte++)
    if (is_of_class(byte, letter) != is_inverse)
      add_byte(to, (unsigned)byte);
}


static void invert (item *of) {
  for (size_t i = 0; i < sizeof of->set; i++)
    of->set[i] = (uint8_t)~of->set[i];
}


/* Return the ] of the set whose [ is before `at`, or NULL. The first byte
   belongs to the set, also if it is ]. */
static const uint8_t *end_of_set (const uint8_t *at, const uint8_t *end) {
  if (at < end && *at == '^')
    at++;
  do {
    if (at >= end)
      return NULL;
    at += *at == '%' ? 2 : 1;
  } while (at >= end || *at != ']');
  return at;
}


/* Read a set after its [. */
static pf_status read_set (compiler *c, item *to) {
  const uint8_t *const last = end_of_set(c->at, c->end);
  if (last == NULL)
    return wrong(c, "a ] is missing");
  const bool is_inverse = *c->at == '^';
  for (const uint8_t *p = c->at + is_inverse; p < last; p++) {
    if (*p == '%')
      add_class(to, *++p);
    else if (last - p > 2 && p[1] == '-') {
      for (unsigned byte = *p; byte <= p[2]; byte++)
        add_byte(to, byte);
      p += 2;
    }
    else
      add_byte(to, *p);
  }
  if (is_inverse)
    invert(to);
  c->at = last + 1;
  return PF_OK;
}


static pf_status read_same (compiler *c, item *to, uint8_t digit) {
  const size_t number = (size_t)(digit - '1');
  if (digit == '0' || number >= c->ncaptures || !c->is_closed[number])
    return pf_fail(c->error, PF_EFORMAT, PF_NO_OFFSET,
                   "there is no capture %%%c before it", digit);
  to->kind = ITEM_SAME;
  to->a = (uint8_t)number;
  return PF_OK;
}


/* Read an item after its %. */
static pf_status read_escape (compiler *c, item *to) {
  if (c->at == c->end)
    return wrong(c, "it ends with %");
  const uint8_t letter = *c->at++;
  if (letter >= '0' && letter <= '9')
    return read_same(c, to, letter);
  if (letter == 'f') {
    to->kind = ITEM_FRONTIER;
    if (c->at == c->end || *c->at++ != '[')
      return wrong(c, "[ is missing after %f");
    return read_set(c, to);
  }
  if (letter == 'b') {
    if (c->end - c->at < 2)
      return wrong(c, "two characters are missing after %b");
    to->kind = ITEM_BALANCED;
    to->a = *c->at++;
    to->b = *c->at++;
    return PF_OK;
  }
  add_class(to, letter);
  return PF_OK;
}


/* Read a capture after its (. */
static pf_status read_capture (compiler *c, item *to) {
  if (c->ncaptures == PF_MOST_CAPTURES)
    return pf_fail(c->error, PF_EFORMAT, PF_NO_OFFSET,
                   "it has more than %d captures", PF_MOST_CAPTURES);
  const uint8_t number = (uint8_t)c->ncaptures++;
  to->kind = ITEM_OPEN;
  to->a = number;
  if (c->at < c->end && *c->at == ')') {
    c->at++;
    to->kind = ITEM_POSITION;
    c->is_closed[number] = true;
  }
  else
    c->open[c->nopen++] = number;
  return PF_OK;
}


static pf_status read_close (compiler *c, item *to) {
  if (c->nopen == 0)
    return wrong(c, "a ( is missing");
  to->kind = ITEM_CLOSE;
  to->a = c->open[--c->nopen];
  c->is_closed[to->a] = true;
  return PF_OK;
}


/* Read the * + - ? that may follow a single byte. */
static pf_status read_repetition (compiler *c, item *to) {
  if (c->at == c->end || memchr("*+-?", *c->at, 4) == NULL)
    return PF_OK;
  if (++c->nrepetitions > PF_MOST_REPETITIONS)
    return pf_fail(c->error, PF_EFORMAT, PF_NO_OFFSET,
                   "it has more than %d of * + - ?", PF_MOST_REPETITIONS);
  const uint8_t sign = *c->at++;
  to->kind = sign == '-' ? ITEM_FEWEST : ITEM_MOST;
  to->least = sign == '+';
  to->most = sign == '?' ? 1 : SIZE_MAX;
  return PF_OK;
}


static pf_status read_item (compiler *c, item *to) {
  pf_status status = PF_OK;
  const uint8_t byte = *c->at++;
  if (byte == '$' && c->at == c->end) {
    to->kind = ITEM_END;
    return PF_OK;
  }
  switch (byte) {
    case '(': return read_capture(c, to);
    case ')': return read_close(c, to);
    case '.': invert(to); break;
    case '[': status = read_set(c, to); break;
    case '%': status = read_escape(c, to); break;
    default: add_byte(to, byte);
  }
  return status == PF_OK && to->kind == ITEM_ONE ? read_repetition(c, to)
                                                 : status;
}


static pf_status compile (compiler *c) {
  pf_status status = PF_OK;
  pf_pattern *const p = c->pattern;
  if (c->at < c->end && *c->at == '^') {
    p->is_anchored = true;
    c->at++;
  }
  while (c->at < c->end && status == PF_OK)
    status = read_item(c, &p->items[p->nitems++]);
  p->items[p->nitems++].kind = ITEM_FOUND;
  if (status == PF_OK && c->nopen > 0)
    return wrong(c, "a ) is missing");
  return status;
}


pf_status pf_pattern_open (pf_bytes text, pf_pattern **pattern,
                           pf_error *error) {
  compiler c = {text.at, text.at + text.size, NULL, 0, 0, 0, {0}, {0}, error};
  *pattern = NULL;
  if (text.size >= SIZE_MAX / sizeof(item) - 2)
    return pf_no_memory(error);
  c.pattern = calloc(1, sizeof *c.pattern + (text.size + 1) * sizeof(item));
  if (c.pattern == NULL)
    return pf_no_memory(error);
  const pf_status status = compile(&c);
  if (status == PF_OK)
    *pattern = c.pattern;
  else
    free(c.pattern);
  return status;
}


void pf_pattern_close (pf_pattern *pattern) {
  free(pattern);
}


/* The places that a repeated item may still try: down to `least` (ITEM_MOST),
   or with more bytes from `place` on (ITEM_FEWEST). */
typedef struct choice {
  const item *item;
  const uint8_t *place, *least;
} choice;

typedef struct matcher {
  const uint8_t *begin, *end; /* of the text */
  const uint8_t *from[PF_MOST_CAPTURES];
  size_t size[PF_MOST_CAPTURES]; /* SIZE_MAX: a place */
  choice choices[PF_MOST_REPETITIONS];
  size_t nchoices;
  uint64_t steps; /* since the last look for Ctrl-C */
} matcher;


/* Return the place after the repetitions of an item, or NULL. */
static const uint8_t *repeat (matcher *m, const item *at,
                              const uint8_t *place) {
  const uint8_t *const first = place;
  if (at->kind == ITEM_MOST)
    while (place < m->end && (size_t)(place - first) < at->most &&
           has(at, *place))
      place++;
  m->steps += (uint64_t)(place - first);
  if ((size_t)(place - first) < at->least)
    return NULL;
  m->choices[m->nchoices++] = (choice){at, place, first + at->least};
  return place;
}


static const uint8_t *balanced (matcher *m, const item *at,
                                const uint8_t *place) {
  size_t depth = 1;
  if (place == m->end || *place != at->a)
    return NULL;
  for (const uint8_t *p = place + 1; p < m->end; p++, m->steps++) {
    if (*p == at->b) {
      if (--depth == 0)
        return p + 1;
    }
    else
      depth += *p == at->a;
  }
  return NULL;
}


static const uint8_t *same (matcher *m, const item *at, const uint8_t *place) {
  const size_t size = m->size[at->a];
  if (size > (size_t)(m->end - place))
    return NULL;
  m->steps += size;
  return memcmp(m->from[at->a], place, size) == 0 ? place + size : NULL;
}


static bool is_frontier (const matcher *m, const item *at,
                         const uint8_t *place) {
  return !has(at, place == m->begin ? 0 : place[-1]) &&
         has(at, place == m->end ? 0 : *place);
}


/* Return the place after an item at a place, or NULL: it does not match. */
static const uint8_t *pass (matcher *m, const item *at, const uint8_t *place) {
  switch (at->kind) {
    case ITEM_ONE: return place < m->end && has(at, *place) ? place + 1 : NULL;
    case ITEM_MOST:
    case ITEM_FEWEST: return repeat(m, at, place);
    case ITEM_OPEN: m->from[at->a] = place; return place;
    case ITEM_CLOSE:
      m->size[at->a] = (size_t)(place - m->from[at->a]);
      return place;
    case ITEM_POSITION: m->size[at->a] = SIZE_MAX; return place;
    case ITEM_SAME: return same(m, at, place);
    case ITEM_BALANCED: return balanced(m, at, place);
    case ITEM_FRONTIER: return is_frontier(m, at, place) ? place : NULL;
    case ITEM_END: return place == m->end ? place : NULL;
    case ITEM_FOUND: break;
  }
  return place;
}


/* Take the next possibility of the last choice that has one. Return the place
   after its item, which is set, or NULL. */
static const uint8_t *retry (matcher *m, const item **at) {
  for (; m->nchoices > 0; m->nchoices--) {
    choice *const last = &m->choices[m->nchoices - 1];
    *at = last->item;
    if (last->item->kind == ITEM_MOST && last->place > last->least)
      return --last->place;
    if (last->item->kind == ITEM_FEWEST && last->place < m->end &&
        has(last->item, *last->place))
      return ++last->place;
  }
  return NULL;
}


/* Match all items at a place; set *after to the end of the match, or NULL. */
static pf_status match (matcher *m, const item *at, const uint8_t *place,
                        const uint8_t **after, pf_error *error) {
  m->nchoices = 0;
  while (place != NULL && at->kind != ITEM_FOUND) {
    place = pass(m, at, place);
    if (place == NULL)
      place = retry(m, &at);
    at++;
    if (++m->steps >= STEPS_PER_LOOK) {
      m->steps = 0;
      if (os_is_interrupted())
        return pf_interrupted(error);
    }
  }
  *after = place;
  return PF_OK;
}


pf_status pf_pattern_find (const pf_pattern *pattern, pf_bytes text,
                           pf_found *found, pf_error *error) {
  static const uint8_t nothing[1];
  matcher m;
  m.begin = text.size == 0 ? nothing : text.at;
  m.end = m.begin + text.size;
  m.steps = 0;
  const uint8_t *after = NULL, *place = m.begin;
  pf_status status = match(&m, pattern->items, place, &after, error);
  while (status == PF_OK && after == NULL && !pattern->is_anchored &&
         place < m.end)
    status = match(&m, pattern->items, ++place, &after, error);
  found->is_found = status == PF_OK && after != NULL;
  found->first = (size_t)(place - m.begin);
  found->last = found->is_found ? (size_t)(after - m.begin) : 0;
  return status;
}
