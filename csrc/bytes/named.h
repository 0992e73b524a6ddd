/*
** named.h - checks whether a file may be read whose path comes from a trace, or
** which is in the folder of the trace.
*/

#ifndef named_h
#define named_h

#include "profio.h"

#define PF_LONGEST_PATH 4096 /* bytes, with the zero; PATH_MAX of Linux */

/* The folders in which a named file may be, and its largest size. */
typedef struct pf_named_rule {
  const char *const *folders; /* and all below them; none: any folder */
  size_t nfolders;
  uint64_t max_size; /* bytes */
} pf_named_rule;

/*
** Checks a path that was taken from inside a trace, without opening the file:
** it must be a regular file of at most max_size bytes, and its real path
** (without links and "..") must be below the real path of one of the folders.
** This is the only definition of the rule; Lua asks it through core.named_file.
**
** On PF_OK `real` holds the real path. PF_EIO: the file does not exist or
** cannot be looked at; PF_EUNSUPPORTED: it is no regular file; PF_ELIMIT: it is
** too large, or outside the folders.
*/
pf_status pf_named_file (const char *path, const pf_named_rule *rule,
                         char real[PF_LONGEST_PATH], pf_error *error);

/* Opens a file that pf_named_file allows, and checks the opened file once more:
   the path may lead to another one since. The caller closes the descriptor. */
pf_status pf_named_open (const char *path, const pf_named_rule *rule, int *fd,
                         pf_error *error);

#endif
