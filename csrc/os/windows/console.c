/*
** console.c - Ctrl-C, terminals and pipes.
**
** The state of Ctrl-C is an event whose name has the number of the process, so
** that all libraries of the process find it.
*/

#include "os/windows/wide.h"

#include <stdio.h>

/* How often Ctrl-C is held in this library, and the event; state of the
   process, as the handler of Ctrl-C is. */
static volatile LONG held;
static HANDLE pressed;


/* Returns the event; NULL: there is none. */
static HANDLE event (void) {
  wchar_t name[64];
  _snwprintf(name, 64, L"Local\\profio-interrupt-%lu", GetCurrentProcessId());
  if (pressed == NULL)
    pressed = CreateEventW(NULL, TRUE, FALSE, name);
  return pressed;
}


bool os_is_interrupted (void) {
  return event() != NULL && WaitForSingleObject(pressed, 0) == WAIT_OBJECT_0;
}


/* The second Ctrl-C ends the process, as does one that nobody holds back. */
static BOOL WINAPI on_interrupt (DWORD kind) {
  if (kind != CTRL_C_EVENT || held == 0 || os_is_interrupted())
    return FALSE;
  return SetEvent(event());
}


bool os_interrupt_is_fatal (void) {
  return held == 0 || os_is_interrupted();
}


bool os_interrupt_take (void) {
  return os_is_interrupted() && ResetEvent(pressed);
}


void os_interrupt_hold (os_interrupt *interrupt) {
  interrupt->is_held = event() != NULL;
  interrupt->before = NULL;
  if (interrupt->is_held && InterlockedIncrement(&held) == 1)
    SetConsoleCtrlHandler(on_interrupt, TRUE);
}


bool os_interrupt_release (os_interrupt *interrupt) {
  const bool was_held = interrupt->is_held;
  interrupt->is_held = false;
  if (!was_held || InterlockedDecrement(&held) > 0)
    return was_held && os_is_interrupted();
  SetConsoleCtrlHandler(on_interrupt, FALSE);
  return os_interrupt_take();
}


void os_interrupt_wait (int64_t ns) {
  if (event() != NULL)
    (void)WaitForSingleObject(pressed, (DWORD)(ns / 1000000));
}


bool os_is_terminal (int fd) {
  DWORD mode;
  return fd >= 0 && GetConsoleMode(wide_handle(fd), &mode);
}


int os_terminal_width (int fd) {
  CONSOLE_SCREEN_BUFFER_INFO info;
  return GetConsoleScreenBufferInfo(wide_handle(fd), &info)
             ? info.srWindow.Right - info.srWindow.Left + 1
             : 0;
}


bool os_has_no_reader (int fd) {
  DWORD n;
  return GetFileType(wide_handle(fd)) == FILE_TYPE_PIPE &&
         !WriteFile(wide_handle(fd), "", 0, &n, NULL);
}


void os_ignore_broken_pipes (void) {}
