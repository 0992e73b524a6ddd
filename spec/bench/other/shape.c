/*
** shape.c - a loop over a table with shapelib: the columns TIME, OP and MSG of
** every record, and with a second argument TID too. Prints the seconds, and a
** checksum of the values.
*/

#define _POSIX_C_SOURCE 200809L

#include <shapefil.h>
#include <stdio.h>
#include <time.h>


static double now (void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}


int main (int argc, char **argv) {
  const double began = now();
  const DBFHandle table = argc > 1 ? DBFOpen(argv[1], "rb") : NULL;
  if (table == NULL)
    return 1;
  const int records = DBFGetRecordCount(table);
  long long sum = 0;
  for (int i = 0; i < records; i++) {
    if (argc > 2)
      sum += DBFReadIntegerAttribute(table, i, 0);
    sum += DBFReadIntegerAttribute(table, i, 1);
    sum += DBFReadStringAttribute(table, i, 2)[0];
    sum += DBFReadStringAttribute(table, i, 3)[0];
  }
  DBFClose(table);
  printf("%.6f %lld\n", now() - began, sum);
  return 0;
}
