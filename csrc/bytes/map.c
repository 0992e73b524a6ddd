/*
** map.c - mapped and copied files.
*/

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes/map.h"
#include "bytes/output.h"
#include "bytes/spool.h"
#include "os/os.h"

#define STANDARD_INPUT 0

struct pf_map {
  pf_bytes bytes;
  os_view view;    /* the mapping, whose `at` is NULL if there is none */
  uint8_t *memory; /* a copy of the bytes, owned; or NULL */
  pf_file_state file;
  int fd; /* of a growing file, else -1 */
};


/* Copies the bytes of a small file of `size` bytes. */
static pf_status copy_file (int fd, size_t size, pf_map *map, pf_error *error) {
  map->memory = malloc(size + 1);
  if (map->memory == NULL)
    return pf_no_memory(error);
  size_t used = 0;
  for (int64_t n = 1; n != 0 && used < size; used += (size_t)n) {
    n = os_read(fd, map->memory + used, size - used, used);
    if (n < 0)
      return pf_fail(error, PF_EIO, used, "read failed: %s", strerror(errno));
  }
  map->bytes = (pf_bytes){map->memory, used};
  return PF_OK;
}


/* Ends the opening of a map whose file could not be mapped. */
static pf_status fail_to_map (pf_map *map, pf_error *error) {
  const int errnum = errno;
  free(map);
  return errnum == ENOMEM ? pf_no_memory(error)
                          : pf_fail(error, PF_EIO, PF_NO_OFFSET,
                                    "cannot be mapped: %s", strerror(errnum));
}


/* Map or copy a plain file of `size` bytes; the descriptor may be closed after.
   */
static pf_status map_file (int fd, uint64_t size, pf_map **map,
                           pf_error *error) {
  if (size > SIZE_MAX)
    return pf_fail(error, PF_ELIMIT, PF_NO_OFFSET,
                   "too large for the addresses of this machine");
  pf_map *const m = calloc(1, sizeof *m);
  if (m == NULL)
    return pf_no_memory(error);
  m->fd = -1;
  if (os_prefers_copy(fd, size)) {
    const pf_status status = copy_file(fd, (size_t)size, m, error);
    if (status != PF_OK) {
      pf_map_close(m);
      return status;
    }
  }
  else {
    if (!os_view_open(&m->view, fd, size, false))
      return fail_to_map(m, error);
    m->bytes = (pf_bytes){m->view.at, (size_t)size};
  }
  *map = m;
  return PF_OK;
}


/* Map a copy; its memory, or the file without a name, then belongs to the
   map. */
static pf_status map_spooled (const pf_spooled *spooled, pf_map **map,
                              pf_error *error) {
  if (spooled->fd >= 0) {
    const pf_status status = map_file(spooled->fd, spooled->size, map, error);
    os_close(spooled->fd);
    return status;
  }
  pf_map *const m = calloc(1, sizeof *m);
  if (m == NULL) {
    free(spooled->memory);
    return pf_no_memory(error);
  }
  m->fd = -1;
  m->memory = spooled->memory;
  m->bytes = (pf_bytes){spooled->memory, (size_t)spooled->size};
  *map = m;
  return PF_OK;
}


bool pf_is_gzip (pf_bytes bytes) {
  return bytes.size >= 3 && bytes.at[0] == 0x1f && bytes.at[1] == 0x8b &&
         bytes.at[2] == 8;
}


pf_status pf_map_gzip (pf_bytes packed, uint64_t max_size, pf_map **map,
                       pf_error *error) {
  pf_spooled spooled;
  pf_error unmapped;
  *map = NULL;
  const pf_status status = pf_spool_gzip(packed, max_size, &spooled, error);
  if (status == PF_OK)
    return map_spooled(&spooled, map, error);
  if ((spooled.fd >= 0 || spooled.memory != NULL) &&
      map_spooled(&spooled, map, &unmapped) != PF_OK)
    *map = NULL;
  return status;
}


/* Maps or copies a plain file or a pipe, and unpacks gzip data. *found becomes
   the state of the file before its bytes are read, so that later changes are
   noticed. */
static pf_status map_descriptor (int fd, uint64_t max_size, os_state *found,
                                 pf_map **map, pf_error *error) {
  pf_status status;
  *map = NULL;
  if (!os_state_of_open(fd, found))
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, "%s", strerror(errno));
  if (found->kind == OS_FOLDER)
    return pf_fail(error, PF_EIO, PF_NO_OFFSET,
                   "is a directory; give a file of it");
  if (found->kind == OS_REGULAR)
    status = map_file(fd, found->size, map, error);
  else {
    pf_spooled spooled;
    status = pf_spool_pipe(fd, max_size, &spooled, error);
    if (status == PF_OK)
      status = map_spooled(&spooled, map, error);
  }
  if (*map != NULL && pf_is_gzip((*map)->bytes)) {
    pf_map *const packed = *map;
    status = pf_map_gzip(packed->bytes, max_size, map, error);
    if (pf_map_faulted(packed)) { /* zeros were unpacked instead */
      pf_map_close(*map);
      *map = NULL;
      status = pf_fail(error, PF_EIO, PF_NO_OFFSET, PF_MAP_LOST);
    }
    pf_map_close(packed);
  }
  return status;
}


pf_status pf_map_descriptor (int fd, uint64_t max_size, pf_map **map,
                             pf_error *error) {
  os_state found;
  return map_descriptor(fd, max_size, &found, map, error);
}


/* Names the former file where a command was killed while it replaced the one at
   the path. */
static pf_status fail_to_open (const char *path, int errnum, pf_error *error) {
  char *former = NULL;
  if (errnum == ENOENT)
    pf_output_former(path, &former);
  const pf_status status =
      former == NULL
          ? pf_fail(error, PF_EIO, PF_NO_OFFSET, "%s", strerror(errnum))
          : pf_fail(error, PF_EIO, PF_NO_OFFSET,
                    "%s: a command that replaced it was interrupted; the "
                    "former file is %s",
                    strerror(errnum), former);
  free(former);
  return status;
}


pf_status pf_map_open (const char *path, uint64_t max_size, pf_map **map,
                       pf_error *error) {
  *map = NULL;
  if (strcmp(path, "-") == 0)
    return pf_map_descriptor(STANDARD_INPUT, max_size, map, error);
  const int fd = os_open(path, OS_READ);
  if (fd < 0)
    return fail_to_open(path, errno, error);
  os_state found;
  const pf_status status = map_descriptor(fd, max_size, &found, map, error);
  if (status == PF_OK && *map != NULL && found.kind == OS_REGULAR)
    (*map)->file = (pf_file_state){.is_plain = true,
                                   .device = found.device,
                                   .inode = found.inode,
                                   .size = found.size,
                                   .seconds = found.seconds,
                                   .nanoseconds = found.nanoseconds};
  os_close(fd);
  return status;
}


pf_status pf_map_live_descriptor (int fd, pf_map **map, pf_error *error) {
  os_state found;
  if (!os_state_of_open(fd, &found))
    return pf_fail(error, PF_EIO, PF_NO_OFFSET, "%s", strerror(errno));
  if (found.kind != OS_REGULAR)
    return pf_refuse(error, "only a plain file can be followed");
  pf_map *const m = calloc(1, sizeof *m);
  if (m == NULL)
    return pf_no_memory(error);
  if (!os_view_open(&m->view, fd, found.size, true))
    return fail_to_map(m, error);
  m->bytes = (pf_bytes){m->view.at, (size_t)found.size};
  m->fd = fd;
  *map = m;
  return PF_OK;
}


pf_status pf_map_live (const char *path, pf_map **map, pf_error *error) {
  const int fd = os_open(path, OS_READ);
  if (fd < 0)
    return fail_to_open(path, errno, error);
  const pf_status status = pf_map_live_descriptor(fd, map, error);
  if (status != PF_OK)
    os_close(fd);
  return status;
}


bool pf_map_grow (pf_map *map) {
  os_state found;
  if (map->fd < 0 || !os_state_of_open(map->fd, &found))
    return false;
  const size_t known = map->bytes.size;
  if (found.size < known)
    os_view_set_faulted(&map->view);
  const size_t size =
      found.size < map->view.size ? (size_t)found.size : map->view.size;
  if (size >= known && !os_view_grow(&map->view, map->fd, known, size))
    return false;
  map->bytes.size = size;
  return size > known;
}


const pf_file_state *pf_map_file_state (const pf_map *map) {
  return &map->file;
}


pf_bytes pf_map_bytes (const pf_map *map) {
  return map->bytes;
}


size_t pf_map_memory (const pf_map *map) {
  return map->memory != NULL ? map->bytes.size : 0;
}


bool pf_map_faulted (const pf_map *map) {
  return os_view_has_faulted(&map->view);
}


void pf_map_close (pf_map *map) {
  if (map == NULL)
    return;
  os_view_close(&map->view);
  if (map->fd >= 0)
    os_close(map->fd);
  free(map->memory);
  free(map);
}
