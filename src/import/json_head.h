/* json_head.h: the keys beside the events. */
#ifndef STRATA_IMPORT_JSON_HEAD_H
#define STRATA_IMPORT_JSON_HEAD_H

#include "import/json_scan.h"
#include "trace/build.h"

/* Adds a top-level key with its value, which is sound JSON. 0 or ERR_NOMEM. */
int head_add(struct builder *b, struct str key, struct str value) MUST_USE;

#endif
