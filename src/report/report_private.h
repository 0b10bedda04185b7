/* report_private.h: the functions of this folder that only this folder calls. */
#ifndef STRATA_REPORT_REPORT_PRIVATE_H
#define STRATA_REPORT_REPORT_PRIVATE_H

#include "base/err.h"

struct buf;
struct trace;
struct sync_site;
struct screen;
struct view_syncs;
struct jout;

/* view_sync_story.c: the evidence for what one sync site costs, moment by moment. */

/* What the user's line calls, else the operator, else the call itself. */
void view_sync_what(struct buf *out, const struct trace *t, const struct sync_site *s);

void view_sync_story_text(const struct screen *s, const struct view_syncs *v);

/* Keys of the story, inside an open object. */
void view_sync_story_json(struct jout *j, const struct view_syncs *v);

#endif
