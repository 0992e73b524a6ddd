/*
** views.c - the rows of a view are computed when it is opened, as numbers;
** names are looked up when a batch is filled.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/contexts/views.h"
#include "model/base/memory.h"
#include "model/base/sorts.h"
#include "model/base/wide.h"
#include "model/dictionary/shared_names.h"
#include "model/rows/batch.h"
#include "model/rows/put_values.h"
#include "model/rows/table_reader.h"

#define MAX_FIELDS 11
#define MAX_INDENT 200 /* blanks before a label */

/* The value of a row that a column shows. */
typedef enum shown {
  FUNCTION,
  CALLER,
  CALLER_FILE,
  CALLS,
  SELF,
  TOTAL,
  SELF_SHARE,
  TOTAL_SHARE,
  FILE_NAME,
  LINE,
  DEPTH,
  NODE,
  LABEL
} shown;

typedef struct row {
  uint32_t area, caller; /* frames, or PF_NO_AREA */
  uint32_t depth, node;
  int64_t calls, self, total;
} row;

typedef struct rows_reader {
  pf_reader reader;
  pf_field fields[MAX_FIELDS];
  shown shown[MAX_FIELDS];
  char helps[2][160]; /* of self and total, with the unit */
  const pf_contexts *contexts;
  row *rows;
  size_t count, at;
  bool is_graph;
  size_t calls;    /* the metric, or PF_NO_METRIC */
  int64_t whole;   /* sum of all self */
  uint8_t *labels; /* of the current batch */
  size_t labels_capacity;
  pf_shared_names shared; /* of all rows, once there is a label */
} rows_reader;

/* The values from which a view is computed. */
typedef struct view_input {
  const pf_context_rows *wanted;
  pf_traversal traversal;
  int64_t *totals;
  int64_t *calls; /* for PF_VIEW_BOTTOM_UP: totals of calls; NULL: unknown */
  bool *outermost;
} view_input;


static void put_value (const rows_reader *r, shown what, const row *from,
                       pf_column *column, size_t at) {
  const pf_dictionary *const d = r->reader.dictionary;
  switch (what) {
    case FUNCTION: pf_put_id(column, at, pf_area_name(d, from->area)); break;
    case CALLER: pf_put_id(column, at, pf_area_name(d, from->caller)); break;
    case CALLER_FILE:
      pf_put_id(column, at, pf_area_at(d, from->caller)->file);
      break;
    case FILE_NAME:
      pf_put_id(column, at, pf_area_at(d, from->area)->file);
      break;
    case LINE:
      pf_put_int(column, at, pf_area_at(d, from->area)->line,
                 pf_area_at(d, from->area)->line != 0);
      break;
    case CALLS:
      pf_put_int(
          column, at, from->calls,
          r->calls != PF_NO_METRIC &&
              !(r->is_graph && from->caller == PF_NO_AREA && from->calls == 0));
      break;
    case SELF: column->ints[at] = from->self; break;
    case TOTAL: column->ints[at] = from->total; break;
    case SELF_SHARE:
    case TOTAL_SHARE:
      if (r->whole == 0)
        pf_put_none(column, at, 1);
      else
        column->nums[at] =
            pf_ratio(what == SELF_SHARE ? from->self : from->total, r->whole);
      break;
    case DEPTH: column->ints[at] = from->depth; break;
    case NODE: column->ints[at] = from->node; break;
    case LABEL: break; /* put_labels */
  }
}


static size_t indent_of (const row *from) {
  const size_t blanks = 2 * (size_t)(from->depth - 1);
  return blanks < MAX_INDENT ? blanks : MAX_INDENT;
}


/* Finds the names that rows of several files have. */
static bool find_shared_names (rows_reader *r) {
  const bool is_found = r->shared.files != NULL;
  for (size_t i = 0; i < r->count && !is_found; i++)
    if (!pf_shared_names_add(&r->shared, r->reader.dictionary, r->rows[i].area))
      return false;
  return true;
}


/* Put the labels of a batch whose first row is row `first`. A name that
   functions of several files have is followed by the file. */
static pf_status put_labels (rows_reader *r, pf_column *column, size_t first,
                             size_t rows) {
  const pf_dictionary *const d = r->reader.dictionary;
  size_t size = 1;
  if (!find_shared_names(r))
    return PF_ENOMEM;
  for (size_t i = 0; i < rows; i++) {
    const row *const from = &r->rows[first + i];
    size += indent_of(from) + pf_full_name_size(&r->shared, d, from->area);
  }
  if (!pf_grow(&r->labels, &r->labels_capacity, size))
    return PF_ENOMEM;
  uint8_t *at = r->labels;
  for (size_t i = 0; i < rows; i++) {
    const row *const from = &r->rows[first + i];
    uint8_t *const begin = at;
    memset(at, ' ', indent_of(from));
    at += indent_of(from);
    at = pf_full_name_put(&r->shared, d, from->area, at);
    column->bytes[i] = (pf_bytes){begin, (size_t)(at - begin)};
  }
  return PF_OK;
}


static pf_status rows_next (pf_reader *self, pf_batch *batch, pf_error *error) {
  rows_reader *const r = (rows_reader *)(void *)self;
  const size_t first = r->at;
  pf_batch_clear(batch);
  for (; batch->rows < PF_BATCH_ROWS && r->at < r->count;
       batch->rows++, r->at++) {
    const row *const from = &r->rows[r->at];
    for (size_t i = 0; i < self->nfields; i++)
      if (batch->columns[i].data != NULL)
        put_value(r, r->shown[i], from, &batch->columns[i], batch->rows);
  }
  for (size_t i = 0; i < self->nfields; i++)
    if (r->shown[i] == LABEL && batch->columns[i].data != NULL &&
        put_labels(r, &batch->columns[i], first, batch->rows) != PF_OK)
      return pf_no_memory(error);
  return pf_batch_status(batch, PF_END);
}


static void rows_close (pf_reader *self) {
  rows_reader *const r = (rows_reader *)(void *)self;
  free(r->rows);
  free(r->labels);
  free(r->shared.files);
  free(r);
}


/* Compare by descending self, if `context` says so, then by descending
   total. */
static int compare_rows (const void *context, const void *left,
                         const void *right) {
  const row *const a = left, *const b = right;
  const bool by_self = *(const bool *)context;
  if (by_self && a->self != b->self)
    return a->self > b->self ? -1 : 1;
  return (a->total < b->total) - (a->total > b->total);
}


static pf_status sort_rows (rows_reader *r, bool by_self) {
  row *const spare = malloc((r->count + 1) * sizeof *spare);
  if (spare != NULL)
    pf_sort(r->rows, spare, r->count, sizeof *spare, compare_rows, &by_self);
  free(spare);
  return spare == NULL ? PF_ENOMEM : PF_OK;
}


static bool is_shown (const view_input *s, const row *from) {
  return s->wanted->zeros || from->self != 0 || from->total != 0 ||
         from->calls != 0;
}


/* Keep the rows that are shown. */
static void drop_zeros (const view_input *s, rows_reader *r, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (is_shown(s, &r->rows[i]))
      r->rows[r->count++] = r->rows[i];
}


/* Add the weights of a node to a row. */
static void add_node (const view_input *s, const rows_reader *r, uint32_t node,
                      bool is_outermost, row *to) {
  bool overflow = false;
  to->self = pf_weight_add(
      to->self, r->contexts->weights[s->wanted->metric][node], &overflow);
  if (r->calls != PF_NO_METRIC)
    to->calls = pf_weight_add(to->calls, r->contexts->weights[r->calls][node],
                              &overflow);
  const size_t given = s->wanted->total_metric;
  if (given != PF_NO_METRIC)
    to->total =
        pf_weight_add(to->total, r->contexts->weights[given][node], &overflow);
  else if (is_outermost)
    to->total = pf_weight_add(to->total, s->totals[node], &overflow);
}


/* Sum up each class of nodes, as a row whose `node` is its first one. */
static pf_status sum_classes (view_input *s, rows_reader *r,
                              const uint32_t *classes, size_t nclasses) {
  r->rows = calloc(nclasses + 1, sizeof *r->rows);
  if (r->rows == NULL ||
      pf_traversal_outermost(&s->traversal, classes, nclasses, s->outermost) !=
          PF_OK)
    return PF_ENOMEM;
  for (uint32_t i = 1; i < r->contexts->count; i++) {
    if (classes[i] == UINT32_MAX)
      continue;
    row *const to = &r->rows[classes[i]];
    to->node = to->node == 0 ? i : to->node;
    add_node(s, r, i, s->outermost[i], to);
  }
  return PF_OK;
}


/* Sum up the nodes with equal words; sets the number of rows, whose `area` is
   the frame of their first node. */
static pf_status sum_by (view_input *s, rows_reader *r, pf_word_of *word_of,
                         size_t *count) {
  uint32_t *const classes = malloc(r->contexts->count * sizeof *classes);
  pf_status status =
      classes == NULL
          ? PF_ENOMEM
          : pf_traversal_classes(&s->traversal, word_of, classes, count);
  if (status == PF_OK)
    status = sum_classes(s, r, classes, *count);
  for (size_t i = 0; status == PF_OK && i < *count; i++)
    r->rows[i].area = r->contexts->frames[r->rows[i].node];
  free(classes);
  return status;
}


static pf_status make_flat (view_input *s, rows_reader *r) {
  const pf_traversal *const t = &s->traversal;
  if (sum_classes(s, r, t->functions, t->nfunctions) != PF_OK)
    return PF_ENOMEM;
  for (uint32_t f = 0; f < t->nfunctions; f++)
    r->rows[f].area = t->areas[f];
  drop_zeros(s, r, t->nfunctions);
  return sort_rows(r, true);
}


#define WITHOUT_LINE ((uint64_t)1 << 63)
/* The frame; without a line the function. */
static uint64_t frame_word (const pf_traversal *t, uint32_t node) {
  const uint32_t area = t->contexts->frames[node];
  const bool is_known = pf_area_at(t->contexts->dictionary, area)->line != 0;
  return is_known ? area : WITHOUT_LINE | t->functions[node];
}


/* The file and the line; without a line the function. */
static uint64_t line_word (const pf_traversal *t, uint32_t node) {
  const pf_area *const a =
      pf_area_at(t->contexts->dictionary, t->contexts->frames[node]);
  return a->line != 0 ? (uint64_t)a->file << 32 | a->line : frame_word(t, node);
}


static pf_status make_lines (view_input *s, rows_reader *r) {
  const bool by_frame = s->wanted->view == PF_VIEW_LINES;
  size_t count;
  if (sum_by(s, r, by_frame ? frame_word : line_word, &count) != PF_OK)
    return PF_ENOMEM;
  drop_zeros(s, r, count);
  return by_frame ? sort_rows(r, true) : PF_OK;
}


static pf_status make_tree (view_input *s, rows_reader *r) {
  const pf_contexts *const c = r->contexts;
  r->rows = calloc(c->count, sizeof *r->rows);
  if (r->rows == NULL)
    return PF_ENOMEM;
  for (uint32_t i = 1; i < c->count; i++) {
    const uint32_t node = s->traversal.order[i];
    row *const to = &r->rows[r->count];
    *to = (row){
        c->frames[node], PF_NO_AREA, s->traversal.depths[i], node, 0, 0, 0};
    add_node(s, r, node, true, to);
    /* In inverted contexts the weights are at the outermost callers: only
       the first level has self. */
    if (s->wanted->view == PF_VIEW_BOTTOM_UP) {
      to->self = to->depth == 1 ? to->total : 0;
      to->calls = s->calls == NULL ? 0 : s->calls[to->node];
    }
    r->count += is_shown(s, to);
  }
  return PF_OK;
}


/* The caller and the callee. */
static uint64_t arc_word (const pf_traversal *t, uint32_t node) {
  const uint32_t caller = t->functions[t->contexts->parents[node]];
  return (uint64_t)(caller + 1u) << 32 | t->functions[node];
}


static pf_status make_graph (view_input *s, rows_reader *r) {
  const pf_traversal *const t = &s->traversal;
  const pf_dictionary *const d = r->contexts->dictionary;
  const uint32_t caller = s->wanted->caller, callee = s->wanted->callee;
  size_t narcs, kept = 0;
  if (sum_by(s, r, arc_word, &narcs) != PF_OK)
    return PF_ENOMEM;
  for (size_t i = 0; i < narcs; i++) {
    row *const arc = &r->rows[i];
    const uint32_t above = t->functions[r->contexts->parents[arc->node]];
    arc->area = t->areas[t->functions[arc->node]];
    arc->caller = above == PF_NO_FUNCTION ? PF_NO_AREA : t->areas[above];
    if ((caller == PF_NO_NAME || (arc->caller != PF_NO_AREA &&
                                  pf_area_name(d, arc->caller) == caller)) &&
        (callee == PF_NO_NAME || pf_area_name(d, arc->area) == callee))
      r->rows[kept++] = *arc;
  }
  drop_zeros(s, r, kept);
  return sort_rows(r, false);
}


typedef struct column {
  const char *name;
  pf_type type;
  shown shown;
  const char *help; /* NULL: it has the unit */
} column;

/* clang-format off */
static const column columns[][MAX_FIELDS + 1] = {
  [PF_VIEW_FLAT] = {
    {"function", PF_NAME, FUNCTION, "its name"},
    {"calls", PF_INT, CALLS, "how often it was called"},
    {"self", PF_INT, SELF, NULL},
    {"total", PF_INT, TOTAL, NULL},
    {"self_share", PF_NUM, SELF_SHARE, "self as a part of the whole"},
    {"total_share", PF_NUM, TOTAL_SHARE, "total as a part of the whole"},
    {"file", PF_NAME, FILE_NAME, "its source file or module"},
    {"line", PF_INT, LINE, "the first line known of it"},
  },
  [PF_VIEW_GRAPH] = {
    {"caller", PF_NAME, CALLER, "the caller; missing: unknown"},
    {"callee", PF_NAME, FUNCTION, "the function called"},
    {"calls", PF_INT, CALLS, "how often"},
    {"self", PF_INT, SELF, NULL},
    {"total", PF_INT, TOTAL, NULL},
    {"caller_file", PF_NAME, CALLER_FILE, "the caller's source file or module"},
    {"callee_file", PF_NAME, FILE_NAME, "the callee's source file or module"},
  },
  [PF_VIEW_TREE] = {
    {"depth", PF_INT, DEPTH, "how many frames there are, with this one"},
    {"function", PF_NAME, FUNCTION, "its name"},
    {"calls", PF_INT, CALLS, "how often it was called here"},
    {"self", PF_INT, SELF, NULL},
    {"total", PF_INT, TOTAL, NULL},
    {"self_share", PF_NUM, SELF_SHARE, "self as a part of the whole"},
    {"total_share", PF_NUM, TOTAL_SHARE, "total as a part of the whole"},
    {"file", PF_NAME, FILE_NAME, "its source file or module"},
    {"line", PF_INT, LINE, "its line"},
    {"node", PF_INT, NODE, "the number of the context"},
    {"label", PF_BYTES, LABEL, "its name, indented by two blanks a frame"},
  },
  [PF_VIEW_LINES] = {
    {"file", PF_NAME, FILE_NAME, "the source file or module"},
    {"line", PF_INT, LINE, "the line; missing: unknown"},
    {"count", PF_INT, CALLS, "how often it was counted"},
    {"self", PF_INT, SELF, NULL},
    {"total", PF_INT, TOTAL, NULL},
    {"self_share", PF_NUM, SELF_SHARE, "self as a part of the whole"},
    {"function", PF_NAME, FUNCTION, "the function it belongs to"},
  },
  [PF_VIEW_ANNOTATIONS] = {
    {"file", PF_NAME, FILE_NAME, "the source file or module"},
    {"line", PF_INT, LINE, "the line; missing: unknown"},
    {"count", PF_INT, CALLS, "how often it was counted"},
    {"self", PF_INT, SELF, NULL},
    {"total", PF_INT, TOTAL, NULL},
    {"function", PF_NAME, FUNCTION, "the function it belongs to"},
  },
};
/* clang-format on */


static void set_fields (rows_reader *r, const pf_context_rows *wanted) {
  const column *const from =
      columns[wanted->view == PF_VIEW_BOTTOM_UP ? PF_VIEW_TREE : wanted->view];
  /* The help of self and total names the unit: text output formats times by
     it. */
  const char *const name = r->contexts->metrics[wanted->metric].name;
  const char *const unit = r->contexts->metrics[wanted->metric].unit;
  for (size_t i = 0; i < 2; i++)
    pf_help_of_weight(r->helps[i], sizeof r->helps[i],
                      i == 1 ? "with all it called" : "its own time or weight",
                      name, unit);
  size_t n = 0;
  for (; n < MAX_FIELDS && from[n].name != NULL; n++) {
    const char *const help =
        from[n].help != NULL ? from[n].help : r->helps[from[n].shown == TOTAL];
    r->fields[n] = (pf_field){from[n].name, from[n].type, help};
    r->shown[n] = from[n].shown;
  }
  r->reader = (pf_reader){.fields = r->fields,
                          .nfields = n,
                          .dictionary = r->contexts->dictionary,
                          .next = rows_next,
                          .close = rows_close};
}


/* `calls`: the metric, or PF_NO_METRIC. */
static pf_status open_input (view_input *s, const pf_context_rows *wanted,
                             size_t calls) {
  const pf_contexts *const c = wanted->contexts;
  *s = (view_input){.wanted = wanted};
  s->totals = malloc(c->count * sizeof *s->totals);
  s->outermost = malloc(c->count * sizeof *s->outermost);
  if (s->totals == NULL || s->outermost == NULL)
    return PF_ENOMEM;
  pf_contexts_totals(c, wanted->metric, s->totals);
  if (wanted->view == PF_VIEW_BOTTOM_UP && calls != PF_NO_METRIC) {
    s->calls = malloc(c->count * sizeof *s->calls);
    if (s->calls == NULL)
      return PF_ENOMEM;
    pf_contexts_totals(c, calls, s->calls);
  }
  const bool is_tree =
      wanted->view == PF_VIEW_TREE || wanted->view == PF_VIEW_BOTTOM_UP;
  return pf_traversal_open(&s->traversal, c, is_tree ? s->totals : NULL);
}


pf_status pf_context_rows_open (const pf_context_rows *wanted,
                                pf_reader **reader, pf_error *error) {
  static pf_status (*const builders[])(view_input *, rows_reader *) = {
      [PF_VIEW_FLAT] = make_flat,   [PF_VIEW_GRAPH] = make_graph,
      [PF_VIEW_TREE] = make_tree,   [PF_VIEW_BOTTOM_UP] = make_tree,
      [PF_VIEW_LINES] = make_lines, [PF_VIEW_ANNOTATIONS] = make_lines,
  };
  view_input s;
  rows_reader *const r = calloc(1, sizeof *r);
  if (r == NULL)
    return pf_no_memory(error);
  r->contexts = wanted->contexts;
  r->is_graph = wanted->view == PF_VIEW_GRAPH;
  r->calls = wanted->view >= PF_VIEW_LINES
                 ? wanted->count_metric
                 : pf_metric_named(r->contexts, "calls");
  set_fields(r, wanted);
  pf_status status = open_input(&s, wanted, r->calls);
  if (status == PF_OK) {
    r->whole = s.totals[0];
    status = builders[wanted->view](&s, r);
  }
  pf_traversal_close(&s.traversal);
  free(s.totals);
  free(s.calls);
  free(s.outermost);
  return pf_reader_opened(
      &r->reader, status == PF_OK ? PF_OK : pf_no_memory(error), reader);
}
