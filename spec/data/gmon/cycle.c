/* cycle.c - mutual recursion in two cycles, self recursion, and a leaf that
   everybody calls: what a call graph can be. It runs for a fifth of a second,
   so that any machine gets samples. */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile double sink;

void even (int depth);
void odd (int depth);
void ping (int depth);
void pong (int depth);
void pang (int depth);


__attribute__((noinline)) void leaf (int n) {
  for (int i = 0; i < n; i++)
    sink += i * 0.5;
}


__attribute__((noinline)) void even (int depth) {
  leaf(3000);
  if (depth > 0)
    odd(depth - 1);
}


__attribute__((noinline)) void odd (int depth) {
  leaf(1000);
  if (depth > 0)
    even(depth - 1);
}


__attribute__((noinline)) void ping (int depth) {
  leaf(2000);
  if (depth > 0)
    pong(depth - 1);
  if (depth > 3)
    pang(depth - 3);
}


__attribute__((noinline)) void pong (int depth) {
  sink += depth;
  if (depth > 0)
    pang(depth - 1);
}


__attribute__((noinline)) void pang (int depth) {
  leaf(500);
  if (depth > 0)
    ping(depth - 1);
}


__attribute__((noinline)) double power (double x, int n) {
  return n == 0 ? 1 : x * power(x, n - 1);
}


__attribute__((noinline)) static void work (int rounds) {
  for (int i = 0; i < rounds; i++) {
    even(9);
    ping(8);
    sink += power(1.01, 25);
  }
}


/* The argument makes runs differ, even if their samples are the same. */
int main (int argc, char **argv) {
  const int more = argc > 1 ? atoi(argv[1]) : 0;
  while (clock() < CLOCKS_PER_SEC / 5)
    work(250 + more);
  printf("%g\n", sink);
  return 0;
}
