/*
** wide.h - what the files of this folder share.
*/

#ifndef os_wide_h
#define os_wide_h

#define WIN32_LEAN_AND_MEAN
#define _WIN32_WINNT 0x0A00
#include <errno.h>
#include <stdlib.h>
#include <windows.h>

#include "os/os.h"

/* The path in wide characters, in new memory. NULL: EINVAL for a name that no
   file has, ENOMEM. */
wchar_t *wide_path (const char *path);

/* The same for any text. */
wchar_t *wide_text (const char *text);

/* A text of the system in UTF-8, in new memory; of a path the prefix is left
   out, and it has slashes. */
char *narrow_text (const wchar_t *text);
char *narrow_path (const wchar_t *path);

/* Set errno for the last failure of Win32. Return false. */
bool wide_failed (void);

/* The handle of a descriptor; and a new descriptor of a handle, which owns it:
   -1 after a failure, also of INVALID_HANDLE_VALUE. */
HANDLE wide_handle (int fd);
int wide_descriptor (HANDLE handle);

/* The folder for temporary files, in new memory, without a slash at its end. */
wchar_t *wide_temporary (void);

/* The real path of an open file, in new memory. */
wchar_t *wide_final_path (HANDLE file);

/* CPU time of a thread in ns. */
int64_t wide_cpu_time (HANDLE thread);

/* The calling thread, or the one that the tick of a sampler has interrupted. */
HANDLE wide_sampled_thread (void);

/* Ends of processes that tell a signal: the code has the number in its low
   byte. */
#define WIDE_SIGNAL 0x50460000u

#endif
