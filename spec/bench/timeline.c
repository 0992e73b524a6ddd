/*
** timeline.c - writes the timelines of the bench, as winIDEA exports them.
**
**   timeline NAME EVENTS AREAS DEPTH [text]
**
** NAME.txt is the main file: contexts and the names of AREAS areas, of which
** one in ten is a variable and the rest are functions. NAME.txt.BIN is the
** timeline, version 1.1, of EVENTS records on two cores; with `text` it stands
** in the main file instead. On each core functions call a few others, always
** the same, at most DEPTH deep, and sometimes write a variable. The enter of a
** callee follows the suspend of its caller, and the resume of the caller
** follows the leave of the callee, at the same time, as in recordings of the
** vendor.
*/

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CORES     2
#define MOST_DEEP 1024
#define CALLEES   8 /* of each function */
#define VARIABLE  UINT32_C(0x20000000)

enum {
  LEAVE,
  SUSPEND,
  RESUME,
  ENTER,
  WRITE
};

typedef struct core {
  uint32_t stack[MOST_DEEP];
  int depth;
} core;

typedef struct job {
  FILE *file;
  bool is_text;
  uint64_t left; /* events to write */
  uint32_t functions, variables;
  int deepest;
  core cores[CORES];
  int running; /* the core whose events come */
  uint64_t time, seed;
} job;


static void fail (const char *what) {
  fprintf(stderr, "timeline: %s: %s\n", what, strerror(errno));
  exit(1);
}


static FILE *create (const char *name, const char *ending) {
  char path[4096];
  snprintf(path, sizeof path, "%s%s", name, ending);
  FILE *f = fopen(path, "wb");
  if (f == NULL) {
    fail(path);
  }
  setvbuf(f, NULL, _IOFBF, 1 << 20);
  return f;
}


static void finish (FILE *f) {
  if (ferror(f) || fclose(f) != 0) {
    fail("write");
  }
}


/* A pseudo-random number; the sequence is the same in each run. */
static uint32_t next_random (job *j) {
  j->seed = j->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
  return (uint32_t)(j->seed >> 33);
}


/* {====== Events ====== */

static void put_record (const job *j, uint32_t handle, uint32_t event,
                        uint64_t data) {
  const uint32_t words[2] = {handle, (uint32_t)j->running << 4 | event};
  const uint64_t longs[2] = {data, j->time};
  uint8_t bytes[24];
  for (int i = 0; i < 8; i++) {
    bytes[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
  }
  for (int i = 0; i < 16; i++) {
    bytes[8 + i] = (uint8_t)(longs[i / 8] >> 8 * (i % 8));
  }
  fwrite(bytes, 1, sizeof bytes, j->file);
}


static void put_row (const job *j, uint32_t handle, uint32_t event,
                     uint64_t data) {
  if (event == WRITE) {
    fprintf(j->file, "%08X,W,%08X,%llu\r\n", handle, (unsigned)data,
            (unsigned long long)j->time);
  }
  else {
    fprintf(j->file, "%08X,%c,,%llu\r\n", handle, "XSRE"[event],
            (unsigned long long)j -> time);
  }
}


static void put (job *j, uint32_t handle, uint32_t event, uint64_t data) {
  if (j->left == 0) {
    return;
  }
  j->left--;
  if (j->is_text) {
    put_row(j, handle, event, data);
  }
  else {
    put_record(j, handle, event, data);
  }
}


/* One of the few functions that a function calls. */
static uint32_t callee_of (job *j, uint32_t caller) {
  const uint32_t which = next_random(j) % CALLEES;
  return (caller * UINT32_C(2654435761) + which * which * 97 + 1) %
         j->functions;
}


static void call (job *j, core *c) {
  uint32_t callee = next_random(j) % j->functions;
  if (c->depth > 0) {
    const uint32_t caller = c->stack[c->depth - 1];
    callee = callee_of(j, caller);
    put(j, caller, SUSPEND, 0);
  }
  c->stack[c->depth++] = callee;
  put(j, callee, ENTER, 0);
}


static void leave (job *j, core *c) {
  put(j, c->stack[--c->depth], LEAVE, 0);
  if (c->depth > 0) {
    put(j, c->stack[c->depth - 1], RESUME, 0);
  }
}


/* Whether a call follows, or a return: depths spread around a third of the
   deepest. */
static bool is_call (job *j, const core *c) {
  const int swing = 4 * j->deepest;
  const int r = (int)(next_random(j) % (uint32_t)swing);
  if (c->depth == 0 || c->depth == j->deepest) {
    return c->depth == 0;
  }
  return r < swing / 2 + j->deepest / 3 - c->depth;
}


static void step (job *j) {
  const uint32_t r = next_random(j);
  if (r % 64 == 0) {
    j->running = (j->running + 1) % CORES;
  }
  core *const c = &j->cores[j->running];
  j->time += 5 + (r >> 8) % 400;
  if ((r >> 17) % 16 == 0) {
    put(j, VARIABLE + next_random(j) % j->variables, WRITE, next_random(j));
  }
  else if (is_call(j, c)) {
    call(j, c);
  }
  else {
    leave(j, c);
  }
}

/* }====== */


static void put_names (const job *j, FILE *f, uint64_t events) {
  fprintf(f, "* INFO %%TOTAL_TIME%%\r\n%llu\r\n",
          (unsigned long long)events * 210);
  fprintf(f, "* CONTEXTS %%NAME%%,%%HANDLE%%\r\n");
  fprintf(f, "* HANDLE(Functions) %%HANDLE%%,%%NAME%%,%%VALUE%%\r\n");
  for (uint32_t i = 0; i < j->functions; i++) {
    fprintf(f, "%08X,function_%04u,\r\n", i, i);
  }
  fprintf(f, "* HANDLE(Data) %%HANDLE%%,%%NAME%%,%%VALUE%%\r\n");
  for (uint32_t i = 0; i < j->variables; i++) {
    fprintf(f, "%08X,variable_%03u,\r\n", VARIABLE + i, i);
  }
}


int main (int argc, char **argv) {
  if (argc < 5 || argc > 6) {
    fprintf(stderr, "timeline NAME EVENTS AREAS DEPTH [text]\n");
    return 2;
  }
  static job j = {.seed = 1};
  const uint64_t areas = strtoull(argv[3], NULL, 10);
  j.left = strtoull(argv[2], NULL, 10);
  j.deepest = atoi(argv[4]);
  j.is_text = argc == 6;
  if (areas < 10 || areas > 1000000 || j.deepest < 1 || j.deepest > MOST_DEEP) {
    fprintf(stderr, "timeline: 10 to 1000000 areas, 1 to 1024 deep\n");
    return 2;
  }
  j.variables = (uint32_t)areas / 10;
  j.functions = (uint32_t)areas - j.variables;
  FILE *main_file = create(argv[1], ".txt");
  put_names(&j, main_file, j.left);
  j.file = main_file;
  if (j.is_text) {
    fprintf(j.file, "* TIMELINE %%HANDLE%%,%%EVENT%%,%%VALUE%%,%%TIME%%\r\n");
  }
  else {
    j.file = create(argv[1], ".txt.BIN");
  }
  while (j.left > 0) {
    step(&j);
  }
  if (j.file != main_file) {
    finish(j.file);
  }
  finish(main_file);
  return 0;
}
