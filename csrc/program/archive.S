/* archive.S - the archive of modules and resources (embedded.c). ARCHIVE is its
   path. */
#ifdef _WIN32
    .section .rdata,"dr"
#else
    .section .rodata
#endif
    .globl program_archive
    .balign 8
program_archive:
    .incbin ARCHIVE
    .globl program_archive_end
program_archive_end:
    .byte 0
#ifdef __ELF__
    .section .note.GNU-stack,"",%progbits
#endif
