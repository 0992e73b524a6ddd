/*
** map.h - a file mapped for reading.
**
** A fault inside a mapping (the file shrank, the disk failed) is answered by
** a zero page and a mark on the map: look at pf_map_faulted after each batch.
** For that the process has one SIGBUS handler and one list of maps: with the
** recorder's timer the only mutable state of the process that profio keeps.
*/

#ifndef map_h
#define map_h

#include "profio.h"

typedef struct pf_map pf_map;

/*
** Map the file at `path`, or when it is no plain file (a pipe, standard
** input as "-") or holds gzip data, spool it first: at most max_size bytes
** (see PF_DEFAULT_MAX_SIZE in spool.h), else PF_ELIMIT. An empty file is an empty slice. A directory is PF_EIO.
** Of gzip data that end early or are damaged (PF_ETRUNCATED, PF_EFORMAT) the
** map has what could be unpacked; it is NULL after any other failure.
*/
pf_status pf_map_open (const char *path, uint64_t max_size, pf_map **map,
                       pf_error *error);

/*
** Map a plain file that others write on, as it is now; pf_map_grow looks how
** far it has come. The bytes stay where they are. PF_EUNSUPPORTED for a pipe.
*/
pf_status pf_map_live (const char *path, pf_map **map, pf_error *error);

/* Take what has been written since; whether there was something. A file that
   has become shorter has faulted. */
bool pf_map_grow (pf_map *map);

/* The bytes of gzip data in memory, unpacked: as pf_map_open would. */
pf_status pf_map_gzip (pf_bytes packed, uint64_t max_size, pf_map **map,
                       pf_error *error);

/* Whether the bytes begin as gzip data do. */
bool pf_is_gzip (pf_bytes bytes);

/* The mapped bytes, until pf_map_close. */
pf_bytes pf_map_bytes (const pf_map *map);

/* Whether bytes have been lost under the mapping since it was made. */
bool pf_map_faulted (const pf_map *map);

/* Unmap. NULL is fine. */
void pf_map_close (pf_map *map);

#endif
