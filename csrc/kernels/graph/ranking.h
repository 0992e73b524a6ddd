/*
** ranking.h - sorting nodes of a flow by words: one key after the other, then
** by name.
**
** The sort is stable, so what is equal throughout stays in the order in which
** it was added. The order of use is: open, add, by_keys, by_names, nodes,
** close.
*/

#ifndef ranking_h
#define ranking_h

#include "kernels/graph/propagate.h"
#include "kernels/order.h"

typedef struct pf_ranking {
  const pf_flow *flow;    /* borrowed */
  pf_pair *pairs, *spare; /* a node, and the word of the key in work */
  bool *same;             /* equals the node before in all keys so far */
  size_t count;
  uint64_t *beginnings; /* of the names of all functions; or NULL */
} pf_ranking;

/* A key. */
typedef struct pf_rank_key {
  /* The key of a node: smaller words come first. */
  uint64_t (*word)(const pf_flow *flow, size_t node);
  /* The words of pairs from number i on will soon be asked for: have what they
     need ready. NULL: it lies in a row. */
  void (*fetch)(const pf_ranking *ranking, size_t i);
} pf_rank_key;

#define PF_RANK_FETCH_AHEAD 12 /* pairs ahead */


/* A ranking of `most` nodes. PF_ENOMEM; close it also after a failure. */
pf_status pf_ranking_open (pf_ranking *ranking, const pf_flow *flow,
                           size_t most);
void pf_ranking_close (pf_ranking *ranking);

/* Add a node; there is room. */
static inline void pf_ranking_add (pf_ranking *ranking, size_t node) {
  ranking->pairs[ranking->count++] = (pf_pair){0, node};
}

/* Sort by keys; the last of them has no word. */
void pf_ranking_by_keys (pf_ranking *ranking, const pf_rank_key *keys);

/* Sort what is equal in all keys by name; many, if wanted, in two threads. */
void pf_ranking_by_names (pf_ranking *ranking, bool in_two);

/* The nodes in order, the caller's to free. PF_ENOMEM. */
pf_status pf_ranking_nodes (const pf_ranking *ranking, uint32_t **nodes);

/* The fetch of a key that looks at names. */
void pf_ranking_fetch_name (const pf_ranking *ranking, size_t i);

#endif
