/* profiles.h: time by stack in the formats of other tools: what flamegraph.pl and its kin,
 * speedscope and pprof read. One file per format, listed once in profiles.c. */
#ifndef STRATA_PROFILES_PROFILES_H
#define STRATA_PROFILES_PROFILES_H

#include "analyze/flame/flame.h"

struct profile {
    const char *name;       /* as in --to */
    const char *extensions; /* ".folded .folded.gz": how its files are called */
    const char *next;       /* what to do with the file, with %s for its name */

    /* Adds the whole file to `out`. `title` names the trace. */
    int (*put)(const struct flame *f, const char *title, struct buf *out, struct err *e);
};

extern const struct profile *const profiles[]; /* NULL-terminated */

const struct profile *profile_find(const char *name);     /* NULL when there is none */
const struct profile *profile_for_path(const char *path); /* by how it ends; NULL */

/* Writes the file whole or not at all; packed where its name says so. "-" is standard output. */
int profile_write(const struct profile *p, const struct flame *f, const char *title,
                  const char *path, struct err *e) MUST_USE;

/* A frame as one text: "forward (diffusers/models/attention.py:120)". */
void profile_frame(struct buf *out, const struct flame_frame *f);

#endif
