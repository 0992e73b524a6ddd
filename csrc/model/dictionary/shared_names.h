/*
** shared_names.h - finds names that areas of several files have. A row that
** shows such a name shows the file, too. Used by kernels/contexts/views.c and
** text/table_text.c.
*/

#ifndef shared_names_h
#define shared_names_h

#include "model/dictionary/areas.h"

/* Zero-initialised before the first use. The caller frees `files`. */
typedef struct pf_shared_names {
  uint32_t *files; /* by name: the file of its areas plus 2, PF_NO_NAME being 1;
                      0: no area; UINT32_MAX: several files */
  size_t capacity;
  uint32_t areas; /* areas of the dictionary that have been added, by
                     pf_shared_names_all */
} pf_shared_names;

/* Adds an area. False when out of memory. */
bool pf_shared_names_add (pf_shared_names *shared,
                          const pf_dictionary *dictionary, uint32_t area);

/* Adds the areas of the dictionary that are not yet added. False when out of
   memory. */
bool pf_shared_names_all (pf_shared_names *shared,
                          const pf_dictionary *dictionary);

/* Returns the size of the name of an area; of a shared one with its file:
   "name (file)". */
size_t pf_full_name_size (const pf_shared_names *shared,
                          const pf_dictionary *dictionary, uint32_t area);

/* Writes this name, which has no zero at its end. Returns the position after
   it. */
uint8_t *pf_full_name_put (const pf_shared_names *shared,
                           const pf_dictionary *dictionary, uint32_t area,
                           uint8_t *at);

#endif
