/* notes.h: notes on collectives: what they carry, said by code that did not time them. Some are
 * made when the collective is handed over (CAT_COLLECTIVE): the range it belongs to begins then or
 * later, so of all with the same name the earliest that has no range yet is the one. Others are
 * made when its kernel has just been launched (CAT_LAUNCHED). */
#ifndef STRATA_ANALYZE_COMM_NOTES_H
#define STRATA_ANALYZE_COMM_NOTES_H

#include "analyze/context.h"

/* For each of `n` rows the note on it, or ROW_NONE; scratch from the context. */
int notes_find(struct context *cx, const row_t *rows, uint32_t n, row_t *ret) MUST_USE;

/* A note on a kernel. */
struct launch_note {
    row_t note;
    uint32_t kernel; /* index in the list that was given */
};

struct launch_notes {
    struct launch_note *list; /* in order of time; a kernel may have several */
    uint32_t n;
};

/* The notes on `n` kernels. */
int notes_of_kernels(struct context *cx, const row_t *kernels, uint32_t n,
                     struct launch_notes *ret) MUST_USE;

#endif
