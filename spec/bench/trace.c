/*
** trace.c - writes the input of the bench: NAME.elf, NAME.nm and NAME.gmon.
**
**   trace NAME SYMBOLS TEXT ARCS SHAPE
**
** An executable for x86-64 whose .text of TEXT bytes (a hole in the file) holds
** SYMBOLS functions at equal distances and has no line information; the same
** symbols as the text that nm prints; and a trace (GNU version 1,
** little-endian, addresses of 8 bytes) with a histogram of the whole text and
** ARCS arcs. SHAPE:
**
**   graph    each function calls some that come later, a few call back
**   callers  all functions call the first
**   chain    each function calls the next
*/

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BASE      UINT64_C(0x400000)
#define TEXT_AT   0x1000 /* where .text begins in the file */
#define NAME_SIZE 9      /* "f" and seven digits, and the NUL */
#define BIN_BYTES 4

typedef struct job {
  const char *name;
  uint64_t symbols, text, arcs;
  const char *shape;
  uint64_t distance; /* between two functions, even */
  uint64_t seed;
} job;


static void fail (const char *what) {
  fprintf(stderr, "trace: %s: %s\n", what, strerror(errno));
  exit(1);
}


static FILE *create (const job *j, const char *ending) {
  char path[4096];
  snprintf(path, sizeof path, "%s.%s", j->name, ending);
  FILE *f = fopen(path, "wb");
  if (f == NULL) {
    fail(path);
  }
  return f;
}


static void finish (FILE *f) {
  if (ferror(f) || fclose(f) != 0) {
    fail("write");
  }
}


/* Write the lowest `size` bytes of a number, the lowest first. */
static void put (FILE *f, uint64_t value, int size) {
  for (int i = 0; i < size; i++) {
    putc((int)(value >> 8 * i & 0xff), f);
  }
}


/* A pseudo-random number; the sequence is the same in each run. */
static uint64_t next_random (job *j) {
  j->seed = j->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
  return j->seed >> 33;
}


static uint64_t address (const job *j, uint64_t symbol) {
  return BASE + symbol * j->distance;
}


/* The executable, field by field as the ELF specification lists them. */
static void put_section (FILE *f, int name, int type, int flags, uint64_t addr,
                         uint64_t offset, uint64_t size, int link, int info,
                         int align, int entry) {
  put(f, (uint64_t)name, 4);
  put(f, (uint64_t)type, 4);
  put(f, (uint64_t)flags, 8);
  put(f, addr, 8);
  put(f, offset, 8);
  put(f, size, 8);
  put(f, (uint64_t)link, 4);
  put(f, (uint64_t)info, 4);
  put(f, (uint64_t)align, 8);
  put(f, (uint64_t)entry, 8);
}


static void put_header (FILE *f, uint64_t sections_at) {
  fwrite("\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 1, 16, f);
  put(f, 2, 2);  /* an executable */
  put(f, 62, 2); /* x86-64 */
  put(f, 1, 4);
  put(f, BASE, 8); /* entry */
  put(f, 64, 8);   /* one program header follows */
  put(f, sections_at, 8);
  put(f, 0, 4);
  put(f, 64, 2);
  put(f, 56, 2);
  put(f, 1, 2);
  put(f, 64, 2);
  put(f, 5, 2); /* sections */
  put(f, 4, 2); /* the last has their names */
}


static void put_load (FILE *f, uint64_t text) {
  put(f, 1, 4); /* to be loaded */
  put(f, 5, 4); /* read, execute */
  put(f, TEXT_AT, 8);
  put(f, BASE, 8);
  put(f, BASE, 8);
  put(f, text, 8);
  put(f, text, 8);
  put(f, 0x1000, 8);
}


/* Returns a random permutation of the ids of the symbols. */
static uint32_t *shuffled (job *j) {
  uint32_t *order = malloc(j->symbols * sizeof *order);
  if (order == NULL) {
    fail("symbols");
  }
  for (uint64_t i = 0; i < j->symbols; i++) {
    const uint64_t other = next_random(j) % (i + 1);
    order[i] = order[other];
    order[other] = (uint32_t)i;
  }
  return order;
}


/* Linkers write symbols in the order of a hash table: these are shuffled. */
static void put_symbols (FILE *f, job *j) {
  uint32_t *order = shuffled(j);
  put(f, 0, 24); /* the first symbol is none */
  for (uint64_t k = 0; k < j->symbols; k++) {
    const uint64_t i = order[k];
    put(f, 1 + i * NAME_SIZE, 4);
    put(f, 0x12, 1); /* global, function */
    put(f, 0, 1);
    put(f, 1, 2); /* in .text */
    put(f, address(j, i), 8);
    put(f, j->distance, 8);
  }
  putc(0, f);
  for (uint64_t i = 0; i < j->symbols; i++) {
    fprintf(f, "f%07d%c", (int)i, 0);
  }
  free(order);
}


static void write_program (job *j) {
  static const char names[] = "\0.text\0.symtab\0.strtab\0.shstrtab";
  const uint64_t symbols_at = TEXT_AT + j->text;
  const uint64_t strings_at = symbols_at + 24 * (j->symbols + 1);
  const uint64_t names_at = strings_at + 1 + NAME_SIZE * j->symbols;
  const uint64_t sections_at = (names_at + sizeof names + 7) & ~UINT64_C(7);
  FILE *f = create(j, "elf");
  put_header(f, sections_at);
  put_load(f, j->text);
  fseeko(f, (off_t)symbols_at, SEEK_SET);
  put_symbols(f, j);
  fwrite(names, 1, sizeof names, f);
  put(f, 0, (int)(sections_at - names_at - sizeof names));
  put_section(f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  put_section(f, 1, 1, 6, BASE, TEXT_AT, j->text, 0, 0, 16, 0);
  put_section(f, 7, 2, 0, 0, symbols_at, strings_at - symbols_at, 3, 1, 8, 24);
  put_section(f, 15, 3, 0, 0, strings_at, names_at - strings_at, 0, 0, 1, 0);
  put_section(f, 23, 3, 0, 0, names_at, sizeof names, 0, 0, 1, 0);
  finish(f);
}


static void write_nm (const job *j) {
  FILE *f = create(j, "nm");
  for (uint64_t i = 0; i < j->symbols; i++) {
    fprintf(f, "%016llx T f%07d\n", (unsigned long long)address(j, i), (int)i);
  }
  finish(f);
}


/* One bin in sixteen has samples. */
static void put_histogram (FILE *f, job *j) {
  const uint64_t bins = j->text / BIN_BYTES;
  putc(0, f);
  put(f, BASE, 8);
  put(f, BASE + bins * BIN_BYTES, 8);
  put(f, bins, 4);
  put(f, 100, 4); /* samples in a second */
  fwrite("seconds\0\0\0\0\0\0\0\0s", 1, 16, f);
  for (uint64_t i = 0; i < bins; i++) {
    const uint64_t r = next_random(j);
    put(f, r % 16 == 0 ? r / 16 % 100 : 0, 2);
  }
}


static void put_arc (FILE *f, const job *j, uint64_t caller, uint64_t callee,
                     uint64_t count) {
  putc(1, f);
  put(f, address(j, caller) + 1, 8);
  put(f, address(j, callee) + 1, 8);
  put(f, count, 4);
}


/* Sets the caller and the callee of arc i. */
static void choose (job *j, uint64_t i, uint64_t *caller, uint64_t *callee) {
  const uint64_t last = j->symbols - 1;
  if (strcmp(j->shape, "chain") == 0) {
    *caller = i % last;
    *callee = *caller + 1;
  }
  else if (strcmp(j->shape, "callers") == 0) {
    *caller = 1 + i % last;
    *callee = 0;
  }
  else if (i % 10000 == 9999) { /* the arc before, turned round: a cycle */
    const uint64_t kept = *caller;
    *caller = *callee;
    *callee = kept;
  }
  else {
    *caller = next_random(j) % last;
    *callee = *caller + 1 + next_random(j) % 1000;
    *callee = *callee > last ? last : *callee;
  }
}


static void write_trace (job *j) {
  FILE *f = create(j, "gmon");
  fwrite("gmon\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 1, 20, f);
  put_histogram(f, j);
  uint64_t caller = 0, callee = 0;
  for (uint64_t i = 0; i < j->arcs; i++) {
    choose(j, i, &caller, &callee);
    put_arc(f, j, caller, callee, 1 + next_random(j) % 1000);
  }
  finish(f);
}


int main (int argc, char **argv) {
  if (argc != 6) {
    fprintf(stderr, "trace NAME SYMBOLS TEXT ARCS SHAPE\n");
    return 2;
  }
  job j = {argv[1],
           strtoull(argv[2], NULL, 10),
           strtoull(argv[3], NULL, 10),
           strtoull(argv[4], NULL, 10),
           argv[5],
           0,
           1};
  if (j.symbols < 2 || j.symbols > 9999999 || j.text / j.symbols < 8) {
    fprintf(stderr, "trace: 2 to 9999999 symbols of 8 bytes and more\n");
    return 2;
  }
  j.distance = j.text / j.symbols & ~UINT64_C(1);
  write_program(&j);
  write_nm(&j);
  write_trace(&j);
  return 0;
}
