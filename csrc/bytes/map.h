/*
** map.h - a file that is mapped for reading. Used by lua/source.c.
**
** Of a small file the map has a copy, which later changes do not reach.
**
** If an access to a mapping faults (the file shrank, the disk failed), a SIGBUS
** handler maps a page of zeros there and marks the map: the reader checks
** pf_map_faulted after each batch. The handler and its list of maps are state
** of the process, as is the recorder's timer; profio has no other.
**
** The source userdata (lua/source.c) owns the map and closes it. Parsers and
** readers borrow its bytes until then, so values of PF_BYTES point into the
** mapping.
*/

#ifndef map_h
#define map_h

#include "profio.h"

typedef struct pf_map pf_map;

/*
** Map the file at `path`. A pipe, standard input ("-") and gzip data are
** spooled to a temporary file first, of at most max_size bytes
** (PF_DEFAULT_MAX_SIZE, see spool.h), else PF_ELIMIT. PF_EIO, also for a
** directory; PF_ENOMEM. If gzip data end early or are damaged (PF_ETRUNCATED,
** PF_EFORMAT), the map has the bytes before that; it is NULL after other
** failures.
*/
pf_status pf_map_open (const char *path, uint64_t max_size, pf_map **map,
                       pf_error *error);

/* As pf_map_open, for a file that is open; the descriptor may be closed
   after. */
pf_status pf_map_descriptor (int fd, uint64_t max_size, pf_map **map,
                             pf_error *error);

/*
** Map a regular file that is still being written; pf_map_grow extends the
** bytes, whose address stays the same. PF_EUNSUPPORTED for a pipe, PF_EIO,
** PF_ENOMEM.
*/
pf_status pf_map_live (const char *path, pf_map **map, pf_error *error);

/* As pf_map_live, for a file that is open; the map owns the descriptor, unless
   this fails. */
pf_status pf_map_live_descriptor (int fd, pf_map **map, pf_error *error);

/* Extend the bytes to the present size of the file; true: there are new bytes.
   A file that has shrunk is marked as faulted. */
bool pf_map_grow (pf_map *map);

/* Map the unpacked bytes of gzip data in memory, as pf_map_open does. */
pf_status pf_map_gzip (pf_bytes packed, uint64_t max_size, pf_map **map,
                       pf_error *error);

/* Whether the bytes begin as gzip data do. */
bool pf_is_gzip (pf_bytes bytes);

/* A state of a plain file: equal for two looks between which nobody changed or
   replaced the file. */
typedef struct pf_file_state {
  bool is_plain; /* false, with zeros, for pipes and data */
  uint64_t device, inode, size;
  int64_t seconds, nanoseconds; /* of the last change of its bytes */
} pf_file_state;

/* The state of the file that pf_map_open has mapped or unpacked. */
const pf_file_state *pf_map_file_state (const pf_map *map);

/* The mapped bytes, until pf_map_close. */
pf_bytes pf_map_bytes (const pf_map *map);

/* Whether an access to the mapping has faulted. */
bool pf_map_faulted (const pf_map *map);

/* Unmap. NULL is fine. */
void pf_map_close (pf_map *map);

#endif
