/*
** console.c - Ctrl-C, terminals and pipes.
**
** The state of Ctrl-C is the action of its signal, which the system keeps, so
** there is no global variable. An action with SA_RESETHAND becomes SIG_DFL when
** the signal arrives, and keeps the flag: this pair is the state "interrupted",
** which nothing else leaves behind.
*/

#include "os/os.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <unistd.h>


/* The system has reset the action before it calls this. */
static void on_interrupt (int number) {
  (void)number;
}


static bool is_reset (const struct sigaction *action) {
  return action->sa_handler == SIG_DFL &&
         ((unsigned)action->sa_flags & (unsigned)SA_RESETHAND) != 0;
}


bool os_is_interrupted (void) {
  struct sigaction now;
  return sigaction(SIGINT, NULL, &now) == 0 && is_reset(&now);
}


bool os_interrupt_is_fatal (void) {
  struct sigaction now;
  return sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == SIG_DFL;
}


bool os_interrupt_take (void) {
  struct sigaction usual;
  memset(&usual, 0, sizeof usual);
  usual.sa_handler = SIG_DFL;
  return os_is_interrupted() && sigaction(SIGINT, &usual, NULL) == 0;
}


void os_interrupt_hold (os_interrupt *interrupt) {
  struct sigaction action, *const before = malloc(sizeof *before);
  memset(&action, 0, sizeof action);
  action.sa_handler = on_interrupt;
  action.sa_flags = (int)((unsigned)SA_RESETHAND | SA_RESTART);
  interrupt->before = before;
  interrupt->is_held =
      before != NULL && sigaction(SIGINT, NULL, before) == 0 &&
      (is_reset(before) || sigaction(SIGINT, &action, before) == 0);
}


bool os_interrupt_release (os_interrupt *interrupt) {
  struct sigaction now;
  const bool was_pressed = interrupt->is_held &&
                           sigaction(SIGINT, interrupt->before, &now) == 0 &&
                           is_reset(&now);
  free(interrupt->before);
  *interrupt = (os_interrupt){.is_held = false};
  return was_pressed;
}


void os_interrupt_wait (int64_t ns) {
  const struct timespec time = {(time_t)(ns / 1000000000),
                                (long)(ns % 1000000000)};
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT); /* else it could come just before the wait */
  if (pthread_sigmask(SIG_BLOCK, &blocked, &before) != 0)
    return;
  if (!os_is_interrupted())
    (void)pselect(0, NULL, NULL, NULL, &time, &before);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}


bool os_is_terminal (int fd) {
  return isatty(fd) != 0;
}


int os_terminal_width (int fd) {
  struct winsize size;
  return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}


bool os_has_no_reader (int fd) {
  struct pollfd pipe = {.fd = fd, .events = POLLOUT};
  return poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR) != 0;
}


void os_ignore_broken_pipes (void) {
  (void)signal(SIGPIPE, SIG_IGN);
}
