/*
** stream_file.c - output files of writers through a ring: each has its name
** from the beginning and grows in place.
**
** Called by stream.c, whose userdata owns the files; l_stream_file_close frees
** all that a file owns.
*/

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/output.h"
#include "bytes/target.h"
#include "lua/writer/stream.h"
#include "os/os.h"


/* Locks the file that open returned, since another ring may have a path to the
   same file. PF_EIO: open has failed, or a writer has the lock. */
static pf_status lock_file (l_stream_file *output, pf_error *error) {
  const int errnum = errno, fd = output->sink.fd;
  if (fd >= 0 && (os_lock(fd, OS_EXCLUSIVE) || errno != EWOULDBLOCK))
    return PF_OK;
  if (fd >= 0)
    os_close(fd);
  output->sink.fd = -1;
  return pf_fail(error, PF_EIO, PF_NO_OFFSET, "cannot be written: %s",
                 fd >= 0 ? "another writer writes it" : strerror(errnum));
}


pf_status l_stream_file_open (l_stream_file *output, const char *path,
                              pf_error *error) {
  char *absolute;
  pf_status status =
      pf_output_resolve(path, &absolute, &output->is_in_place, error);
  if (status != PF_OK)
    return status;
  if (output->is_in_place) {
    pf_output file;
    free(absolute);
    status = pf_output_open(&file, path, error);
    output->sink.fd = file.fd;
    file.fd = -1;
    pf_output_close(&file);
    return status;
  }
  output->sink.fd = os_open(absolute, OS_WRITE | OS_NEW);
  const bool is_new = output->sink.fd >= 0;
  if (!is_new && errno == EEXIST)
    output->sink.fd = os_open(absolute, OS_WRITE | OS_CREATE);
  status = lock_file(output, error);
  if (status != PF_OK || !is_new) {
    free(absolute);
    return status;
  }
  output->created = absolute;
  return output->sync ? pf_target_sync_folder(absolute, error) : PF_OK;
}


/* Called by the sink in the writer's thread when the file is full: opens the
   next numbered file. */
static pf_status open_next_file (pf_sink *sink, pf_error *error) {
  l_stream_file *const output = (l_stream_file *)(void *)sink;
  char path[OS_LONGEST_PATH];
  pf_status status = pf_sink_flush(sink, error);
  if (status == PF_OK && output->sync && !os_sync(sink->fd))
    status = pf_fail(error, PF_EIO, PF_NO_OFFSET, "write failed: %s",
                     strerror(errno));
  if (status != PF_OK)
    return status;
  output->number++;
  const int fd =
      l_numbered_path(path, sizeof path, output->prefix, output->number)
          ? os_open(path, OS_WRITE | OS_CREATE | OS_TRUNCATE)
          : -1;
  if (fd < 0)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, "%.100s cannot be written: %s",
                   path, strerror(errno));
  os_close(sink->fd);
  sink->fd = fd;
  sink->before += sink->written;
  sink->written = 0;
  return output->sync ? pf_target_sync_folder(path, error) : PF_OK;
}


static void remove_if_empty (pf_sink *sink) {
  const l_stream_file *const output = (const l_stream_file *)(const void *)sink;
  char path[OS_LONGEST_PATH];
  if (sink->written == 0 &&
      l_numbered_path(path, sizeof path, output->prefix, output->number))
    os_remove(path);
}


pf_status l_stream_file_number (l_stream_file *output, const char *path,
                                pf_error *error) {
  output->number = 1;
  output->sink.cut = open_next_file;
  output->sink.end = remove_if_empty;
  return l_numbered_prefix(path, &output->prefix, error);
}


/* Cuts a file. */
static bool cut (const char *path, uint64_t length) {
  const int fd = os_open(path, OS_WRITE);
  const bool done = fd >= 0 && os_set_size(fd, length);
  const int errnum = errno;
  if (fd >= 0)
    os_close(fd);
  errno = errnum;
  return done;
}


/* Truncates numbered files to a total length, removes those after it, and opens
   the next. */
static pf_status resume_numbered (l_stream_file *output, uint64_t length,
                                  pf_error *error) {
  os_state about;
  char path[OS_LONGEST_PATH];
  uint64_t left = length;
  for (output->number = 1; left > 0; output->number++) {
    if (!l_numbered_path(path, sizeof path, output->prefix, output->number) ||
        !os_state_of(path, &about) || (about.size > left && !cut(path, left)))
      return pf_fail(error, PF_EIO, PF_NO_OFFSET, "%.100s: %s", path,
                     strerror(errno));
    left -= about.size < left ? about.size : left;
  }
  uint64_t later = output->number;
  while (l_numbered_path(path, sizeof path, output->prefix, later) &&
         os_remove(path))
    later++;
  output->number--; /* of the last one */
  output->sink.before = length;
  return open_next_file(&output->sink, error);
}


pf_status l_stream_file_resume (l_stream_file *output, uint64_t length,
                                pf_error *error) {
  if (output->prefix != NULL && length > 0)
    return resume_numbered(output, length, error);
  output->sink.written = length;
  if (!output->is_in_place && !os_set_size(output->sink.fd, length) &&
      errno != EINVAL)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, "cannot be written: %s",
                   strerror(errno));
  return PF_OK;
}


void l_stream_file_close (l_stream_file *output, bool is_pipe) {
  pf_sink_close(&output->sink);
  if (output->sink.fd >= 0 && !is_pipe)
    os_close(output->sink.fd);
  free(output->prefix);
  free(output->created);
}
