/*
** export_flames.c - the frames of a flame graph as SVG elements. The document
** around them and its script are in lua/profio/exports/svg.lua.
**
** Called by svg.lua. The userdata of export.h owns the text; the contexts are
** borrowed from their userdata during the call.
*/

#include <math.h>

#include "lua/arguments.h"
#include "lua/profile/export.h"

/* Default minimum width of a frame, and the width of a character, in pixels. */
#define MIN_WIDTH  0.1
#define CHAR_WIDTH 7.3

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
} flames;


static void put_number (flames *f, double value, int digits) {
  char text[ROW_NUMBER_SIZE];
  const char *const end = row_put_fixed(text, value, digits);
  l_export_bytes(f->out, text, (size_t)(end - text));
}


static void put_attribute (flames *f, const char *name, double value,
                           int digits) {
  l_export_put(f->out, " %s=\"", name);
  put_number(f, value, digits);
  l_export_text(f->out, "\"");
}


/* Writes at most `max` characters of a text as XML: markup characters as
   entities, control characters and bytes that are not UTF-8 as U+FFFD. */
static void put_xml (flames *f, pf_bytes text, size_t max) {
  for (size_t i = 0, n = 0; i < text.size && n < max; n++) {
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
    i += size == 0 ? 1 : size;
  }
}


/* Writes a weight for people: times in a suitable unit. */
static void put_weight (flames *f, int64_t weight) {
  static const struct {
    double ns;
    const char *unit;
  } units[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " us"}, {1, " ns"}};
  if (strcmp(f->unit, "ns") != 0) {
    l_export_put(f->out, "%lld%s", (long long)weight,
                 f->unit[0] == '\0' ? "" : " ");
    put_xml(f, l_bytes_of(f->unit), 24);
    return;
  }
  size_t i = 0;
  while (i < 3 && fabs((double)weight) < units[i].ns)
    i++;
  put_number(f, (double)weight / units[i].ns, i == 3 ? 0 : 3);
  l_export_text(f->out, units[i].unit);
}


static void put_color (flames *f, unsigned red, unsigned green, unsigned blue) {
  static const char hex[] = "0123456789abcdef";
  const unsigned channels[] = {red & 255, green & 255, blue & 255};
  char text[] = " fill=\"#rrggbb\"";
  for (size_t i = 0; i < 3; i++) {
    text[8 + 2 * i] = hex[channels[i] >> 4];
    text[9 + 2 * i] = hex[channels[i] & 15];
  }
  l_export_text(f->out, text);
}


/* Writes a warm colour derived from the name, so a function has the same colour
   everywhere. */
static void put_warm (flames *f, pf_bytes name) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < name.size; i++)
    hash = (hash ^ name.at[i]) * 16777619u;
  hash ^= hash >> 15;
  put_color(f, 205 + (hash & 31) + (hash >> 5 & 15), 90 + (hash >> 9 & 127),
            30 + (hash >> 16 & 31));
}


/* Writes red for an increase and blue for a decrease, stronger for larger
   changes. */
static void put_change (flames *f, double change) {
  const double part = f->max_change == 0 ? 0 : fabs(change) / f->max_change;
  const unsigned pale = (unsigned)(245 - 170 * (part > 1 ? 1 : part));
  if (change >= 0)
    put_color(f, 245, pale, pale);
  else
    put_color(f, pale, pale, 245);
}


static int64_t change_of (const flames *f, uint32_t node) {
  bool overflow = false;
  return pf_weight_add(f->totals[node], -f->before[node], &overflow);
}


/* Writes the attribute shown as tip: name, total and share; for a difference
   also the previous total and the change. */
static void put_words (flames *f, pf_bytes name, uint32_t node) {
  l_export_text(f->out, " data-t=\"");
  put_xml(f, name, SIZE_MAX);
  l_export_text(f->out, " (");
  put_weight(f, f->totals[node]);
  l_export_text(f->out, ", ");
  put_number(f,
             f->totals[0] > 0
                 ? 100 * (double)f->totals[node] / (double)f->totals[0]
                 : 0,
             2);
  l_export_text(f->out, "%");
  if (f->before != NULL) {
    l_export_text(f->out, "; before ");
    put_weight(f, f->before[node]);
    l_export_text(f->out, change_of(f, node) < 0 ? ", " : ", +");
    put_weight(f, change_of(f, node));
  }
  l_export_text(f->out, ")\"");
}


/* Writes the name, shortened to the width. */
static void put_label (flames *f, pf_bytes name, double x, double y,
                       double width) {
  const double chars = (width - 6) / CHAR_WIDTH;
  l_export_text(f->out, "<text");
  put_attribute(f, "x", x + 3, 2);
  put_attribute(f, "y", y + f->row - 5, 1);
  l_export_text(f->out, ">");
  if (chars >= (double)name.size)
    put_xml(f, name, SIZE_MAX);
  else if (chars >= 3) {
    put_xml(f, name, (size_t)chars - 2);
    l_export_text(f->out, "..");
  }
  l_export_text(f->out, "</text>");
}


static void put_frame (flames *f, uint32_t node, uint32_t depth, double from) {
  const l_export *const e = f->out;
  const double x = from / f->whole;
  const double share = (double)f->widths[node] / f->whole;
  const double left = f->left + x * f->width, width = share * f->width;
  const double y = f->is_upward ? f->bottom - (depth + 1) * f->row
                                : f->bottom + depth * f->row;
  const pf_bytes name = node == 0 ? l_bytes_of("all")
                                  : pf_text(e->contexts->dictionary, PF_AREA,
                                            e->contexts->frames[node]);
  l_export_text(f->out, "<g class=\"f\"");
  put_attribute(f, "data-x", x, 7);
  put_attribute(f, "data-w", share, 7);
  put_attribute(f, "data-d", depth, 0);
  put_words(f, name, node);
  l_export_text(f->out, "><rect");
  put_attribute(f, "x", left, 2);
  put_attribute(f, "y", y, 1);
  put_attribute(f, "width", width, 2);
  put_attribute(f, "height", f->row - 1, 1);
  if (f->before != NULL)
    put_change(f, (double)change_of(f, node));
  else
    put_warm(f, name);
  l_export_text(f->out, "/>");
  put_label(f, name, left, y, width);
  l_export_text(f->out, "</g>\n");
}


/* Whether a frame is wide enough and near enough to the root to be drawn. */
static bool is_drawn (const flames *f, uint32_t node, uint32_t depth) {
  return depth < f->rows && f->widths[node] > 0 &&
         (double)f->widths[node] / f->whole * f->width >= f->min_width;
}


/* Visits all frames that are drawn, and writes them if `writes`; the children
   of a frame begin at its left edge. Frames below a hidden one are hidden.
   Returns the largest depth, which determines the height of the picture. */
static uint32_t put_frames (flames *f, bool writes) {
  const l_export *const e = f->out;
  uint32_t hidden = UINT32_MAX, deepest = 0;
  f->next[0] = 0;
  for (uint32_t i = 0; i < e->contexts->count; i++) {
    const uint32_t node = e->walk.order[i], depth = e->walk.depths[i];
    if (depth > hidden)
      continue;
    hidden = UINT32_MAX;
    const double from = f->next[depth];
    if (!is_drawn(f, node, depth)) {
      hidden = depth;
      f->next[depth] += f->widths[node] > 0 ? (double)f->widths[node] : 0;
      continue;
    }
    if (writes)
      put_frame(f, node, depth, from);
    f->next[depth] = from + (double)f->widths[node];
    f->next[depth + 1] = from;
    if (depth > deepest)
      deepest = depth;
  }
  return deepest;
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


/* Opens the export of the contexts at 1 with the options at 2; its memory stays
   on the stack. */
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
  for (uint32_t i = 1; f->whole > 0 && f->before != NULL && i < c->count; i++)
    f->max_change = fmax(f->max_change, fabs((double)change_of(f, i)));
}


/*
** core.write_flames(contexts, options, file): writes the frames of a flame
** graph. Options in pixels: left and width (of the root), row (height of a
** row), root (the edge that the root touches), min_width (minimum width of a drawn
** frame); upward (the root is at the bottom), rows (maximum number), metric,
** before (metric of an older profile: colours show the change), both (widths
** are the sums of both profiles).
*/
static int core_write_flames (lua_State *L) {
  flames f;
  lua_settop(L, 3);
  open_flames(L, &f, 3);
  if (f.whole > 0)
    put_frames(&f, true);
  return l_export_finish(L, f.out);
}


/* core.flame_rows(contexts, options, file): the number of rows that
   write_flames would draw with these options. */
static int core_flame_rows (lua_State *L) {
  flames f;
  lua_settop(L, 3);
  open_flames(L, &f, 3);
  lua_pushinteger(L, f.whole > 0 ? (lua_Integer)put_frames(&f, false) + 1 : 0);
  return 1;
}


void l_open_export_flames (lua_State *L) {
  static const luaL_Reg functions[] = {{"flame_rows", core_flame_rows},
                                       {"write_flames", core_write_flames},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
