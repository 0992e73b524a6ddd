/*
** named.h - checks and opens paths that the user did not give: a path from
** inside a trace, a side file, a ring, a debug file. Used by core.named_file
** and core.named_source (lua/source.c) and by pf_ring_read (ring/copy.c).
** The caller of pf_named_open closes the descriptor. If
** the user sets the option trust_paths, Lua passes no folders and no largest
** size, which lifts both limits.
*/

#ifndef named_h
#define named_h

#include "os/os.h"
#include "profio.h"

#define PF_LONGEST_PATH OS_LONGEST_PATH

/* The folders in which a named file may be, and its largest size. */
typedef struct pf_named_rule {
  const char *const *folders; /* borrowed, with all below; none: any folder */
  size_t nfolders;
  uint64_t max_size; /* bytes; UINT64_MAX: any size */
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

/* Opens a file that pf_named_file allows, and checks the opened file once more,
   since the path may lead to another one by then. Fails as pf_named_file does.
   On PF_OK the caller closes the descriptor; otherwise *fd is invalid. */
pf_status pf_named_open (const char *path, const pf_named_rule *rule, int *fd,
                         pf_error *error);

#endif
