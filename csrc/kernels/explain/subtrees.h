/*
** subtrees.h - the tree of stacks below the calls of an area, wherever these
** were called: node 0 is the area, outermost in its stack. A runner (waits.h)
** for which a function waited is a node below the node of the function. Used by
** explain.c, waits.c and explained_rows.c. explain.c owns the pf_subtrees;
** pf_subtrees_free frees its arrays.
*/

#ifndef subtrees_h
#define subtrees_h

#include "model/base/id_table.h"
#include "model/dictionary/stacks.h"

#define PF_NO_NODE UINT32_MAX /* not within a call of the area */

typedef struct pf_subtrees {
  pf_dictionary *dictionary; /* borrowed */
  uint32_t name;             /* of the area */
  uint32_t *of_stacks;       /* nodes by stack id, of the first `known` */
  size_t known, capacity;
  pf_id_table nodes; /* words: parent node, and an area or a runner */
} pf_subtrees;

/* Initialise: `name` is that of the area. PF_ENOMEM; free it then too. */
pf_status pf_subtrees_open (pf_subtrees *trees, pf_dictionary *dictionary,
                            uint32_t name);
void pf_subtrees_free (pf_subtrees *trees);

/* Find the nodes of the stacks that have been added to the dictionary since the
   last time. PF_ENOMEM. */
pf_status pf_subtrees_update (pf_subtrees *trees);

/* The node of a stack of the dictionary (or PF_NO_STACK), or PF_NO_NODE. */
static inline uint32_t pf_subtree_of (const pf_subtrees *trees,
                                      uint32_t stack) {
  return stack < trees->known ? trees->of_stacks[stack] : PF_NO_NODE;
}

#define PF_RUNNER_BIT (UINT32_C(1) << 31) /* in the words of nodes */

/* Find or create the node of a runner below the node `parent`. PF_ENOMEM. */
static inline pf_status pf_subtree_wait (pf_subtrees *trees, uint32_t parent,
                                         uint32_t runner, uint32_t *node) {
  const uint64_t word = (uint64_t)parent << 32 | PF_RUNNER_BIT | runner;
  return pf_id_table_words(&trees->nodes, &word, 1, node);
}

/* Whether a node is that of a runner, and the id of its runner. */
static inline bool pf_subtree_is_wait (const pf_subtrees *trees,
                                       uint32_t node) {
  return node != 0 && (trees->nodes.words[node] & PF_RUNNER_BIT) != 0;
}

static inline uint32_t pf_subtree_runner (const pf_subtrees *trees,
                                          uint32_t node) {
  return (uint32_t)trees->nodes.words[node] & ~PF_RUNNER_BIT;
}

/* The parent of a node (PF_NO_NODE: of node 0), and the area of one that is
   neither node 0 nor that of a runner. */
static inline uint32_t pf_subtree_parent (const pf_subtrees *trees,
                                          uint32_t node) {
  return (uint32_t)(trees->nodes.words[node] >> 32);
}

static inline uint32_t pf_subtree_area (const pf_subtrees *trees,
                                        uint32_t node) {
  return (uint32_t)trees->nodes.words[node];
}

#endif
