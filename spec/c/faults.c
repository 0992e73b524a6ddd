/*
** faults.c - run a program and make one of its system calls fail, shorten it,
** or send a signal before it. Used by spec/support/traced.lua.
**
**    faults REPORT FOLDER FAULT NUMBER PROGRAM ARGUMENT...
**
** Calls of all threads are counted, beginning with the first that names a path
** in FOLDER, so that the start of the interpreter does not count; reading Lua
** files does not count either. FAULT is the name of an error (EIO, ...), SHORT
** (read and write transfer half of the bytes), SIGINT or SIGKILL (of the
** process that was started first), or NONE. NUMBER is the
** number of the call, from 1. REPORT gets the number of calls and the name of
** the one that failed. The exit status is that of the program; 128 + N if
** signal N ended it; 250 if this program failed.
**
** Calls are traced with ptrace, because a preloaded library would not see those
** that the C library makes itself.
*/

#if !defined __x86_64__ || !defined __linux__

/* Other processors have other registers: the spec is skipped there. */
int main (void) {
  return 250;
}

#else

#define _GNU_SOURCE

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_THREADS 64

#define NUMBER_OF(r)  ((r).orig_rax)
#define RESULT_OF(r)  ((r).rax)
#define THIRD_OF(r)   ((r).rdx)
#define PATH_OF(r, i) ((i) == 0 ? (r).rdi : (r).rsi)

typedef struct call {
  long number;
  const char *name;
  int path; /* the argument that is a path, or -1 */
} call;

#define NO_PATH (-1)

static const call calls[] = {
    {SYS_open, "open", 0},
    {SYS_openat, "openat", 1},
    {SYS_stat, "stat", 0},
    {SYS_lstat, "lstat", 0},
    {SYS_newfstatat, "newfstatat", 1},
    {SYS_access, "access", 0},
    {SYS_faccessat2, "faccessat", 1},
    {SYS_readlink, "readlink", 0},
    {SYS_readlinkat, "readlinkat", 1},
    {SYS_fstat, "fstat", NO_PATH},
    {SYS_read, "read", NO_PATH},
    {SYS_pread64, "pread", NO_PATH},
    {SYS_write, "write", NO_PATH},
    {SYS_pwrite64, "pwrite", NO_PATH},
    {SYS_writev, "writev", NO_PATH},
    {SYS_lseek, "lseek", NO_PATH},
    {SYS_mmap, "mmap", NO_PATH},
    {SYS_mremap, "mremap", NO_PATH},
    {SYS_close, "close", NO_PATH},
    {SYS_fcntl, "fcntl", NO_PATH},
    {SYS_flock, "flock", NO_PATH},
    {SYS_dup, "dup", NO_PATH},
    {SYS_ftruncate, "ftruncate", NO_PATH},
    {SYS_fallocate, "fallocate", NO_PATH},
    {SYS_fsync, "fsync", NO_PATH},
    {SYS_fdatasync, "fdatasync", NO_PATH},
    {SYS_msync, "msync", NO_PATH},
    {SYS_fchmod, "fchmod", NO_PATH},
    {SYS_fchown, "fchown", NO_PATH},
    {SYS_rename, "rename", 0},
    {SYS_link, "link", 0},
    {SYS_linkat, "linkat", NO_PATH},
    {SYS_unlink, "unlink", 0},
    {SYS_mkdir, "mkdir", 0},
    {SYS_rmdir, "rmdir", 0},
    {SYS_getdents64, "getdents", NO_PATH},
    {SYS_clone3, "clone3", NO_PATH},
    {SYS_clone, "clone", NO_PATH},
};

typedef enum kind {
  NONE,
  ERROR,
  SHORT,
  SIGNAL
} kind;

/* The fault, and the state of counting. */
static kind fault_kind;
static int fault_error;
static long fault_at, counted;
static bool has_begun;
static const char *folder;
static const char *failed = "none";
static int code_fd = -1; /* descriptor of the Lua file that is being read */
static pid_t program;    /* the process that was started first */

/* A traced thread. */
typedef struct thread {
  pid_t pid;
  bool is_inside; /* a call */
  bool opens_code;
  long result; /* to be returned by the call, if has_result */
  bool has_result;
} thread;

static thread threads[MAX_THREADS];


static void die (const char *what) {
  perror(what);
  exit(250);
}


static thread *thread_of (pid_t pid) {
  thread *unused = NULL;
  for (int i = 0; i < MAX_THREADS; i++) {
    if (threads[i].pid == pid)
      return &threads[i];
    if (unused == NULL && threads[i].pid == 0)
      unused = &threads[i];
  }
  if (unused == NULL)
    die("too many threads");
  *unused = (thread){.pid = pid};
  return unused;
}


static const call *call_of (long number) {
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
    if (calls[i].number == number)
      return &calls[i];
  return NULL;
}


static bool moves_bytes (const call *what) {
  return what->number == SYS_read || what->number == SYS_write ||
         what->number == SYS_pread64 || what->number == SYS_pwrite64;
}


/* The path at an address of the program. */
static void read_path (pid_t pid, unsigned long address, char path[512]) {
  memset(path, 0, 512);
  for (size_t i = 0; i + 8 < 512; i += 8) {
    errno = 0;
    const long word = ptrace(PTRACE_PEEKDATA, pid, address + i, NULL);
    if (errno != 0)
      break;
    memcpy(path + i, &word, 8);
    if (memchr(&word, 0, 8) != NULL)
      break;
  }
}


static bool ends_with (const char *text, const char *ending) {
  const size_t size = strlen(text), length = strlen(ending);
  return size >= length && strcmp(text + size - length, ending) == 0;
}


/* Whether a call counts. */
static bool counts (thread *t, const struct user_regs_struct *regs,
                    const call *what) {
  char path[512] = "";
  if (what->path != NO_PATH)
    read_path(t->pid, PATH_OF(*regs, what->path), path);
  t->opens_code = what->number == SYS_openat &&
                  (ends_with(path, ".lua") || ends_with(path, ".so"));
  has_begun |= strncmp(path, folder, strlen(folder)) == 0;
  const bool is_of_code =
      t->opens_code || ends_with(path, ".lua") || ends_with(path, ".so") ||
      (what->path == NO_PATH && code_fd >= 0 && (int)regs->rdi == code_fd);
  if (is_of_code && what->number == SYS_close)
    code_fd = -1;
  return has_begun && !is_of_code && (fault_kind != SHORT || moves_bytes(what));
}


/* Make the call fail with an error. The call is not made, except close, which
   releases its descriptor whatever it returns. */
static void fail (thread *t, struct user_regs_struct *regs, const call *what) {
  t->result = -fault_error;
  t->has_result = true;
  if (strcmp(what->name, "close") == 0)
    return;
  NUMBER_OF(*regs) = (unsigned long long)-1;
  if (ptrace(PTRACE_SETREGS, t->pid, NULL, regs) != 0)
    die("PTRACE_SETREGS");
}


/* Halve the number of bytes, rounded up. */
static void shorten (const thread *t, struct user_regs_struct *regs) {
  THIRD_OF(*regs) -= THIRD_OF(*regs) / 2;
  if (ptrace(PTRACE_SETREGS, t->pid, NULL, regs) != 0)
    die("PTRACE_SETREGS");
}


static void enter (thread *t) {
  struct user_regs_struct regs;
  if (ptrace(PTRACE_GETREGS, t->pid, NULL, &regs) != 0)
    return; /* it has just been killed */
  const call *const what = call_of((long)NUMBER_OF(regs));
  if (what == NULL || !counts(t, &regs, what) || ++counted != fault_at)
    return;
  failed = what->name;
  switch (fault_kind) {
    case ERROR: fail(t, &regs, what); break;
    case SHORT: shorten(t, &regs); break;
    case SIGNAL: kill(program, fault_error); break;
    default: break;
  }
}


static void leave (thread *t) {
  struct user_regs_struct regs;
  if ((!t->has_result && !t->opens_code) ||
      ptrace(PTRACE_GETREGS, t->pid, NULL, &regs) != 0)
    return;
  if (t->opens_code && (long)RESULT_OF(regs) >= 0)
    code_fd = (int)RESULT_OF(regs);
  t->opens_code = false;
  if (!t->has_result)
    return;
  t->has_result = false;
  RESULT_OF(regs) = (unsigned long long)t->result;
  if (ptrace(PTRACE_SETREGS, t->pid, NULL, &regs) != 0)
    die("PTRACE_SETREGS");
}


/* What to do with a thread that has stopped; the signal it gets. */
static int stopped (thread *t, int status) {
  const int number = WSTOPSIG(status);
  if (number == (SIGTRAP | 0x80)) {
    t->is_inside = !t->is_inside;
    if (t->is_inside)
      enter(t);
    else
      leave(t);
    return 0;
  }
  if (status >> 16 != 0 || number == SIGSTOP || number == SIGTRAP)
    return 0; /* a new thread, or the program begins */
  return number;
}


/* Until all processes have ended: the wait status of the first. */
static int trace (void) {
  int status, ended = 0;
  bool has_ended = false;
  for (;;) {
    const pid_t pid = waitpid(-1, &status, __WALL);
    if (pid < 0)
      return has_ended ? ended : 0xff00;
    thread *const t = thread_of(pid);
    if (!WIFSTOPPED(status)) {
      if (pid == program) {
        ended = status;
        has_ended = true;
      }
      t->pid = 0;
      continue;
    }
    const int number = stopped(t, status);
    (void)ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)number);
  }
}


static void parse_fault (const char *name) {
  static const struct {
    const char *name;
    int error;
  } errors[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO},       {"EINTR", EINTR},
                {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM}, {"EACCES", EACCES}};
  if (strcmp(name, "SHORT") == 0)
    fault_kind = SHORT;
  else if (strcmp(name, "SIGINT") == 0 || strcmp(name, "SIGKILL") == 0) {
    fault_kind = SIGNAL;
    fault_error = name[3] == 'I' ? SIGINT : SIGKILL;
  }
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
    if (strcmp(name, errors[i].name) == 0) {
      fault_kind = ERROR;
      fault_error = errors[i].error;
    }
}


static void report (const char *path) {
  FILE *const file = fopen(path, "w");
  if (file == NULL || fprintf(file, "%ld %s\n", counted, failed) < 0 ||
      fclose(file) != 0)
    die(path);
}


int main (int argc, char **argv) {
  int status;
  if (argc < 6) {
    fprintf(stderr, "faults REPORT FOLDER FAULT NUMBER PROGRAM ARGUMENT...\n");
    return 250;
  }
  folder = argv[2];
  parse_fault(argv[3]);
  fault_at = atol(argv[4]);
  program = fork();
  if (program < 0)
    die("fork");
  if (program == 0) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
      _exit(250);
    raise(SIGSTOP);
    execvp(argv[5], argv + 5);
    _exit(250);
  }
  if (waitpid(program, &status, 0) != program || !WIFSTOPPED(status))
    die("the program does not start");
  if (ptrace(PTRACE_SETOPTIONS, program, NULL,
             (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
                      PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                      PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)) != 0)
    die("PTRACE_SETOPTIONS");
  (void)ptrace(PTRACE_SYSCALL, program, NULL, NULL);
  status = trace();
  report(argv[1]);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#endif
