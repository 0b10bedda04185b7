/* json_scan.h: reading JSON in place, forward only, without building anything.
 *
 * A cursor over text that may be damaged. One pass reads strictly; when that fails, the caller
 * goes back to the start of the event and reads again in the next, more forgiving mode. Values
 * are handed out as ranges of the text; nothing is copied until it is interned.
 *
 * The text must be readable for SCAN_PADDING bytes past `end`. */
#ifndef STRATA_IMPORT_JSON_JSON_SCAN_H
#define STRATA_IMPORT_JSON_JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/intern.h"
#include "trace/damage.h"

enum { SCAN_PADDING = 64, SCAN_MOST_DEPTH = 512, SCAN_MOST_STRING = 1 << 24 };

enum scan_mode {
    SCAN_STRICT,
    SCAN_QUOTES, /* a quote ends a string only where , : } ] follows: unescaped quotes */
    SCAN_RAW,    /* the same, and a backslash is just a character: unescaped backslashes */
    SCAN_MODES
};

enum scan_result {
    SCAN_OK = 0,
    SCAN_BAD = -1, /* not JSON in this mode */
    SCAN_CUT = -2  /* the text ended first */
};

struct scan_note {
    enum damage_reason reason;
    uint64_t offset;
};

struct scan {
    const char *p;    /* the cursor */
    const char *end;  /* of the text */
    const char *text; /* its start: offsets count from here */
    enum scan_mode mode;
    int depth;
    int n_notes; /* damage seen since scan_begin; kept apart until the caller accepts it */
    struct scan_note notes[32];
};

/* A string as written, without its quotes. */
struct scan_text {
    const char *p;
    uint32_t n;
    bool escaped;   /* contains backslashes */
    bool non_ascii; /* contains bytes above 127 */
};

enum scan_type { SCAN_STRING, SCAN_NUMBER, SCAN_NESTED, SCAN_WORD, SCAN_NOTHING };

static inline bool scan_is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline void scan_blanks(struct scan *s)
{
    while (s->p < s->end && scan_is_blank(*s->p)) s->p++;
}

/* Forgets the notes and starts over at `p` in `mode`. */
void scan_begin(struct scan *s, const char *p, enum scan_mode mode);
void scan_note(struct scan *s, enum damage_reason reason, const char *at);
void scan_accept(const struct scan *s, struct damage *d);

/* What kind of value stands at the cursor, which is moved past blanks. */
enum scan_type scan_peek(struct scan *s);

/* The string at the cursor, which stands on its opening quote and ends after the closing one. */
enum scan_result scan_string(struct scan *s, bool is_key, struct scan_text *ret);

/* Any value, passed over. */
enum scan_result scan_skip(struct scan *s);

/* An integer, also one written as a string (of hex digits, too) or with a fraction; *ret_have is
 * false for anything else. Values from 2^63 to 2^64-1 wrap around. */
enum scan_result scan_int(struct scan *s, int64_t *ret, bool *ret_have);

/* A number of microseconds as nanoseconds, exactly; halves of a nanosecond are rounded up. */
enum scan_result scan_micros(struct scan *s, int64_t *ret_ns, bool *ret_have);

/* A number for which a double will do. */
enum scan_result scan_double(struct scan *s, double *ret, bool *ret_have);

/* digits * 10^exponent. */
double scan_to_double(uint64_t digits, int exponent);

/* The cursor moves over `c`, after blanks. */
enum scan_result scan_expect(struct scan *s, char c);

/* After an element: SCAN_OK and *ret_more = true after a comma, false after `close`. A comma right
 * before `close` is noted and ignored. */
enum scan_result scan_next(struct scan *s, char close, bool *ret_more);

/* The text with its escapes decoded, interned. STR_NONE when out of memory. */
str_id scan_intern(struct scan *s, struct scan_text text, struct intern *strings,
                   struct buf *scratch);

/* json_walk.c: going over the members of a JSON value where it stands, for documents that are not
 * lists of events. Values are ranges of the text. */

struct walk {
    struct scan scan;
    char close; /* '}' or ']'; 0 where there is nothing to go over */
    bool first;
};

/* Over the members of an object or the items of a list; over nothing where it is neither. */
struct walk walk_open(struct str value);

/* The next one; false after the last, and where the text is damaged. `key` is empty for items. */
bool walk_next(struct walk *w, struct str *ret_key, struct str *ret_value);

/* The value of one member, empty when there is none. */
struct str walk_find(struct str object, const char *key);

/* The value as an integer, or `otherwise`. */
int64_t walk_int(struct str value, int64_t otherwise);

/* A string without its quotes, escapes as they are; empty where it is not a string. */
struct str walk_text(struct str value);

#endif
