/*
** file_set.c - the files that a writer of whole files writes together.
*/

#include "lua/writer/file_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/target.h"
#include "model/base/memory.h"
#include "os/os.h"

#define STANDARD_OUTPUT 1

#define MAX_OPEN 64 /* maximum open descriptors of complete files */


static pf_status open_numbered (l_set_file *output, pf_error *error) {
  char path[OS_LONGEST_PATH];
  const pf_status status =
      l_numbered_path(path, sizeof path, output->prefix, ++output->number)
          ? pf_output_open(&output->file, path, error)
          : pf_fail(error, PF_EIO, PF_NO_OFFSET, "%.100s cannot be written: %s",
                    path, strerror(errno));
  output->sink.fd = output->file.fd;
  output->sink.path = output->file.path;
  return status;
}


/* Called by the sink when a numbered file is full: adds it to the complete
   ones, of which only MAX_OPEN keep their descriptor, and opens the next
   one. */
static pf_status open_next_file (pf_sink *sink, pf_error *error) {
  l_set_file *const output = (l_set_file *)(void *)sink;
  pf_status status = pf_sink_flush(sink, error);
  if (status == PF_OK &&
      !pf_grow(&output->complete, &output->capacity, output->ncomplete + 1))
    status = pf_no_memory(error);
  if (status == PF_OK && output->ncomplete >= MAX_OPEN)
    status = pf_output_close_fd(&output->file, error);
  if (status == PF_OK) {
    output->complete[output->ncomplete++] = output->file;
    output->file = (pf_output){.fd = -1};
    status = open_numbered(output, error);
  }
  sink->before += sink->written;
  sink->written = 0;
  return status;
}


/* Sets the role of a side file. PF_EIO, PF_ENOMEM. */
static pf_status set_side (l_set_file *output, const l_side *side,
                           pf_error *error) {
  output->sink.role = side->role;
  if (!side->is_numbered || side->path == NULL)
    return PF_OK;
  output->number = 1;
  output->sink.cut = open_next_file;
  return l_numbered_prefix(side->path, &output->prefix, error);
}


pf_status l_file_set_add (l_file_set *set, const char *path, const l_side *side,
                          pf_error *error) {
  l_set_file *const output = &set->files[set->count++];
  const bool is_file = path != NULL && strcmp(path, "-") != 0;
  *output = (l_set_file){.sink = {.fd = -1}, .file = {.fd = -1}};
  pf_status status = PF_OK;
  if (is_file)
    status = pf_output_open(&output->file, path, error);
  const int fd = path != NULL && !is_file ? STANDARD_OUTPUT : output->file.fd;
  if (status == PF_OK && pf_sink_open(&output->sink, fd) != PF_OK)
    status = pf_no_memory(error);
  if (side != NULL) {
    output->sink.path = output->file.path;
    output[-1].sink.side = &output->sink;
  }
  return status == PF_OK && side != NULL ? set_side(output, side, error)
                                         : status;
}


pf_status l_file_set_remove (l_file_set *set, const char *path,
                             pf_error *error) {
  if (!pf_grow(&set->removed, &set->capacity, set->nremoved + 1))
    return pf_no_memory(error);
  return pf_output_remove(&set->removed[set->nremoved++], path, error);
}


/* The files of a commit. */
typedef struct output_list {
  pf_output *files; /* owned */
  size_t count, capacity;
} output_list;


/* Moves an output into a list. */
static pf_status add_output (output_list *list, pf_output *output,
                             pf_error *error) {
  if (!pf_grow(&list->files, &list->capacity, list->count + 1))
    return pf_no_memory(error);
  list->files[list->count++] = *output;
  *output = (pf_output){.fd = -1};
  return PF_OK;
}


/* Adds a file that is to be removed, unless it is written too. */
static pf_status add_removed (output_list *list, pf_output *removed,
                              pf_error *error) {
  bool is_in_place;
  char *target = NULL;
  pf_error ignored; /* a link that leads nowhere */
  if (pf_output_resolve(removed->path, &target, &is_in_place, &ignored) ==
      PF_ENOMEM)
    return pf_no_memory(error);
  bool is_written = false;
  for (size_t i = 0; i < list->count && target != NULL; i++)
    is_written = is_written || (list->files[i].path != NULL &&
                                strcmp(list->files[i].path, target) == 0);
  free(target);
  if (!is_written)
    return add_output(list, removed, error);
  return PF_OK;
}


/* Adds the numbered files after those that are written: they would be read as
   parts of the new trace. Another process may have written them since this
   writer was made. */
static pf_status add_later (output_list *list, const l_set_file *output,
                            pf_error *error) {
  char path[OS_LONGEST_PATH];
  os_state about;
  pf_status status = PF_OK;
  uint64_t later = output->number + (output->sink.written > 0);
  while (status == PF_OK &&
         l_numbered_path(path, sizeof path, output->prefix, later++) &&
         os_state_of_entry(path, &about)) {
    pf_output removed;
    status = pf_output_remove(&removed, path, error);
    if (status == PF_OK)
      status = add_removed(list, &removed, error);
    pf_output_close(&removed);
  }
  return status;
}


/* Lists all files, the main one last, without empty side files. */
static pf_status list_files (l_file_set *set, output_list *list,
                             pf_error *error) {
  pf_status status = PF_OK;
  for (size_t i = set->count; i-- > 0 && status == PF_OK;) {
    l_set_file *const output = &set->files[i];
    for (size_t k = 0; k < output->ncomplete && status == PF_OK; k++)
      status = add_output(list, &output->complete[k], error);
    if (i > 0 && output->sink.written == 0)
      pf_output_close(&output->file);
    else if (i > 0 && status == PF_OK)
      status = add_output(list, &output->file, error);
    if (output->prefix != NULL && status == PF_OK)
      status = add_later(list, output, error);
  }
  for (size_t i = 0; i < set->nremoved && status == PF_OK; i++)
    status = add_removed(list, &set->removed[i], error);
  return status == PF_OK ? add_output(list, &set->files[0].file, error)
                         : status;
}


pf_status l_file_set_commit (l_file_set *set, pf_error *error) {
  const pf_output *const main = &set->files[0].file;
  output_list list = {0};
  int folder = -1;
  pf_status status = PF_OK;
  if (main->path != NULL && !main->is_in_place &&
      (set->count > 1 || set->nremoved > 0))
    status = pf_target_lock_folder(main->path, &folder, error);
  if (status == PF_OK)
    status = list_files(set, &list, error);
  if (status == PF_OK)
    status = pf_output_commit(list.files, list.count, error);
  for (size_t i = 0; i < list.count; i++)
    pf_output_close(&list.files[i]);
  free(list.files);
  if (folder >= 0)
    os_close(folder);
  return status;
}


void l_file_set_close (l_file_set *set) {
  for (size_t i = 0; i < set->count; i++) {
    l_set_file *const file = &set->files[i];
    pf_sink_close(&file->sink);
    pf_output_close(&file->file);
    for (size_t k = 0; k < file->ncomplete; k++)
      pf_output_close(&file->complete[k]);
    free(file->complete);
    free(file->prefix);
  }
  for (size_t i = 0; i < set->nremoved; i++)
    pf_output_close(&set->removed[i]);
  free(set->removed);
  *set = (l_file_set){0};
}
