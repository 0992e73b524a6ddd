/*
** export_flames.c - the frames of a flame graph in SVG: a path for all frames
** of a colour, and texts for the names that have space. Chromium takes 4 s for
** 100,000 elements, and 0.7 s for 100 paths with as many frames. The document
** around them and its script, which draws the frames again from the elements
** `metadata`, are in lua/profio/exports/svg.lua.
**
** Called by svg.lua. The userdata of export.h owns the text; the contexts are
** borrowed from their userdata during the call.
*/

#include <math.h>

#include "lua/arguments.h"
#include "lua/profile/export.h"
#include "model/base/sorts.h"

/* Default minimum width of a frame, and the width of a character, in pixels. */
#define MIN_WIDTH  0.1
#define CHAR_WIDTH 7.3

/* The border between frames, in pixels; narrower frames than MIN_BORDERED have
   none. */
#define GAP          0.5
#define MIN_BORDERED 2

#define SCALE 1e7 /* width of the root in `metadata` */

/* Contexts that are not drawn for one reason, with all below them. */
typedef struct left_out {
  uint32_t contexts;
  double weight;
} left_out;

typedef struct drawn {
  double from; /* begin, in weight */
  uint32_t node, depth;
  uint32_t color; /* rgb, then the index of its path */
} drawn;

typedef struct flames {
  l_export *out;
  double left, width, row, bottom; /* pixels: of the root, a row, its edge */
  bool is_upward;                  /* the root is at the bottom */
  uint32_t rows;                   /* maximum depth that is drawn */
  double min_width;                /* minimum width of a drawn frame, pixels */
  int64_t *totals;
  int64_t *before;   /* totals of an older profile, or NULL */
  int64_t *widths;   /* widths of the frames, in weight: the totals, or the
                        sums of both profiles, so that what is gone is shown */
  double *next;      /* by depth: begin of the next frame, in weight */
  double whole;      /* width of the root, in weight */
  double max_change; /* largest absolute change of a total */
  const char *unit;  /* of the metric */
  drawn *frames;     /* in depth-first order */
  uint32_t nframes;
  left_out narrow, deep;
} flames;


static void put_number (flames *f, double value, int digits) {
  char text[ROW_NUMBER_SIZE];
  const char *const end = row_put_fixed(text, value, digits);
  l_export_bytes(f->out, text, (size_t)(end - text));
}


/* Returns the size of the first character; of a byte that is not UTF-8, 1. */
static size_t letter_size (pf_bytes text, size_t at) {
  const size_t size = pf_utf8(text.at + at, text.size - at);
  return size == 0 ? 1 : size;
}


/* Writes a text as XML: markup characters as entities, control characters and
   bytes that are not UTF-8 as U+FFFD. */
static void put_xml (flames *f, pf_bytes text) {
  for (size_t i = 0; i < text.size; i += letter_size(text, i)) {
    const size_t size = pf_utf8(text.at + i, text.size - i);
    const uint8_t byte = text.at[i];
    if (size == 0 || (size == 1 && (byte < 0x20 || byte == 0x7f)))
      l_export_text(f->out, "\xef\xbf\xbd");
    else if (byte == '&')
      l_export_text(f->out, "&amp;");
    else if (byte == '<')
      l_export_text(f->out, "&lt;");
    else if (byte == '>')
      l_export_text(f->out, "&gt;");
    else if (byte == '"')
      l_export_text(f->out, "&quot;");
    else
      l_export_bytes(f->out, text.at + i, size);
  }
}


/* Returns one of 128 warm colours, derived from the name, so a function has the
   same colour everywhere. */
static uint32_t warm_color (pf_bytes name) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < name.size; i++)
    hash = (hash ^ name.at[i]) * 16777619u;
  hash ^= hash >> 15;
  return (220 + (hash & 3) * 11) << 16 | (90 + (hash >> 9 & 31) * 4) << 8 | 45;
}


/* Returns red for an increase and blue for a decrease, stronger for larger
   changes. Black text is readable on both. */
static uint32_t change_color (const flames *f, double change) {
  const double size = f->max_change == 0 ? 0 : fabs(change) / f->max_change;
  const double part = size > 1 ? 1 : size;
  const uint32_t pale = (uint32_t)(245 - 170 * part);
  return change >= 0 ? 245u << 16 | pale << 8 | pale
                     : pale << 16 | (uint32_t)(245 - 105 * part) << 8 | 245;
}


static void put_color (flames *f, uint32_t rgb) {
  static const char hex[] = "0123456789abcdef";
  char text[] = "#rrggbb";
  for (size_t i = 0; i < 6; i++)
    text[6 - i] = hex[rgb >> 4 * i & 15];
  l_export_text(f->out, text);
}


/* Returns the change of a total, limited to 64 bits. */
static int64_t change_of (const flames *f, uint32_t node) {
  int64_t change;
  if (!__builtin_sub_overflow(f->totals[node], f->before[node], &change))
    return change;
  return f->before[node] < 0 ? INT64_MAX : INT64_MIN;
}


static pf_bytes name_of (const flames *f, uint32_t node) {
  const pf_contexts *const c = f->out->contexts;
  return node == 0 ? pf_bytes_of("all")
                   : pf_text(c->dictionary, PF_AREA, c->frames[node]);
}


static double left_of (const flames *f, const drawn *d) {
  return f->left + d->from / f->whole * f->width;
}


static double width_of (const flames *f, const drawn *d) {
  return (double)f->widths[d->node] / f->whole * f->width;
}


static double top_of (const flames *f, const drawn *d) {
  return f->is_upward ? f->bottom - (d->depth + 1) * f->row
                      : f->bottom + d->depth * f->row;
}


/* Returns where to count a frame that is not drawn, or NULL: it is drawn, or it
   has no width. */
static left_out *hidden_by (flames *f, uint32_t node, uint32_t depth) {
  if (f->widths[node] <= 0)
    return NULL;
  if (depth >= f->rows)
    return &f->deep;
  return (double)f->widths[node] / f->whole * f->width < f->min_width
             ? &f->narrow
             : NULL;
}


static void add_frame (flames *f, uint32_t node, uint32_t depth, double from) {
  f->frames[f->nframes++] = (drawn){
      .from = from,
      .node = node,
      .depth = depth,
      .color = f->before == NULL ? warm_color(name_of(f, node))
                                 : change_color(f, (double)change_of(f, node))};
}


/* Collects all frames that are drawn; the children of a frame begin at its left
   edge. Frames below a hidden one are hidden. Returns the largest depth, which
   determines the height of the picture. */
static uint32_t collect_frames (flames *f) {
  const l_export *const e = f->out;
  uint32_t hidden = UINT32_MAX, deepest = 0;
  left_out *reason = NULL; /* of the hidden frame */
  f->next[0] = 0;
  for (uint32_t i = 0; i < e->contexts->count; i++) {
    const uint32_t node = e->walk.order[i], depth = e->walk.depths[i];
    const bool has_width = f->widths[node] > 0;
    if (depth > hidden) {
      if (reason != NULL && has_width)
        reason->contexts++;
      continue;
    }
    hidden = UINT32_MAX;
    const double from = f->next[depth];
    reason = hidden_by(f, node, depth);
    if (!has_width || reason != NULL) {
      hidden = depth;
      f->next[depth] += has_width ? (double)f->widths[node] : 0;
      if (reason != NULL) {
        reason->contexts++;
        reason->weight += (double)f->widths[node];
      }
      continue;
    }
    add_frame(f, node, depth, from);
    f->next[depth] = from + (double)f->widths[node];
    f->next[depth + 1] = from;
    if (depth > deepest)
      deepest = depth;
  }
  return deepest;
}


static void put_rectangle (flames *f, const drawn *d) {
  const double width = width_of(f, d);
  const double shown = width < MIN_BORDERED ? width : width - GAP;
  l_export_text(f->out, "M");
  put_number(f, left_of(f, d), 2);
  l_export_text(f->out, " ");
  put_number(f, top_of(f, d), 0);
  l_export_text(f->out, "h");
  put_number(f, shown, 2);
  l_export_text(f->out, "v");
  put_number(f, f->row - 1, 0);
  l_export_text(f->out, "h-");
  put_number(f, shown, 2);
  l_export_text(f->out, "z");
}


/* Writes a path for each colour, and replaces the colours by the indices of
   their paths. */
static void put_paths (lua_State *L, flames *f) {
  pf_pair *const pairs = l_scratch(L, f->nframes, sizeof *pairs);
  pf_pair *const spare = l_scratch(L, f->nframes, sizeof *spare);
  uint32_t paths = 0;
  for (uint32_t i = 0; i < f->nframes; i++)
    pairs[i] = (pf_pair){f->frames[i].color, i};
  pf_sort_pairs(pairs, spare, f->nframes);
  for (uint32_t i = 0; i < f->nframes; i++) {
    drawn *const d = &f->frames[pairs[i].row];
    if (i == 0 || pairs[i].word != pairs[i - 1].word) {
      l_export_text(f->out, i == 0 ? "<path fill=\"" : "\"/>\n<path fill=\"");
      put_color(f, d->color);
      l_export_text(f->out, "\" d=\"");
      paths++;
    }
    put_rectangle(f, d);
    d->color = paths - 1;
  }
  l_export_text(f->out, f->nframes > 0 ? "\"/>\n" : "");
}


/* Writes a part of a text: `count` letters from the `first` one on. */
static void put_letters (flames *f, pf_bytes text, size_t first, size_t count) {
  size_t from = 0;
  for (size_t n = 0; n < first && from < text.size; n++)
    from += letter_size(text, from);
  size_t to = from;
  for (size_t n = 0; n < count && to < text.size; n++)
    to += letter_size(text, to);
  put_xml(f, (pf_bytes){.at = text.at + from, .size = to - from});
}


/* Writes the name, without its middle if it is longer than the frame, since the
   ends of names distinguish them; nothing if there is no space. */
static void put_label (flames *f, const drawn *d) {
  const pf_bytes name = name_of(f, d->node);
  const double space = (width_of(f, d) - 6) / CHAR_WIDTH;
  if (space < 1)
    return;
  const size_t max = (size_t)space;
  size_t letters = 0;
  for (size_t i = 0; i < name.size; i += letter_size(name, i))
    letters++;
  if (letters > max && max < 3)
    return;
  l_export_text(f->out, "<text x=\"");
  put_number(f, left_of(f, d) + 3, 2);
  l_export_text(f->out, "\" y=\"");
  put_number(f, top_of(f, d) + f->row - 5, 0);
  l_export_text(f->out, "\">");
  const size_t end = max < 4 ? 0 : (size_t)ceil((double)(max - 1) * 0.6);
  if (letters <= max || max < 4)
    put_letters(f, name, 0, max);
  else {
    put_letters(f, name, 0, max - 1 - end);
    l_export_text(f->out, "\xe2\x80\xa6");
    put_letters(f, name, letters - end, end);
  }
  l_export_text(f->out, "</text>\n");
}


/* Writes the data for the script: the unit of the weights; a line for each
   name; and for each frame a line "depth position width name path total self",
   where names and paths are indices, and positions and widths parts of SCALE;
   of a difference also the total before. */
static void put_data (lua_State *L, flames *f) {
  const pf_contexts *const c = f->out->contexts;
  const size_t nareas = (size_t)pf_areas_count(c->dictionary) + 1;
  uint32_t *const numbers = l_scratch(L, nareas, sizeof *numbers), count = 1;
  l_export_text(f->out, "<metadata class=\"unit\">");
  put_xml(f, pf_bytes_of(f->unit));
  l_export_text(f->out, "\n</metadata>\n<metadata class=\"names\">all\n");
  for (uint32_t i = 1; i < f->nframes; i++) {
    const uint32_t frame = c->frames[f->frames[i].node];
    if (numbers[frame] != 0)
      continue;
    numbers[frame] = count++;
    put_xml(f, name_of(f, f->frames[i].node));
    l_export_text(f->out, "\n");
  }
  l_export_text(f->out, "</metadata>\n<metadata class=\"frames\">");
  for (uint32_t i = 0; i < f->nframes; i++) {
    const drawn *const d = &f->frames[i];
    const double share = (double)f->widths[d->node] / f->whole;
    l_export_put(f->out, "%lld %lld %lld %lld %lld %lld %lld",
                 (long long)d->depth, llround(SCALE * d->from / f->whole),
                 llround(SCALE * share),
                 (long long)(i == 0 ? 0 : numbers[c->frames[d->node]]),
                 (long long)d->color, (long long)f->totals[d->node],
                 (long long)c->weights[f->out->metric][d->node]);
    if (f->before != NULL)
      l_export_put(f->out, " %lld", (long long)f->before[d->node]);
    l_export_text(f->out, "\n");
  }
  l_export_text(f->out, "</metadata>\n");
}


static int64_t *totals_of (lua_State *L, const pf_contexts *contexts,
                           size_t metric) {
  int64_t *const totals = l_scratch(L, contexts->count, sizeof *totals);
  pf_contexts_totals(contexts, metric, totals);
  return totals;
}


/* Returns the sums of the totals of both profiles; negative ones count 0. */
static int64_t *widths_of_both (lua_State *L, const flames *f, uint32_t count) {
  int64_t *const widths = l_scratch(L, count, sizeof *widths);
  for (uint32_t i = 0; i < count; i++) {
    bool overflow = false;
    const int64_t now = f->totals[i] > 0 ? f->totals[i] : 0;
    const int64_t before = f->before[i] > 0 ? f->before[i] : 0;
    widths[i] = pf_weight_add(now, before, &overflow);
  }
  return widths;
}


/* Opens the export of the contexts at 1; its memory stays on the stack. */
static void open_flames (lua_State *L, flames *f, int file_arg) {
  *f = (flames){.out = l_export_new(L, 1, 2, file_arg)};
  const pf_contexts *const c = f->out->contexts;
  const char *const before = l_option_text(L, 2, "before", NULL);
  const lua_Number rows = l_option_number(L, 2, "rows", 400);
  f->left = l_option_number(L, 2, "left", 0);
  f->width = l_option_number(L, 2, "width", 1200);
  f->row = l_option_number(L, 2, "row", 17);
  f->min_width = l_option_number(L, 2, "min_width", MIN_WIDTH);
  f->rows = rows < 1 ? 1 : rows > 100000 ? 100000 : (uint32_t)rows;
  f->bottom = l_option_number(L, 2, "root", 0);
  f->is_upward = l_option_flag(L, 2, "upward");
  f->unit = c->metrics[f->out->metric].unit;
  f->totals = totals_of(L, c, f->out->metric);
  if (before != NULL)
    f->before = totals_of(L, c, l_metric_check(L, c, before));
  f->next = l_scratch(L, (size_t)f->out->walk.max_depth + 3, sizeof *f->next);
  f->widths = f->before != NULL && l_option_flag(L, 2, "both")
                  ? widths_of_both(L, f, c->count)
                  : f->totals;
  f->whole = (double)f->widths[0];
  f->frames = l_scratch(L, c->count, sizeof *f->frames);
  for (uint32_t i = 1; f->whole > 0 && f->before != NULL && i < c->count; i++)
    f->max_change = fmax(f->max_change, fabs((double)change_of(f, i)));
}


/*
** core.write_flames(contexts, options, file): writes the frames of a flame
** graph. Options in pixels: left and width (of the root), row (height of a
** row), root (the edge that the root touches), min_width (minimum width of a
** drawn frame); upward (the root is at the bottom), rows (maximum number),
** metric, before (metric of an older profile: colours show the change), both
** (widths are the sums of both profiles).
*/
static int core_write_flames (lua_State *L) {
  flames f;
  lua_settop(L, 3);
  open_flames(L, &f, 3);
  if (f.whole > 0)
    collect_frames(&f);
  l_export_text(f.out, "<g class=\"frames\">\n");
  put_paths(L, &f);
  l_export_text(f.out, "</g>\n<g class=\"labels\">\n");
  for (uint32_t i = 0; i < f.nframes; i++)
    put_label(&f, &f.frames[i]);
  l_export_text(f.out, "</g>\n");
  if (f.nframes > 0)
    put_data(L, &f);
  return l_export_finish(L, f.out);
}


/* core.flame_rows(contexts, options, file): the number of rows that
   write_flames would draw with these options; the number of contexts that it
   would not draw because they are too narrow, and their part of the whole; both
   for those that are too deep; and the number of all rows. */
static int core_flame_rows (lua_State *L) {
  flames f;
  lua_settop(L, 3);
  open_flames(L, &f, 3);
  lua_pushinteger(L, f.whole > 0 ? (lua_Integer)collect_frames(&f) + 1 : 0);
  for (size_t i = 0; i < 2; i++) {
    const left_out *const left = i == 0 ? &f.narrow : &f.deep;
    lua_pushinteger(L, left->contexts);
    lua_pushnumber(L, f.whole > 0 ? left->weight / f.whole : 0);
  }
  lua_pushinteger(L, (lua_Integer)f.out->walk.max_depth + 1);
  return 6;
}


void l_open_export_flames (lua_State *L) {
  L_ADD(L, {"flame_rows", core_flame_rows},
        {"write_flames", core_write_flames});
}
