/*
** interrupt.c - see interrupt.h. An action with SA_RESETHAND becomes SIG_DFL
** when the signal arrives, and keeps the flag: this pair is the state
** "interrupted", which nothing else leaves behind.
*/

#include "model/system/interrupt.h"

#include <string.h>
#include <sys/select.h>
#include <time.h>


/* The system has reset the action before it calls this. */
static void on_interrupt (int number) {
  (void)number;
}


static bool is_reset (const struct sigaction *action) {
  return action->sa_handler == SIG_DFL &&
         ((unsigned)action->sa_flags & (unsigned)SA_RESETHAND) != 0;
}


bool pf_is_interrupted (void) {
  struct sigaction now;
  return sigaction(SIGINT, NULL, &now) == 0 && is_reset(&now);
}


bool pf_interrupt_is_fatal (void) {
  struct sigaction now;
  return sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == SIG_DFL;
}


bool pf_interrupt_take (void) {
  struct sigaction usual;
  memset(&usual, 0, sizeof usual);
  usual.sa_handler = SIG_DFL;
  return pf_is_interrupted() && sigaction(SIGINT, &usual, NULL) == 0;
}


void pf_interrupt_hold (pf_interrupt *interrupt) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_interrupt;
  action.sa_flags = (int)((unsigned)SA_RESETHAND | SA_RESTART);
  interrupt->is_held = sigaction(SIGINT, NULL, &interrupt->before) == 0 &&
                       (is_reset(&interrupt->before) ||
                        sigaction(SIGINT, &action, &interrupt->before) == 0);
}


bool pf_interrupt_release (pf_interrupt *interrupt) {
  struct sigaction now;
  const bool is_held = interrupt->is_held;
  interrupt->is_held = false;
  return is_held && sigaction(SIGINT, &interrupt->before, &now) == 0 &&
         is_reset(&now);
}


void pf_interrupt_wait (double seconds) {
  const time_t whole = (time_t)seconds;
  const struct timespec time = {whole, (long)((seconds - (double)whole) * 1e9)};
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT); /* else it could come just before the wait */
  if (pthread_sigmask(SIG_BLOCK, &blocked, &before) != 0)
    return;
  if (!pf_is_interrupted())
    (void)pselect(0, NULL, NULL, NULL, &time, &before);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}


pf_status pf_interrupted (pf_error *error) {
  return pf_fail(error, PF_EIO, PF_NO_OFFSET, "interrupted by Ctrl-C");
}
