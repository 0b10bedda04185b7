/* profiles.c: see profiles.h. */
#include "profiles/profiles.h"

#include <string.h>

#include "analyze/names/frame.h"
#include "export/sink.h"

extern const struct profile profile_folded, profile_speedscope, profile_pprof;

const struct profile *const profiles[] = {&profile_folded, &profile_speedscope, &profile_pprof,
                                          NULL};

const struct profile *profile_find(const char *name)
{
    for (int i = 0; profiles[i]; i++)
        if (strcmp(profiles[i]->name, name) == 0) return profiles[i];
    return NULL;
}

const struct profile *profile_for_path(const char *path)
{
    for (int i = 0; profiles[i]; i++)
        if (str_ends_in_one_of(str_c(path), profiles[i]->extensions)) return profiles[i];
    return NULL;
}

void profile_frame(struct buf *out, const struct flame_frame *f)
{
    buf_add_str(out, f->name);
    if (!f->file.n) return;
    buf_printf(out, " (" STR_FMT, STR_ARG(f->file));
    frame_print_line(out, f->line);
    buf_addc(out, ')');
}

int profile_write(const struct profile *p, const struct flame *f, const char *title,
                  const char *path, struct err *e)
{
    struct sink s;
    TRY(sink_begin(&s, f->t, path, 1, e));
    int rc = p->put(f, title, &s.text, e);
    if (rc == 0 || s.text.over) rc = sink_pump(&s, e);
    if (rc == 0) return sink_commit(&s, e);
    sink_abort(&s);
    return rc;
}
