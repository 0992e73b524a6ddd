/*
** named.c - checks whether a file that the user did not name may be read, and
** opens it.
*/

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/named.h"
#include "os/os.h"


/* Whether a path without links is below a folder. */
static bool is_below (const char *real, const char *folder) {
  char *const top = os_real_path(folder);
  const size_t size = top == NULL ? 0 : strlen(top);
  const bool is = size > 0 && strncmp(real, top, size) == 0 &&
                  (top[size - 1] == '/' || real[size] == '/'); /* a root */
  free(top);
  return is;
}


/* Checks a file, whose path is `real`, by the rule of pf_named_file. */
static pf_status check (const os_state *found, const char *real,
                        const pf_named_rule *rule, pf_error *error) {
  if (found->kind != OS_REGULAR)
    return pf_refuse(error, "is not a regular file");
  bool is_inside = rule->nfolders == 0;
  for (size_t i = 0; i < rule->nfolders && !is_inside; i++)
    is_inside = is_below(real, rule->folders[i]);
  if (!is_inside)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "is outside the folders that are read: trust_paths = true "
                   "reads it");
  if (found->size > rule->max_size)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "has more than %llu bytes: trust_paths = true reads it",
                   (unsigned long long)rule->max_size);
  return PF_OK;
}


pf_status pf_named_file (const char *path, const pf_named_rule *rule,
                         char real[PF_LONGEST_PATH], pf_error *error) {
  os_state found;
  char *const whole = os_real_path(path);
  const int errnum = errno;
  const size_t size = whole == NULL ? 0 : strlen(whole) + 1;
  if (size > 0 && size <= PF_LONGEST_PATH)
    memcpy(real, whole, size);
  free(whole);
  if (size == 0)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, "%s", strerror(errnum));
  if (size > PF_LONGEST_PATH || !os_state_of(real, &found))
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, "%s",
                   strerror(size > PF_LONGEST_PATH ? ENAMETOOLONG : errno));
  return check(&found, real, rule, error);
}


pf_status pf_named_open (const char *path, const pf_named_rule *rule, int *fd,
                         pf_error *error) {
  char real[PF_LONGEST_PATH];
  os_state found;
  pf_status status = pf_named_file(path, rule, real, error);
  if (status != PF_OK)
    return status;
  *fd = os_open(real, OS_READ | OS_AT_ONCE);
  if (*fd < 0 || !os_state_of_open(*fd, &found)) {
    status = pf_fail(error, PF_EIO, PF_NO_OFFSET, "%s", strerror(errno));
  }
  else { /* without /proc the path is that which was checked */
    char *const opened = os_path_of(*fd);
    status = check(&found, opened == NULL ? real : opened, rule, error);
    free(opened);
  }
  if (status != PF_OK && *fd >= 0)
    os_close(*fd);
  return status;
}
