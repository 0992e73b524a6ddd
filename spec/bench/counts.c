/*
** counts.c - writes a DCPI profile for the bench.
**
**   counts PATH MEGABYTES
**
** Version 0.07, one image and one event. The chunks have 1 to 24 counts. One
** count in eight is 0 and few are large, as for a program whose code is mostly
** cold.
*/

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 24
#define STEP    4 /* bytes of an instruction */

typedef struct job {
  FILE *file;
  uint64_t random, written;
  uint32_t offset, addresses, samples;
} job;


/* Returns the next random number below `most` (xorshift). */
static uint32_t next (job *j, uint32_t most) {
  j->random ^= j->random << 13;
  j->random ^= j->random >> 7;
  j->random ^= j->random << 17;
  return (uint32_t)(j->random >> 32) % most;
}


static void put (job *j, uint32_t value) {
  const uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8),
                            (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
  if (fwrite(bytes, 1, 4, j->file) != 4) {
    fprintf(stderr, "cannot be written: %s\n", strerror(errno));
    exit(1);
  }
  j->written += 4;
}


static void put_count (job *j, uint32_t count) {
  put(j, count);
  j->addresses += count != 0;
  j->samples += count;
}


static void put_chunk (job *j) {
  const uint32_t number = 1 + next(j, LONGEST);
  put(j, j->offset);
  put(j, number);
  for (uint32_t i = 0; i < number; i++) {
    const uint32_t hot = next(j, 1000) == 0 ? next(j, 3000) : 0;
    put_count(j, i > 0 && next(j, 8) == 0 ? 0 : 1 + next(j, 20) + hot);
  }
  j->offset += STEP * (number + 2 + next(j, 4));
}


int main (int argc, char **argv) {
  const uint64_t size =
      argc == 3 ? strtoull(argv[2], NULL, 10) * 1024 * 1024 : 0;
  job j = {.file = argc == 3 ? fopen(argv[1], "wb") : NULL,
           .random = UINT64_C(88172645463325252)};
  if (j.file == NULL) {
    fprintf(stderr, "usage: counts PATH MEGABYTES\n");
    return 2;
  }
  fprintf(j.file, "version pdb-0.07\nimage 19970328081403c0c18b\n"
                  "epoch 9805191724\nplatform walnut\nevent cycles\n"
                  "period 63488\ntstart 000120000000\ntsize 4294967296\n"
                  "cpuspeed 333\npath /usr/bin/large\nsamples\n");
  while (j.written < size && j.offset < UINT32_MAX - 1024)
    put_chunk(&j);
  put(&j, j.addresses);
  put(&j, j.samples);
  return fclose(j.file) == 0 ? 0 : 1;
}
