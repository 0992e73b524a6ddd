/*
** format_btf.h - the Best Trace Format 2.x: what tasks, interrupts, runnables
** and signals of embedded systems do over time. Text, a line for each event,
** without quotes; the numbers of instances may be missing.
**
**   #version 2.2.1        parameters, with or without a colon; keywords in any
**   #timescale us         case: ps, ns, us, ms or s
**   #entityMapping 7 Net  events may state 7 for the name Net; also as a table:
**   #entityTable          a line without a value, and rows of it (also
**   #-7 Net               #typeMapping, #typeTable for types)
**   # text                a comment
**   0,STI_A,0,T,A,0,activate       time, source, its instance, type, target,
**   5,Core_1,0,T,A,0,start         its instance, event
**   6,A,0,R,run,0,start
**   7,A,0,SIG,speed,0,write,88     and a note, up to the end of the line
**
** A task (T) or an interrupt (I, older: ISR) may be in any state when the trace
** begins. Its runnables (R) call each other: a caller stays running while what
** it calls runs. Files suspend runnables before their task loses the core, or
** leave that out. So a runnable runs while it is the innermost one of its task,
** is not suspended itself, and its task has the state Running.
**
**   open_btf.c    score, header, tables
**   lines_btf.c   the parser of lines, and the entities that lines name
**   tasks_btf.c   lines as events of tasks
**   rows_btf.c    readers of the tables events, entries and raw
*/

#ifndef format_btf_h
#define format_btf_h

#include "bytes/text_cache.h"
#include "model/base/id_table.h"
#include "model/dictionary/areas.h"
#include "model/rows/put_values.h"
#include "model/rows/raw_text.h"
#include "model/rows/table_reader.h"
#include "model/timeline/tasks.h"

#define BTF_FIELDS 8 /* of a line, with the note */

#define BTF_EVENTS_LIST(X, T)                                               \
  X(T, time, INT, "time, ns")                                               \
  X(T, event, NAME, "enter, leave, suspend, resume, write, end")            \
  X(T, area, AREA, "task, interrupt, runnable, signal, or state of a task") \
  X(T, lane, NAME, "the task or interrupt; (2): its second open instance")  \
  X(T, core, INT, "the number in which the core's name ends")               \
  X(T, value, INT, "of a signal, if it is whole; of a state")               \
  X(T, number, NUM, "the value of a signal")
PF_COLUMN_INDEXES(BTF_EVENTS);

#define BTF_ENTRIES_LIST(X, T)                                            \
  X(T, time, INT, "time, ns")                                             \
  X(T, source, NAME, "the core, task, stimulus, ... that causes it")      \
  X(T, source_instance, INT, "the instance of it; missing: not stated")   \
  X(T, type, NAME, "of the target: T, I, R, STI, SIG, SEM, C, SCHED ...") \
  X(T, target, NAME, "to which it happens")                               \
  X(T, target_instance, INT, "the instance of it; missing: not stated")   \
  X(T, event, NAME, "start, preempt, write, ...")                         \
  X(T, note, BYTES, "the note, such as the value of a signal")            \
  X(T, number, NUM, "the note, if it is a number")
PF_COLUMN_INDEXES(BTF_ENTRIES);

typedef enum btf_kind {
  BTF_LINE_HEADER,
  BTF_LINE_COMMENT,
  BTF_LINE_EVENT,
  BTF_LINE_BLANK,
  BTF_LINE_REST, /* none of these */
  BTF_LINE_KINDS
} btf_kind;

typedef enum btf_type {
  BTF_TYPE_T,
  BTF_TYPE_I,
  BTF_TYPE_R,
  BTF_TYPE_SIG,
  BTF_TYPE_OTHER, /* known, but only table entries has it */
  BTF_TYPE_UNKNOWN
} btf_type;

/* The words for events that lines_btf.c knows, in its order: those of
   pf_task_word, and */
typedef enum btf_word {
  BTF_READ = PF_TASK_SUSPEND + 1,
  BTF_WRITE,
  BTF_NOTIFIED, /* a word that changes nothing */
  BTF_NO_WORD = BTF_NOTIFIED + 6
} btf_word;

/* The areas that an entity may have. */
typedef enum btf_role {
  BTF_AS_TASK,
  BTF_AS_ISR,
  BTF_AS_RUNNABLE,
  BTF_AS_SIGNAL,
  BTF_ROLES
} btf_role;

/* A text of a line: the name of a source or target, or the word for an
   event. */
typedef struct btf_entity {
  uint32_t name;   /* id of the name */
  uint32_t unique; /* id of the text that no other entity has */
  uint32_t number; /* of one of several of the same name, or 0 */
  uint32_t areas[BTF_ROLES];
  uint32_t task;         /* of pf_tasks, or PF_NO_TASK */
  bool is_core, has_end; /* its name ends in the number `end` */
  int64_t end;
  uint8_t word; /* pf_task_word or btf_word */
} btf_entity;

/* The state of a trace. */
typedef struct btf_file {
  pf_bytes bytes;
  uint64_t factor, divisor; /* from the time scale to ns */
  bool is_escaped; /* profio has written the file: %XX in names is a byte */
  bool has_tasks;  /* its first lines have events of tasks */
  pf_id_table mapped[2]; /* numbers of entities and of types; owned */
  uint32_t *names[2];    /* their names, by id in `mapped`; owned */
  size_t capacities[2];
} btf_file;

/* A line. */
typedef struct btf_line {
  btf_kind kind;
  size_t at, size; /* with its end */
  pf_bytes text;   /* without it */
  int64_t time;
  btf_type type;
  pf_bytes type_text;
  uint32_t source, target, event; /* entities */
  bool has_source_instance, has_target_instance, has_note;
  int64_t source_instance, target_instance;
  pf_bytes note;
} btf_line;

typedef struct btf_parser {
  pf_trace *trace; /* borrowed */
  const btf_file *file;
  size_t at; /* of the next line */
  int64_t last;
  bool has_begun, has_rounded;
  btf_entity *entities; /* owned, as the arrays below */
  size_t nentities, capacity;
  uint32_t *by_name; /* entities, by id of `unique` */
  size_t by_name_capacity;
  uint8_t *text; /* a name without escapes */
  size_t text_capacity;
  pf_text_cache known; /* entities, by text */
} btf_parser;

/* lines_btf.c. The parser is zeroed before, and freed by btf_parser_free, which
   does not free the struct. */
void btf_parser_free (btf_parser *parser);

/* Read the next line, and add warnings. PF_MORE; PF_END after the last one; or
   a failure. */
pf_status btf_next_line (btf_parser *parser, btf_line *line, pf_error *error);

/* Set `fields` to those of a line, trimmed; the last one has the rest. Returns
   their number. */
size_t btf_split (pf_bytes text, pf_bytes fields[BTF_FIELDS]);

/* Whether a text is a number with digits, perhaps of a floating type. */
bool btf_read_num (pf_bytes text, double *number);

btf_type btf_type_of (pf_bytes text);
unsigned btf_word_of (pf_bytes text); /* pf_task_word or btf_word */

/* pf_warn for a line, with its beginning. */
pf_status btf_warn (pf_trace *trace, pf_note_kind kind, const char *code,
                    const btf_line *line, const char *what, pf_error *error);

/* tasks_btf.c: what happens to tasks and in them, of table events. The struct
   is zeroed before; btf_tasks_free does not free it. */
typedef struct btf_tasks {
  btf_parser *parser; /* borrowed */
  pf_tasks tasks;     /* its changes are the rows of a line */
  const btf_line *line;
  uint32_t classes[BTF_ROLES]; /* names */
  pf_id_table cores;           /* their numbers */
} btf_tasks;

pf_status btf_tasks_open (btf_tasks *tasks, btf_parser *parser,
                          pf_error *error);
void btf_tasks_free (btf_tasks *tasks);
pf_status btf_tasks_step (btf_tasks *tasks, const btf_line *line,
                          pf_error *error);

/* rows_btf.c: opens one of the three tables. */
pf_status btf_open_table (pf_trace *trace, const pf_table *table,
                          pf_reader **reader, pf_error *error);

#endif
