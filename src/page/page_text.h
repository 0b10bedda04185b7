/* page_text.h: putting data inside an HTML file so that it stays data. */
#ifndef STRATA_PAGE_PAGE_TEXT_H
#define STRATA_PAGE_PAGE_TEXT_H

#include "base/buf.h"

/* Appends JSON without the blanks between its values. */
void page_text_compact(struct str json, struct buf *out);

/* Appends JSON for the inside of a script element: `<` can only stand in strings, and is written
 * as \u003c there, so that nothing ends the element. */
void page_text_escape(struct str json, struct buf *out);

/* Appends base64 with padding, without line breaks. Pieces of 3 n bytes can be joined. */
void page_text_base64(struct str bytes, struct buf *out);

#endif
