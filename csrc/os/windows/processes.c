/*
** processes.c - this process and others.
*/

#include "os/windows/wide.h"

#include <fcntl.h>
#include <io.h>
#include <shellapi.h>
#include <stdio.h>
#include <string.h>

#define KILLED 9 /* the signal of os_process_end */
#define FAULT  11
#define UTF8   65001


int64_t os_process_id (void) {
  return GetCurrentProcessId();
}


/* Lets a console show UTF-8 and colours. */
static void use_console (void) {
  DWORD mode;
  SetConsoleOutputCP(UTF8);
  SetConsoleCP(UTF8);
  for (int fd = 1; fd <= 2; fd++)
    if (GetConsoleMode(wide_handle(fd), &mode))
      SetConsoleMode(wide_handle(fd),
                     mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}


void os_begin_program (int *argc, char ***argv) {
  int count = 0;
  wchar_t **const wide = CommandLineToArgvW(GetCommandLineW(), &count);
  char **const words = calloc((size_t)count + 1, sizeof *words);
  for (int fd = 0; fd <= 2; fd++)
    (void)_setmode(fd, _O_BINARY);
  use_console();
  if (wide == NULL || words == NULL)
    return;
  for (int i = 0; i < count; i++)
    words[i] = narrow_text(wide[i]);
  LocalFree(wide);
  *argc = count;
  *argv = words;
}


void os_unset_variable (const char *name) {
  char text[256];
  if (snprintf(text, sizeof text, "%s=", name) < (int)sizeof text)
    (void)_putenv(text);
}


void os_boot_id (char id[OS_BOOT_ID_SIZE]) {
  memset(id, 0, OS_BOOT_ID_SIZE);
}


/* Returns the path of a library, or of the program (NULL), in new memory. */
static char *path_of (HMODULE module) {
  wchar_t path[OS_LONGEST_PATH];
  const DWORD size = GetModuleFileNameW(module, path, OS_LONGEST_PATH);
  return size > 0 && size < OS_LONGEST_PATH ? narrow_path(path) : NULL;
}


bool os_place_of (const void *function, os_place *place) {
  static _Thread_local char name[OS_LONGEST_PATH];
  HMODULE module;
  if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                              GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                          (LPCWSTR)function, &module))
    return wide_failed();
  char *const path = path_of(module);
  if (path == NULL)
    return false;
  snprintf(name, sizeof name, "%s", path);
  free(path);
  *place = (os_place){name, NULL, (uintptr_t)function - (uintptr_t)module};
  return true;
}


char *os_program_path (void) {
  return path_of(NULL);
}


/* {====== Starting ====== */

/* A text that grows. */
typedef struct text {
  wchar_t *at;
  size_t size, room;
  bool has_failed;
} text;


static void put (text *t, const wchar_t *from, size_t count) {
  if (t->room - t->size < count + 1) {
    t->room = 2 * (t->room + count + 1);
    wchar_t *const more = realloc(t->at, t->room * sizeof *more);
    t->has_failed = t->has_failed || more == NULL;
    if (more == NULL)
      return;
    t->at = more;
  }
  memcpy(t->at + t->size, from, count * sizeof *from);
  t->size += count;
  t->at[t->size] = L'\0';
}


/* Adds a word to a command line, so that the C library of the program finds it
   again: backslashes before a quote are doubled. */
static void put_word (text *t, const char *word) {
  wchar_t *const wide = wide_text(word);
  t->has_failed = t->has_failed || wide == NULL;
  if (wide == NULL)
    return;
  put(t, L" \"", t->size == 0 ? 0 : 1);
  put(t, L"\"", 1);
  size_t slashes = 0;
  for (const wchar_t *c = wide; *c != L'\0'; c++) {
    for (; *c == L'"' && slashes > 0; slashes--)
      put(t, L"\\", 1);
    if (*c == L'"')
      put(t, L"\\", 1);
    slashes = *c == L'\\' ? slashes + 1 : 0;
    put(t, c, 1);
  }
  for (; slashes > 0; slashes--)
    put(t, L"\\", 1);
  put(t, L"\"", 1);
  free(wide);
}


/* Whether a variable NAME=VALUE of the environment is replaced. */
static bool is_replaced (const wchar_t *variable, const char *const *others) {
  for (size_t i = 0; others[i] != NULL; i++) {
    const size_t length = strcspn(others[i], "=");
    size_t k = 0;
    while (k < length && (wchar_t)others[i][k] == variable[k])
      k++;
    if (k == length && variable[k] == L'=')
      return true;
  }
  return false;
}


/* The variables of this process and the others, each with its zero. */
static void put_variables (text *t, const char *const *others) {
  wchar_t *const own = GetEnvironmentStringsW();
  for (const wchar_t *v = own; v != NULL && *v != L'\0'; v += wcslen(v) + 1)
    if (!is_replaced(v, others))
      put(t, v, wcslen(v) + 1);
  if (own != NULL)
    FreeEnvironmentStringsW(own);
  for (size_t i = 0; others[i] != NULL; i++) {
    wchar_t *const wide = wide_text(others[i]);
    t->has_failed = t->has_failed || wide == NULL;
    if (wide != NULL)
      put(t, wide, wcslen(wide) + 1);
    free(wide);
  }
  put(t, L"", 1);
}


/* Returns a handle for the program: a copy of a descriptor, or of a standard
   one of this process. */
static HANDLE inherited (int fd, DWORD standard) {
  const HANDLE self = GetCurrentProcess();
  const HANDLE from = fd >= 0 ? wide_handle(fd) : GetStdHandle(standard);
  HANDLE copy = NULL;
  if (from == NULL || from == INVALID_HANDLE_VALUE ||
      !DuplicateHandle(self, from, self, &copy, 0, TRUE, DUPLICATE_SAME_ACCESS))
    return NULL;
  return copy;
}


bool os_process_start (os_process *process, const os_start *start) {
  STARTUPINFOW info = {.cb = sizeof info, .dwFlags = STARTF_USESTDHANDLES};
  PROCESS_INFORMATION found;
  text line = {.at = NULL}, variables = {.at = NULL};
  *process = (os_process){.owner = os_process_id()};
  for (size_t i = 0; start->words[i] != NULL; i++)
    put_word(&line, start->words[i]);
  if (start->variables != NULL)
    put_variables(&variables, start->variables);
  info.hStdInput = inherited(start->input, STD_INPUT_HANDLE);
  info.hStdOutput = inherited(start->output, STD_OUTPUT_HANDLE);
  info.hStdError = inherited(start->errors, STD_ERROR_HANDLE);
  const bool has_memory = !line.has_failed && !variables.has_failed;
  const bool done =
      has_memory &&
      CreateProcessW(NULL, line.at, NULL, NULL, TRUE,
                     CREATE_UNICODE_ENVIRONMENT |
                         (start->is_detached ? DETACHED_PROCESS : 0),
                     variables.at, NULL, &info, &found);
  if (!done && has_memory)
    (void)wide_failed();
  const HANDLE copies[] = {info.hStdInput, info.hStdOutput, info.hStdError};
  for (int i = 0; i < 3; i++)
    if (copies[i] != NULL)
      CloseHandle(copies[i]);
  free(line.at);
  free(variables.at);
  if (!done)
    return false;
  CloseHandle(found.hThread);
  process->id = found.dwProcessId;
  process->handle = found.hProcess;
  return true;
}

/* }====== */


int os_process_attend (os_process *process) {
  return os_process_wait(process);
}


void os_process_release (os_process *process) {
  CloseHandle(process->handle);
  process->id = 0;
}


bool os_show (const char *path) {
  wchar_t *const wide = wide_path(path);
  const bool done =
      wide != NULL && (INT_PTR)ShellExecuteW(NULL, L"open", wide, NULL, NULL,
                                             SW_SHOWNORMAL) > 32;
  free(wide);
  return done;
}


/* Codes from C0000000 on are exceptions. */
int os_process_wait (os_process *process) {
  DWORD code = 1;
  (void)WaitForSingleObject(process->handle, INFINITE);
  (void)GetExitCodeProcess(process->handle, &code);
  os_process_release(process);
  if ((code & 0xFFFFFF00u) == WIDE_SIGNAL)
    return -(int)(code & 0xFFu);
  return code >= 0xC0000000u ? -FAULT : (int)(code & 0xFFu);
}


void os_process_end (os_process *process) {
  if (process->id == 0 || process->owner != os_process_id())
    return;
  TerminateProcess(process->handle, WIDE_SIGNAL | KILLED);
  (void)os_process_wait(process);
}


bool os_pipe (int ends[2], size_t size) {
  HANDLE input, output;
  if (!CreatePipe(&input, &output, NULL, (DWORD)size))
    return wide_failed();
  ends[0] = wide_descriptor(input);
  ends[1] = wide_descriptor(output);
  return ends[0] >= 0 && ends[1] >= 0;
}


static void CALLBACK end_now (void *context, BOOLEAN is_timer) {
  (void)context;
  (void)is_timer;
  TerminateProcess(GetCurrentProcess(), WIDE_SIGNAL | OS_ALARM);
}


void os_end_after (unsigned seconds) {
  HANDLE timer;
  if (seconds > 0)
    (void)CreateTimerQueueTimer(&timer, NULL, end_now, NULL, seconds * 1000, 0,
                                WT_EXECUTEONLYONCE);
}
