/*
** profio.h - the model: the few types in which everything moves. Read first.
**
**   source   bytes with an owner; a format turns them into a trace
**   table    records of one kind, with one schema (an array of fields)
**   reader   yields the records of a table, or of another reader, in batches
**   batch    up to PF_BATCH_ROWS rows of columns: records move only so
** What Lua supplies enters the core as a function pointer and a context.
*/

#ifndef profio_h
#define profio_h

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PF_VERSION      "0.1.0" /* the version stands here and nowhere else */
#define PF_BATCH_ROWS   4096
#define PF_PRINTF(f, a) __attribute__((format(printf, f, a)))

typedef struct pf_bytes { /* a slice of memory somebody else owns */
  const uint8_t *at;      /* may be NULL when size is 0 */
  size_t size;
} pf_bytes;

/* What a call answers. Negative values are failures; pf_error has the words. */
typedef enum pf_status {
  PF_MORE = 0,          /* fine; of a reader: the batch holds 1 row or more */
  PF_END = 1,           /* of a reader: no more rows, the batch is empty */
  PF_AGAIN = 2,         /* a live file has no more rows yet */
  PF_EIO = -1,          /* the system refused: open, read, write, map */
  PF_EFORMAT = -2,      /* the bytes are not what the format says */
  PF_ETRUNCATED = -3,   /* the bytes end too early */
  PF_EUNSUPPORTED = -4, /* known, but not to be had here */
  PF_ELIMIT = -5,       /* larger than an option allows */
  PF_ENOMEM = -6,       /* out of memory; Lua sees a raise */
  PF_ERAISED = -7       /* a Lua function raised; the binding raises again */
} pf_status;
#define PF_OK        PF_MORE
#define PF_NO_OFFSET UINT64_MAX /* at no byte of the source */

typedef struct pf_error { /* the words of a failure: pf_fail, the binding */
  pf_status status;
  uint64_t offset; /* byte in the source, or PF_NO_OFFSET */
  char what[232];  /* what was expected and what was found */
} pf_error;

/* Fill `error` and return `status`: the only way a failure starts. */
pf_status pf_fail (pf_error *error, pf_status status, uint64_t offset,
                   const char *format, ...) PF_PRINTF(4, 5);

/* Bytes of a trace by what they are for. The binding owns them. */
typedef struct pf_source {
  const char *role; /* "main", "memo", "mapping", "debug", ... */
  const char *path; /* for messages; "" when the bytes have no path */
  pf_bytes bytes;
} pf_source;

typedef enum pf_type {
  PF_INT,   /* int64_t */
  PF_NUM,   /* double */
  PF_ADDR,  /* uint64_t: an address, printed as 0x and lower-case hex */
  PF_BOOL,  /* uint8_t, 0 or 1 */
  PF_NAME,  /* uint32_t, a number in the dictionary's names */
  PF_AREA,  /* uint32_t, a row of the trace's areas */
  PF_STACK, /* uint32_t, a row of the trace's stacks */
  PF_BYTES, /* pf_bytes into a source, valid until the reader's next `next` */
  PF_HANDLE /* uint64_t: a vendor's number, printed as 8 or 16 hex digits */
} pf_type;

/* One column of a schema. The strings live as long as the table. */
typedef struct pf_field {
  const char *name;
  pf_type type;
  const char *help;  /* one line for people, with the unit; or NULL */
  bool part_numbers; /* of one file: in a row raised by numbers_used */
} pf_field;

/* One column of a batch. `data` is NULL when nobody wants the column. */
typedef struct pf_column {
  pf_type type;
  union {
    void *data;
    int64_t *ints;
    double *nums;
    uint64_t *addrs;
    uint8_t *bools;
    uint32_t *ids; /* of PF_NAME, PF_AREA and PF_STACK */
    pf_bytes *bytes;
  };
  uint64_t *missing; /* a bit per row; look only when has_missing is set */
  bool has_missing;
} pf_column;

/* Rows of columns, made by the sink (model/batch.h) and filled by the stages below
   it: a stage that adds columns has those of its input as a prefix. */
typedef struct pf_batch {
  size_t rows, ncolumns;
  pf_column *columns;
  int sparse;     /* a column: rows where it is 0 may be left out; or -1 */
  bool pipelined; /* the batch goes through kernels/pipeline.h */
} pf_batch;

typedef struct pf_dictionary pf_dictionary;     /* model/names.h */
typedef struct pf_sink pf_sink;                 /* bytes/sink.h */
typedef struct pf_notes pf_notes;               /* model/trace.h */
typedef struct pf_stack_target pf_stack_target; /* model/read_stacks.h */
typedef struct pf_packed pf_packed;             /* model/packed.h */
typedef struct pf_reader pf_reader;
typedef struct pf_table pf_table;
typedef struct pf_trace pf_trace;
typedef struct pf_encoder pf_encoder;

/* A stage: every reader struct begins with it. The binding closes each one. */
struct pf_reader {
  const pf_field *fields; /* the schema of what it yields */
  size_t nfields;
  pf_dictionary *dictionary; /* what the numbers in its columns point into */
  /* Fill the wanted columns of the batch. */
  pf_status (*next)(pf_reader *self, pf_batch *batch, pf_error *error);
  /* Mark in wanted[nfields] what this stage and those below need beyond what
     is marked; NULL: nothing. Asked once, before the batch is made. */
  void (*want)(pf_reader *self, bool *wanted);
  /* Go to a row, where records have one size; NULL: cannot. */
  pf_status (*seek)(pf_reader *self, uint64_t row, pf_error *error);
  void (*close)(pf_reader *self); /* free itself */
  /* All rows at once, where they are stacks and weights; NULL: only rows. */
  pf_status (*read_stacks)(pf_reader *self, const pf_stack_target *to,
                           pf_error *error);
  bool (*pack)(pf_reader *self, pf_packed *rows); /* or NULL: model/packed.h */
};

/* Records of one kind. */
struct pf_table {
  const char *name;
  const pf_field *fields;
  size_t nfields;
  int64_t rows; /* -1 when only a pass would tell */
  pf_status (*open)(pf_trace *trace, const pf_table *table, pf_reader **reader,
                    pf_error *error);
};

/* An option as the format's Lua file declared it and the user gave it. */
typedef struct pf_option {
  const char *name;
  bool is_text; /* else a whole number or a truth value */
  int64_t integer;
  pf_bytes text;
} pf_option;

/* An opened file: sources and a format. */
struct pf_trace {
  const struct pf_format *format;
  const pf_source *sources; /* the first is the main one */
  size_t nsources;
  const pf_option *options; /* read with pf_option_* of model/trace.h */
  size_t noptions;
  bool strict;               /* the first oddity is a failure */
  pf_dictionary *dictionary; /* may be shared by traces */
  pf_notes *notes;           /* info and warnings, model/trace.h */
  const pf_table *tables;    /* set by format->open; the first is the main */
  size_t ntables;
  uint64_t numbers_used; /* how many numbers fields with part_numbers use */
  void *state;           /* the format's own, freed by format->close */
};

/* The way out. `put` takes rows, `take` all that a reader of the main table gathers,
   `merge` some whole traces, open until `finish` (NULL: only rows). `flush` (NULL: no
   stream) makes a file of what was put: more may follow; `finish` writes the rest. */
struct pf_encoder {
  pf_status (*put)(pf_encoder *self, size_t table, const pf_batch *batch,
                   pf_sink *sink, pf_error *error);
  pf_status (*finish)(pf_encoder *self, pf_sink *sink, pf_error *error);
  void (*close)(pf_encoder *self);
  pf_status (*flush)(pf_encoder *self, pf_sink *sink, pf_error *error);
  const pf_table *tables; /* what it takes, when options decide; else NULL */
  size_t ntables;
  pf_status (*take)(pf_encoder *self, pf_reader *reader, pf_error *error);
  uint64_t rounded, count; /* values rounded; state for resume */
  pf_status (*merge)(pf_encoder *, pf_trace *const *, size_t, pf_error *);
  void (*resume)(pf_encoder *self, const pf_sink *sink, uint64_t count);
};

/* What profio knows about one kind of file; listed in formats/formats.h. */
typedef struct pf_format {
  const char *name;
  /* How sure it is, 0 (no) to 100, from the first 64 KiB and the size. */
  int (*score)(pf_bytes head, uint64_t size);
  /* Read what the header says: set trace->tables, state, info, warnings. */
  pf_status (*open)(pf_trace *trace, pf_error *error);
  void (*close)(pf_trace *trace);
  const pf_table *written; /* schemas the encoder takes; `open` unused */
  size_t nwritten;
  pf_status (*encoder)(const pf_option *options, size_t noptions,
                       pf_dictionary *dictionary, pf_encoder **encoder,
                       pf_error *error); /* NULL: it is not written */
  bool parallel; /* readers of a table may be opened and run in threads */
} pf_format;
#endif
