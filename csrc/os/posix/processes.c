/*
** processes.c - this process and others.
*/

#define _GNU_SOURCE /* dladdr, environ, F_SETPIPE_SZ, pipe2 */

#include "os/os.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>


int64_t os_process_id (void) {
  return getpid();
}


void os_begin_program (int *argc, char ***argv) {
  (void)argc;
  (void)argv;
}


void os_unset_variable (const char *name) {
  (void)unsetenv(name);
}


void os_boot_id (char id[OS_BOOT_ID_SIZE]) {
  const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  memset(id, 0, OS_BOOT_ID_SIZE);
  if (fd < 0)
    return;
  if (read(fd, id, OS_BOOT_ID_SIZE - 1) < 0)
    id[0] = '\0';
  close(fd);
}


bool os_place_of (const void *function, os_place *place) {
  Dl_info info;
  if (dladdr((void *)(uintptr_t)function, &info) == 0 || info.dli_fname == NULL)
    return false;
  place->file = info.dli_fname;
  place->symbol = info.dli_saddr == function ? info.dli_sname : NULL;
  place->offset = (uintptr_t)function - (uintptr_t)info.dli_fbase;
  return true;
}


char *os_program_path (void) {
  return os_link_target("/proc/self/exe");
}


/* In the new process: sets the standard descriptors and the environment, and
   becomes the program. */
static void become (const os_start *start, int report) {
  const int given[] = {start->input, start->output, start->errors};
  if (start->is_detached)
    (void)setsid();
  (void)signal(SIGPIPE, SIG_DFL); /* an ignored one would stay ignored */
  for (int i = 0; i < 3; i++)
    if (given[i] >= 0 && dup2(given[i], i) < 0)
      goto failed;
  for (size_t i = 0; start->variables != NULL && start->variables[i] != NULL;
       i++)
    (void)putenv((char *)(uintptr_t)start->variables[i]);
  execvp(start->words[0], (char *const *)(uintptr_t)start->words);
failed:
  (void)!write(report, &errno, sizeof errno);
  _exit(127);
}


/* A pipe that the program does not inherit tells why it could not start. */
bool os_process_start (os_process *process, const os_start *start) {
  int report[2], errnum = 0;
  *process = (os_process){.owner = getpid()};
  if (pipe2(report, O_CLOEXEC) != 0)
    return false;
  const pid_t id = fork();
  if (id == 0)
    become(start, report[1]);
  errnum = errno;
  close(report[1]);
  if (id > 0) {
    process->id = id;
    if (os_read(report[0], &errnum, sizeof errnum, OS_HERE) <= 0)
      errnum = 0;
    else
      (void)os_process_wait(process);
  }
  close(report[0]);
  errno = errnum;
  return process->id > 0;
}


static bool is_set (const char *variable) {
  const char *const value = getenv(variable);
  return value != NULL && value[0] != '\0';
}


bool os_show (const char *path) {
  const char *const words[] = {"xdg-open", path, NULL};
  os_process process;
  if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY"))
    return false;
  const int null = os_open_null();
  const bool done = os_process_start(
      &process, &(os_start){words, NULL, null, null, null, true});
  if (null >= 0)
    close(null);
  return done;
}


int os_process_wait (os_process *process) {
  int status = 0;
  while (waitpid((pid_t)process->id, &status, 0) < 0 && errno == EINTR)
    ;
  process->id = 0;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}


/* The process to which signals are passed on. */
static volatile pid_t attended;

static void pass_on (int number, siginfo_t *info, void *context) {
  const int errnum = errno;
  (void)context;
  if (attended > 0 && (number != SIGINT || info->si_code == SI_USER))
    (void)kill(attended, number);
  errno = errnum;
}


int os_process_attend (os_process *process) {
  static const int passed[] = {SIGTERM, SIGHUP, SIGINT};
  enum {
    COUNT = sizeof passed / sizeof passed[0]
  };
  struct sigaction before[COUNT], action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = pass_on;
  action.sa_flags = (int)((unsigned)SA_SIGINFO | SA_RESTART);
  attended = (pid_t)process->id;
  for (int i = 0; i < COUNT; i++)
    (void)sigaction(passed[i], &action, &before[i]);
  const int status = os_process_wait(process);
  attended = 0;
  for (int i = 0; i < COUNT; i++)
    (void)sigaction(passed[i], &before[i], NULL);
  return status;
}


/* A process that nobody waits for stays until this one ends. */
void os_process_release (os_process *process) {
  process->id = 0;
}


void os_process_end (os_process *process) {
  if (process->id == 0 || process->owner != getpid())
    return;
  (void)kill((pid_t)process->id, SIGKILL);
  (void)os_process_wait(process);
}


bool os_pipe (int ends[2], size_t size) {
  if (pipe2(ends, O_CLOEXEC) != 0)
    return false;
#ifdef F_SETPIPE_SZ
  (void)fcntl(ends[0], F_SETPIPE_SZ, (int)size); /* a hint */
#else
  (void)size;
#endif
  return true;
}


void os_end_after (unsigned seconds) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  (void)signal(SIGALRM, SIG_DFL); /* it may have been ignored or blocked */
  (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
  (void)alarm(seconds);
}
