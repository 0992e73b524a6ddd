/*
** map.h - the bytes of a file: mapped for reading, or a copy in memory of a
** small file, a pipe or unpacked data. Used by lua/source.c.
**
** Later changes of the file do not reach a copy. If an access to a mapping
** faults (the file shrank, the disk failed), a SIGBUS handler maps a page of
** zeros there and marks the map: lua/checked_reader.c checks this after each
** batch. The handler and its list of maps are state of the process, as are the
** recorder's timer and signal handler; profio has no other.
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
** Map the file at `path`; "-" is standard input, which is mapped from its first
** byte if it is a regular file. Pipes and gzip data are copied first (spool.h),
** at most max_size bytes (or PF_DEFAULT_MAX_SIZE), else PF_ELIMIT. PF_EIO, also
** for a directory; PF_ENOMEM. If gzip data end early or are damaged
** (PF_ETRUNCATED, PF_EFORMAT), the map has the bytes before that, if there are
** any; it is NULL after other failures.
*/
pf_status pf_map_open (const char *path, uint64_t max_size, pf_map **map,
                       pf_error *error);

/* As pf_map_open, for a file that is open, without its pf_file_state; the
   descriptor may be closed after. */
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

/* Set the bytes to the present size of a live file; true: there are new bytes.
   If the file has shrunk, the map is marked as faulted. */
bool pf_map_grow (pf_map *map);

/* Unpack gzip data in memory and map the result, with the limit and the
   failures of pf_map_open. */
pf_status pf_map_gzip (pf_bytes packed, uint64_t max_size, pf_map **map,
                       pf_error *error);

/* Whether the bytes begin as gzip data do. */
bool pf_is_gzip (pf_bytes bytes);

/* The state of a regular file: two states are equal if the file was neither
   changed nor replaced between them. */
typedef struct pf_file_state {
  bool is_plain; /* false, with zeros: the map has no such state */
  uint64_t device, inode, size;
  int64_t seconds, nanoseconds; /* of the last change of its bytes */
} pf_file_state;

/* The state of the regular file that pf_map_open has mapped, copied or unpacked
   completely. */
const pf_file_state *pf_map_file_state (const pf_map *map);

/* The mapped bytes, until pf_map_close. */
pf_bytes pf_map_bytes (const pf_map *map);

/* The bytes of memory that the map holds: those of a copy; 0: a mapping. */
size_t pf_map_memory (const pf_map *map);

/* The message for a mapping of which an access has faulted. */
#define PF_MAP_LOST "the file shrank or failed while it was read"

/* Whether an access to the mapping has faulted. */
bool pf_map_faulted (const pf_map *map);

/* Unmap. NULL is fine. */
void pf_map_close (pf_map *map);

#endif
