/*
** dwarf.h - debug information in DWARF, versions 2 to 5 (DWARF Debugging
** Information Format): the sections of a file, its units, their entries, and
** the values of these. Used only by the files dwarf_*.c and line_table.c.
**
** Damage ends what it is found in: a unit, or all that follow. Parts may refer
** to others, and so may be read again and again; a budget of bytes, which no
** file of a compiler needs, bounds that.
*/

#ifndef dwarf_h
#define dwarf_h

#include "bytes/cursor.h"
#include "model/symbols/debug_info.h"

typedef enum dwarf_section {
  DWARF_INFO,
  DWARF_ABBREV,
  DWARF_LINE,
  DWARF_STR,
  DWARF_LINE_STR,
  DWARF_STR_OFFSETS,
  DWARF_ADDR,
  DWARF_RANGES,
  DWARF_RNGLISTS,
  DWARF_SECTIONS
} dwarf_section;

/* The names of the sections, without what a file format puts before them. */
extern const char *const DWARF_NAMES[DWARF_SECTIONS];

enum { /* attributes, and tags of entries */
  DW_AT_name = 0x03,
  DW_AT_stmt_list = 0x10,
  DW_AT_low_pc = 0x11,
  DW_AT_high_pc = 0x12,
  DW_AT_language = 0x13,
  DW_AT_comp_dir = 0x1b,
  DW_AT_abstract_origin = 0x31,
  DW_AT_specification = 0x47,
  DW_AT_ranges = 0x55,
  DW_AT_linkage_name = 0x6e,
  DW_AT_str_offsets_base = 0x72,
  DW_AT_addr_base = 0x73,
  DW_AT_rnglists_base = 0x74,
  DW_AT_MIPS_linkage_name = 0x2007,
  DW_TAG_inlined_subroutine = 0x1d,
  DW_TAG_subprogram = 0x2e
};

enum { /* forms of values */
  DW_FORM_addr = 0x01,
  DW_FORM_block2 = 0x03,
  DW_FORM_block4 = 0x04,
  DW_FORM_data2 = 0x05,
  DW_FORM_data4 = 0x06,
  DW_FORM_data8 = 0x07,
  DW_FORM_string = 0x08,
  DW_FORM_block = 0x09,
  DW_FORM_block1 = 0x0a,
  DW_FORM_data1 = 0x0b,
  DW_FORM_flag = 0x0c,
  DW_FORM_sdata = 0x0d,
  DW_FORM_strp = 0x0e,
  DW_FORM_udata = 0x0f,
  DW_FORM_ref_addr = 0x10,
  DW_FORM_ref1 = 0x11,
  DW_FORM_ref2 = 0x12,
  DW_FORM_ref4 = 0x13,
  DW_FORM_ref8 = 0x14,
  DW_FORM_ref_udata = 0x15,
  DW_FORM_indirect = 0x16,
  DW_FORM_sec_offset = 0x17,
  DW_FORM_exprloc = 0x18,
  DW_FORM_flag_present = 0x19,
  DW_FORM_strx = 0x1a,
  DW_FORM_addrx = 0x1b,
  DW_FORM_ref_sup4 = 0x1c,
  DW_FORM_strp_sup = 0x1d,
  DW_FORM_data16 = 0x1e,
  DW_FORM_line_strp = 0x1f,
  DW_FORM_ref_sig8 = 0x20,
  DW_FORM_implicit_const = 0x21,
  DW_FORM_loclistx = 0x22,
  DW_FORM_rnglistx = 0x23,
  DW_FORM_ref_sup8 = 0x24,
  DW_FORM_strx1 = 0x25,
  DW_FORM_strx2 = 0x26,
  DW_FORM_strx3 = 0x27,
  DW_FORM_strx4 = 0x28,
  DW_FORM_addrx1 = 0x29,
  DW_FORM_addrx2 = 0x2a,
  DW_FORM_addrx3 = 0x2b,
  DW_FORM_addrx4 = 0x2c,
  DW_FORM_GNU_addr_index = 0x1f01,
  DW_FORM_GNU_str_index = 0x1f02,
  DW_FORM_GNU_ref_alt = 0x1f20,
  DW_FORM_GNU_strp_alt = 0x1f21
};

/* How wide addresses and offsets are. */
typedef struct dwarf_widths {
  unsigned version, address, offset;
} dwarf_widths;

/* A value as it is stored. */
typedef struct dwarf_value {
  uint64_t form;   /* 0: there is none */
  uint64_t number; /* also an offset, or an index */
  const char *text;
} dwarf_value;

/* The values of an entry that profio reads. */
typedef struct dwarf_entry {
  uint64_t tag; /* 0: the end of a list of entries */
  dwarf_value name, linkage_name, low, high, ranges, origin, specification;
  dwarf_value lines, folder, language;
  dwarf_value str_offsets, addresses, rnglists; /* bases */
} dwarf_entry;

/* An abbreviation: what entries of one kind have. */
typedef struct dwarf_kind {
  uint64_t code, tag;
  size_t at; /* of its attributes in DWARF_ABBREV */
} dwarf_kind;

typedef struct dwarf_unit {
  uint64_t start, first, end; /* offsets in DWARF_INFO; of the first entry */
  dwarf_widths widths;
  uint64_t table;       /* of abbreviations: its offset */
  size_t kinds, nkinds; /* the same in dwarf.kinds */
  uint64_t low;         /* the base of its ranges */
  uint64_t str_offsets, addresses, rnglists;
  dwarf_entry entry; /* the first one */
} dwarf_unit;

typedef struct dwarf {
  bool is_big;
  uint64_t budget; /* bytes that may still be read again */
  pf_bytes sections[DWARF_SECTIONS];
  uint8_t *unpacked[DWARF_SECTIONS]; /* owned; NULL: it lies in the file */
  dwarf_unit *units;                 /* owned, in order of their offsets */
  dwarf_kind *kinds;                 /* owned */
  size_t nunits, units_capacity, nkinds, kinds_capacity;
} dwarf;

/* dwarf_sections.c: find the sections of a file, which is borrowed until
   dwarf_close, and read its units. A file without debug information has none.
   PF_ENOMEM; close it after a failure, too. */
pf_status dwarf_open (dwarf *d, pf_bytes file);
void dwarf_close (dwarf *d);

/* dwarf_values.c: take bytes from the budget; false: it does not have them. */
bool dwarf_spend (dwarf *d, uint64_t size);

/* Take a value of a form. False: it is damaged, or the form is unknown. */
bool dwarf_take (pf_cursor *at, dwarf_widths widths, uint64_t form,
                 dwarf_value *value);

/* Take the size of a unit or table, and how wide its offsets are. False: the
   section is shorter. */
bool dwarf_take_size (pf_cursor *at, unsigned *offset, uint64_t *size);

/* Take a signed number of 7 bits in each byte. */
bool dwarf_take_signed (pf_cursor *at, int64_t *value);

/* Take a text up to its zero. NULL: it has none. */
const char *dwarf_take_text (pf_cursor *at);

/* Return the text of a value; NULL: it has none. `unit` may be NULL, if the
   value has no index of a unit. */
const char *dwarf_text (const dwarf *d, const dwarf_unit *unit,
                        const dwarf_value *value);

/* Set *address to that of a value; false: it has none. */
bool dwarf_address (const dwarf *d, const dwarf_unit *unit,
                    const dwarf_value *value, uint64_t *address);

/* Call a function for each range of addresses of an entry, until it fails. */
typedef pf_status (*dwarf_range_function)(void *to, uint64_t start,
                                          uint64_t end);
pf_status dwarf_ranges (dwarf *d, const dwarf_unit *unit,
                        const dwarf_entry *entry, dwarf_range_function use,
                        void *to);

/* dwarf_units.c: read all units. PF_ENOMEM. */
pf_status dwarf_read_units (dwarf *d);

/* Take the entry at the cursor, which is over DWARF_INFO. */
bool dwarf_take_entry (dwarf *d, const dwarf_unit *unit, pf_cursor *at,
                       dwarf_entry *entry);

/* Return a cursor over DWARF_INFO at an offset inside a unit. */
pf_cursor dwarf_cursor (const dwarf *d, const dwarf_unit *unit, uint64_t at);

/* Read the entry that a value refers to, and its unit. */
bool dwarf_follow (dwarf *d, const dwarf_unit *unit, const dwarf_value *value,
                   const dwarf_unit **target, dwarf_entry *entry);

/* dwarf_functions.c: set *ranges to the functions of the addresses, in order of
   address, which the caller frees. PF_ENOMEM, PF_ELIMIT. */
pf_status dwarf_functions (dwarf *d, pf_dictionary *dictionary,
                           const pf_executable *facts,
                           pf_function_range **ranges, size_t *count);

#endif
