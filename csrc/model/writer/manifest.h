/*
** manifest.h - the writer manifest: the format, the file roles and the options
** of a writer as bytes. It is kept in the settings of the ring, so that
** recovery after a crash writes the remaining records in the same form. Used by
** model/writer/writer.c (write) and lua/writer/recover.c (read).
**
**   name of the format, NUL
**   role of each file beside the main one, NUL each; then NUL
**   for each option, in order of name: name, NUL; 'i' and 8 bytes, or 't', 2
**   bytes n and n bytes (numbers are little-endian)
*/

#ifndef manifest_h
#define manifest_h

#include "bytes/ring/ring.h"
#include "bytes/sink.h"
#include "model/rows/trace.h"

#define PF_MANIFEST_OPTIONS 32 /* most options */
#define PF_MANIFEST_ROLES   (PF_RING_FILES - 1)

/* All texts are borrowed; those of a manifest that was read lie in its
   bytes. */
typedef struct pf_manifest {
  const char *format;
  const char *roles[PF_MANIFEST_ROLES];
  size_t nroles;
  const pf_option *options;
  size_t noptions;
  pf_option
      read[PF_MANIFEST_OPTIONS]; /* `options` of a manifest that was read */
} pf_manifest;

/* Write a manifest into `size` bytes. Returns the bytes used; 0: it does not
   fit, there are too many options, or one is given twice. Equal manifests have
   equal bytes, whatever the order of the options. */
size_t pf_manifest_write (uint8_t *to, size_t size,
                          const pf_manifest *manifest);

/* Read a manifest. False: the bytes are damaged. */
bool pf_manifest_read (pf_bytes bytes, pf_manifest *manifest);

#endif
