/* fmt.h: numbers appended to text, fast: exporters write a hundred million of them. */
#ifndef STRATA_EXPORT_FMT_H
#define STRATA_EXPORT_FMT_H

#include <stdint.h>

#include "base/buf.h"

void fmt_u64(struct buf *b, uint64_t v);
void fmt_i64(struct buf *b, int64_t v);
void fmt_us(struct buf *b, int64_t ns); /* exact microseconds, three decimals */

/* A string literal. */
#define FMT_LIT(b, text) buf_add((b), (text), sizeof(text) - 1)

#endif
