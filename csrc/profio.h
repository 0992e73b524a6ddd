/*
** profio.h - the types that all layers share. Read this first.
**
**   source   bytes of a file; a format opens sources as a trace
**   table    records of one kind, with one schema (an array of fields)
**   reader   returns the rows of a table, or of another reader, in batches
**   batch    up to PF_BATCH_ROWS rows, stored by column
*/

#ifndef profio_h
#define profio_h
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PF_VERSION      "0.1.0" /* the version stands here and nowhere else */
#define PF_BATCH_ROWS   4096
#define PF_PRINTF(f, a) __attribute__((format(printf, f, a)))

typedef struct pf_bytes { /* a slice of memory that is borrowed */
  const uint8_t *at;      /* may be NULL when size is 0 */
  size_t size;
} pf_bytes;

/* Result of a call. Negative values are failures, described by a pf_error. */
typedef enum pf_status {
  PF_MORE = 0,          /* success: PF_OK; of a reader: the batch has rows */
  PF_END = 1,           /* of a reader: no more rows, the batch is empty */
  PF_AGAIN = 2,         /* a live file has no more rows yet */
  PF_EIO = -1,          /* a system call failed: open, read, write, map */
  PF_EFORMAT = -2,      /* the bytes do not conform to the format */
  PF_ETRUNCATED = -3,   /* the bytes end too early */
  PF_EUNSUPPORTED = -4, /* known, but not supported here */
  PF_ELIMIT = -5,       /* larger than an option, a format or profio allows */
  PF_ENOMEM = -6,       /* out of memory; Lua sees a raise */
  PF_ERAISED = -7       /* a Lua function raised; the binding raises again */
} pf_status;
#define PF_OK        PF_MORE
#define PF_NO_OFFSET UINT64_MAX /* at no byte of the source */

typedef struct pf_error { /* description of a failure, set by pf_fail */
  pf_status status;
  uint64_t offset;   /* byte in the source, or PF_NO_OFFSET */
  const char *label; /* borrowed: what failed, set by the binding; or NULL */
  char what[232];    /* the message: what was expected and what was found */
} pf_error;

/* Fill `error`; return `status`, PF_ENOMEM, PF_EUNSUPPORTED (pf_refuse). */
pf_status pf_fail (pf_error *error, pf_status status, uint64_t offset,
                   const char *format, ...) PF_PRINTF(4, 5);
pf_status pf_no_memory (pf_error *error);
#define pf_refuse(error, ...) \
  pf_fail((error), PF_EUNSUPPORTED, PF_NO_OFFSET, __VA_ARGS__)

/* The arguments of %.*s for a slice: at most `limit` bytes are shown. */
#define PF_SHOWN(text, limit) \
  (int)((text).size < (limit) ? (text).size : (limit)), (const char *)(text).at

typedef enum pf_type {
  PF_INT,   /* int64_t */
  PF_NUM,   /* double */
  PF_ADDR,  /* uint64_t: an address, printed as 0x and lower-case hex */
  PF_BOOL,  /* uint8_t, 0 or 1 */
  PF_NAME,  /* uint32_t, id of a name in the dictionary */
  PF_AREA,  /* uint32_t, id of an area in the dictionary */
  PF_STACK, /* uint32_t, id of a stack in the dictionary */
  PF_BYTES, /* pf_bytes into a source, valid until the reader's next `next` */
  PF_HANDLE /* uint64_t: a vendor's id, printed as 8 or 16 hex digits */
} pf_type;

/* One column of a schema. The strings live as long as the table. */
typedef struct pf_field {
  const char *name;
  pf_type type;
  const char *help; /* one line for people, with the unit; or NULL */
} pf_field;

/* One column of a batch. `data` is NULL if the column is not wanted. */
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
  uint64_t *missing; /* a bit per row; valid only if has_missing is set */
  bool has_missing;
} pf_column;

/* Rows by column. The last stage opens the batch (rows/batch.h), the stages
   below fill it: a stage that adds columns has those of its input as prefix. */
typedef struct pf_batch {
  size_t rows, ncolumns;
  pf_column *columns;
} pf_batch;

typedef struct pf_dictionary pf_dictionary; /* model/dictionary/names.h */
typedef struct pf_trace pf_trace;           /* model/rows/trace.h */
typedef struct pf_option pf_option;         /* model/rows/trace.h */
typedef struct pf_abilities pf_abilities;   /* model/rows/abilities.h */
typedef struct pf_encoder pf_encoder;       /* model/writer/encoder.h */
typedef struct pf_sum pf_sum;               /* model/rows/sum.h */
typedef struct pf_reader pf_reader;
typedef struct pf_table pf_table;

/* A stage: the first member of each reader struct. The binding closes it. */
struct pf_reader {
  const pf_field *fields; /* the schema of its rows */
  size_t nfields;
  pf_dictionary *dictionary; /* of the ids in its columns */
  pf_reader *input;          /* the reader below a stage (borrowed), or NULL */
  /* Fill the wanted columns of the batch. */
  pf_status (*next)(pf_reader *self, pf_batch *batch, pf_error *error);
  /* Mark other columns that are needed, before the batch opens; or NULL. */
  void (*want)(pf_reader *self, bool *wanted);
  void (*close)(pf_reader *self); /* free itself */
  const pf_abilities *can;        /* more that it can do; or NULL */
};

struct pf_table {
  const char *name;
  const pf_field *fields;
  size_t nfields;
  int64_t rows; /* -1: not known before a scan */
  pf_status (*open)(pf_trace *trace, const pf_table *table, pf_reader **reader,
                    pf_error *error);
};

/* The decoder and encoder of one kind of file; listed in formats/formats.h. */
typedef struct pf_format {
  const char *name;
  /* Confidence, 0 (no) to 100, by the first 64 KiB and the size of the file. */
  int (*score)(pf_bytes head, uint64_t size);
  /* Read the header: set trace->tables, state, info, warnings. */
  pf_status (*open)(pf_trace *trace, pf_error *error);
  void (*close)(pf_trace *trace); /* free what trace->state owns; or NULL */
  const pf_table *written;        /* schemas of the encoder; `open` is unused */
  size_t nwritten, state_size;    /* of trace->state, zeros before `open` */
  pf_status (*encoder)(const pf_option *options, size_t noptions,
                       pf_dictionary *dictionary, pf_encoder **encoder,
                       pf_error *error); /* NULL: none, or in Lua */
  /* Open a sum of files like `first`, see model/rows/sum.h; or NULL. */
  pf_status (*sum)(const pf_trace *first, pf_sum **sum, pf_error *error);
  bool parallel; /* readers may run in threads; their rows cause no notes */
} pf_format;
#endif
