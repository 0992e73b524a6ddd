/*
** code_pages.h - tables of single-byte code pages whose first half is ASCII.
** Used by charset.c.
*/

#ifndef code_pages_h
#define code_pages_h

/* A code page. */
typedef struct pf_code_page {
  const char *name; /* its name in iconv */
  unsigned first; /* 0x80, or 0xA0: the bytes before it are C1, as in Unicode */
  const char *characters; /* UTF-8 of the bytes from `first` on; U+FFFD: none */
} pf_code_page;

/* All of them; the last one has no name. */
extern const pf_code_page pf_code_pages[];

#endif
