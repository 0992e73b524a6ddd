/*
** files.c - files by descriptor and by name.
*/

#include "os/windows/wide.h"

#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <string.h>

#define SHARED  (FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)
#define LARGEST ((size_t)1 << 30) /* bytes of one call */
#define TRIES   100               /* temporary names */

/* Ids of SetFileInformationByHandle that old headers lack. */
#define RENAME_EX      ((FILE_INFO_BY_HANDLE_CLASS)22)
#define DISPOSITION_EX ((FILE_INFO_BY_HANDLE_CLASS)21)
#define REPLACE        1u
#define POSIX          2u
#define DELETE_IT      1u
#define READ_ONLY_TOO  16u


/* Opens a path; INVALID_HANDLE_VALUE and errno after a failure. */
static HANDLE open_path (const char *path, DWORD access, DWORD disposition,
                         DWORD flags) {
  wchar_t *const wide = wide_path(path);
  if (wide == NULL)
    return INVALID_HANDLE_VALUE;
  const HANDLE handle = CreateFileW(wide, access, SHARED, NULL, disposition,
                                    flags | FILE_FLAG_BACKUP_SEMANTICS, NULL);
  free(wide);
  if (handle == INVALID_HANDLE_VALUE)
    (void)wide_failed();
  return handle;
}


static int take (HANDLE handle) {
  return handle == INVALID_HANDLE_VALUE ? -1 : wide_descriptor(handle);
}


int os_open (const char *path, unsigned how) {
  static const DWORD accesses[] = {GENERIC_READ, GENERIC_WRITE,
                                   GENERIC_READ | GENERIC_WRITE};
  const bool empties = (how & OS_TRUNCATE) != 0;
  const DWORD disposition = (how & OS_NEW) != 0 ? CREATE_NEW
                            : (how & OS_CREATE) != 0
                                ? (empties ? CREATE_ALWAYS : OPEN_ALWAYS)
                            : empties ? TRUNCATE_EXISTING
                                      : OPEN_EXISTING;
  const DWORD link = (how & OS_NO_LINK) != 0 ? FILE_FLAG_OPEN_REPARSE_POINT : 0;
  return take(open_path(path, accesses[how & 3u], disposition,
                        FILE_ATTRIBUTE_NORMAL | link));
}


int os_open_null (void) {
  const HANDLE null = CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE, SHARED,
                                  NULL, OPEN_EXISTING, 0, NULL);
  return wide_descriptor(null);
}


int os_open_nameless (const char *folder) {
  (void)folder;
  errno = ENOSYS;
  return -1;
}


bool os_name (int fd, const char *path) {
  (void)fd;
  (void)path;
  errno = ENOSYS;
  return false;
}


/* Returns a new path in the folder for temporary files, in new memory. */
static wchar_t *temporary_name (unsigned attempt) {
  LARGE_INTEGER now;
  QueryPerformanceCounter(&now);
  wchar_t *const folder = wide_temporary();
  if (folder == NULL)
    return NULL;
  const size_t size = wcslen(folder) + 32;
  wchar_t *const path = malloc(size * sizeof *path);
  const unsigned mixed = ((unsigned)now.QuadPart + attempt) * 2654435761u ^
                         (unsigned)GetCurrentProcessId() * 40503u;
  if (path != NULL)
    _snwprintf(path, size, L"%ls\\profio-%08x", folder, mixed);
  free(folder);
  return path;
}


int os_open_temporary (char **path) {
  HANDLE handle = INVALID_HANDLE_VALUE;
  wchar_t *name = NULL;
  for (unsigned i = 0; i < TRIES && handle == INVALID_HANDLE_VALUE; i++) {
    free(name);
    name = temporary_name(i);
    if (name == NULL)
      return -1;
    handle = CreateFileW(name, GENERIC_READ | GENERIC_WRITE, SHARED, NULL,
                         CREATE_NEW,
                         FILE_ATTRIBUTE_TEMPORARY |
                             (path == NULL ? FILE_FLAG_DELETE_ON_CLOSE : 0),
                         NULL);
    if (handle == INVALID_HANDLE_VALUE && GetLastError() != ERROR_FILE_EXISTS)
      break;
  }
  const int fd = wide_descriptor(handle);
  if (path != NULL)
    *path = fd >= 0 ? narrow_path(name) : NULL;
  free(name);
  return fd;
}


char *os_temporary_folder (void) {
  for (unsigned i = 0; i < TRIES; i++) {
    wchar_t *const name = temporary_name(i);
    const bool done = name != NULL && CreateDirectoryW(name, NULL);
    const DWORD code = GetLastError();
    char *const path = done ? narrow_path(name) : NULL;
    free(name);
    if (done || name == NULL)
      return path;
    SetLastError(code);
    (void)wide_failed();
    if (code != ERROR_ALREADY_EXISTS)
      return NULL;
  }
  return NULL;
}


bool os_close (int fd) {
  return _close(fd) == 0;
}


int os_duplicate (int fd) {
  HANDLE copy;
  const HANDLE self = GetCurrentProcess();
  if (!DuplicateHandle(self, wide_handle(fd), self, &copy, 0, FALSE,
                       DUPLICATE_SAME_ACCESS))
    copy = INVALID_HANDLE_VALUE;
  return wide_descriptor(copy);
}


int os_take_output (void) {
  const int fd = os_duplicate(1);
  if (fd >= 0) {
    (void)_dup2(2, 1);
    (void)_setmode(1, _O_BINARY);
  }
  return fd;
}


/* A read or write at an offset moves the position of the handle: it is put
   back. */
typedef struct position {
  OVERLAPPED at;
  LARGE_INTEGER before;
  bool is_kept;
} position;


static OVERLAPPED *place (HANDLE file, uint64_t offset, position *p) {
  const LARGE_INTEGER none = {.QuadPart = 0};
  memset(p, 0, sizeof *p);
  if (offset == OS_HERE)
    return NULL;
  p->is_kept = SetFilePointerEx(file, none, &p->before, FILE_CURRENT);
  p->at.Offset = (DWORD)offset;
  p->at.OffsetHigh = (DWORD)(offset >> 32);
  return &p->at;
}


static void put_back (HANDLE file, const position *p) {
  if (p->is_kept)
    SetFilePointerEx(file, p->before, NULL, FILE_BEGIN);
}


int64_t os_read (int fd, void *to, size_t size, uint64_t offset) {
  const HANDLE file = wide_handle(fd);
  position p;
  DWORD n = 0;
  OVERLAPPED *const at = place(file, offset, &p);
  const bool done =
      ReadFile(file, to, (DWORD)(size < LARGEST ? size : LARGEST), &n, at);
  const DWORD code = GetLastError();
  put_back(file, &p);
  if (done || code == ERROR_BROKEN_PIPE || code == ERROR_HANDLE_EOF)
    return n;
  SetLastError(code);
  (void)wide_failed();
  FILE_BASIC_INFO info;
  if (GetFileInformationByHandleEx(file, FileBasicInfo, &info, sizeof info) &&
      (info.FileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0)
    errno = EISDIR;
  return -1;
}


bool os_write (int fd, const void *from, size_t size, uint64_t offset) {
  const HANDLE file = wide_handle(fd);
  const char *from_here = from;
  while (size > 0) {
    position p;
    DWORD n = 0;
    OVERLAPPED *const at = place(file, offset, &p);
    const bool done = WriteFile(
        file, from_here, (DWORD)(size < LARGEST ? size : LARGEST), &n, at);
    const DWORD code = GetLastError();
    put_back(file, &p);
    if (!done) {
      SetLastError(code);
      return wide_failed();
    }
    from_here += n;
    offset += offset == OS_HERE ? 0 : n;
    size -= n;
  }
  return true;
}


int64_t os_seek (int fd, int64_t offset, int whence) {
  static const DWORD from[] = {[SEEK_SET] = FILE_BEGIN,
                               [SEEK_CUR] = FILE_CURRENT,
                               [SEEK_END] = FILE_END};
  const LARGE_INTEGER distance = {.QuadPart = offset};
  LARGE_INTEGER now;
  if (SetFilePointerEx(wide_handle(fd), distance, &now, from[whence]))
    return now.QuadPart;
  (void)wide_failed();
  return -1;
}


/* Sets the end of a file. */
static bool set_end (HANDLE file, uint64_t size) {
  FILE_END_OF_FILE_INFO end = {.EndOfFile.QuadPart = (LONGLONG)size};
  return SetFileInformationByHandle(file, FileEndOfFileInfo, &end,
                                    sizeof end) ||
         wide_failed();
}


bool os_set_size (int fd, uint64_t size) {
  if (GetFileType(wide_handle(fd)) != FILE_TYPE_DISK) {
    errno = EINVAL;
    return false;
  }
  return set_end(wide_handle(fd), size) && os_seek(fd, 0, SEEK_END) >= 0;
}


bool os_reserve (int fd, uint64_t offset, uint64_t size) {
  LARGE_INTEGER now;
  if (!GetFileSizeEx(wide_handle(fd), &now))
    return wide_failed();
  return (uint64_t)now.QuadPart >= offset + size ||
         set_end(wide_handle(fd), offset + size);
}


uint64_t os_free_space (int fd) {
  ULARGE_INTEGER left;
  wchar_t *const path = wide_final_path(wide_handle(fd));
  wchar_t *const slash = path == NULL ? NULL : wcsrchr(path, L'\\');
  if (slash != NULL)
    slash[1] = L'\0';
  const bool done =
      slash != NULL && GetDiskFreeSpaceExW(path, &left, NULL, NULL);
  free(path);
  return done ? left.QuadPart : UINT64_MAX;
}


bool os_can_overwrite (int fd) {
  return GetFileType(wide_handle(fd)) == FILE_TYPE_DISK &&
         os_seek(fd, 0, SEEK_CUR) == 0;
}


bool os_sync (int fd) {
  if (FlushFileBuffers(wide_handle(fd)))
    return true;
  (void)wide_failed();
  if (GetFileType(wide_handle(fd)) != FILE_TYPE_DISK)
    errno = EINVAL;
  return false;
}


/* A handle that has the lock already gives it up for a moment. */
bool os_lock (int fd, os_lock_kind kind) {
  OVERLAPPED far_out = {.OffsetHigh = 0x40000000};
  const HANDLE file = wide_handle(fd);
  (void)UnlockFileEx(file, 0, 1, 0, &far_out);
  if (kind == OS_UNLOCKED)
    return true;
  const DWORD flags = LOCKFILE_FAIL_IMMEDIATELY |
                      (kind == OS_EXCLUSIVE ? LOCKFILE_EXCLUSIVE_LOCK : 0);
  return LockFileEx(file, flags, 0, 1, 0, &far_out) || wide_failed();
}


/* A file that nobody else can open stands for the lock of its folder. */
int os_open_locked_folder (const char *path) {
  char name[OS_LONGEST_PATH];
  if (snprintf(name, sizeof name, "%s/.profio-lock", path) >= (int)sizeof name)
    return -1;
  wchar_t *const wide = wide_path(name);
  HANDLE file = INVALID_HANDLE_VALUE;
  while (wide != NULL) {
    file = CreateFileW(wide, GENERIC_WRITE | DELETE, 0, NULL, OPEN_ALWAYS,
                       FILE_FLAG_DELETE_ON_CLOSE | FILE_ATTRIBUTE_HIDDEN, NULL);
    const DWORD code = GetLastError();
    if (file != INVALID_HANDLE_VALUE ||
        (code != ERROR_SHARING_VIOLATION && code != ERROR_ACCESS_DENIED))
      break;
    Sleep(10);
  }
  free(wide);
  return wide_descriptor(file);
}


/* Describes an open file. */
static bool fill (HANDLE file, os_state *state) {
  BY_HANDLE_FILE_INFORMATION found;
  const DWORD type = GetFileType(file);
  memset(state, 0, sizeof *state);
  state->kind = OS_OTHER;
  if (type == FILE_TYPE_PIPE || type == FILE_TYPE_CHAR)
    return true;
  if (!GetFileInformationByHandle(file, &found)) {
    LARGE_INTEGER size; /* what Wine knows of its standard input */
    if (!GetFileSizeEx(file, &size))
      return wide_failed();
    state->kind = OS_REGULAR;
    state->size = (uint64_t)size.QuadPart;
    return true;
  }
  const DWORD attributes = found.dwFileAttributes;
  const int64_t changed =
      (int64_t)((uint64_t)found.ftLastWriteTime.dwHighDateTime << 32 |
                found.ftLastWriteTime.dwLowDateTime) -
      116444736000000000; /* 1601 to 1970, in 100 ns */
  state->kind = (attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 ? OS_LINK
                : (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0   ? OS_FOLDER
                                                                 : OS_REGULAR;
  state->device = found.dwVolumeSerialNumber;
  state->inode = (uint64_t)found.nFileIndexHigh << 32 | found.nFileIndexLow;
  state->links = found.nNumberOfLinks;
  state->size = (uint64_t)found.nFileSizeHigh << 32 | found.nFileSizeLow;
  state->seconds = changed / 10000000;
  state->nanoseconds = changed % 10000000 * 100;
  return true;
}


static bool state_of (const char *path, DWORD flags, os_state *state) {
  const HANDLE file =
      open_path(path, FILE_READ_ATTRIBUTES, OPEN_EXISTING, flags);
  if (file == INVALID_HANDLE_VALUE)
    return false;
  const bool done = fill(file, state);
  CloseHandle(file);
  return done;
}


bool os_state_of (const char *path, os_state *state) {
  return state_of(path, 0, state);
}


bool os_state_of_entry (const char *path, os_state *state) {
  return state_of(path, FILE_FLAG_OPEN_REPARSE_POINT, state);
}


bool os_state_of_open (int fd, os_state *state) {
  return fill(wide_handle(fd), state);
}


bool os_is_writable (const char *path) {
  wchar_t *const wide = wide_path(path);
  if (wide == NULL)
    return false;
  const DWORD attributes = GetFileAttributesW(wide);
  free(wide);
  if (attributes == INVALID_FILE_ATTRIBUTES)
    return wide_failed();
  errno = EACCES;
  return (attributes & FILE_ATTRIBUTE_READONLY) == 0;
}


/* A new file has the rights of its folder. */
void os_copy_owner (int fd, const char *path) {
  (void)fd;
  (void)path;
}


/* The name is gone at once, also while the file is open somewhere. */
bool os_remove (const char *path) {
  DWORD flags = DELETE_IT | POSIX | READ_ONLY_TOO;
  const HANDLE file =
      open_path(path, DELETE, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT);
  if (file == INVALID_HANDLE_VALUE)
    return false;
  bool done =
      SetFileInformationByHandle(file, DISPOSITION_EX, &flags, sizeof flags);
  CloseHandle(file);
  if (done)
    return true;
  wchar_t *const wide = wide_path(path);
  done = wide != NULL && (DeleteFileW(wide) || wide_failed());
  free(wide);
  return done;
}


/* Renames an open file as POSIX does: the target may be open somewhere. */
static bool rename_open (HANDLE file, const wchar_t *to) {
  const size_t length = wcslen(to) * sizeof *to;
  FILE_RENAME_INFO *const info = calloc(1, sizeof *info + length);
  if (info == NULL)
    return false;
  info->Flags = REPLACE | POSIX;
  info->FileNameLength = (DWORD)length;
  memcpy(info->FileName, to, length);
  const bool done = SetFileInformationByHandle(file, RENAME_EX, info,
                                               (DWORD)(sizeof *info + length));
  free(info);
  return done;
}


bool os_rename (const char *from, const char *to) {
  wchar_t *const old = wide_path(from), *const new = wide_path(to);
  bool done = false;
  if (old != NULL && new != NULL) {
    const HANDLE file =
        open_path(from, DELETE, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT);
    done = file != INVALID_HANDLE_VALUE && rename_open(file, new);
    if (file != INVALID_HANDLE_VALUE)
      CloseHandle(file);
    done = done || MoveFileExW(old, new, MOVEFILE_REPLACE_EXISTING) ||
           wide_failed();
  }
  free(old);
  free(new);
  return done;
}


bool os_link (const char *from, const char *to) {
  wchar_t *const old = wide_path(from), *const new = wide_path(to);
  const bool done = old != NULL && new != NULL &&
                    (CreateHardLinkW(new, old, NULL) || wide_failed());
  free(old);
  free(new);
  return done;
}


bool os_make_folder (const char *path) {
  wchar_t *const wide = wide_path(path);
  const bool done =
      wide != NULL && (CreateDirectoryW(wide, NULL) || wide_failed());
  free(wide);
  return done;
}


bool os_remove_folder (const char *path) {
  wchar_t *const wide = wide_path(path);
  const bool done = wide != NULL && (RemoveDirectoryW(wide) || wide_failed());
  free(wide);
  return done;
}
