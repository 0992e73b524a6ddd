/*
** ranking.h - sort nodes of a flow by several 64-bit keys, then by name. Used
** by rank.c.
**
** The sort is stable: nodes that are equal in all keys and in name stay in the
** order in which they were added. Order of use: open, add, by_keys, by_names,
** nodes, close. A ranking owns `pairs`, `spare` and `same` until close.
*/

#ifndef ranking_h
#define ranking_h

#include "kernels/graph/propagate.h"
#include "kernels/base/order.h"
#include "model/base/sorts.h"

typedef struct pf_ranking {
  const pf_flow *flow;    /* borrowed */
  pf_pair *pairs, *spare; /* a node, and the value of the current key */
  bool *same;             /* node i equals node i - 1 in all keys so far */
  size_t count;
} pf_ranking;

/* A sort key. */
typedef struct pf_rank_key {
  /* Returns the key of a node; smaller keys come first. */
  uint64_t (*word)(const pf_flow *flow, size_t node);
  /* Prefetch what `word` reads for a pair after number i. NULL: it reads
     memory sequentially. */
  void (*prefetch)(const pf_ranking *ranking, size_t i);
} pf_rank_key;

#define PF_RANK_FETCH_AHEAD 12 /* pairs ahead */


/* Open a ranking of up to `capacity` nodes. The flow is borrowed. PF_ENOMEM;
   close it also after a failure. */
pf_status pf_ranking_open (pf_ranking *ranking, const pf_flow *flow,
                           size_t capacity);
void pf_ranking_close (pf_ranking *ranking);

/* Add a node, within the capacity. */
static inline void pf_ranking_add (pf_ranking *ranking, size_t node) {
  ranking->pairs[ranking->count++] = (pf_pair){0, node};
}

/* Sort by keys; the list ends with a key whose `word` is NULL. */
void pf_ranking_by_keys (pf_ranking *ranking, const pf_rank_key *keys);

/* Sort nodes that are equal in all keys by name. */
void pf_ranking_by_names (pf_ranking *ranking);

/* Set *nodes to the nodes in order; the caller frees it. PF_ENOMEM. */
pf_status pf_ranking_nodes (const pf_ranking *ranking, uint32_t **nodes);

/* `prefetch` of a key that reads names. */
void pf_ranking_prefetch_name (const pf_ranking *ranking, size_t i);

#endif
