/*
** named.c - checks whether a file that the user did not name may be read, and
** opens it.
*/

#define _XOPEN_SOURCE 700 /* realpath */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bytes/named.h"


_Static_assert(PF_LONGEST_PATH >= PATH_MAX, "realpath writes PATH_MAX bytes");


/* Checks a file, whose path is `real`, by the rule of pf_named_file. */
static pf_status check (const struct stat *found, const char *real,
                        const pf_named_rule *rule, pf_error *error) {
  if (!S_ISREG(found->st_mode))
    return pf_refuse(error, "is not a regular file");
  bool is_inside = rule->nfolders == 0;
  for (size_t i = 0; i < rule->nfolders && !is_inside; i++) {
    char top[PF_LONGEST_PATH];
    const size_t size =
        realpath(rule->folders[i], top) == NULL ? 0 : strlen(top);
    is_inside =
        size == 1 || /* the root */
        (size > 1 && strncmp(real, top, size) == 0 && real[size] == '/');
  }
  if (!is_inside)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "is outside the folders that are read: trust_paths = true "
                   "reads it");
  if ((uint64_t)found->st_size > rule->max_size)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "has more than %llu bytes: trust_paths = true reads it",
                   (unsigned long long)rule->max_size);
  return PF_OK;
}


pf_status pf_named_file (const char *path, const pf_named_rule *rule,
                         char real[PF_LONGEST_PATH], pf_error *error) {
  struct stat found;
  if (realpath(path, real) == NULL || stat(real, &found) != 0)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, "%s", strerror(errno));
  return check(&found, real, rule, error);
}


pf_status pf_named_open (const char *path, const pf_named_rule *rule, int *fd,
                         pf_error *error) {
  char real[PF_LONGEST_PATH];
  struct stat found;
  pf_status status = pf_named_file(path, rule, real, error);
  if (status != PF_OK)
    return status;
  *fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (*fd < 0 || fstat(*fd, &found) != 0) {
    status = pf_fail(error, PF_EIO, PF_NO_OFFSET, "%s", strerror(errno));
  }
  else { /* without /proc the path is that which was checked */
    char opened[PF_LONGEST_PATH], link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", *fd);
    status = check(&found, realpath(link, opened) == NULL ? real : opened, rule,
                   error);
  }
  if (status != PF_OK && *fd >= 0)
    close(*fd);
  return status;
}
