/*
** kill.c - kill writers at random records, and check what they leave.
**
**   kill FOLDER ROUNDS SEED
**
** In each round a process records lines 1, 2, 3, ... through a ring and stores
** its progress in shared memory, until it is killed. Then file and ring
** together must hold: a prefix of the lines (block), some lines and the exact
** number of the others (drop), or an unbroken tail (overwrite). All committed
** lines must be there: as many as the stored progress, or one more.
*/

#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "recording.h"

/* The progress of the process, in shared memory. */
typedef struct said {
  pf_shared tried;   /* lines that were given, dropped ones too */
  pf_shared dropped; /* of these */
} said;

static const char *const modes[] = {"block", "drop", "overwrite"};


/* The process that will be killed. In overwrite mode it dumps the ring now and
   then. */
static void record (const char *path, const char *ring_path, pf_ring_mode mode,
                    said *all) {
  recording r;
  pf_error error;
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (recording_open(&r, fd, ring_path, mode, PF_RING_MIN, &error) != PF_OK) {
    fprintf(stderr, "%s\n", error.what);
    _exit(1);
  }
  for (uint64_t line = 1;; line++) {
    if (!recording_put(&r, line))
      pf_store_release(&all->dropped, pf_load_relaxed(&all->dropped) + 1);
    pf_store_release(&all->tried, line);
    if (mode == PF_RING_OVERWRITE && line % 10007 == 0)
      (void)pf_writer_dump(r.writer, &error);
  }
}


/* Wait until the process has given so many lines, or has ended. */
static void wait_for_lines (pid_t child, const said *all, uint64_t count) {
  const struct timespec rest = {0, 10000};
  int status;
  while (pf_load_acquire(&all->tried) < count &&
         waitpid(child, &status, WNOHANG) == 0)
    nanosleep(&rest, NULL);
}


/* Start the process, wait until it records, and kill it some lines later. */
static void run (const char *path, const char *ring_path, pf_ring_mode mode,
                 said *all) {
  int status;
  pf_store_release(&all->tried, 0);
  pf_store_release(&all->dropped, 0);
  const pid_t child = fork();
  MUST(child >= 0);
  if (child == 0)
    record(path, ring_path, mode, all);
  wait_for_lines(child, all, 1 + (uint64_t)rand() % 40000);
  kill(child, SIGKILL);
  MUST(waitpid(child, &status, 0) == child);
  MUST(WIFSIGNALED(status));
}


/* Encode the contents of the ring; returns the number of its records. */
static uint64_t add_ring (pf_ring_copy *copy, found *all) {
  pf_ring_encoder encoder;
  pf_sink sink;
  pf_error error;
  MUST(pf_sink_open(&sink, -1) == PF_OK);
  MUST(pf_ring_encoder_open(&encoder, pf_format_named("br"), NULL, 0, &sink,
                            &error) == PF_OK);
  MUST(pf_ring_encoder_replay(&encoder, &copy->journal, &error) == PF_OK);
  MUST(pf_ring_encoder_consume(&encoder, &copy->records, UINT64_MAX, &error) >=
       0);
  found_add(all, pf_sink_bytes(&sink));
  const uint64_t rows = encoder.rows;
  pf_ring_encoder_close(&encoder);
  pf_sink_close(&sink);
  return rows;
}


static void check (const char *path, const char *ring_path, pf_ring_mode mode,
                   const said *all, uint64_t *in_ring) {
  pf_ring_copy copy;
  pf_error error;
  found f = {.count = 0};
  MUST(pf_ring_read(ring_path, NULL, &copy, &error) == PF_OK);
  MUST(!copy.is_alive);
  const pf_bytes bytes = bytes_of(path, copy.checkpoint.lengths[0]);
  MUST(bytes.size == copy.checkpoint.lengths[0]);
  found_add(&f, bytes);
  free((void *)(uintptr_t)bytes.at);
  MUST(f.count == copy.checkpoint.consumed);
  *in_ring += add_ring(&copy, &f);
  const uint64_t lost = copy.lost;
  const uint64_t tried = pf_load_acquire(&all->tried);
  const uint64_t dropped = pf_load_acquire(&all->dropped);
  MUST(f.count + lost == tried || f.count + lost == tried + 1);
  switch (mode) {
    case PF_RING_BLOCK: MUST(f.first == 1 && f.gaps == 0 && lost == 0); break;
    case PF_RING_DROP:
      MUST(lost == dropped || lost == dropped + 1);
      MUST(f.gaps + f.first - 1 <= lost);
      break;
    default: MUST(f.last == tried || f.last == tried + 1);
  }
  pf_ring_copy_close(&copy);
}


int main (int argc, char **argv) {
  char path[512], ring_path[520];
  MUST(argc == 4);
  const int rounds = atoi(argv[2]);
  srand((unsigned)atoi(argv[3]));
  snprintf(path, sizeof path, "%s/killed.br", argv[1]);
  snprintf(ring_path, sizeof ring_path, "%s.ring", path);
  said *const all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  MUST(all != MAP_FAILED);
  for (int mode = PF_RING_BLOCK; mode <= PF_RING_OVERWRITE; mode++) {
    uint64_t records = 0, in_ring = 0, dropped = 0;
    for (int i = 0; i < rounds; i++) {
      run(path, ring_path, (pf_ring_mode)mode, all);
      check(path, ring_path, (pf_ring_mode)mode, all, &in_ring);
      records += pf_load_acquire(&all->tried);
      dropped += pf_load_acquire(&all->dropped);
    }
    printf("%s: %d killed, %llu records, %llu of them in the ring, %llu "
           "dropped\n",
           modes[mode], rounds, (unsigned long long)records,
           (unsigned long long)in_ring, (unsigned long long)dropped);
  }
  unlink(path);
  unlink(ring_path);
  return 0;
}
