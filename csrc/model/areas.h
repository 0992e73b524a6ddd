/*
** areas.h - areas: what time is charged to, a function, a line, a state of a
** variable. Formats make them as they meet them; columns of PF_AREA hold their
** numbers, which count from 0 and never change. Areas that are equal in all
** their parts are one area, so those of several files of a trace fall together.
** They live in the dictionary, like the names they are made of.
*/

#ifndef areas_h
#define areas_h

#include "model/names.h"

#define PF_NO_AREA UINT32_MAX

/* Begin with PF_AREA_NONE and set what is known. */
typedef struct pf_area {
  uint32_t name;   /* of the dictionary */
  uint32_t class;  /* a name: "function", "line", "variable", ..., or none */
  uint32_t file;   /* a name, or PF_NO_NAME */
  uint32_t parent; /* an area, or PF_NO_AREA */
  int64_t line;    /* in the file; 0: none */
  bool has_handle, has_value;
  uint64_t handle; /* the vendor's number of it */
  int64_t value;   /* with the handle its identity: of a state, say */
} pf_area;

#define PF_AREA_NONE \
  { PF_NO_NAME, PF_NO_NAME, PF_NO_NAME, PF_NO_AREA, 0, false, false, 0, 0 }

/* The number of an area; PF_NO_AREA when out of memory. */
uint32_t pf_area_add (pf_dictionary *dictionary, const pf_area *area);

/* How many there are: numbers are below this. */
uint32_t pf_areas_count (const pf_dictionary *dictionary);

/* The area of a number, valid while the dictionary lives; one that was never
   given is an area without parts. One thread at a time may add areas, and
   others look at those they know. */
const pf_area *pf_area_at (const pf_dictionary *dictionary, uint32_t number);

/* The number of an area's name. */
static inline uint32_t pf_area_name (const pf_dictionary *dictionary,
                                     uint32_t number) {
  return pf_area_at(dictionary, number)->name;
}

/* The text of a value of PF_NAME or PF_AREA. */
static inline pf_bytes pf_text (const pf_dictionary *dictionary, pf_type type,
                                uint32_t number) {
  return pf_name(dictionary,
                 type == PF_AREA ? pf_area_name(dictionary, number) : number);
}

/* Called by pf_dictionary_free. */
struct pf_areas;
void pf_areas_free (struct pf_areas *areas);

#endif
