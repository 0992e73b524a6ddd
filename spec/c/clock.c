/*
** clock.c - a clock for specs that stands still until the program moves it, and
** timers and waits that go by it. It is preloaded, and a Lua module:
**
**    LD_PRELOAD=clock.so [CLOCK_STEP=NS] [CLOCK_WAITS=FILE] lua5.4 program.lua
**
**   local clock = require "clock"
**   clock.advance(ns)   timers that are due before that send their signals
**
** Each reading moves the clock by CLOCK_STEP ns, 0 by default, as if the reading
** took that long. It is the clock of the first thread; other threads see those of
** the system, which also decide how long they wait. A wait of the first thread
** takes a millisecond, moves the clock by what was asked, and adds a byte to the
** file CLOCK_WAITS: a spec sees there how often a command has waited.
**
** The counter of the processor is hidden, since nothing moves it.
*/

#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))
#define SECOND 1000000000

int luaopen_clock (lua_State *L);

static pthread_t first;
static bool is_here; /* preloaded, not only a module */
/* ns since the start. The handler of a signal reads and moves it during `raise`,
   which compilers take for a function that calls none of this file. */
static volatile int64_t passed;
static volatile int64_t due = -1; /* when the timer ends; -1: it is off */
static int64_t step;              /* ns that a reading takes */
static struct timespec starts;    /* time of the day at the start */
static int signal_of_timer;
static int (*real_gettime)(clockid_t, struct timespec *);
static int (*real_select)(int, fd_set *, fd_set *, fd_set *,
                          const struct timespec *, const sigset_t *);
static int (*real_open)(const char *, int, ...);


/* The next definition of a function, behind this library. */
static void *behind (const char *name) {
  return dlsym(RTLD_NEXT, name);
}


__attribute__((constructor)) static void start (void) {
  const char *const words = getenv("CLOCK_STEP");
  *(void **)&real_gettime = behind("clock_gettime");
  *(void **)&real_select = behind("pselect");
  *(void **)&real_open = behind("open");
  first = pthread_self();
  step = words == NULL ? 0 : atoll(words);
  real_gettime(CLOCK_REALTIME, &starts);
  is_here = getenv("LD_PRELOAD") != NULL;
}


static bool is_moved (void) {
  return is_here && pthread_equal(pthread_self(), first);
}


static int64_t ns_of (const struct timespec *t) {
  return (int64_t)t->tv_sec * SECOND + t->tv_nsec;
}


PUBLIC int clock_gettime (clockid_t id, struct timespec *t) {
  if (real_gettime == NULL || !is_moved() || id < 0)
    return real_gettime == NULL ? -1 : real_gettime(id, t);
  passed += step;
  const int64_t now = passed + (id == CLOCK_REALTIME ? ns_of(&starts) : SECOND);
  *t = (struct timespec){now / SECOND, now % SECOND};
  return 0;
}


PUBLIC clock_t clock (void) {
  return (clock_t)(passed / (SECOND / CLOCKS_PER_SEC));
}


PUBLIC time_t time (time_t *result) {
  const time_t now = (time_t)((ns_of(&starts) + passed) / SECOND);
  if (result != NULL)
    *result = now;
  return now;
}


/* The counter of the processor is no clock source of this system. */
PUBLIC int open (const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const bool has_mode =
      (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  const mode_t mode = has_mode ? (mode_t)va_arg(arguments, int) : 0;
  va_end(arguments);
  if (is_here && strstr(path, "current_clocksource") != NULL) {
    errno = ENOENT;
    return -1;
  }
  if (real_open == NULL) /* another library begins first */
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  return real_open(path, flags, mode);
}


/* Moves the clock. The handler of a signal may start the timer again. */
static void advance (int64_t ns) {
  const int64_t until = passed + ns;
  while (due >= 0 && due <= until) {
    passed = due > passed ? due : passed;
    due = -1;
    raise(signal_of_timer);
  }
  passed = until > passed ? until : passed;
}


PUBLIC int timer_create (clockid_t id, struct sigevent *event, timer_t *timer) {
  (void)id;
  signal_of_timer = event->sigev_signo;
  due = -1;
  *timer = NULL;
  return 0;
}


PUBLIC int timer_settime (timer_t timer, int flags,
                          const struct itimerspec *value,
                          struct itimerspec *old) {
  (void)timer;
  (void)flags;
  (void)old;
  const int64_t wait = ns_of(&value->it_value);
  due = wait > 0 ? passed + wait : -1;
  return 0;
}


PUBLIC int timer_delete (timer_t timer) {
  (void)timer;
  due = -1;
  return 0;
}


/* Adds a byte to the file of waits. */
static void tell (void) {
  const char *const path = getenv("CLOCK_WAITS");
  const int fd =
      path == NULL ? -1 : real_open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (fd >= 0 && write(fd, ".", 1) == 1)
    close(fd);
}


/* As the function of the system; in the first thread only without files. */
PUBLIC int pselect (int count, fd_set *readable, fd_set *writable,
                    fd_set *special, const struct timespec *wait,
                    const sigset_t *mask) {
  const struct timespec moment = {0, SECOND / 1000};
  if (!is_moved() || count > 0)
    return real_select(count, readable, writable, special, wait, mask);
  if (ns_of(wait) > 0)
    tell();
  const int result = real_select(0, NULL, NULL, NULL, &moment, mask);
  if (result == 0)
    advance(ns_of(wait));
  return result;
}


PUBLIC int nanosleep (const struct timespec *wait, struct timespec *left) {
  (void)left;
  return pselect(0, NULL, NULL, NULL, wait, NULL);
}


static int clock_advance (lua_State *L) {
  advance(luaL_checkinteger(L, 1));
  return 0;
}


PUBLIC int luaopen_clock (lua_State *L) {
  static const luaL_Reg functions[] = {{"advance", clock_advance},
                                       {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
