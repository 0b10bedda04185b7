/* profiles.c: see profiles.h. */
#include "profiles/profiles.h"

#include <string.h>

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

static bool ends_in_one_of(struct str path, const char *extensions)
{
    while (*extensions) {
        size_t n = strcspn(extensions, " ");
        if (path.n > n && memcmp(path.p + path.n - n, extensions, n) == 0) return true;
        extensions += n + (extensions[n] == ' ');
    }
    return false;
}

const struct profile *profile_for_path(const char *path)
{
    for (int i = 0; profiles[i]; i++)
        if (ends_in_one_of(str_c(path), profiles[i]->extensions)) return profiles[i];
    return NULL;
}

void profile_frame(struct buf *out, const struct flame_frame *f)
{
    buf_add_str(out, f->name);
    if (f->file.n) buf_printf(out, " (" STR_FMT ":%d)", STR_ARG(f->file), f->line);
}

int profile_write(const struct profile *p, const struct flame *f, const char *title,
                  const char *path, struct err *e)
{
    struct sink s;
    TRY(sink_begin(&s, path, 1, e));
    int rc = p->put(f, title, &s.text, e);
    if (rc == 0) rc = sink_pump(&s, e);
    if (rc == 0) return sink_commit(&s, e);
    sink_abort(&s);
    return rc;
}
