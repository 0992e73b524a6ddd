/*
** json_names.h - names from values of JSON. Used by the formats chrome and
** cpuprofile. The dictionary copies what is new.
*/

#ifndef json_names_h
#define json_names_h

#include "bytes/json.h"
#include "model/dictionary/names.h"

/* Set *name to the id of a string without its escapes, or of the bytes of
   another value; PF_NO_NAME: there is no value. PF_OK, or PF_ENOMEM with a
   message. */
pf_status pf_intern_json (pf_dictionary *dictionary, const pf_json *value,
                          uint32_t *name, pf_error *error);

#endif
