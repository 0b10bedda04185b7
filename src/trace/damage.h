/* damage.h: what was wrong with the input, counted by reason, with the places of the first few.
 * Damaged traces are normal: readers keep what is valid and report the rest here, once. */
#ifndef STRATA_TRACE_DAMAGE_H
#define STRATA_TRACE_DAMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum damage_reason {
    DAMAGE_TRUNCATED,    /* the file ends inside an event or before its closing bracket */
    DAMAGE_BAD_EVENT,    /* an event that cannot be read even leniently: skipped */
    DAMAGE_BAD_STRING,   /* unescaped quote or backslash inside a string: repaired */
    DAMAGE_CONTROL_CHAR, /* control character inside a string: kept */
    DAMAGE_BARE_WORD,    /* N/A, inf, nan where a value belongs: value ignored */
    DAMAGE_TRAILING_COMMA,
    DAMAGE_BAD_NUMBER,        /* a time or id that is not a number or does not fit */
    DAMAGE_NO_TIME,           /* a span without ts or dur */
    DAMAGE_ZERO_TIME,         /* device work at time zero: the recorder had no time stamp */
    DAMAGE_NEGATIVE_DURATION, /* clamped to zero */
    DAMAGE_DUPLICATE_KEY,     /* the first value is used */
    DAMAGE_UNMATCHED_END,     /* an E without a B, or a B never ended */
    DAMAGE_EXTRA_DATA,        /* bytes after the end of the JSON value */
    DAMAGE_BAD_UTF8,          /* a name that is not UTF-8: kept byte for byte */
    DAMAGE_LOST_RECORDS,      /* the recorder says that it could not keep them */
    DAMAGE_REASONS
};

#define DAMAGE_PLACES 64 /* places kept per reason */

struct damage {
    uint64_t count[DAMAGE_REASONS];
    uint64_t place[DAMAGE_REASONS][DAMAGE_PLACES]; /* byte offsets, in file order */
};

const char *damage_name(enum damage_reason r); /* "truncated" ...: stable, for JSON */
const char *damage_text(enum damage_reason r); /* for people, plural */

void damage_note(struct damage *d, enum damage_reason r, uint64_t offset);
void damage_merge(struct damage *into, const struct damage *from); /* `from` is later in the file */
uint64_t damage_total(const struct damage *d);

/* Whether the reason means that something written in the file is missing from the trace. */
bool damage_loses(enum damage_reason r);

#endif
