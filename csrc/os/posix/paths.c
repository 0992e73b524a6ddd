/*
** paths.c - paths and what is in folders.
*/

#define _DEFAULT_SOURCE /* realpath, DT_REG */

#include "os/os.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


char *os_real_path (const char *path) {
  return realpath(path, NULL);
}


char *os_path_of (int fd) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  return realpath(link, NULL);
}


char *os_link_target (const char *path) {
  char *const target = malloc(OS_LONGEST_PATH);
  const ssize_t size =
      target == NULL ? -1 : readlink(path, target, OS_LONGEST_PATH - 1);
  if (size < 0) {
    free(target);
    return NULL;
  }
  target[size] = '\0';
  return target;
}


int os_descriptor_of (const char *folder, const char *name) {
  char own[64];
  const size_t length = strlen(folder);
  snprintf(own, sizeof own, "/proc/%ld/fd", (long)getpid());
  if (strcmp(folder, own) == 0) {
    char *end;
    const long number = strtol(name, &end, 10);
    return end != name && *end == '\0' && number >= 0 && number <= INT_MAX
               ? (int)number
               : OS_FOREIGN_DESCRIPTOR;
  }
  return strncmp(folder, "/proc/", 6) == 0 && length > 3 &&
                 strcmp(folder + length - 3, "/fd") == 0
             ? OS_FOREIGN_DESCRIPTOR
             : OS_NO_DESCRIPTOR;
}


bool os_is_absolute (const char *path) {
  return path[0] == '/';
}


void os_use_slashes (char *path) {
  (void)path;
}


char *os_current_folder (void) {
  char *const path = malloc(OS_LONGEST_PATH);
  if (path != NULL && getcwd(path, OS_LONGEST_PATH) != NULL)
    return path;
  free(path);
  return NULL;
}


bool os_change_folder (const char *path) {
  return chdir(path) == 0;
}


os_folder *os_folder_open (const char *path) {
  return (os_folder *)opendir(path);
}


const char *os_folder_next (os_folder *folder, bool *is_special) {
  const struct dirent *entry;
  do {
    errno = 0;
    entry = readdir((DIR *)folder);
  } while (entry != NULL && (strcmp(entry->d_name, ".") == 0 ||
                             strcmp(entry->d_name, "..") == 0));
  if (entry == NULL)
    return NULL;
#ifdef DT_REG
  *is_special = entry->d_type != DT_REG && entry->d_type != DT_DIR;
#else
  *is_special = true; /* the caller looks at each path */
#endif
  return entry->d_name;
}


void os_folder_close (os_folder *folder) {
  if (folder != NULL)
    closedir((DIR *)folder);
}


const char *os_message (int code) {
  return strerror(code);
}
