/*
** interrupt.h - Ctrl-C (SIGINT) as a state that long loops ask for, instead of
** the end of the process.
**
** The state is the action of the signal, which the system keeps: so there is no
** global variable, and the libraries profio.core and profio.store, which share
** no memory, see the same. The first Ctrl-C only resets the action; the second
** one ends the process, whatever it does.
*/

#ifndef interrupt_h
#define interrupt_h

#include <signal.h>

#include "profio.h"

/* The action of Ctrl-C before pf_interrupt_hold. */
typedef struct pf_interrupt {
  bool is_held;
  struct sigaction before;
} pf_interrupt;

/* Hold back the first Ctrl-C from here on. One that was pressed while an outer
   hold lasts is kept. */
void pf_interrupt_hold (pf_interrupt *interrupt);

/* Restore the action. Return whether a Ctrl-C was held back that has not been
   taken. */
bool pf_interrupt_release (pf_interrupt *interrupt);

/* Whether Ctrl-C was pressed while it is held back. To be asked in long loops,
   also in threads: a system call, so not for each row. */
bool pf_is_interrupted (void);

/* Whether Ctrl-C was pressed; if so, pf_is_interrupted is false afterwards. */
bool pf_interrupt_take (void);

/* Whether Ctrl-C ends the process. */
bool pf_interrupt_is_fatal (void);

/* Wait for `seconds`, or until Ctrl-C while it is held. */
void pf_interrupt_wait (double seconds);

/* Fill `error` with "interrupted by Ctrl-C"; return PF_EIO. */
pf_status pf_interrupted (pf_error *error);

#endif
