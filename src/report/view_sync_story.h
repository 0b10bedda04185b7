/* view_sync_story.h: how we know what one sync site costs, moment by moment. */
#ifndef STRATA_REPORT_VIEW_SYNC_STORY_H
#define STRATA_REPORT_VIEW_SYNC_STORY_H

#include "base/jout.h"
#include "report/view_syncs.h"

/* What the user's line calls, else the operator, else the call itself. */
void view_sync_what(struct buf *out, const struct trace *t, const struct sync_site *s);

void view_sync_story_text(const struct screen *s, const struct view_syncs *v);

/* Keys of the story, inside an open object. */
void view_sync_story_json(struct jout *j, const struct view_syncs *v);

#endif
