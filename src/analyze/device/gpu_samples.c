/* gpu_samples.c: see gpu_samples.h. The value is in the row's args, which are few enough to read.
 */
#include "analyze/device/gpu_samples.h"

#include <ctype.h>

#include "base/jdoc.h"

bool gpu_sample_name(struct str name, int32_t *ret_device, struct str *ret_title)
{
    if (!str_starts(name, "GPU ")) return false;
    size_t i = 4;
    int32_t device = 0;
    for (; i < name.n && isdigit((unsigned char)name.p[i]) && device < 1000; i++)
        device = device * 10 + (name.p[i] - '0');
    if (i == 4 || i + 1 >= name.n || name.p[i] != ' ') return false;
    *ret_device = device;
    *ret_title = str_from(name.p + i + 1, name.n - i - 1);
    return true;
}

int gpu_sample_value(const struct context *cx, row_t r, double *ret, struct err *e)
{
    struct buf args;
    struct jdoc doc;
    struct arena_mark mark = arena_mark(cx->mem);
    *ret = -1;
    buf_init(&args);
    int rc = trace_args(cx->t, r, &args, NULL);
    bool full = buf_ok(&args);
    if (rc == 0 && full) rc = jdoc_parse(buf_str(&args), cx->mem, &doc, NULL);
    if (rc == 0 && full) *ret = jdoc_number(&doc, "value", -1);
    buf_done(&args);
    arena_reset_to(cx->mem, mark);
    return rc == ERR_NOMEM || !full ? err_nomem(e) : 0;
}
