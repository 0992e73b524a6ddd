/*
** text_timeline.h - the state of a reader of the timeline of a main file, which
** text_timeline.c and xml/export_events.c share. text_timeline.c creates and
** frees it.
*/

#ifndef text_timeline_h
#define text_timeline_h

#include "formats/winidea/decode.h"
#include "formats/winidea/text1.h"
#include "formats/winidea/xml/element_rows.h"

#define WINIDEA_RECORD 24 /* bytes */

typedef struct winidea_timeline {
  pf_reader reader;
  const pf_table *table;   /* the table that is read */
  bool is_open;            /* live: no header follows the section */
  const uint8_t *at, *end; /* the rest of the section, as far as known */
  winidea_section_cursor section;
  winidea_base base;
  bool is_separated;            /* the fast path can split the rows */
  bool has_last;                /* a row has been read */
  bool is_ended;                /* the event "end" has been given */
  int64_t first;                /* time of the first row, ns */
  uint8_t last[WINIDEA_RECORD]; /* the last row */
  uint32_t last_context;        /* its context */
  pf_bytes context;             /* of the last row of the batch that has one, */
  uint32_t context_name;        /* and its name */
  winidea_xml *xml;             /* of an XML export, once it is read */
  bool has_seen_events;         /* of it, */
  bool is_xml_over;             /* and its last row has been read */
  pf_reader *binary;            /* live: reader of a later binary timeline */
  winidea_decoder decoder;
  uint64_t offsets[PF_BATCH_ROWS];
  uint8_t kinds[PF_BATCH_ROWS]; /* winidea_data_type of the values */
  uint8_t records[PF_BATCH_ROWS * WINIDEA_RECORD];
} winidea_timeline;

/* The fields of a row. */
typedef struct winidea_event {
  uint32_t handle;
  unsigned type;
  int64_t data, time;
  uint8_t kind; /* winidea_data_type */
  unsigned core;
  pf_bytes context;
} winidea_event;

/* text_timeline.c: reads the fields of a row. Returns false if they are no
   event. */
bool winidea_read_event (const winidea_timeline *self,
                         const winidea_fields *fields, winidea_event *r);

/* text_timeline.c: makes an event record `n` of the slice; `offset` is the byte
   at which its row begins. PF_OK or a failure. */
pf_status winidea_put_event (winidea_timeline *self, size_t n, uint64_t offset,
                             const winidea_event *r, pf_error *error);

/* xml/export_events.c: reads rows of XML, in a live trace once the file is
   complete, up to a full slice; *n is the number of records. PF_OK, PF_END or a
   failure. */
pf_status winidea_read_xml_rows (winidea_timeline *self, size_t *n,
                                 pf_error *error);

#endif
