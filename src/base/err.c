/* err.c: filling in a struct err. The first message wins: it is the one closest to the cause. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

void err_init(struct err *e)
{
    if (!e) return;
    e->code = 0;
    e->offset = ERR_NO_OFFSET;
    e->file[0] = '\0';
    e->msg[0] = '\0';
}

void err_set(struct err *e, int code, const char *fmt, ...)
{
    if (!e || e->code) return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    e->code = code;
}

int err_grow(struct err *e, int rc)
{
    if (rc >= 0) return 0;
    if (rc == ERR_NOMEM) return err_nomem(e);
    return FAIL(e, rc, "the input is too large: a limit of Strata was reached");
}

void err_at(struct err *e, const char *file, int64_t offset)
{
    if (!e) return;
    if (!e->file[0] && file) snprintf(e->file, sizeof e->file, "%s", file);
    if (e->offset == ERR_NO_OFFSET) e->offset = offset;
}
