/* chrome.h: the inside of the Chrome JSON writer, for to_chrome.c, chrome_head.c and
 * chrome_labels.c only. */
#ifndef STRATA_EXPORT_CHROME_H
#define STRATA_EXPORT_CHROME_H

#include "export/export.h"
#include "export/sink.h"
#include "export/tracks.h"

struct chrome {
    const struct trace *t;
    const struct export_options *o;
    struct sink sink;
    struct arena mem;
    struct buf scratch;
    struct str *where;    /* by lane: "pid":7,"tid":7, */
    struct str *cats;     /* by category: "cat":"kernel", */
    uint8_t *quoting;     /* by string: enum quoting, filled as names are met */
    struct tracks tracks; /* for_perfetto only */
    row_t *order;
    bool any_event;
};

/* Where text goes. */
static inline struct buf *chrome_text(struct chrome *c)
{
    return &c->sink.text;
}

/* The comma between events. */
void chrome_begin_event(struct chrome *c);

/* "pid":7 */
void chrome_put_pid(struct chrome *c, struct buf *b, const struct process *p);

/* Everything before the events. */
int chrome_put_head(struct chrome *c, struct err *e) MUST_USE;

/* The devices as the value of "deviceProperties". */
void chrome_put_devices(const struct trace *t, struct buf *out);

/* The names and order of processes and threads, as metadata events. */
int chrome_put_labels(struct chrome *c, struct err *e) MUST_USE;

#endif
