/*
** record.c - measures the cost of recording, and the minimum: a store of 24
** bytes into a mapped file that wraps, with a release store of the position.
**
**   record FOLDER
**
** Prints lines "name nanoseconds" for a record, and "name megabytes" a second.
*/

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../c/recording.h"

#define RECORDS 4000000u
#define SIZE    4194304u
#define BURST   40000u /* records that half a ring holds */
#define ROUNDS  7      /* of each kind, in turns */

/* Columns of br's samples. */
enum {
  SPENT = 5
};


static double seconds_of (clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}


/* Returns the processor time of this thread, unaffected by other load. */
static double now (void) {
  return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}


static int create (const char *folder, char *path, size_t room) {
  snprintf(path, room, "%s/record.br", folder);
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
  MUST(fd >= 0);
  return fd;
}


/* Nanoseconds of a store. */
static double store (const char *folder) {
  char path[512];
  const int fd = create(folder, path, sizeof path);
  MUST(posix_fallocate(fd, 0, SIZE + 4096) == 0);
  uint8_t *const file =
      mmap(NULL, SIZE + 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  MUST(file != MAP_FAILED);
  pf_shared *const head = (pf_shared *)(void *)file;
  uint64_t *const slots = (uint64_t *)(void *)(file + 4096);
  const size_t words = SIZE / 24 * 3;
  memset(slots, 1, SIZE);
  const double began = now();
  size_t at = 0;
  for (uint64_t i = 0; i < RECORDS; i++) {
    slots[at] = i;
    slots[at + 1] = i ^ 0x55;
    slots[at + 2] = i * 3;
    at += 3;
    if (at == words)
      at = 0;
    pf_store_release(head, i);
  }
  const double ended = now();
  munmap(file, SIZE + 4096);
  close(fd);
  unlink(path);
  return (ended - began) / RECORDS * 1e9;
}


/* A record of three values, inlined like the store. */
static inline void put (recording *r, uint64_t i) {
  uint64_t *const at = pf_writer_begin(r->writer, 3);
  if (at == NULL)
    return;
  at[0] = r->module;
  at[1] = i;
  at[2] = i * 3;
  pf_writer_commit(r->writer, at, 3,
                   pf_tag(0, 1u << MODULE | 1u << LINE | 1u << SPENT));
}


static void open_writer (recording *r, const char *folder, pf_ring_mode mode,
                         char *path, size_t room, int *fd) {
  pf_error error;
  char ring_path[520];
  *fd = create(folder, path, room);
  snprintf(ring_path, sizeof ring_path, "%s.ring", path);
  MUST(recording_open(r, *fd, ring_path, mode, SIZE, &error) == PF_OK);
}


static void close_writer (recording *r, int fd, const char *path) {
  pf_error error;
  MUST(recording_close(r, &error) == PF_OK);
  close(fd);
  unlink(path);
}


/* Nanoseconds of a record that overwrites the oldest one. */
static double overwrite (const char *folder) {
  recording r;
  char path[512];
  int fd;
  open_writer(&r, folder, PF_RING_OVERWRITE, path, sizeof path, &fd);
  for (uint64_t i = 0; i < 200000; i++)
    put(&r, i % 1000); /* every page of the ring has been touched */
  const double began = now();
  for (uint64_t i = 0; i < RECORDS; i++)
    put(&r, i);
  const double ended = now();
  close_writer(&r, fd, path);
  return (ended - began) / RECORDS * 1e9;
}


/* Nanoseconds of a record that finds space: bursts, with time between them for
   the thread to write. */
static double bursts (const char *folder) {
  recording r;
  char path[512];
  int fd;
  pf_error error;
  double spent = 0;
  open_writer(&r, folder, PF_RING_BLOCK, path, sizeof path, &fd);
  for (unsigned k = 0; k < 110; k++) {
    const double began = now();
    for (uint64_t i = 0; i < BURST; i++)
      put(&r, i);
    if (k >= 10)
      spent += now() - began;
    MUST(pf_writer_flush(r.writer, &error) == PF_OK);
  }
  close_writer(&r, fd, path);
  return spent / 100 / BURST * 1e9;
}


/* Megabytes per second written to the file at the highest rate of records. */
static double sustained (const char *folder, double *nanoseconds) {
  recording r;
  char path[512];
  int fd;
  const double began = seconds_of(CLOCK_MONOTONIC);
  open_writer(&r, folder, PF_RING_BLOCK, path, sizeof path, &fd);
  for (uint64_t i = 0; i < RECORDS; i++)
    put(&r, i);
  pf_error error;
  MUST(pf_writer_flush(r.writer, &error) == PF_OK);
  const double seconds = seconds_of(CLOCK_MONOTONIC) - began;
  const double megabytes = (double)r.sink.written / 1e6;
  close_writer(&r, fd, path);
  *nanoseconds = seconds / RECORDS * 1e9;
  return megabytes / seconds;
}


static int compare (const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}


static void print_median (const char *name, double list[ROUNDS]) {
  qsort(list, ROUNDS, sizeof *list, compare);
  printf("%s %.3f\n", name, list[ROUNDS / 2]);
}


int main (int argc, char **argv) {
  double stores[ROUNDS], over[ROUNDS], burst[ROUNDS], whole[ROUNDS],
      rates[ROUNDS];
  MUST(argc == 2);
  for (int i = 0; i < ROUNDS; i++) {
    stores[i] = store(argv[1]);
    over[i] = overwrite(argv[1]);
    burst[i] = bursts(argv[1]);
    rates[i] = sustained(argv[1], &whole[i]);
  }
  print_median("store", stores);
  print_median("overwrite", over);
  print_median("bursts", burst);
  print_median("sustained", whole);
  print_median("megabytes", rates);
  return 0;
}
