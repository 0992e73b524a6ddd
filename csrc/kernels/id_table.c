/*
** id_table.c - an open-addressing table, and a plain array in front of it for
** small words.
*/

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/id_table.h"

#define MAX_DIRECT  ((uint32_t)1 << 22) /* words below it use the plain array */
#define SMALL_TABLE ((size_t)1 << 16)   /* slots */

typedef struct pf_id_slot slot;


/* What differs from run to run and from table to table; odd, so that no bit
   of a word is lost. */
static uint64_t make_multiplier (const pf_id_table *n) {
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &now);
  uint64_t m = (uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)n << 20;
  m = (m ^ m >> 31) * 0xbf58476d1ce4e5b9u;
  m = (m ^ m >> 27) * 0x94d049bb133111ebu;
  return (m ^ m >> 31) | 1;
}


void pf_id_table_init (pf_id_table *n) {
  memset(n, 0, sizeof *n);
  n->missing = PF_NO_ID;
  n->multiplier = make_multiplier(n);
}


void pf_id_table_free (pf_id_table *n) {
  free(n->words);
  free(n->slots);
  free(n->direct);
}


/* {====== Growing ====== */

static void insert (pf_id_table *n, uint64_t word, uint32_t number) {
  size_t i = (size_t)(word * n->multiplier >> n->shift);
  while (n->slots[i].number != 0)
    i = (i + 1) & n->mask;
  n->slots[i] = (slot){word, number + 1};
}


/* The number of "no value" stands in words[], but not in the table. */
static bool grow_slots (pf_id_table *n) {
  const size_t size = n->slots == NULL ? 256 : (n->mask + 1) * 2;
  slot *const slots = calloc(size, sizeof *slots);
  if (slots == NULL)
    return false;
  free(n->slots);
  n->slots = slots;
  n->mask = size - 1;
  n->shift = 64;
  for (size_t s = size; s > 1; s /= 2)
    n->shift--;
  for (uint32_t i = 0; i < n->count; i++)
    if (i != n->missing)
      insert(n, n->words[i], i);
  return true;
}


static bool grow_words (pf_id_table *n) {
  const uint32_t room = n->room == 0 ? 64 : n->room * 2;
  uint64_t *const words = realloc(n->words, (size_t)room * sizeof *words);
  if (words == NULL)
    return false;
  n->words = words;
  n->room = room;
  return true;
}


/* The next number. */
static pf_status append (pf_id_table *n, uint64_t word, uint32_t *number) {
  if (n->count >= (uint32_t)1 << 31 || (n->count == n->room && !grow_words(n)))
    return PF_ENOMEM;
  n->words[n->count] = word;
  *number = n->count++;
  return PF_OK;
}


/* A small table stays three quarters empty, so that a search seldom goes on; a
   large one is slow for other reasons and only stays half empty. */
static bool is_full (const pf_id_table *n) {
  const size_t part = n->mask < SMALL_TABLE ? 4 : 2;
  return n->slots == NULL || n->count >= n->mask / part;
}


static pf_status add_word (pf_id_table *n, uint64_t word, uint32_t *number) {
  if (is_full(n) && !grow_slots(n))
    return PF_ENOMEM;
  if (append(n, word, number) != PF_OK)
    return PF_ENOMEM;
  insert(n, word, *number);
  return PF_OK;
}

/* }====== */


/* {====== Finding ====== */

/* The number of a word, or PF_NO_ID; there are slots. */
static inline uint32_t look_up (const pf_id_table *n, uint64_t word) {
  const slot *const slots = n->slots;
  size_t i = (size_t)(word * n->multiplier >> n->shift);
  while (slots[i].word != word || slots[i].number == 0) {
    if (slots[i].number == 0)
      return PF_NO_ID;
    i = (i + 1) & n->mask;
  }
  return slots[i].number - 1;
}


static inline pf_status find (pf_id_table *n, uint64_t word, uint32_t *number) {
  *number = look_up(n, word);
  return *number != PF_NO_ID ? PF_OK : add_word(n, word, number);
}


pf_status pf_id_table_words (pf_id_table *n, const uint64_t *words,
                             size_t count, uint32_t *numbers) {
  if (n->slots == NULL && !grow_slots(n))
    return PF_ENOMEM;
  for (size_t i = 0; i < count; i++)
    if (find(n, words[i], &numbers[i]) != PF_OK)
      return PF_ENOMEM;
  return PF_OK;
}


pf_status pf_id_table_nullable (pf_id_table *n, const uint64_t *words,
                                const bool *missing, size_t count,
                                uint32_t *numbers) {
  if (n->slots == NULL && !grow_slots(n))
    return PF_ENOMEM;
  for (size_t i = 0; i < count; i++) {
    if (!missing[i]) {
      if (find(n, words[i], &numbers[i]) != PF_OK)
        return PF_ENOMEM;
      continue;
    }
    if (n->missing == PF_NO_ID && append(n, 0, &n->missing) != PF_OK)
      return PF_ENOMEM;
    numbers[i] = n->missing;
  }
  return PF_OK;
}

/* }====== */


/* {====== The plain array ====== */

static bool grow_direct (pf_id_table *n, uint32_t id) {
  uint32_t size = n->ndirect == 0 ? 256 : n->ndirect;
  while (size <= id)
    size *= 2;
  uint32_t *const direct = realloc(n->direct, size * sizeof *direct);
  if (direct == NULL)
    return false;
  memset(direct + n->ndirect, 255, (size - n->ndirect) * sizeof *direct);
  n->direct = direct;
  n->ndirect = size;
  return true;
}


/* The number of a word the plain array does not know; it does then, unless
   the word is too large for it. */
static pf_status learn (pf_id_table *n, uint32_t id, uint32_t *number) {
  if ((n->slots == NULL && !grow_slots(n)) || find(n, id, number) != PF_OK)
    return PF_ENOMEM;
  if (id >= MAX_DIRECT)
    return PF_OK;
  if (id >= n->ndirect && !grow_direct(n, id))
    return PF_ENOMEM;
  n->direct[id] = *number;
  return PF_OK;
}


/* Number what the plain array knows, up to an id that it does not; answers how
   many. Its size is a power of two and a number below 2^31, so that one look
   tells whether several ids are below it, or several numbers known. */
static size_t number_known (const pf_id_table *n, const uint32_t *ids,
                            size_t count, uint32_t *numbers) {
  const uint32_t *const direct = n->direct;
  const uint32_t ndirect = n->ndirect;
  size_t i = 0;
  for (; count - i >= 4; i += 4) {
    const uint32_t *const four = ids + i;
    if ((four[0] | four[1] | four[2] | four[3]) >= ndirect)
      break;
    const uint32_t a = direct[four[0]], b = direct[four[1]];
    const uint32_t c = direct[four[2]], d = direct[four[3]];
    if ((a | b | c | d) > INT32_MAX)
      break;
    numbers[i] = a;
    numbers[i + 1] = b;
    numbers[i + 2] = c;
    numbers[i + 3] = d;
  }
  while (i < count && ids[i] < ndirect && direct[ids[i]] != PF_NO_ID) {
    numbers[i] = direct[ids[i]];
    i++;
  }
  return i;
}


pf_status pf_id_table_small (pf_id_table *n, const uint32_t *ids, size_t count,
                             uint32_t *numbers) {
  size_t done = number_known(n, ids, count, numbers);
  while (done < count) {
    if (learn(n, ids[done], &numbers[done]) != PF_OK)
      return PF_ENOMEM;
    done++;
    done += number_known(n, ids + done, count - done, numbers + done);
  }
  return PF_OK;
}

/* }====== */
