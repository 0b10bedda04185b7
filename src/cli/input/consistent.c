/* consistent.c: see input.h. */
#include "cli/input/input.h"

#ifndef NDEBUG

#include <stdio.h>
#include <stdlib.h>

static void end_with(uint32_t n, struct buf *what)
{
    if (n && buf_ok(what))
        fprintf(stderr, "strata: the analysis contradicts itself:\n%.*s", (int)what->n, what->p);
    buf_done(what);
    if (n) abort();
}

void consistent_assert(const struct context *cx)
{
    struct buf what;
    buf_init(&what);
    end_with(consistency_check(cx, &what), &what);
}

void consistent_assert_diff(const struct diff *d)
{
    struct buf what;
    buf_init(&what);
    end_with(consistency_check_diff(d, &what), &what);
}

#else

void consistent_assert(const struct context *cx)
{
    (void)cx;
}

void consistent_assert_diff(const struct diff *d)
{
    (void)d;
}

#endif
