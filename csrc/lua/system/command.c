/*
** command.c - system functions of the command `profio` that Lua lacks: kinds
** and states of files, terminals, broken pipes, Ctrl-C, this process, and a
** progress stage for long scans.
**
** While a command runs, Ctrl-C is held back (model/system/interrupt.h). A
** progress stage checks for it before each batch and then ends the scan as at
** the end of the file, so that the results so far can be printed. A second
** Ctrl-C ends the process.
**
** Called by lua/profio/cli and internal. The reader userdata owns a progress
** stage and pins its input and the interrupt.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lua/arguments.h"
#include "lua/source.h"
#include "lua/system/file_handle.h"
#include "os/os.h"
#include "model/rows/table_reader.h"

#define L_INTERRUPT "profio.interrupt"

#define BAR_WIDTH  30
#define SHOW_AFTER 0.5 /* seconds before the bar first appears */
#define SHOW_EVERY 0.1 /* seconds between updates */


/* core.is_terminal(file): whether a file is a terminal. */
static int core_is_terminal (lua_State *L) {
  lua_pushboolean(L, os_is_terminal(l_descriptor_check(L, 1)));
  return 1;
}


/* core.terminal_width(file): columns of the terminal: COLUMNS of the
   environment, else what the terminal says; nil if unknown or not a
   terminal. */
static int core_terminal_width (lua_State *L) {
  const int fd = l_descriptor_check(L, 1);
  if (!os_is_terminal(fd))
    return 0;
  const char *const said = getenv("COLUMNS");
  char *end = NULL;
  const long columns = said == NULL ? 0 : strtol(said, &end, 10);
  const bool is_said = columns > 0 && columns < 1 << 20 && *end == '\0';
  const int width = is_said ? (int)columns : os_terminal_width(fd);
  if (width == 0)
    return 0;
  lua_pushinteger(L, width);
  return 1;
}


/* Reads the first bytes of a regular file. */
static void read_head (const char *path, char *head, size_t size) {
  os_state found; /* before opening, which might wait for a pipe */
  if (!os_state_of(path, &found) || found.kind != OS_REGULAR)
    return;
  const int fd = os_open(path, OS_READ);
  if (fd >= 0 && os_read(fd, head, size, OS_HERE) < (int64_t)size)
    head[0] = 0;
  if (fd >= 0)
    os_close(fd);
}


/* core.is_executable(from): whether a source, or the regular file of a path,
   begins as an executable: ELF, PE, Mach-O in both sizes and byte orders,
   universal Mach-O. */
static int core_is_executable (lua_State *L) {
  static const char *const beginnings[] = {
      "\177ELF",          "MZ",
      "\376\355\372\316", "\376\355\372\317",
      "\316\372\355\376", "\317\372\355\376",
      "\312\376\272\276"};
  char head[4] = "";
  if (lua_isuserdata(L, 1)) {
    const pf_bytes bytes = l_source_check(L, 1)->bytes;
    if (bytes.size >= sizeof head)
      memcpy(head, bytes.at, sizeof head);
  }
  else
    read_head(l_path_check(L, 1), head, sizeof head);
  bool is_found = false;
  for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
    is_found |= memcmp(head, beginnings[i], strlen(beginnings[i])) == 0;
  lua_pushboolean(L, is_found);
  return 1;
}


/* core.ignore_broken_pipes(): writing to a pipe without a reader returns EPIPE
   instead of ending the process. */
static int core_ignore_broken_pipes (lua_State *L) {
  (void)L;
  os_ignore_broken_pipes();
  return 0;
}


typedef struct l_interrupt {
  os_interrupt hold;
  bool seen; /* a Ctrl-C was taken */
} l_interrupt;


/* Takes a Ctrl-C; returns whether there was one. */
static bool take_interrupt (l_interrupt *interrupt) {
  const bool is_pressed = interrupt->hold.is_held && os_interrupt_take();
  interrupt->seen |= is_pressed;
  return is_pressed;
}


static l_interrupt *check_interrupt (lua_State *L) {
  return luaL_checkudata(L, 1, L_INTERRUPT);
}


/* core.interrupt(): holds Ctrl-C back until release; a second one ends the
   process. */
static int core_interrupt (lua_State *L) {
  l_interrupt *const interrupt = l_new(L, L_INTERRUPT, sizeof *interrupt, 0);
  os_interrupt_hold(&interrupt->hold);
  return 1;
}


/* interrupt:release(): Ctrl-C does what it did before; whether one has
   occurred. */
static int interrupt_release (lua_State *L) {
  l_interrupt *const interrupt = check_interrupt(L);
  interrupt->seen |= os_interrupt_release(&interrupt->hold);
  lua_pushboolean(L, interrupt->seen);
  return 1;
}


/* interrupt:wait(seconds): sleeps, at most until Ctrl-C; whether that
   occurred. */
static int interrupt_wait (lua_State *L) {
  l_interrupt *const interrupt = check_interrupt(L);
  const lua_Number seconds = luaL_checknumber(L, 2);
  luaL_argcheck(L, seconds >= 0 && seconds < 1e6, 2,
                "seconds must not be negative");
  if (seconds > 0 && !interrupt->seen)
    os_interrupt_wait((int64_t)(seconds * 1e9));
  (void)take_interrupt(interrupt);
  lua_pushboolean(L, interrupt->seen);
  return 1;
}


typedef struct progress {
  pf_reader reader;
  pf_abilities abilities;
  l_interrupt *interrupt; /* pinned */
  bool is_output;         /* last stage, which prints: ignores earlier Ctrl-C */
  int screen;             /* descriptor of the bar; -1: none */
  int64_t total;          /* rows in all; -1: unknown */
  int64_t rows;           /* rows read so far */
  double started;         /* s, monotonic clock */
  double shown;           /* s, when the bar was last drawn; 0: never */
  bool is_polled;         /* l_progress_is_cancelled sets `rows` */
} progress;


static double now (void) {
  return (double)os_now(OS_MONOTONIC) / 1e9;
}


/* Draws the share that is done, the rate, and the time left at that rate; only
   rows and rate if the total is unknown. */
static void draw_bar (const progress *w) {
  char bar[BAR_WIDTH + 96];
  const double seconds = now() - w->started;
  const double rate = (double)w->rows / (seconds > 0 ? seconds : 1);
  if (w->total <= 0) {
    snprintf(bar, sizeof bar, "\r%lld rows, %.2f M/s", (long long)w->rows,
             rate / 1e6);
    (void)os_write(w->screen, bar, strlen(bar), OS_HERE);
    return;
  }
  const double share = (double)w->rows / (double)w->total;
  const int full = share >= 1 ? BAR_WIDTH : (int)(share * BAR_WIDTH);
  const double left = (double)(w->total - w->rows) / (rate > 0 ? rate : 1);
  snprintf(bar, sizeof bar, "\r[%.*s%*s] %3d%%  %.2f M rows/s, %.0f s left  ",
           full, "##############################", BAR_WIDTH - full, "",
           share >= 1 ? 100 : (int)(share * 100), rate / 1e6,
           left > 0 ? left : 0);
  (void)os_write(w->screen, bar, strlen(bar), OS_HERE);
}


static void show_bar (progress *w) {
  const double time = w->screen < 0 ? 0 : now();
  const double since =
      w->shown > 0 ? w->shown + SHOW_EVERY : w->started + SHOW_AFTER;
  if (w->screen < 0 || time < since)
    return;
  w->shown = time;
  draw_bar(w);
}


static void erase_bar (progress *w) {
  char blanks[BAR_WIDTH + 64];
  if (w->screen < 0 || w->shown <= 0)
    return;
  snprintf(blanks, sizeof blanks, "\r%*s\r", BAR_WIDTH + 48, "");
  (void)os_write(w->screen, blanks, strlen(blanks), OS_HERE);
  w->shown = 0;
}


/* Whether Ctrl-C has ended this stage. */
static bool is_cancelled (progress *w) {
  const bool over =
      take_interrupt(w->interrupt) || (w->interrupt->seen && !w->is_output);
  if (over)
    erase_bar(w);
  return over;
}


static pf_status progress_next (pf_reader *self, pf_batch *batch,
                                pf_error *error) {
  progress *const w = (progress *)(void *)self;
  if (is_cancelled(w)) {
    pf_batch_clear(batch);
    return PF_END;
  }
  const pf_status status = self->input->next(self->input, batch, error);
  if (status != PF_MORE) {
    erase_bar(w);
    return status;
  }
  if (!w->is_polled) { /* else a progress callback counts the rows */
    w->rows += (int64_t)batch->rows;
    show_bar(w);
  }
  return status;
}


/* A bulk read draws no bar, and Ctrl-C does not end it after its begin. */
static pf_status progress_read_stacks (pf_reader *self,
                                       const pf_stack_target *to,
                                       pf_error *error) {
  progress *const w = (progress *)(void *)self;
  return is_cancelled(w)
             ? PF_OK
             : self->input->can->read_stacks(self->input, to, error);
}


static pf_status progress_seek (pf_reader *self, uint64_t row,
                                pf_error *error) {
  progress *const w = (progress *)(void *)self;
  if (!w->is_polled)
    w->rows = row < INT64_MAX ? (int64_t)row : INT64_MAX;
  return self->input->can->seek(self->input, row, error);
}


static void progress_omit_zeros (pf_reader *self, size_t column) {
  self->input->can->omit_zeros(self->input, column);
}


bool l_progress_is_cancelled (void *context, uint64_t rows) {
  progress *const w = context;
  w->is_polled = true;
  w->rows = rows < INT64_MAX ? (int64_t)rows : INT64_MAX;
  show_bar(w);
  return is_cancelled(w);
}


/* Pushes a progress stage over the reader at 2, which pins all arguments. */
static progress *new_progress (lua_State *L) {
  l_interrupt *const interrupt = check_interrupt(L);
  pf_reader *const input = l_reader_check(L, 2)->reader;
  lua_settop(L, 4);
  l_reader *const held = l_reader_new(L);
  progress *const w =
      pf_stage_new(sizeof *w, input, progress_next, &held->error);
  if (w == NULL)
    l_no_memory(L);
  w->reader.can = &w->abilities;
  if (pf_can(input)->seek != NULL)
    w->abilities.seek = progress_seek;
  if (pf_can(input)->read_stacks != NULL)
    w->abilities.read_stacks = progress_read_stacks;
  if (pf_can(input)->omit_zeros != NULL)
    w->abilities.omit_zeros = progress_omit_zeros;
  w->interrupt = interrupt;
  w->total = w->screen = -1;
  held->reader = &w->reader;
  held->is_progress = true;
  return w;
}


/*
** interrupt:watch(reader, total, screen): the rows of the reader until Ctrl-C.
** If it takes longer than SHOW_AFTER, a bar on `screen` (a file or nil) shows
** the share of `total` rows (nil: unknown).
*/
static int interrupt_watch (lua_State *L) {
  const lua_Integer total = luaL_optinteger(L, 3, -1);
  const int screen = lua_isnoneornil(L, 4) ? -1 : l_descriptor_check(L, 4);
  progress *const w = new_progress(L);
  w->screen = screen;
  w->total = total;
  w->started = now();
  return 1;
}


/* interrupt:guard(reader): the rows of the reader, for printing. A Ctrl-C that
   an earlier stage has seen does not end them; a new one does. */
static int interrupt_guard (lua_State *L) {
  lua_settop(L, 2);
  progress *const w = new_progress(L);
  w->is_output = true;
  return 1;
}


/* core.process_id(): the id of this process. */
static int core_process_id (lua_State *L) {
  lua_pushinteger(L, os_process_id());
  return 1;
}


/* core.forget_recording(): removes PROFIO_RECORD from the environment, so that
   child processes do not record themselves. */
static int core_forget_recording (lua_State *L) {
  (void)L;
  os_unset_variable("PROFIO_RECORD");
  return 0;
}


void l_open_command (lua_State *L) {
  l_class(L, L_INTERRUPT,
          L_METHODS({"guard", interrupt_guard}, {"release", interrupt_release},
                    {"wait", interrupt_wait}, {"watch", interrupt_watch}),
          interrupt_release, interrupt_release);
  L_ADD(L, {"forget_recording", core_forget_recording},
        {"process_id", core_process_id},
        {"ignore_broken_pipes", core_ignore_broken_pipes},
        {"interrupt", core_interrupt}, {"is_executable", core_is_executable},
        {"terminal_width", core_terminal_width},
        {"is_terminal", core_is_terminal});
}
