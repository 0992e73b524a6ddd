/*
** paths.c - paths, what is in folders, and the functions of wide.h.
*/

#include "os/windows/wide.h"

#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <string.h>

#define LONG_PATH 240 /* characters; longer paths need the prefix */


/* The number of C for one of Win32. */
static int errno_of (DWORD code) {
  switch (code) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_BAD_NETPATH:
    case ERROR_INVALID_DRIVE:
    case ERROR_BAD_PATHNAME: return ENOENT;
    case ERROR_INVALID_NAME: return EINVAL;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_WRITE_PROTECT:
    case ERROR_USER_MAPPED_FILE: return EACCES;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS: return EEXIST;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_COMMITMENT_LIMIT:
    case ERROR_OUTOFMEMORY: return ENOMEM;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL: return ENOSPC;
    case ERROR_BROKEN_PIPE:
    case ERROR_NO_DATA:
    case ERROR_PIPE_NOT_CONNECTED: return EPIPE;
    case ERROR_LOCK_VIOLATION:
    case ERROR_IO_PENDING: return EWOULDBLOCK;
    case ERROR_DIR_NOT_EMPTY: return ENOTEMPTY;
    case ERROR_DIRECTORY: return ENOTDIR;
    case ERROR_INVALID_HANDLE: return EBADF;
    case ERROR_NOT_SUPPORTED:
    case ERROR_INVALID_FUNCTION:
    case ERROR_INVALID_PARAMETER: return EINVAL;
    default: return EIO;
  }
}


bool wide_failed (void) {
  errno = errno_of(GetLastError());
  return false;
}


const char *os_message (int code) {
  return strerror(errno_of((DWORD)code));
}


wchar_t *wide_text (const char *text) {
  const int size = MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0);
  wchar_t *const wide = malloc((size_t)size * sizeof *wide + 2);
  if (wide != NULL)
    MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, size);
  return wide;
}


char *narrow_text (const wchar_t *text) {
  const int size =
      WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
  char *const narrow = malloc((size_t)size + 1);
  if (narrow != NULL)
    WideCharToMultiByte(CP_UTF8, 0, text, -1, narrow, size, NULL, NULL);
  return narrow;
}


char *narrow_path (const wchar_t *path) {
  char *const narrow = narrow_text(wcsncmp(path, L"\\\\?\\", 4) == 0 &&
                                           wcsncmp(path + 4, L"UNC\\", 4) != 0
                                       ? path + 4
                                       : path);
  if (narrow == NULL)
    return NULL;
  if (strncmp(narrow, "\\\\?\\UNC\\", 8) == 0) /* of another computer */
    memmove(narrow + 1, narrow + 7, strlen(narrow + 7) + 1);
  for (char *c = narrow; *c != '\0'; c++)
    if (*c == '\\')
      *c = '/';
  return narrow;
}


static bool is_letter (char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}


/* Whether a name of a path is that of a device, whatever follows a dot. */
static bool is_device (const char *name, size_t size) {
  static const char *const devices[] = {"CON",     "PRN",    "AUX", "NUL",
                                        "CONOUT$", "CONIN$", "COM", "LPT"};
  const char *const dot = memchr(name, '.', size);
  const size_t length = dot == NULL ? size : (size_t)(dot - name);
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
    const size_t own = strlen(devices[i]);
    const bool has_number = i >= 6;
    if (length == own + has_number && _strnicmp(name, devices[i], own) == 0 &&
        (!has_number || (name[own] >= '1' && name[own] <= '9')))
      return true;
  }
  return false;
}


/* Whether a path has only names that files can have. */
static bool is_sound (const char *path) {
  if (is_letter(path[0]) && path[1] == ':')
    path += 2;
  while (*path != '\0') {
    const size_t size = strcspn(path, "/\\");
    const bool is_dots = (size == 1 && path[0] == '.') ||
                         (size == 2 && strncmp(path, "..", 2) == 0);
    if (size > 0 && !is_dots &&
        (memchr(path, ':', size) != NULL || path[size - 1] == '.' ||
         path[size - 1] == ' ' || is_device(path, size)))
      return false;
    path += size + (path[size] != '\0');
  }
  return true;
}


wchar_t *wide_path (const char *path) {
  if (*path == '\0' || !is_sound(path)) {
    errno = *path == '\0' ? ENOENT : EINVAL;
    return NULL;
  }
  wchar_t *const wide = wide_text(path);
  if (wide == NULL)
    return NULL;
  const bool is_drive = wide[1] == L':' && wide[2] == L'\0'; /* its root */
  if (is_drive)
    wcscpy(wide + 2, L"\\"); /* wide_text has space for that */
  if (wcslen(wide) < LONG_PATH)
    return wide;
  const DWORD size = GetFullPathNameW(wide, 0, NULL, NULL);
  wchar_t *const whole = malloc(((size_t)size + 8) * sizeof *whole);
  if (whole != NULL) {
    wcscpy(whole, L"\\\\?\\");
    (void)GetFullPathNameW(wide, size, whole + 4, NULL);
    if (wcsncmp(whole + 4, L"\\\\", 2) == 0) { /* of another computer */
      memmove(whole + 7, whole + 5, (wcslen(whole + 5) + 1) * sizeof *whole);
      memcpy(whole + 4, L"UNC", 3 * sizeof *whole);
    }
  }
  free(wide);
  return whole;
}


HANDLE wide_handle (int fd) {
  return (HANDLE)_get_osfhandle(fd);
}


int wide_descriptor (HANDLE handle) {
  if (handle == INVALID_HANDLE_VALUE || handle == NULL) {
    (void)wide_failed();
    return -1;
  }
  const int fd = _open_osfhandle((intptr_t)handle, _O_BINARY | _O_NOINHERIT);
  if (fd < 0)
    CloseHandle(handle);
  return fd;
}


wchar_t *wide_final_path (HANDLE file) {
  const DWORD size =
      GetFinalPathNameByHandleW(file, NULL, 0, FILE_NAME_NORMALIZED);
  wchar_t *const path = malloc(((size_t)size + 1) * sizeof *path);
  if (path == NULL)
    return NULL;
  const DWORD length =
      GetFinalPathNameByHandleW(file, path, size + 1, FILE_NAME_NORMALIZED);
  if (length > 0 && length <= size)
    return path;
  (void)wide_failed();
  free(path);
  return NULL;
}


/* Returns the real path of a handle, and closes it. */
static char *real_path_of (HANDLE file) {
  if (file == INVALID_HANDLE_VALUE) {
    (void)wide_failed();
    return NULL;
  }
  wchar_t *const wide = wide_final_path(file);
  CloseHandle(file);
  char *const path = wide == NULL ? NULL : narrow_path(wide);
  free(wide);
  return path;
}


char *os_real_path (const char *path) {
  wchar_t *const wide = wide_path(path);
  if (wide == NULL)
    return NULL;
  const HANDLE file =
      CreateFileW(wide, FILE_READ_ATTRIBUTES,
                  FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                  OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
  free(wide);
  return real_path_of(file);
}


char *os_path_of (int fd) {
  wchar_t *const wide = wide_final_path(wide_handle(fd));
  char *const path = wide == NULL ? NULL : narrow_path(wide);
  free(wide);
  return path;
}


/* What the link leads to, by way of others. */
char *os_link_target (const char *path) {
  return os_real_path(path);
}


int os_descriptor_of (const char *folder, const char *name) {
  (void)folder;
  (void)name;
  return OS_NO_DESCRIPTOR;
}


bool os_is_absolute (const char *path) {
  return path[0] == '/' || path[0] == '\\' ||
         (is_letter(path[0]) && path[1] == ':');
}


void os_use_slashes (char *path) {
  for (; *path != '\0'; path++)
    if (*path == '\\')
      *path = '/';
}


char *os_current_folder (void) {
  const DWORD size = GetCurrentDirectoryW(0, NULL);
  wchar_t *const wide = malloc(((size_t)size + 1) * sizeof *wide);
  if (wide == NULL)
    return NULL;
  char *path = NULL;
  if (GetCurrentDirectoryW(size + 1, wide) > 0)
    path = narrow_path(wide);
  else
    (void)wide_failed();
  free(wide);
  return path;
}


bool os_change_folder (const char *path) {
  wchar_t *const wide = wide_path(path);
  const bool done =
      wide != NULL && (SetCurrentDirectoryW(wide) || wide_failed());
  free(wide);
  return done;
}


struct os_folder {
  HANDLE search; /* INVALID_HANDLE_VALUE: an empty one */
  WIN32_FIND_DATAW found;
  bool is_new; /* `found` has not been returned yet */
  char *name;  /* the last one; owned */
};


os_folder *os_folder_open (const char *path) {
  char pattern[OS_LONGEST_PATH];
  os_folder *folder = NULL;
  const int size = snprintf(pattern, sizeof pattern, "%s/*", path);
  wchar_t *const wide = wide_path(path); /* * is no name of a file */
  if (wide == NULL)
    return NULL;
  free(wide);
  wchar_t *const search =
      size < (int)sizeof pattern ? wide_path(pattern) : NULL;
  if (search != NULL && (folder = calloc(1, sizeof *folder)) != NULL) {
    folder->search = FindFirstFileW(search, &folder->found);
    folder->is_new = folder->search != INVALID_HANDLE_VALUE;
    if (!folder->is_new && GetLastError() != ERROR_FILE_NOT_FOUND) {
      (void)wide_failed();
      free(folder);
      folder = NULL;
    }
  }
  free(search);
  return folder;
}


const char *os_folder_next (os_folder *folder, bool *is_special) {
  for (;;) {
    errno = 0;
    if (folder->search == INVALID_HANDLE_VALUE)
      return NULL;
    if (!folder->is_new && !FindNextFileW(folder->search, &folder->found)) {
      if (GetLastError() != ERROR_NO_MORE_FILES)
        (void)wide_failed();
      return NULL;
    }
    folder->is_new = false;
    free(folder->name);
    folder->name = narrow_text(folder->found.cFileName);
    if (folder->name == NULL)
      return NULL;
    if (strcmp(folder->name, ".") != 0 && strcmp(folder->name, "..") != 0)
      break;
  }
  *is_special =
      (folder->found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
  errno = 0;
  return folder->name;
}


void os_folder_close (os_folder *folder) {
  if (folder == NULL)
    return;
  if (folder->search != INVALID_HANDLE_VALUE)
    FindClose(folder->search);
  free(folder->name);
  free(folder);
}


wchar_t *wide_temporary (void) {
  wchar_t *folder = _wgetenv(L"TMPDIR");
  if (folder != NULL && *folder != L'\0')
    return _wcsdup(folder);
  const DWORD size = GetTempPathW(0, NULL);
  folder = malloc(((size_t)size + 1) * sizeof *folder);
  if (folder == NULL || GetTempPathW(size + 1, folder) == 0)
    return folder;
  const size_t length = wcslen(folder);
  if (length > 3 && folder[length - 1] == L'\\')
    folder[length - 1] = L'\0';
  return folder;
}


/* Only file systems that rename as POSIX does. */
bool os_replaces_open_files (void) {
  return false;
}


/* The file system writes names by itself. */
bool os_sync_folder (const char *path) {
  (void)path;
  return true;
}
