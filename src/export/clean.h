/* clean.h: bytes out of a trace as text that every reader of UTF-8 accepts. */
#ifndef STRATA_EXPORT_CLEAN_H
#define STRATA_EXPORT_CLEAN_H

#include "base/buf.h"

/* `s` itself when it is UTF-8, else a copy in `scratch` with U+FFFD for every bad byte. */
struct str clean_utf8(struct str s, struct buf *scratch);

/* The same for formats that people look at in a terminal: U+FFFD also for control characters but
 * line ends and tabs, and for what turns text around. */
struct str clean_shown(struct str s, struct buf *scratch);

#endif
