/*
** ring_claim.c - the right to write the ring at a path, for one writer at a
** time: a lock on the file that has the name.
**
** Where no file has it, one is made that says only that somebody begins to
** write; it gets its name with its lock, and only where no file has the name. A
** ring that a writer has left is locked as it is, and it is looked at again
** whether it still has the name: another writer may have replaced it meanwhile.
*/

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bytes/output.h"
#include "bytes/ring.h"

#define MOST_TRIES 100 /* other files under the name */
#define PATIENCE   20  /* ms for readers, which lock a ring for an instant */


static pf_status fail_by_system (pf_error *error, int errnum) {
  return pf_fail(error, PF_EIO, PF_NO_OFFSET, "the ring cannot be made: %s",
                 strerror(errnum));
}


/* Lock an open file; false: somebody has locked it for longer than a reader. */
static bool lock (int fd) {
  const struct timespec moment = {0, 1000000};
  int left = PATIENCE;
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (left-- == 0)
      return false;
    nanosleep(&moment, NULL);
  }
  return true;
}


/* Whether an open file is the one that has the name. */
static bool has_name (int fd, const char *path) {
  struct stat open, named;
  return fstat(fd, &open) == 0 && stat(path, &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}


/* Make the file that says that somebody begins. PF_AGAIN: there is a file. */
static pf_status make_new (pf_ring_claim *claim, pf_error *error) {
  static const union {
    pf_ring_header header;
    uint8_t page[PF_RING_PAGE];
  } nothing = {.header = {.magic = {'P', 'F', 'R', 'I', 'N', 'G', '\r', '\n'},
                          .version = PF_RING_VERSION,
                          .closed = 1}};
  pf_output output;
  pf_status status = pf_output_open(&output, claim->path, error);
  if (status != PF_OK)
    return status;
  const int fd = fcntl(output.fd, F_DUPFD_CLOEXEC, 0);
  if (fd < 0 || !lock(fd) ||
      write(fd, &nothing, sizeof nothing) != (ssize_t)sizeof nothing)
    status = fail_by_system(error, errno);
  else
    status = pf_output_commit_new(&output, error);
  pf_output_close(&output);
  if (status == PF_OK) {
    claim->fd = fd;
    claim->is_new = true;
  }
  else if (fd >= 0)
    close(fd);
  return status;
}


/* Whether a file may be replaced: a ring, or what a power failure has left of
   one, which is empty or begins with zeros. */
static bool is_ring (int fd) {
  static const char zeros[sizeof PF_RING_MAGIC - 1];
  char magic[sizeof zeros];
  const ssize_t size = pread(fd, magic, sizeof magic, 0);
  return size == 0 || (size == (ssize_t)sizeof magic &&
                       (memcmp(magic, PF_RING_MAGIC, sizeof magic) == 0 ||
                        memcmp(magic, zeros, sizeof magic) == 0));
}


/* Lock the file that has the name: PF_AGAIN: it has it no more. */
static pf_status lock_old (pf_ring_claim *claim, int fd, pf_error *error) {
  if (!lock(fd))
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, "another writer uses its ring");
  if (!has_name(fd, claim->path))
    return PF_AGAIN;
  if (!is_ring(fd))
    return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                   "the ring cannot be made: %.120s is another file",
                   claim->path);
  claim->fd = fd;
  return PF_OK;
}


pf_status pf_ring_claim_open (pf_ring_claim *claim, const char *path,
                              pf_error *error) {
  pf_status status = PF_AGAIN;
  *claim = (pf_ring_claim){.path = path, .fd = -1};
  for (int tries = 0; status == PF_AGAIN && tries < MOST_TRIES; tries++) {
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
      status = make_new(claim, error);
    else if (fd < 0)
      status = fail_by_system(error, errno);
    else
      status = lock_old(claim, fd, error);
    if (fd >= 0 && claim->fd != fd)
      close(fd);
  }
  return status == PF_AGAIN ? fail_by_system(error, EBUSY) : status;
}


void pf_ring_claim_close (pf_ring_claim *claim) {
  if (claim->fd < 0)
    return;
  if (claim->is_new && has_name(claim->fd, claim->path))
    unlink(claim->path);
  close(claim->fd);
  claim->fd = -1;
}
