/*
** winidea_encoder.h - what winidea_encoder.c (rows in, binary timelines out) and winidea_write_text1.c (Text1
** out) share.
*/

#ifndef winidea_encoder_h
#define winidea_encoder_h

#include "bytes/sink.h"
#include "formats/winidea/winidea.h"
#include "model/batch.h"

/* The tables the encoder takes, by number. */
enum {
  WRITTEN_CONTEXTS,
  WRITTEN_AREAS,
  WRITTEN_STATISTICS,
  WRITTEN_TIMELINE
};

/* An area that came without a handle. */
typedef struct winidea_assigned_handle {
  uint32_t area;
  uint32_t handle;
} winidea_assigned_handle;

/* One event, as the file shall have it. */
typedef struct winidea_event {
  uint32_t handle;
  unsigned type;
  unsigned core; /* WINIDEA_NO_CORE: unknown */
  bool has_value, is_double;
  int64_t data; /* of a double its bits */
  int64_t time;
  uint32_t context; /* a name, or PF_NO_NAME */
} winidea_event;

typedef struct winidea_variable winidea_variable; /* winidea_write_states.c */

typedef struct winidea_writer {
  pf_encoder encoder;
  pf_dictionary *dictionary;
  bool is_text;    /* Text1, else a binary timeline alone */
  bool is_beside;  /* Text1, with the timeline in a file beside it */
  bool has_states; /* events of states, else writes of their variables */
  winidea_version version; /* of a binary timeline */
  const char *line_end;
  int64_t total_time;                      /* for INFO; below 0: none */
  uint32_t events[WINIDEA_EVENTS];         /* words by type */
  char *format_copies[WINIDEA_SECTIONS];   /* owned */
  pf_bytes format_texts[WINIDEA_SECTIONS]; /* these */
  winidea_rowformat formats[WINIDEA_SECTIONS];

  char *
      parent_copy; /* owned: the text of a format of areas with their parents, */
  pf_bytes parent_text;
  winidea_rowformat parent_format; /* and this, if it has_parent_format */
  bool has_parent_format;

  /* Without events of states: winidea_write_states.c. */
  pf_interned variables;
  winidea_variable *variable_list;
  uint32_t nopen; /* variables that have no state now */
  uint32_t gap_variable;
  int64_t gap_time; /* since when */
  int64_t end;      /* of the recording, as INFO says; below 0: not known */

  /* The section that rows go into; WINIDEA_SECTIONS: none yet. */
  winidea_section_kind section;
  const char *class;
  uint32_t context;
  bool names_parent; /* its rows name the parents of areas */
  uint32_t function; /* handle of the last one of this mapping, or
                        WINIDEA_NO_HANDLE */

  /* Handles that were assigned here, in order; and by area its cached + 1. */
  winidea_assigned_handle *assigned;
  uint32_t nassigned, assigned_capacity;
  uint32_t nassigned_written; /* how many of them have been written */
  uint32_t *assigned_of;
  uint32_t nassigned_of;
  uint32_t
      *handles; /* by area: its own, or the one it gets when it is written */
  uint32_t nhandles, handles_capacity;
  uint32_t next_of[WINIDEA_KINDS]; /* the next index of each kind */

  uint8_t *row; /* the line being made */
  size_t used, capacity;

  pf_sink *records; /* where records of events go, while a batch is put */
} winidea_writer;

/* Whether a row has a value in a column. */
static inline bool winidea_has (const pf_batch *batch, size_t column,
                                size_t row) {
  return column < batch->ncolumns && batch->columns[column].data != NULL &&
         !pf_is_missing(&batch->columns[column], row);
}

/* The handle of a row: its own, that of its area, or one assigned to that. */
pf_status winidea_row_handle (winidea_writer *self, const pf_batch *batch,
                              size_t handle, size_t area, size_t row,
                              uint32_t *number, pf_error *error);

/* The handle of an area: its own, or one assigned to it. */
pf_status winidea_area_handle (winidea_writer *self, uint32_t number,
                               uint32_t *handle, pf_error *error);

/*
** winidea_write_states.c: an event when states have none of their own: that of a state
** becomes a write of its variable, or *is_written = false. PF_EUNSUPPORTED for
** what would not be read again as it was.
*/
pf_status winidea_write_as_variable (winidea_writer *self,
                                     const pf_batch *batch, size_t row,
                                     winidea_event *event, bool *is_written,
                                     pf_error *error);

/* The same at the end of all events. */
pf_status winidea_check_states_end (const winidea_writer *self,
                                    pf_error *error);

/* winidea_write_text1.c: rows of Text1. */
pf_status winidea_write_info (winidea_writer *self, pf_sink *sink,
                              pf_error *error);
pf_status winidea_write_context (winidea_writer *self, const pf_batch *batch,
                                 size_t row, pf_sink *sink, pf_error *error);
pf_status winidea_write_area (winidea_writer *self, const pf_batch *batch,
                              size_t row, pf_sink *sink, pf_error *error);
pf_status winidea_write_statistics (winidea_writer *self, const pf_batch *batch,
                                    size_t row, pf_sink *sink, pf_error *error);
pf_status winidea_write_event (winidea_writer *self, const winidea_event *event,
                               pf_sink *sink, pf_error *error);

/* The names of the areas whose handles were assigned here since the last time. */
pf_status winidea_write_assigned (winidea_writer *self, pf_sink *sink,
                                  pf_error *error);

#endif
