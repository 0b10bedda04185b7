/* view_glossary.h: the glossary, for people and for programs. */
#ifndef STRATA_REPORT_VIEW_GLOSSARY_H
#define STRATA_REPORT_VIEW_GLOSSARY_H

#include "base/jout.h"
#include "base/text.h"

/* One term per line with its meaning, wrapped to `width` columns. */
void view_glossary_text(struct buf *out, bool color, int width);

/* An array of {"term", "also", "meaning"} under `key`. */
void view_glossary_json(struct jout *j, const char *key);

#endif
