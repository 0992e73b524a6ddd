/*
** gmon_sums.h - counts that add up by key, and histograms that add up by header:
** what the encoder keeps until the file is written, in the order of first
** sight.
*/

#ifndef gmon_sums_h
#define gmon_sums_h

#include "formats/gmon/gmon.h"

/* One count. For arcs the key is (from, to), for blocks (address, 0). */
typedef struct gmon_sum {
  uint64_t a, b; /* the key */
  uint64_t count;
} gmon_sum;

typedef struct gmon_sums {
  gmon_sum *list; /* in the order of first sight */
  size_t count, capacity;
  uint32_t *slots; /* numbers in list, + 1; a power of two of them */
  size_t nslots;
} gmon_sums;

/* The entry of a key, made with count 0 when it is new; NULL: no memory.
   Valid until the next call. */
gmon_sum *gmon_sums_get (gmon_sums *sums, uint64_t a, uint64_t b);

/* The number of a key's entry, or SIZE_MAX. */
size_t gmon_sums_find (const gmon_sums *sums, uint64_t a, uint64_t b);

/* Put the entries in the order of their keys. No key is looked up afterwards. */
void gmon_sums_sort (gmon_sums *sums);

void gmon_sums_close (gmon_sums *sums);

/* A histogram: all records with this header are one. */
typedef struct gmon_set {
  uint64_t low, high, bins;
  uint64_t read; /* of these bins, the first that have been read */
  uint32_t rate;
  uint32_t dimension, abbreviation; /* in the encoder's dictionary */
  gmon_scale scale;
  uint64_t *counts; /* of the bins that have been read */
  size_t next;      /* another set whose header hashes alike, + 1 */
} gmon_set;

typedef struct gmon_sets {
  gmon_set *list;
  size_t count, capacity;
  gmon_sums hashes; /* hash of a header -> number of its newest set, + 1 */
} gmon_sets;

/* The number of the set with this header (read, scale, counts and next are not
   compared), made when it is new, with counts for at least `read` bins;
   SIZE_MAX: no memory. */
size_t gmon_sets_get (gmon_sets *sets, const gmon_set *header, bool extended);

/*
** Gives a set the bins that are written. Those that no file had are zeros; but
** if a header claims far more bins than were read, the set ends behind these.
** PF_ENOMEM, or PF_ELIMIT when no such set has its bins in the same places.
*/
pf_status gmon_set_finish (gmon_set *set, bool extended, pf_error *error);

/* Put the sets in the order of their headers. No set is looked up afterwards.
   False when out of memory. */
bool gmon_sets_sort (gmon_sets *sets, const pf_dictionary *dictionary);

void gmon_sets_close (gmon_sets *sets);

#endif
