/* tail.c: see tail.h. */
#include "record/tail.h"

#include <string.h>

#define WINDOW ((size_t)64 << 10)

int tail_write(struct tail *t, const void *p, size_t n, uint64_t at, struct err *e)
{
    for (size_t done = 0; done < n;) {
        uint64_t window_at = (at + done) / WINDOW * WINDOW;
        if (!t->window || t->window_at != window_at) {
            void *next;
            TRY(spool_map(t->file, window_at, WINDOW, &next, e));
            spool_unmap(t->window, WINDOW);
            t->window = next;
            t->window_at = window_at;
        }
        size_t into = (size_t)(at + done - window_at);
        size_t piece = n - done < WINDOW - into ? n - done : WINDOW - into;
        memcpy(t->window + into, (const char *)p + done, piece);
        done += piece;
    }
    return 0;
}

void tail_done(struct tail *t)
{
    spool_unmap(t->window, WINDOW);
    *t = (struct tail){0};
}
