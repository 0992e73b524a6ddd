/*
** names.h - the dictionary: strings that repeat, stored once, known by number.
** Numbers count from 0 in the order of first sight and never change.
*/

#ifndef names_h
#define names_h

#include "profio.h"

#define PF_NO_NAME UINT32_MAX

/* NULL when out of memory. */
pf_dictionary *pf_dictionary_new (void);
void pf_dictionary_free (pf_dictionary *dictionary);

/* The number of a string (the bytes are copied); PF_NO_NAME when out of
   memory. Average cost: one hash of the bytes and one comparison. */
uint32_t pf_intern (pf_dictionary *dictionary, pf_bytes name);

/* The same for a C string. */
uint32_t pf_intern_text (pf_dictionary *dictionary, const char *name);

/* The number of a string that is known already, else PF_NO_NAME. */
uint32_t pf_find_name (const pf_dictionary *dictionary, pf_bytes name);

/* The bytes of a name, followed by a NUL; valid while the dictionary lives.
   A number that was never given is the empty name. */
pf_bytes pf_name (const pf_dictionary *dictionary, uint32_t number);

/* How many names there are: numbers are below this. */
uint32_t pf_names_count (const pf_dictionary *dictionary);

/* -1, 0 or 1 as the bytes of two names compare. */
int pf_name_compare (const pf_dictionary *dictionary, uint32_t left,
                     uint32_t right);

#endif
