/*
** command.c - system functions of the command `profio` that Lua lacks: kinds
** and states of files, terminals, broken pipes, Ctrl-C, and a progress stage
** for long scans.
**
** While a command runs, Ctrl-C is held back (model/system/interrupt.h). A
** progress stage checks for it before each batch and then ends the scan as at
** the end of the file, so that the results so far can be printed. A second
** Ctrl-C ends the process.
**
** Called by lua/profio/cli and internal. The reader userdata owns a progress
** stage and pins its input and the interrupt.
*/

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lua/arguments.h"
#include "lua/source.h"
#include "model/system/interrupt.h"
#include "model/rows/table_reader.h"

#define L_INTERRUPT "profio.interrupt"

#define BAR_WIDTH  30
#define SHOW_AFTER 0.5 /* seconds before the bar first appears */
#define SHOW_EVERY 0.1 /* seconds between updates */


/* core.is_terminal(file): whether a file is a terminal. */
static int core_is_terminal (lua_State *L) {
  lua_pushboolean(L, isatty(fileno(l_file_check(L, 1))));
  return 1;
}


/* core.terminal_width(file): columns of the terminal: COLUMNS of the
   environment, else what the terminal says; nil if unknown or not a
   terminal. */
static int core_terminal_width (lua_State *L) {
  const int fd = fileno(l_file_check(L, 1));
  struct winsize size;
  if (!isatty(fd))
    return 0;
  const char *const said = getenv("COLUMNS");
  char *end = NULL;
  const long columns = said == NULL ? 0 : strtol(said, &end, 10);
  if (columns > 0 && columns < 1 << 20 && *end == '\0')
    lua_pushinteger(L, columns);
  else if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    lua_pushinteger(L, size.ws_col);
  else
    lua_pushnil(L);
  return 1;
}


/* Reads the first bytes of a regular file. */
static void read_head (const char *path, char *head, size_t size) {
  struct stat found; /* before opening, which might wait for a pipe */
  if (stat(path, &found) != 0 || !S_ISREG(found.st_mode))
    return;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0 && read(fd, head, size) < (ssize_t)size)
    head[0] = 0;
  if (fd >= 0)
    close(fd);
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


/* core.file_id(path): device and inode of a regular file as bytes, which are
   equal for all its names; nil for any other path. */
static int core_file_id (lua_State *L) {
  struct stat file;
  if (stat(luaL_checkstring(L, 1), &file) != 0 || !S_ISREG(file.st_mode))
    return 0;
  const uint64_t id[] = {(uint64_t)file.st_dev, (uint64_t)file.st_ino};
  lua_pushlstring(L, (const char *)id, sizeof id);
  return 1;
}


/* core.file_state(path): the size of a regular file in bytes, and the time of
   its last change in s since 1970; nil for any other path. */
static int core_file_state (lua_State *L) {
  struct stat file;
  if (stat(luaL_checkstring(L, 1), &file) != 0 || !S_ISREG(file.st_mode))
    return 0;
  lua_pushinteger(L, (lua_Integer)file.st_size);
  lua_pushinteger(L, (lua_Integer)file.st_mtime);
  return 2;
}


/* core.ignore_broken_pipes(): writing to a pipe without a reader returns EPIPE
   instead of ending the process. */
static int core_ignore_broken_pipes (lua_State *L) {
  (void)L;
  (void)signal(SIGPIPE, SIG_IGN);
  return 0;
}


typedef struct l_interrupt {
  pf_interrupt hold;
  bool seen; /* a Ctrl-C was taken */
} l_interrupt;


/* Takes a Ctrl-C; returns whether there was one. */
static bool take_interrupt (l_interrupt *interrupt) {
  const bool is_pressed = interrupt->hold.is_held && pf_interrupt_take();
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
  pf_interrupt_hold(&interrupt->hold);
  return 1;
}


/* interrupt:release(): Ctrl-C does what it did before; whether one has
   occurred. */
static int interrupt_release (lua_State *L) {
  l_interrupt *const interrupt = check_interrupt(L);
  interrupt->seen |= pf_interrupt_release(&interrupt->hold);
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
    pf_interrupt_wait(seconds);
  (void)take_interrupt(interrupt);
  lua_pushboolean(L, interrupt->seen);
  return 1;
}


typedef struct progress {
  pf_reader reader;
  pf_abilities abilities;
  l_interrupt *interrupt; /* pinned */
  bool is_output;         /* last stage, which prints: ignores earlier Ctrl-C */
  const luaL_Stream *screen; /* where the bar is drawn, or NULL */
  int64_t total;             /* rows in all; -1: unknown */
  int64_t rows;              /* rows read so far */
  double started;            /* s, monotonic clock */
  double shown;              /* s, when the bar was last drawn; 0: never */
  bool is_polled;            /* l_progress_is_cancelled sets `rows` */
} progress;


static double now (void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}


/* Returns the screen, or NULL if there is none or it is closed. */
static FILE *screen_of (const progress *w) {
  return w->screen == NULL || w->screen->closef == NULL ? NULL : w->screen->f;
}


/* Draws the share that is done, the rate, and the time left at that rate; only
   rows and rate if the total is unknown. */
static void draw_bar (const progress *w, FILE *screen) {
  const double seconds = now() - w->started;
  const double rate = (double)w->rows / (seconds > 0 ? seconds : 1);
  if (w->total <= 0) {
    fprintf(screen, "\r%lld rows, %.2f M/s", (long long)w->rows, rate / 1e6);
    return;
  }
  const double share = (double)w->rows / (double)w->total;
  const int full = share >= 1 ? BAR_WIDTH : (int)(share * BAR_WIDTH);
  const double left = (double)(w->total - w->rows) / (rate > 0 ? rate : 1);
  fprintf(screen, "\r[%.*s%*s] %3d%%  %.2f M rows/s, %.0f s left  ", full,
          "##############################", BAR_WIDTH - full, "",
          share >= 1 ? 100 : (int)(share * 100), rate / 1e6,
          left > 0 ? left : 0);
}


static void show_bar (progress *w) {
  FILE *const screen = screen_of(w);
  const double time = screen == NULL ? 0 : now();
  const double since =
      w->shown > 0 ? w->shown + SHOW_EVERY : w->started + SHOW_AFTER;
  if (screen == NULL || time < since)
    return;
  w->shown = time;
  draw_bar(w, screen);
  (void)fflush(screen);
}


static void erase_bar (progress *w) {
  FILE *const screen = screen_of(w);
  if (screen == NULL || w->shown <= 0)
    return;
  fprintf(screen, "\r%*s\r", BAR_WIDTH + 48, "");
  (void)fflush(screen);
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
  w->total = -1;
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
  if (!lua_isnoneornil(L, 4))
    (void)l_file_check(L, 4);
  progress *const w = new_progress(L);
  w->screen = lua_touserdata(L, 4);
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


void l_open_command (lua_State *L) {
  l_class(L, L_INTERRUPT,
          L_METHODS({"guard", interrupt_guard}, {"release", interrupt_release},
                    {"wait", interrupt_wait}, {"watch", interrupt_watch}),
          interrupt_release, interrupt_release);
  L_ADD(L, {"file_id", core_file_id}, {"file_state", core_file_state},
        {"ignore_broken_pipes", core_ignore_broken_pipes},
        {"interrupt", core_interrupt}, {"is_executable", core_is_executable},
        {"terminal_width", core_terminal_width},
        {"is_terminal", core_is_terminal});
}
