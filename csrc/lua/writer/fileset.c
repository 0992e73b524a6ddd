/*
** fileset.c - the output files of one writer.
*/

#include "lua/writer/fileset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/base/memory.h"

#define MAX_OPEN 64 /* maximum open descriptors of complete files */


/* Adds the current numbered file, which is full, to the complete ones. Only
   MAX_OPEN of them keep their descriptor. */
static pf_status keep_file (l_output *output, pf_error *error) {
  if (!pf_grow(&output->complete, &output->capacity, output->ncomplete + 1))
    return pf_no_memory(error);
  const pf_status status = output->ncomplete < MAX_OPEN
                               ? PF_OK
                               : pf_output_close_fd(&output->file, error);
  if (status != PF_OK)
    return status;
  output->complete[output->ncomplete++] = output->file;
  output->file = (pf_output){.fd = -1};
  return PF_OK;
}


/* Opens the numbered file with this number. */
static pf_status open_numbered (l_output *output, uint64_t number,
                                pf_error *error) {
  const size_t size = strlen(output->prefix) + 24;
  char *const path = malloc(size);
  if (path == NULL)
    return pf_no_memory(error);
  snprintf(path, size, "%s.%06llu", output->prefix, (unsigned long long)number);
  const pf_status status = pf_output_open(&output->file, path, error);
  free(path);
  output->number = number;
  output->sink.fd = output->file.fd;
  output->sink.path = output->file.path;
  return status;
}


/* Called by the sink when a numbered file is full: opens the next one. */
static pf_status open_next_file (pf_sink *sink, pf_error *error) {
  l_output *const output = (l_output *)(void *)sink;
  pf_status status = pf_sink_flush(sink, error);
  if (status == PF_OK)
    status = keep_file(output, error);
  if (status == PF_OK)
    status = open_numbered(output, output->number + 1, error);
  sink->before += sink->written;
  sink->written = 0;
  return status;
}


pf_status l_fileset_add (l_fileset *set, const char *path, pf_error *error) {
  l_output *const output = &set->outputs[set->count++];
  const bool is_file = path != NULL && strcmp(path, "-") != 0;
  *output = (l_output){.sink = {.fd = -1}, .file = {.fd = -1}};
  pf_status status = PF_OK;
  if (is_file)
    status = pf_output_open(&output->file, path, error);
  const int fd = path != NULL && !is_file ? STDOUT_FILENO : output->file.fd;
  if (status == PF_OK && pf_sink_open(&output->sink, fd) != PF_OK)
    status = pf_no_memory(error);
  if (set->count > 1) {
    output->sink.path = output->file.path;
    set->outputs[set->count - 2].sink.side = &output->sink;
  }
  return status;
}


pf_status l_fileset_number (l_output *output, const char *path) {
  const char *const dot = strrchr(path, '.');
  if (dot == NULL)
    return PF_OK;
  output->prefix = strndup(path, (size_t)(dot - path));
  output->number = 1;
  output->sink.cut = open_next_file;
  return output->prefix == NULL ? PF_ENOMEM : PF_OK;
}


pf_status l_fileset_commit (l_fileset *set, pf_error *error) {
  size_t n = set->count;
  for (size_t i = 0; i < set->count; i++)
    n += set->outputs[i].ncomplete;
  pf_output *const files = malloc(n * sizeof *files);
  if (files == NULL)
    return pf_no_memory(error);
  /* All files in one list, the main one last, without empty side files. */
  n = 0;
  for (size_t i = set->count; i-- > 0;) {
    l_output *const output = &set->outputs[i];
    for (size_t b = 0; b < output->ncomplete; b++)
      files[n++] = output->complete[b];
    output->ncomplete = 0;
    if (i > 0 && output->sink.written == 0)
      pf_output_close(&output->file);
    files[n++] = output->file;
    output->file = (pf_output){.fd = -1};
  }
  const pf_status status = pf_output_commit(files, n, error);
  for (size_t i = 0; i < n; i++)
    pf_output_close(&files[i]);
  free(files);
  return status;
}


static void drop_output (l_output *output) {
  pf_sink_close(&output->sink);
  pf_output_close(&output->file);
  for (size_t i = 0; i < output->ncomplete; i++)
    pf_output_close(&output->complete[i]);
  free(output->complete);
  free(output->prefix);
  *output = (l_output){.sink = {.fd = -1}, .file = {.fd = -1}};
}


void l_fileset_close (l_fileset *set) {
  for (size_t i = 0; i < set->count; i++)
    drop_output(&set->outputs[i]);
  set->count = 0;
}
