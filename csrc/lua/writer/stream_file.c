/*
** stream_file.c - output files of writers through a ring: each has its name
** from the beginning and grows in place.
**
** Called by stream.c, whose userdata owns the files; l_stream_file_close frees
** all that a file owns.
*/

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bytes/output.h"
#include "bytes/target.h"
#include "lua/writer/stream.h"


/* Locks the file that open returned, since another ring may have a path to the
   same file. PF_EIO: open has failed, or a writer has the lock. */
static pf_status lock_file (l_stream_file *output, pf_error *error) {
  const int errnum = errno, fd = output->sink.fd;
  if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK))
    return PF_OK;
  if (fd >= 0)
    close(fd);
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
  output->sink.fd =
      open(absolute, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  const bool is_new = output->sink.fd >= 0;
  if (!is_new && errno == EEXIST)
    output->sink.fd = open(absolute, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
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
  char path[4096];
  pf_status status = pf_sink_flush(sink, error);
  if (status == PF_OK && output->sync && fdatasync(sink->fd) != 0)
    status = pf_fail(error, PF_EIO, PF_NO_OFFSET, "write failed: %s",
                     strerror(errno));
  if (status != PF_OK)
    return status;
  output->number++;
  const int fd =
      l_numbered_path(path, sizeof path, output->prefix, output->number)
          ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
          : -1;
  if (fd < 0)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, "%.100s cannot be written: %s",
                   path, strerror(errno));
  close(sink->fd);
  sink->fd = fd;
  sink->before += sink->written;
  sink->written = 0;
  return output->sync ? pf_target_sync_folder(path, error) : PF_OK;
}


static void remove_if_empty (pf_sink *sink) {
  const l_stream_file *const output = (const l_stream_file *)(const void *)sink;
  char path[4096];
  if (sink->written == 0 &&
      l_numbered_path(path, sizeof path, output->prefix, output->number))
    unlink(path);
}


pf_status l_stream_file_number (l_stream_file *output, const char *path,
                                pf_error *error) {
  output->number = 1;
  output->sink.cut = open_next_file;
  output->sink.end = remove_if_empty;
  return l_numbered_prefix(path, &output->prefix, error);
}


/* Truncates numbered files to a total length, removes those after it, and opens
   the next. */
static pf_status resume_numbered (l_stream_file *output, uint64_t length,
                                  pf_error *error) {
  struct stat about;
  char path[4096];
  uint64_t left = length;
  for (output->number = 1; left > 0; output->number++) {
    if (!l_numbered_path(path, sizeof path, output->prefix, output->number) ||
        stat(path, &about) != 0 ||
        ((uint64_t)about.st_size > left && truncate(path, (off_t)left) != 0))
      return pf_fail(error, PF_EIO, PF_NO_OFFSET, "%.100s: %s", path,
                     strerror(errno));
    const uint64_t size = (uint64_t)about.st_size;
    left -= size < left ? size : left;
  }
  uint64_t later = output->number;
  while (l_numbered_path(path, sizeof path, output->prefix, later) &&
         unlink(path) == 0)
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
  if (!output->is_in_place &&
      (ftruncate(output->sink.fd, (off_t)length) != 0 ||
       lseek(output->sink.fd, 0, SEEK_END) < 0) &&
      errno != EINVAL)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, "cannot be written: %s",
                   strerror(errno));
  return PF_OK;
}


void l_stream_file_close (l_stream_file *output, bool is_pipe) {
  pf_sink_close(&output->sink);
  if (output->sink.fd >= 0 && !is_pipe)
    close(output->sink.fd);
  free(output->prefix);
  free(output->created);
}
