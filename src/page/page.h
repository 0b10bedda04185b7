/* page.h: the HTML page: one file with everything in it, which opens without a network. */
#ifndef STRATA_PAGE_PAGE_H
#define STRATA_PAGE_PAGE_H

#include "page/page_set.h"

/* The viewer as built into the program; empty when it was built without one. */
extern const char page_viewer[];
extern const size_t page_viewer_bytes;

struct page {
    struct str viewer;        /* with a mark for the head and one for the columns */
    const char *kind;         /* "report", "diff", "offload", "dive", "flame", "ranks" */
    const char *title;        /* a path is cut to its last part */
    struct page_set *sets[2]; /* before, after */
    uint32_t n_sets;

    /* Documents, on one line; .p is NULL where there is none. */
    struct str diff, dive, flame, ranks;
    struct str flames; /* a list: other kinds of time than that of `flame` */
};

/* Writes the page whole or not at all; "-" is standard output. */
int page_write(const struct page *p, const char *file, struct err *e) MUST_USE;

/* Fails, and says what to do, when the program was built without a viewer. */
int page_check_viewer(struct err *e) MUST_USE;

#endif
