/*
** demo.c - a small program worth profiling; `make demo` builds it with -pg.
**
** It parses and evaluates sums (three functions that call one another in a
** cycle), sorts words (recursion), counts primes, and multiplies matrices.
** The loops in main show what each part costs, so the report can be compared
** with the expected numbers.
*/

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE  96
#define WORDS 4000
#define LIMIT 20000


/* A grammar of sums. sum -> product -> factor -> sum is the cycle. */
static const char *at;

static long sum (void);


static long number (void) {
  long value = 0;
  while (isdigit((unsigned char)*at)) {
    value = value * 10 + (*at++ - '0');
  }
  return value;
}


static long factor (void) {
  if (*at != '(') {
    return number();
  }
  at++;
  const long value = sum();
  at++; /* the closing parenthesis */
  return value;
}


static long product (void) {
  long value = factor();
  while (*at == '*') {
    at++;
    value = value * factor() % 1000003;
  }
  return value;
}


static long sum (void) {
  long value = product();
  while (*at == '+') {
    at++;
    value += product();
  }
  return value;
}


static long evaluate (const char *text) {
  at = text;
  return sum();
}


/* Words and a quicksort that calls itself. */
static int compare (const char *left, const char *right) {
  return strcmp(left, right);
}


static void swap (const char **left, const char **right) {
  const char *kept = *left;
  *left = *right;
  *right = kept;
}


static void sort (const char **words, int count) {
  int low = 0;
  if (count < 2) {
    return;
  }
  swap(&words[0], &words[count / 2]);
  for (int i = 1; i < count; i++) {
    if (compare(words[i], words[0]) < 0) {
      swap(&words[++low], &words[i]);
    }
  }
  swap(&words[0], &words[low]);
  sort(words, low);
  sort(words + low + 1, count - low - 1);
}


static unsigned next_random (unsigned *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}


static void make_word (char *word, unsigned *seed) {
  for (int i = 0; i < 7; i++) {
    word[i] = (char)('a' + next_random(seed) % 26);
  }
  word[7] = '\0';
}


static const char *sort_words (unsigned seed) {
  static char letters[WORDS][8];
  static const char *words[WORDS];
  for (int i = 0; i < WORDS; i++) {
    make_word(letters[i], &seed);
    words[i] = letters[i];
  }
  sort(words, WORDS);
  return words[0];
}


/* Primes by trial: the hot loop of a single function. */
static int is_prime (int number) {
  for (int d = 2; d * d <= number; d++) {
    if (number % d == 0) {
      return 0;
    }
  }
  return number > 1;
}


static int count_primes (int limit) {
  int count = 0;
  for (int i = 0; i < limit; i++) {
    count += is_prime(i);
  }
  return count;
}


/* A matrix product: one call, a lot of time. */
static double cell (double a[SIDE][SIDE], double b[SIDE][SIDE], int i, int j) {
  double total = 0;
  for (int k = 0; k < SIDE; k++) {
    total += a[i][k] * b[k][j];
  }
  return total;
}


static double multiply (double scale) {
  static double a[SIDE][SIDE], b[SIDE][SIDE];
  double trace = 0;
  for (int i = 0; i < SIDE; i++) {
    for (int j = 0; j < SIDE; j++) {
      a[i][j] = scale * i + j;
      b[i][j] = scale * j - i;
    }
  }
  for (int i = 0; i < SIDE; i++) {
    for (int j = 0; j < SIDE; j++) {
      trace += cell(a, b, i, j);
    }
  }
  return trace;
}


int main (void) {
  const char *text = "(1+2*(3+4))*(5+(6*7+(8+9)))+10*(11+12*(13+14))";
  const char *first = "";
  double trace = 0;
  long value = 0;
  int primes = 0;

  for (int round = 0; round < 300; round++) {
    for (int i = 0; i < 6000; i++) {
      value += evaluate(text);
    }
    first = sort_words((unsigned)round);
    primes += count_primes(LIMIT);
    trace += multiply(1.0 / (round + 1));
  }
  printf("%ld %s %d %.1f\n", value, first, primes, trace);
  return 0;
}
