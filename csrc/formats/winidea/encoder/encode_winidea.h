/*
** encode_winidea.h - shared by the files of the encoder: encode_winidea.c
** (rows, and binary timelines), write_text1.c (rows of Text1) and
** write_handles.c.
**
** winidea_encoder is called through pf_format_winidea by lua/writer and
** model/writer, which own the winidea_writer and call its `close`. That frees
** all arrays; the dictionary is borrowed and must live as long.
*/

#ifndef encode_winidea_h
#define encode_winidea_h

#include "bytes/sink.h"
#include "formats/winidea/winidea.h"
#include "model/rows/batch.h"
#include "model/writer/encoder.h"

/* The row formats: one for each section, one for areas with HANDLE.PARENT. */
#define WINIDEA_PARENT_FORMAT WINIDEA_SECTIONS
#define WINIDEA_FORMATS       (WINIDEA_SECTIONS + 1)

/* Indices of the tables that the encoder takes. */
enum {
  WRITTEN_CONTEXTS,
  WRITTEN_AREAS,
  WRITTEN_STATISTICS,
  WRITTEN_TIMELINE
};

/* One event as it will be written. */
typedef struct winidea_event {
  uint32_t handle;
  unsigned type;
  unsigned core; /* or WINIDEA_NO_CORE */
  bool has_value, is_double;
  int64_t data; /* of a double its bits */
  int64_t time;
  uint32_t context; /* a name, or PF_NO_NAME */
} winidea_event;

typedef struct winidea_variable winidea_variable; /* write_handles.c */

typedef struct winidea_writer {
  pf_encoder encoder;
  pf_dictionary *dictionary;
  bool is_text;    /* write Text1, else only a binary timeline */
  bool is_beside;  /* write Text1, and the timeline in a file beside it */
  bool has_states; /* write events of states, else writes of their variables */
  winidea_version version; /* of a binary timeline */
  const char *line_end;
  int64_t total_time;               /* for INFO, ns; below 0: none, or it has
                                       been written */
  uint32_t events[WINIDEA_EVENTS];  /* ids by type */
  uint8_t *copies[WINIDEA_FORMATS]; /* owned: the texts of the row formats */
  pf_bytes texts[WINIDEA_FORMATS];
  winidea_rowformat formats[WINIDEA_FORMATS];
  bool has_parent_format;            /* that format is valid */
  bool needs_check[WINIDEA_FORMATS]; /* rows may be split differently */

  /* For has_states = false; see write_handles.c. */
  pf_id_table variables; /* ids of handles */
  winidea_variable *variable_list;
  size_t variable_capacity;
  uint32_t ngaps; /* variables whose state was left without a new one */
  uint32_t gap_variable;
  int64_t gap_time; /* since then, ns */
  int64_t end;      /* of the recording, ns; below 0: not known */

  /* The current section. */
  unsigned format; /* WINIDEA_FORMATS: none yet */
  const char *class;
  uint32_t context;
  uint32_t function; /* handle of the last function since the last TIMELINE, or
                        WINIDEA_NO_HANDLE */

  uint32_t *assigned; /* areas whose handles were assigned, in this order */
  uint32_t nassigned;
  size_t assigned_capacity;
  uint32_t nassigned_written; /* how many of them have a row in the mapping */
  bool *is_assigned;          /* by area */
  size_t nis_assigned;
  uint32_t *handles; /* by area: its own handle, or the one it would get */
  uint32_t nhandles;
  size_t handles_capacity;
  uint32_t next_of[WINIDEA_KINDS]; /* by kind: the next free index */
  uint8_t *uses[WINIDEA_KINDS];    /* owned: by kind and index, how a handle is
                                      used; see write_handles.c */
  size_t nuses[WINIDEA_KINDS];

  uint8_t *row; /* owned: buffer for a line */
  size_t used, capacity;

  pf_sink *sink, *records; /* during `put`: the file, and that of records */
  pf_error *error;         /* of the current call */
} winidea_writer;

/* Sets *number to the handle of a row: its own, else that of its area.
   PF_EUNSUPPORTED, PF_ELIMIT or PF_ENOMEM. */
pf_status winidea_row_handle (winidea_writer *self, const pf_batch *batch,
                              size_t handle, size_t area, size_t row,
                              uint32_t *number);

/* write_handles.c: sets *handle to the handle of an area: its own, or an
   assigned one. Failures as above. */
pf_status winidea_area_handle (winidea_writer *self, uint32_t number,
                               uint32_t *handle);

/*
** write_handles.c: converts an event of a state to a write of its
** variable; *is_written is set to false if none is needed. Other events stay
** as they are. PF_EUNSUPPORTED if the events could not be read back.
*/
pf_status winidea_write_as_variable (winidea_writer *self,
                                     const pf_batch *batch, size_t row,
                                     winidea_event *event, bool *is_written);

/* Call at the end: PF_EUNSUPPORTED if a variable ends without a state. */
pf_status winidea_check_states_end (const winidea_writer *self);

/* write_text1.c: each writes a row of Text1, with the header of its
   section if needed. PF_OK or a failure. */
pf_status winidea_write_info (winidea_writer *self);
pf_status winidea_write_context (winidea_writer *self, const pf_batch *batch,
                                 size_t row);
pf_status winidea_write_area (winidea_writer *self, const pf_batch *batch,
                              size_t row);
pf_status winidea_write_statistics (winidea_writer *self, const pf_batch *batch,
                                    size_t row);
pf_status winidea_write_event (winidea_writer *self,
                               const winidea_event *event);

/* Writes rows for the areas whose handles were assigned since the last call. */
pf_status winidea_write_assigned (winidea_writer *self);

#endif
