/*
** claim.c - the exclusive right to write the ring at a path: a lock (flock)
** on the file there.
**
** If there is no file, a closed ring of one page is created and locked. It gets
** the path by a link, which fails if a file has been made there meanwhile. The
** ring of an earlier writer is locked as it is; then the path is checked again,
** since another writer may have replaced the file meanwhile.
*/

#include <errno.h>
#include <string.h>

#include "bytes/output.h"
#include "bytes/ring/ring.h"
#include "bytes/target.h"
#include "os/os.h"

#define FAILED    "the ring cannot be made"
#define MAX_TRIES 100 /* times that the file may have been replaced */
#define LOCK_WAIT 20  /* ms; readers lock a ring for an instant */


/* Lock an open file; false: it stays locked for LOCK_WAIT, hence by a
   writer. */
static bool lock (int fd) {
  int left = LOCK_WAIT;
  while (!os_lock(fd, OS_EXCLUSIVE)) {
    if (left-- == 0)
      return false;
    os_sleep(1000000);
  }
  return true;
}


/* Whether an open file is the one at the path. */
static bool has_name (int fd, const char *path) {
  os_state open, named;
  return os_state_of_open(fd, &open) && os_state_of(path, &named) &&
         open.device == named.device && open.inode == named.inode;
}


/* Make the file of a claim. PF_AGAIN: another file has been made at the path.
   PF_EIO, PF_ENOMEM. */
static pf_status make_new (pf_ring_claim *claim, pf_error *error) {
  static const union {
    pf_ring_header header;
    uint8_t page[PF_RING_PAGE];
  } empty = {.header = {.magic = {'P', 'F', 'R', 'I', 'N', 'G', '\r', '\n'},
                        .version = PF_RING_VERSION,
                        .closed = 1}};
  pf_output output;
  pf_status status = pf_output_open(&output, claim->path, error);
  if (status != PF_OK)
    return status;
  const int fd = os_duplicate(output.fd);
  if (fd < 0 || !lock(fd) || !os_write(fd, &empty, sizeof empty, OS_HERE))
    status = pf_fail_by_system(error, FAILED, errno);
  else
    status = pf_output_commit_new(&output, error);
  pf_output_close(&output);
  if (status == PF_OK) {
    claim->fd = fd;
    claim->is_new = true;
  }
  else if (fd >= 0)
    os_close(fd);
  return status;
}


/* Claim the open file at the path. PF_AGAIN: another file has the path. PF_EIO.
   */
static pf_status lock_old (pf_ring_claim *claim, int fd, pf_error *error) {
  if (!lock(fd))
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, "another writer uses its ring");
  if (!has_name(fd, claim->path))
    return PF_AGAIN;
  /* Only a ring may be replaced, or a file that a power failure has left empty
     or with zeros at its beginning. */
  static const char zeros[sizeof PF_RING_MAGIC - 1];
  char magic[sizeof zeros];
  const int64_t size = os_read(fd, magic, sizeof magic, 0);
  if (size != 0 && (size != (int64_t)sizeof magic ||
                    (memcmp(magic, PF_RING_MAGIC, sizeof magic) != 0 &&
                     memcmp(magic, zeros, sizeof magic) != 0)))
    return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                   FAILED ": %.120s is another file", claim->path);
  claim->fd = fd;
  return PF_OK;
}


pf_status pf_ring_claim_open (pf_ring_claim *claim, const char *path,
                              pf_error *error) {
  pf_status status = PF_AGAIN;
  *claim = (pf_ring_claim){.path = path, .fd = -1};
  for (int tries = 0; status == PF_AGAIN && tries < MAX_TRIES; tries++) {
    const int fd = os_open(path, OS_READ | OS_AT_ONCE);
    if (fd < 0 && errno == ENOENT)
      status = make_new(claim, error);
    else if (fd < 0)
      status = pf_fail_by_system(error, FAILED, errno);
    else
      status = lock_old(claim, fd, error);
    if (fd >= 0 && claim->fd != fd)
      os_close(fd);
  }
  return status == PF_AGAIN ? pf_fail_by_system(error, FAILED, EBUSY) : status;
}


void pf_ring_claim_close (pf_ring_claim *claim) {
  if (claim->fd < 0)
    return;
  if (claim->is_new && has_name(claim->fd, claim->path))
    os_remove(claim->path);
  os_close(claim->fd);
  claim->fd = -1;
}
