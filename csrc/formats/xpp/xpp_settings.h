/*
** xpp_settings.h - the PRI file: lines KEY=VALUE, maybe in sections. Comments,
** unknown keys and duplicate keys are kept as they are by not being touched.
*/

#ifndef xpp_settings_h
#define xpp_settings_h

#include "formats/xpp/xpp.h"

/* Bits of OPERATIONMODE. Those the documents say nothing about have no name.
   1 and 1024 and 2048 are documented one by one, 8 and 4096 together. */
#define XPP_MODE_TRACE      1
#define XPP_MODE_FLUSH      1024
#define XPP_MODE_PACKETS    2048
#define XPP_MODE_UNFILTERED 4104 /* 8 and 4096 */

typedef struct xpp_setting {
  uint64_t offset, size; /* of its line */
  pf_bytes section;      /* empty: before the first */
  pf_bytes key, value;   /* key empty: a line that is no setting */
} xpp_setting;

/* The line at `at` (0 at first, then offset + size of the last one); false at
   the end. The section is kept in `setting` from line to line. */
bool xpp_next_setting (pf_bytes text, uint64_t at, xpp_setting *setting);

/* The value of a key, in letters of any case; the last one counts. */
bool xpp_setting_value (pf_bytes text, const char *key, pf_bytes *value);

/* The same as a number of 0 or more. */
bool xpp_setting_number (pf_bytes text, const char *key, int64_t *number);

/* Whether a text has the setting OPERATIONMODE, so that it can be read as
   settings; and how sure it is that it is a file of them, 0 to 100. */
bool xpp_has_settings (pf_bytes text);
int xpp_settings_score (pf_bytes head);

/* The names of the bits that are set, and the numbers of those that have no
   name, with blanks between; its size. */
#define XPP_MODE_SIZE 160
size_t xpp_mode_text (int64_t mode, char *text);

/* Header facts from the settings. */
void xpp_settings_info (pf_trace *trace, pf_bytes text);

extern const pf_field xpp_settings_fields[5];

pf_status xpp_open_settings (pf_trace *trace, const pf_table *table,
                             pf_reader **reader, pf_error *error);

#endif
