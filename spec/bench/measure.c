/*
** measure.c - runs a command and prints its cost.
**
**   measure COMMAND ARGUMENTS...
**
** The output of the command is discarded. Prints one line: elapsed seconds, the
** largest resident set in kilobytes, the exit status, or 128 plus the signal,
** and the seconds of processor time.
*/

#define _DEFAULT_SOURCE /* wait4 */

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>


static double now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}


static double seconds_of (struct timeval t) {
  return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}


static void become (char **command) {
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  execvp(command[0], command);
  _exit(127);
}


int main (int argc, char **argv) {
  struct rusage usage;
  int status = 0;
  if (argc < 2) {
    fprintf(stderr, "measure COMMAND ARGUMENTS...\n");
    return 2;
  }
  const double began = now();
  const pid_t child = fork();
  if (child == 0) {
    become(argv + 1);
  }
  if (child < 0 || wait4(child, &status, 0, &usage) != child) {
    perror("measure");
    return 1;
  }
  printf("%.4f %ld %d %.4f\n", now() - began, usage.ru_maxrss,
         WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
         seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime));
  return 0;
}
