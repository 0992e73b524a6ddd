/*
** areas.h - areas, to which time is attributed: functions, lines, states of
** variables. They are dictionary-encoded: areas that are equal in all fields
** have one id, also those of several files of a trace. Ids count from 0, never
** change, and are the values of PF_AREA columns. Formats add areas while they
** read; so do the recorder, the writers and some kernels. The dictionary owns
** the areas.
*/

#ifndef areas_h
#define areas_h

#include "model/dictionary/names.h"

#define PF_NO_AREA UINT32_MAX

/* Begin with PF_AREA_NONE and set what is known. */
typedef struct pf_area {
  uint32_t name;   /* id in the dictionary, as class and file */
  uint32_t class;  /* a name: "function", "line", ..., or PF_NO_NAME */
  uint32_t file;   /* a name, or PF_NO_NAME */
  uint32_t parent; /* an area, or PF_NO_AREA */
  int64_t line;    /* in the file; 0: none */
  bool has_handle, has_value;
  uint64_t handle; /* the vendor's id */
  int64_t value;   /* of a state of a variable */
} pf_area;

#define PF_AREA_NONE \
  { PF_NO_NAME, PF_NO_NAME, PF_NO_NAME, PF_NO_AREA, 0, false, false, 0, 0 }

/* The id of an area, which is added if it is new; PF_NO_AREA when out of
   memory. */
uint32_t pf_area_add (pf_dictionary *dictionary, const pf_area *area);

/* The number of areas: ids are below this. */
uint32_t pf_areas_count (const pf_dictionary *dictionary);

/* The area of an id, valid while the dictionary lives; PF_AREA_NONE for an id
   that does not exist. One thread at a time may add areas; others may read
   those with ids that they know. */
const pf_area *pf_area_at (const pf_dictionary *dictionary, uint32_t number);

/* The id of an area's name. */
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
