/*
** settings.h - reads the PRI file: lines KEY=VALUE, possibly in [sections].
** Used by open_xpp.c (facts and table settings), fields.c and write_xpp.c.
**
** Allocates nothing: all results point into the text, which open_xpp.c takes
** from a source of the trace.
*/

#ifndef settings_h
#define settings_h

#include "formats/xpp/xpp.h"

/* Bits of OPERATIONMODE. The documents describe 1, 1024 and 2048 separately,
   and 8 and 4096 together; the other bits have no name. */
#define XPP_MODE_TRACE      1
#define XPP_MODE_FLUSH      1024
#define XPP_MODE_PACKETS    2048
#define XPP_MODE_UNFILTERED 4104 /* 8 and 4096 */

typedef struct xpp_setting {
  uint64_t offset, size; /* of its line */
  pf_bytes section;      /* empty: before the first section */
  pf_bytes key, value;   /* key empty: the line is not a setting */
} xpp_setting;

/* Parses the line at `at`: first 0, then offset + size of the line before.
   Returns false at the end of the text. Pass the same zero-initialised
   `setting` for all lines, because it keeps the current section. */
bool xpp_next_setting (pf_bytes text, uint64_t at, xpp_setting *setting);

/* Finds a key (given in capitals, any case in the text); the last occurrence
   counts. Returns false if there is none. */
bool xpp_setting_value (pf_bytes text, const char *key, pf_bytes *value);

/* Finds a key as xpp_setting_value does; the value must be an integer of 0 or
   more. */
bool xpp_setting_number (pf_bytes text, const char *key, int64_t *number);

/* Returns true if a text contains the setting OPERATIONMODE; and the
   confidence, 0 to 100, that it is a PRI file. */
bool xpp_has_settings (pf_bytes text);
int xpp_settings_score (pf_bytes head);

/* Writes the names of the bits that are set, and the values of those without a
   name, with blanks between. Returns the size; `text` has XPP_MODE_SIZE
   bytes. */
#define XPP_MODE_SIZE 160
size_t xpp_mode_text (int64_t mode, char *text);

/* Sets header facts from the settings. */
void xpp_settings_info (pf_trace *trace, pf_bytes text);

extern const pf_table xpp_settings_table;

#endif
