/*
** nodes_cpuprofile.c - reads the tree of nodes. A node whose bytes cannot be
** read is damage, and all nodes before it are kept. Functions of one name in
** one file get their line, and their column if that is not enough.
**
** Called once by open_cpuprofile.c. The v8_file owns the nodes; their texts are
** borrowed from the source.
*/

#include "formats/cpuprofile/cpuprofile.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/base/memory.h"

/* {====== Members ====== */

/* A whole number; `fallback` if it is none. */
static int64_t number_of (const pf_json *value, int64_t fallback) {
  int64_t whole;
  int rest;
  return pf_parse_scaled(value->text, 0, &whole, &rest) == PF_OK ? whole
                                                                 : fallback;
}


/* Sets the function of a node. */
static pf_status set_frame (pf_trace *trace, v8_node *node, pf_bytes frame,
                            pf_error *error) {
  pf_json value;
  pf_status status = PF_OK;
  if (pf_json_member(frame, pf_bytes_of("functionName"), &value))
    status = pf_intern_json(trace->dictionary, &value, &node->name, error);
  if (status == PF_OK && pf_json_member(frame, pf_bytes_of("url"), &value) &&
      value.text.size > 0) {
    if (value.text.size > 7 && pf_begins_with(value.text, "file://"))
      value.text = pf_text_after(value.text, 7); /* as sources are found */
    status = pf_intern_json(trace->dictionary, &value, &node->file, error);
  }
  if (pf_json_member(frame, pf_bytes_of("lineNumber"), &value))
    node->line = number_of(&value, -1);
  if (pf_json_member(frame, pf_bytes_of("columnNumber"), &value))
    node->column = number_of(&value, -1);
  node->line = node->line >= 0 && node->line < INT32_MAX ? node->line + 1 : 0;
  node->column =
      node->column >= 0 && node->column < INT32_MAX ? node->column + 1 : 0;
  return status;
}


static pf_status set_member (pf_trace *trace, v8_node *node, pf_bytes key,
                             const pf_json *value, pf_error *error) {
  if (pf_bytes_equal(key, pf_bytes_of("id")))
    node->id = (uint64_t)number_of(value, -1);
  else if (pf_bytes_equal(key, pf_bytes_of("parent")))
    node->parent_id = number_of(value, -1);
  else if (pf_bytes_equal(key, pf_bytes_of("hitCount")))
    node->hits = number_of(value, 0);
  else if (pf_bytes_equal(key, pf_bytes_of("selfSize")))
    node->size = number_of(value, 0);
  else if (pf_bytes_equal(key, pf_bytes_of("children")))
    node->children = value->text;
  else if (pf_bytes_equal(key, pf_bytes_of("positionTicks")) &&
           value->kind == PF_JSON_ARRAY)
    node->ticks = value->text;
  else if (pf_bytes_equal(key, pf_bytes_of("callFrame")) &&
           value->kind == PF_JSON_OBJECT)
    return set_frame(trace, node, value->text, error);
  return PF_OK;
}


/* }====== */

/* {====== Tree ====== */

/* A position in the nodes. Those of the heap lie in each other, as deep as
   stacks are: what is open are the parents of the last node. */
typedef struct tree {
  pf_trace *trace;
  const uint8_t *p, *end; /* NULL: the text is not JSON */
  uint32_t node;          /* that is read; V8_NONE: none */
} tree;

typedef enum place {
  AT_NODE, /* at its bracket */
  AT_MEMBER,
  AFTER_MEMBER,
  AFTER_NODE,
  AT_END
} place;


/* Adds a node. */
static place begin_node (tree *t, pf_status *status, pf_error *error) {
  v8_file *const file = t->trace->state;
  bool has;
  if (file->nnodes >= V8_NONE ||
      !pf_grow(&file->nodes, &file->capacity, file->nnodes + 1)) {
    *status = pf_no_memory(error);
    return AT_END;
  }
  file->nodes[file->nnodes] = (v8_node){.id = UINT64_MAX,
                                        .name = PF_NO_NAME,
                                        .file = PF_NO_NAME,
                                        .line = -1,
                                        .column = -1,
                                        .parent = t->node,
                                        .parent_id = -1,
                                        .area = PF_NO_AREA,
                                        .stack = PF_NO_STACK};
  t->node = (uint32_t)file->nnodes++;
  t->p = pf_json_begin(t->p, t->end, '{', &has);
  return has ? AT_MEMBER : AFTER_NODE;
}


/* Reads a member of the node, or enters its children. */
static place read_member (tree *t, pf_status *status, pf_error *error) {
  const v8_file *const file = t->trace->state;
  v8_node *const node = &file->nodes[t->node];
  pf_json key, value;
  bool has;
  t->p = pf_json_key(t->p, t->end, &key);
  if (t->p == NULL)
    return AT_END;
  if (file->is_heap && pf_bytes_equal(key.text, pf_bytes_of("children"))) {
    t->p = pf_json_begin(t->p, t->end, '[', &has);
    return has ? AT_NODE : AFTER_MEMBER;
  }
  t->p = pf_json_value(t->p, t->end, &value);
  if (t->p != NULL)
    *status = set_member(t->trace, node, key.text, &value, error);
  return AFTER_MEMBER;
}


/* Goes on after a node: in the one around it, or in the array. */
static place leave_node (tree *t) {
  const v8_file *const file = t->trace->state;
  bool has;
  t->node = file->nodes[t->node].parent;
  if (t->node == V8_NONE && file->is_heap)
    return AT_END;
  t->p = pf_json_more(t->p, t->end, ']', &has);
  return has ? AT_NODE : t->node == V8_NONE ? AT_END : AFTER_MEMBER;
}


static pf_status read_tree (tree *t, pf_error *error) {
  const v8_file *const file = t->trace->state;
  const uint8_t *last = t->p;
  pf_status status = PF_OK;
  place at = AT_NODE;
  bool has = true;
  if (!file->is_heap)
    t->p = pf_json_begin(t->p, t->end, '[', &has);
  for (at = has ? AT_NODE : AT_END;
       at != AT_END && t->p != NULL && status == PF_OK;) {
    last = t->p;
    if (at == AT_NODE)
      at = begin_node(t, &status, error);
    else if (at == AT_MEMBER)
      at = read_member(t, &status, error);
    else if (at == AFTER_MEMBER) {
      t->p = pf_json_more(t->p, t->end, '}', &has);
      at = has ? AT_MEMBER : AFTER_NODE;
    }
    else
      at = leave_node(t);
  }
  return status == PF_OK && t->p == NULL
             ? v8_warn(t->trace, PF_DAMAGE, "cpuprofile-node", last,
                       "the nodes cannot be read from here on", error)
             : status;
}


/* }====== */

/* {====== Parents ====== */

/* Gives nodes their numbers. Of two with one number the second one is known by
   its place only. */
static pf_status number_nodes (pf_trace *trace, pf_error *error) {
  v8_file *const file = trace->state;
  pf_status status = PF_OK;
  for (uint32_t i = 0; i < file->nnodes && status == PF_OK; i++) {
    uint64_t id = file->nodes[i].id;
    uint32_t index;
    if (pf_id_table_find(&file->ids, id) != PF_NO_ID) {
      status = v8_warn(trace, PF_DAMAGE, "cpuprofile-id", NULL,
                       "two nodes have one id", error);
      for (id = UINT64_MAX; pf_id_table_find(&file->ids, id) != PF_NO_ID;)
        id -= file->nnodes + 1;
    }
    if (status == PF_OK &&
        pf_id_table_words(&file->ids, &id, 1, &index) != PF_OK)
      status = pf_no_memory(error);
  }
  return status;
}


/* Sets the parents of nodes from the children that each one states, or from the
   parent. */
static void link_nodes (v8_file *file) {
  for (uint32_t i = 0; i < file->nnodes; i++) {
    const pf_bytes children = file->nodes[i].children;
    pf_json id;
    for (const uint8_t *p = children.at;
         children.size > 0 &&
         (p = pf_json_element(p, children.at + children.size, &id)) != NULL;) {
      const uint32_t child =
          pf_id_table_find(&file->ids, (uint64_t)number_of(&id, -1));
      if (child != PF_NO_ID && child != i &&
          file->nodes[child].parent == V8_NONE)
        file->nodes[child].parent = i;
    }
    v8_node *const node = &file->nodes[i];
    if (node->parent == V8_NONE && node->parent_id >= 0) {
      const uint32_t parent =
          pf_id_table_find(&file->ids, (uint64_t)node->parent_id);
      node->parent = parent == i ? V8_NONE : parent;
    }
  }
}


/* }====== */

/* {====== Functions ====== */

/* How often a name occurs in a file at different places. */
typedef struct places {
  pf_id_table names; /* words: name and file */
  pf_id_table spots; /* words: id in `names`, and line */
  struct spot {
    int64_t line, column;
    bool has_lines, has_columns; /* there are others */
  } * of_name, *of_spot;
  size_t name_capacity, spot_capacity;
} places;


/* Sets the ids of a node's name, and of its name and line. */
static bool find_spots (places *self, const v8_node *node, uint32_t *name,
                        uint32_t *spot) {
  const uint64_t word = (uint64_t)node->name << 32 | node->file;
  if (pf_id_table_words(&self->names, &word, 1, name) != PF_OK)
    return false;
  const uint64_t line = (uint64_t)*name << 32 | (uint64_t)node->line;
  return pf_id_table_words(&self->spots, &line, 1, spot) == PF_OK;
}


static bool add_place (places *self, const v8_node *node) {
  const uint32_t names = self->names.count, spots = self->spots.count;
  uint32_t name, spot;
  if (!find_spots(self, node, &name, &spot) ||
      !pf_grow(&self->of_name, &self->name_capacity, self->names.count) ||
      !pf_grow(&self->of_spot, &self->spot_capacity, self->spots.count))
    return false;
  const struct spot here = {node->line, node->column, false, false};
  if (self->names.count > names)
    self->of_name[name] = here;
  if (self->spots.count > spots)
    self->of_spot[spot] = here;
  self->of_name[name].has_lines |= self->of_name[name].line != node->line;
  self->of_spot[spot].has_columns |= self->of_spot[spot].column != node->column;
  return true;
}


/* The name of a node's function: with its line and column if it has no name, or
   others of its file have it. PF_NO_NAME when out of memory. */
static uint32_t name_function (places *self, pf_dictionary *d,
                               const v8_node *node) {
  const pf_bytes name = pf_name(d, node->name);
  const bool is_unnamed = name.size == 0;
  const pf_bytes shown = is_unnamed ? pf_bytes_of("(anonymous)") : name;
  uint32_t of_name, spot;
  char text[600];
  if (!find_spots(self, node, &of_name, &spot))
    return PF_NO_NAME;
  const bool has_column = self->of_spot[spot].has_columns && node->column > 0;
  const bool has_line =
      (is_unnamed || has_column || self->of_name[of_name].has_lines) &&
      node->line > 0;
  if (!has_line)
    return pf_intern(d, shown);
  int used = snprintf(text, sizeof text, "%.*s:%lld", PF_SHOWN(shown, 500),
                      (long long)node->line);
  if (has_column)
    snprintf(text + used, sizeof text - (size_t)used, ":%lld",
             (long long)node->column);
  return pf_intern_text(d, text);
}


static pf_status set_areas (pf_trace *trace, places *self, pf_error *error) {
  const v8_file *const file = trace->state;
  pf_dictionary *const d = trace->dictionary;
  const uint32_t class = pf_intern_text(d, "function");
  const uint32_t unknown = pf_intern_text(d, "(unknown)");
  for (uint32_t i = 0; i < file->nnodes; i++) {
    if (file->nodes[i].name == PF_NO_NAME)
      file->nodes[i].name = unknown;
    if (!add_place(self, &file->nodes[i]))
      return pf_no_memory(error);
  }
  for (uint32_t i = 0; i < file->nnodes; i++) {
    v8_node *const node = &file->nodes[i];
    pf_area area = PF_AREA_NONE;
    area.name = name_function(self, d, node);
    area.class = class;
    area.file = node->file;
    if (area.name != PF_NO_NAME && class != PF_NO_NAME)
      node->area = pf_area_add(d, &area);
    if (node->area == PF_NO_AREA)
      return pf_no_memory(error);
  }
  return PF_OK;
}


/* }====== */

/* {====== Stacks ====== */

/* Sets the stack of a node from that of its parent. */
static bool set_stack (pf_dictionary *d, v8_file *file, v8_node *node) {
  const bool is_top = node->parent == V8_NONE;
  if (is_top && pf_bytes_equal(pf_name(d, node->name), pf_bytes_of("(root)")))
    return true;
  node->stack = pf_stack_push(
      d, is_top ? PF_NO_STACK : file->nodes[node->parent].stack, node->area);
  return node->stack != PF_NO_STACK;
}


/* Sets all stacks: each node after its parent, which is found by going up from
   it. `path` has room for all nodes. A node that lies in itself is on top. */
static pf_status set_stacks (pf_trace *trace, uint32_t *path, bool *is_done,
                             pf_error *error) {
  v8_file *const file = trace->state;
  pf_status status = PF_OK;
  for (uint32_t i = 0; i < file->nnodes && status == PF_OK; i++) {
    size_t depth = 0;
    for (uint32_t at = i; at != V8_NONE && !is_done[at];
         at = file->nodes[at].parent) {
      path[depth++] = at;
      is_done[at] = true;
    }
    const uint32_t above =
        depth == 0 ? V8_NONE : file->nodes[path[depth - 1]].parent;
    for (size_t k = 0; above != V8_NONE && k < depth; k++)
      if (path[k] == above) { /* a circle */
        file->nodes[path[depth - 1]].parent = V8_NONE;
        status = v8_warn(trace, PF_DAMAGE, "cpuprofile-circle", NULL,
                         "nodes are children of each other", error);
      }
    while (depth > 0 && status == PF_OK)
      if (!set_stack(trace->dictionary, file, &file->nodes[path[--depth]]))
        status = pf_no_memory(error);
  }
  return status;
}


/* }====== */

pf_status v8_read_nodes (pf_trace *trace, pf_error *error) {
  v8_file *const file = trace->state;
  tree t = {trace, file->bytes.at + file->nodes_at,
            file->bytes.at + file->bytes.size, V8_NONE};
  places p = {.of_name = NULL};
  pf_status status = read_tree(&t, error);
  if (status == PF_OK)
    status = number_nodes(trace, error);
  if (status == PF_OK && !file->is_heap)
    link_nodes(file);
  pf_id_table_init(&p.names);
  pf_id_table_init(&p.spots);
  if (status == PF_OK)
    status = set_areas(trace, &p, error);
  pf_id_table_free(&p.names);
  pf_id_table_free(&p.spots);
  free(p.of_name);
  free(p.of_spot);
  uint32_t *const path = pf_array(file->nnodes, sizeof *path);
  bool *const is_done = pf_array_of_zeros(file->nnodes, sizeof *is_done);
  if (status == PF_OK)
    status = path == NULL || is_done == NULL
                 ? pf_no_memory(error)
                 : set_stacks(trace, path, is_done, error);
  free(path);
  free(is_done);
  return status;
}
