/* strings_out.h: the string table of a trace as it stands in a .strata file (struct intern_view).
 */
#ifndef STRATA_EXPORT_STRINGS_OUT_H
#define STRATA_EXPORT_STRINGS_OUT_H

#include "base/buf.h"
#include "export/export.h"

struct strings_out {
    uint64_t *offsets; /* n + 1 */
    uint32_t *order;   /* n */
    struct buf bytes;
    uint32_t n;
};

/* strings_out_done is due also after a failure. Ids stay what they are; a string that nothing in
 * the file refers to (a stripped secret) becomes empty. */
int strings_out_init(struct strings_out *s, const struct trace *t, const struct export_options *o,
                     struct err *e) MUST_USE;
void strings_out_done(struct strings_out *s);

#endif
