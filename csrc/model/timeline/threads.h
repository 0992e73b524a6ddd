/*
** threads.h - the lanes of a file that has threads in processes, and work that
** runs beside them; and their names, which differ.
**
** Used by the format chrome and span_events.c. Order of calls: pf_threads_init;
** pf_thread_of and pf_threads_set_process; pf_threads_set_names;
** pf_threads_free.
*/

#ifndef threads_h
#define threads_h

#include "model/base/id_table.h"
#include "model/dictionary/names.h"

/* A thread, or work that has an id. All numbers are names. */
typedef struct pf_thread {
  uint32_t pid, tid; /* as the file has them, or PF_NO_NAME */
  uint32_t title;    /* of a thread, or PF_NO_NAME */
  uint32_t process;  /* if there are several, or PF_NO_NAME */
  uint32_t name;     /* of the lane, unique */
  bool is_work;      /* it has an id */
} pf_thread;

typedef struct pf_threads {
  pf_thread *lanes; /* owned, as all below */
  size_t capacity;
  pf_id_table known; /* words: what tells the lanes of a file apart */
  pf_id_table pids;
  uint32_t *processes; /* names, by id of the pid */
  size_t process_capacity;
} pf_threads;

void pf_threads_init (pf_threads *threads);
void pf_threads_free (pf_threads *threads);

/* Set *id to the lane of a word, which is added as `lane` with its pid, tid and
   is_work if it is new. False when out of memory. */
bool pf_thread_of (pf_threads *threads, uint64_t word, const pf_thread *lane,
                   uint32_t *id);

/* Set the name of a process. False when out of memory. */
bool pf_threads_set_process (pf_threads *threads, uint32_t pid, uint32_t name);

/* Set the names of all lanes. */
pf_status pf_threads_set_names (pf_threads *threads, pf_dictionary *dictionary,
                                pf_error *error);

#endif
