/*
** function_frames.h - the functions of the frames of contexts: frames of a
** profile by line differ in their lines, and a function is known by name and
** file. Used by the exports in lua/profile.
*/

#ifndef function_frames_h
#define function_frames_h

#include "model/contexts/contexts.h"

/*
** Sets frames[area] for each area that is a frame of the contexts to the frame
** of its function, whose line is the smallest one of its frames; others keep
** what they are. Such frames are added to the dictionary. `count`: areas before
** that. Returns PF_OK or PF_ENOMEM, and in *has_lines whether any frame
** differs from that of its function.
*/
pf_status pf_function_frames (const pf_contexts *contexts, uint32_t *frames,
                              size_t count, bool *has_lines);

#endif
