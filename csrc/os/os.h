/*
** os.h - layer 0: what differs between POSIX and Windows, and nothing else.
** The folders posix/ and windows/ each define all of these functions, in files
** of the same names.
**
** A function that fails returns false, NULL or -1 and sets errno, on Windows
** too. Paths are the bytes of the system on POSIX, and UTF-8 on Windows, where
** this layer returns them with slashes. Descriptors are those of the C library,
** carry bytes and are not inherited by other programs. Strings that functions
** return belong to the caller, who frees them, unless their type is const.
**
** Used by all of csrc and by the program of the single file.
*/

#ifndef os_h
#define os_h

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>


/* {====== Files: files.c ====== */

/* What os_open opens, one of the first three with any of the others. */
#define OS_READ     0u
#define OS_WRITE    1u
#define OS_UPDATE   2u  /* read and write */
#define OS_CREATE   4u  /* unless it exists */
#define OS_NEW      8u  /* fails with EEXIST if it exists */
#define OS_TRUNCATE 16u /* a file that exists becomes empty */
#define OS_AT_ONCE  32u /* do not wait for the other end of a pipe */
#define OS_NO_LINK  64u /* fails for a symbolic link */

/* In place of an offset: the position of the descriptor. */
#define OS_HERE UINT64_MAX

typedef enum os_kind {
  OS_REGULAR,
  OS_FOLDER,
  OS_LINK,
  OS_OTHER
} os_kind;

typedef struct os_state {
  os_kind kind;
  uint64_t device, inode; /* equal for all names of a file */
  uint64_t links, size;   /* names; bytes */
  int64_t seconds,
      nanoseconds; /* of the last change of its bytes, since 1970 */
} os_state;

int os_open (const char *path, unsigned how);

/* Open what takes all bytes and has none. */
int os_open_null (void);

/* Open a file for writing that has no name, in a folder. It gets one by
   os_name. */
int os_open_nameless (const char *folder);
bool os_name (int fd, const char *path);

/* Open a new file for reading and writing in the folder for temporary files. It
   disappears when it is closed if `path` is NULL; else *path is its path, and
   the caller removes it. */
int os_open_temporary (char **path);

/* Create a new folder there that only this user can enter; returns its path. */
char *os_temporary_folder (void);

bool os_close (int fd);
int os_duplicate (int fd);

/* Return a descriptor of standard output; what the process prints from now on
   goes to standard error. */
int os_take_output (void);

/* Read up to `size` bytes; returns their number, 0 at the end of the file. */
int64_t os_read (int fd, void *to, size_t size, uint64_t offset);

/* Write all bytes. */
bool os_write (int fd, const void *from, size_t size, uint64_t offset);

/* Move to an offset from SEEK_SET, SEEK_CUR or SEEK_END of <stdio.h>; returns
   the new position. */
int64_t os_seek (int fd, int64_t offset, int whence);

/* Cut or lengthen a file, and move to its end. EINVAL: a pipe. */
bool os_set_size (int fd, uint64_t size);

/* Reserve disk space, so that writing there cannot fail for lack of it. */
bool os_reserve (int fd, uint64_t offset, uint64_t size);

/* The free bytes of its file system for this user; UINT64_MAX: unknown. */
uint64_t os_free_space (int fd);

/* Whether bytes that are written at its beginning can be overwritten later: not
   in a pipe, nor in a file that is opened for appending or not at its
   beginning. */
bool os_can_overwrite (int fd);

/* Write a file, or a folder's list of names, to the disk. EINVAL: a pipe. */
bool os_sync (int fd);
bool os_sync_folder (const char *path);

/* Locks of open files, which other processes see, and other opens of the same
   file: a process that ends loses them. */
typedef enum os_lock_kind {
  OS_UNLOCKED,
  OS_SHARED,
  OS_EXCLUSIVE
} os_lock_kind;

/* Lock a file or unlock it. EWOULDBLOCK: another one has it. */
bool os_lock (int fd, os_lock_kind kind);

/* Open a folder and wait for its exclusive lock; os_close unlocks it. EINTR. */
int os_open_locked_folder (const char *path);

/* The state of what a path leads to, of a link itself, of an open file. */
bool os_state_of (const char *path, os_state *state);
bool os_state_of_entry (const char *path, os_state *state);
bool os_state_of_open (int fd, os_state *state);

bool os_is_writable (const char *path);

/* Give an open file the permissions and, as far as this process may, the owner
   of the file at the path. */
void os_copy_owner (int fd, const char *path);

bool os_remove (const char *path);
bool os_rename (const char *from, const char *to); /* replaces a file */

/* Whether os_rename can replace a file that is open. */
bool os_replaces_open_files (void);
bool os_link (const char *from, const char *to); /* another name */
bool os_make_folder (const char *path);
bool os_remove_folder (const char *path);

/* }====== */


/* {====== Paths and folders: paths.c ====== */

#define OS_LONGEST_NAME 255  /* bytes of a file name */
#define OS_LONGEST_PATH 4096 /* bytes of a path, with the zero */

/* The absolute path without links, "." and "..", of what exists. */
char *os_real_path (const char *path);

/* The same of an open file; NULL: the system cannot say. */
char *os_path_of (int fd);

/* The target of a symbolic link. */
char *os_link_target (const char *path);

/* The descriptor of this process that /FOLDER/NAME names, as /proc/PID/fd/1
   does. */
int os_descriptor_of (const char *folder, const char *name);
#define OS_NO_DESCRIPTOR      (-2) /* it is another path */
#define OS_FOREIGN_DESCRIPTOR (-1) /* of another process, or none */

/* Replace what else separates names in a path by slashes. */
void os_use_slashes (char *path);

/* Whether a path does not depend on the current folder. */
bool os_is_absolute (const char *path);

char *os_current_folder (void);
bool os_change_folder (const char *path);

typedef struct os_folder os_folder;

/* List a folder, without "." and "..", in no order. os_folder_next returns a
   name, which is valid until the next call, and sets *is_special for what is
   neither a regular file nor a folder; NULL at the end, when errno is 0, and
   after a failure. */
os_folder *os_folder_open (const char *path);
const char *os_folder_next (os_folder *folder, bool *is_special);
void os_folder_close (os_folder *folder);

/* The text of an error number of the system: errno, or GetLastError's. */
const char *os_message (int code);

/* }====== */


/* {====== Code pages: code_pages.c ====== */

/* A conversion between UTF-8 and a code page that the system knows, used by one
   thread. On Windows: CP932, CP936, CP949, CP950 and UTF-8. */
typedef struct os_code_page {
  void *converter; /* NULL: closed */
  bool to_utf8;
} os_code_page;

/* Open one. EINVAL: the name is not known; ENOMEM. */
bool os_code_page_open (os_code_page *page, const char *name, bool to_utf8);
void os_code_page_close (os_code_page *page);

/* Convert a text; returns the bytes that were written. `room` is at least 5 *
   size + 16. *complete is false if a byte or character has no equivalent: in
   UTF-8 such a byte becomes U+FFFD, else the conversion stops there. */
size_t os_code_page_convert (os_code_page *page, const char *text, size_t size,
                             char *out, size_t room, bool *complete);

/* }====== */


/* {====== Mapped files: mappings.c ====== */

typedef struct os_guard os_guard;

/* The bytes of a file for reading. An access to bytes that the file has lost
   meanwhile gives zeros, and os_view_has_faulted becomes true. */
typedef struct os_view {
  const uint8_t *at;
  size_t size; /* bytes of addresses */
  os_guard *guard;
} os_view;

/* Whether a file of `size` bytes is better copied than mapped. */
bool os_prefers_copy (int fd, uint64_t size);

/* Map a file of `size` bytes. With `grows` there are addresses for more bytes
   than it has, which become valid by os_view_grow. */
bool os_view_open (os_view *view, int fd, uint64_t size, bool grows);

/* The file had `before` bytes, and has `size`, at most those of the view. Of
   those before, a change of the first and the last 64 KiB is seen. */
bool os_view_grow (os_view *view, int fd, uint64_t before, uint64_t size);
bool os_view_has_faulted (const os_view *view);

/* Mark the view as one that has faulted. */
void os_view_set_faulted (os_view *view);
void os_view_close (os_view *view);

/* Map part of a file into memory that all processes share: for writing, or for
   reading only. `offset` is a multiple of 4,096. */
void *os_share (int fd, uint64_t offset, size_t size, bool writes);
void os_unshare (void *at, size_t size);

/* Write a shared part to the disk. */
bool os_sync_shared (void *at, size_t size);

/* }====== */


/* {====== Memory: pages.c ====== */

/* Memory of whole pages, zeroed, which os_pages_free frees. With `is_private` a
   forked child of this process finds zeros there, where the system can do
   that. */
void *os_pages_new (size_t size, bool is_private);
void os_pages_free (void *at, size_t size);

/* Memory for a long array, which free() frees: where possible aligned to large
   pages, OS_LARGE_PAGE bytes on most machines. */
#define OS_LARGE_PAGE ((size_t)2 << 20)
void *os_large_memory (size_t size);

/* Ask for large pages where memory covers them. */
void os_prefer_large_pages (void *at, size_t size);

/* }====== */


/* {====== Time, threads: threads.c ====== */

typedef enum os_clock {
  OS_MONOTONIC, /* since some moment; never set back */
  OS_THREAD_CPU /* CPU time of the calling thread */
} os_clock;

/* A clock in ns. */
int64_t os_now (os_clock clock);

/* CPU time of another thread in ns; 0: unknown. */
int64_t os_cpu_time_of (pthread_t thread);

/* Whether clocks of CPU time go on by less than a ms: on Windows by 16. */
bool os_has_fine_cpu_time (void);

/* Whether the monotonic clock is kept by the counter of the processor that
   programs can read: TSC on x86-64, CNTVCT on AArch64. */
bool os_has_counter (void);

void os_sleep (int64_t ns);

/* A time in s since 1970 as a date of UTC. */
bool os_date (time_t time, struct tm *date);

/* Start a thread that receives no signals but those of its own faults, since
   handlers may call Lua. */
bool os_thread_start (pthread_t *thread, void *(*run)(void *context),
                      void *context);

/* The number of processors that the process may use, 1 or more. */
size_t os_processors (void);

/* A condition with waits of a limited time, `ns` at most. */
bool os_condition_open (pthread_cond_t *condition);
void os_condition_wait (pthread_cond_t *condition, pthread_mutex_t *lock,
                        int64_t ns);

/* }====== */


/* {====== Ctrl-C, terminals: console.c ====== */

/*
** Ctrl-C as a state that long loops ask for, instead of the end of the process.
** The state is one of the process that all libraries see, also those that share
** no memory. The first Ctrl-C only sets it; the second one ends the process,
** whatever it does.
*/

/* What Ctrl-C did before os_interrupt_hold. */
typedef struct os_interrupt {
  bool is_held;
  void *before;
} os_interrupt;

/* Hold back the first Ctrl-C from here on. One that was pressed while an outer
   hold lasts is kept. */
void os_interrupt_hold (os_interrupt *interrupt);

/* Let Ctrl-C do what it did. Return whether one was held back that has not been
   taken. */
bool os_interrupt_release (os_interrupt *interrupt);

/* Whether Ctrl-C was pressed while it is held back. To be asked in long loops,
   also in threads: a system call, so not for each row. */
bool os_is_interrupted (void);

/* Whether Ctrl-C was pressed; if so, os_is_interrupted is false afterwards. */
bool os_interrupt_take (void);

/* Whether Ctrl-C ends the process. */
bool os_interrupt_is_fatal (void);

/* Wait for `ns`, or until Ctrl-C while it is held. */
void os_interrupt_wait (int64_t ns);

bool os_is_terminal (int fd);

/* The columns of a terminal; 0: unknown. */
int os_terminal_width (int fd);

/* Whether a pipe has lost its reader. */
bool os_has_no_reader (int fd);

/* Let a write to such a pipe fail with EPIPE, instead of ending the process. */
void os_ignore_broken_pipes (void);

/* }====== */


/* {====== Processes: processes.c ====== */

int64_t os_process_id (void);

/* To be called first by a program of its own, not by a module: the words become
   UTF-8, and the standard files carry bytes. */
void os_begin_program (int *argc, char ***argv);

/* Remove a variable of the environment. */
void os_unset_variable (const char *name);

/* A text that differs between two starts of the machine; "" if unknown. */
#define OS_BOOT_ID_SIZE 40
void os_boot_id (char id[OS_BOOT_ID_SIZE]);

/* The file and the symbol of a function of this process; the symbol is NULL if
   unknown. The strings last as long as the file is loaded. */
typedef struct os_place {
  const char *file, *symbol;
  uint64_t offset; /* of the function in the file as it is loaded */
} os_place;

bool os_place_of (const void *function, os_place *place);

/* The path of the program that runs. */
char *os_program_path (void);

/* A process that this one has started. */
typedef struct os_process {
  int64_t id;    /* 0: none, or it has been waited for */
  int64_t owner; /* the id of the process that started it */
  void *handle;
} os_process;

/* How a program is started. */
typedef struct os_start {
  const char *const *words;     /* the program, its arguments, NULL */
  const char *const *variables; /* more variables NAME=VALUE, NULL; or NULL */
  int input, output, errors; /* its standard descriptors; -1: this process's */
  bool is_detached;          /* it outlives this process and its terminal */
} os_start;

/* Start a program, which is searched for as a shell does, without a shell. */
bool os_process_start (os_process *process, const os_start *start);

/* Let it go on by itself. */
void os_process_release (os_process *process);

/* Show a file by the program that the user has for it, such as a page by the
   browser. False: there is no screen or no such program. */
bool os_show (const char *path);

/* Wait until it has ended. Returns its status, or minus the number of the
   signal that has ended it. */
int os_process_wait (os_process *process);

/* Wait as os_process_wait does. On POSIX pass on SIGTERM, SIGHUP, and a SIGINT
   that another process has sent; Ctrl-C reaches both processes anyway. */
int os_process_attend (os_process *process);

/* End it, if it has not ended and this process has started it. */
void os_process_end (os_process *process);

/* A pipe: ends[0] reads, ends[1] writes. It holds about `size` bytes. */
bool os_pipe (int ends[2], size_t size);

/* Let the system end this process after some seconds, 0: never. For who waits
   for it that is the signal OS_ALARM. */
#define OS_ALARM 14
void os_end_after (unsigned seconds);

/* }====== */


/* {====== Sampling: sampler.c ====== */

/* A timer that calls a function again and again while the thread that has
   opened it is interrupted: the function may only do what a signal handler may.
   One process has at most one. */
typedef struct os_sampler os_sampler;

/* Open a stopped timer on a clock, the CPU time being that of the caller. */
os_sampler *os_sampler_open (os_clock clock, void (*tick)(void));

/* Call `tick` once after `ns`; a call that is due replaces an earlier one. To
   be called by the thread that has opened it, and by `tick`. */
void os_sampler_set (os_sampler *sampler, int64_t ns);

/* Close it; `tick` is not called any more. In a forked child, which has no such
   timer, only memory is freed. */
void os_sampler_close (os_sampler *sampler);

/* }====== */

#endif
