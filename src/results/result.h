/* result.h: what an analysis found, declared once. A result is a list of rows (or a single object)
 * with a const table of fields; text, JSON, Markdown, Parquet, SQLite, the JSON Schema, the tables
 * in docs/format and the columns of the page are renderings of that table.
 *
 *     struct result  "stages": its fields            const, one per list
 *     struct field   key, heading, kind, meaning     where the value is in a row, or its function
 *     struct rows    a result of one trace           borrowed from the passes, nothing is copied
 *     struct value   one field of one row            known, not known, or not to be trusted
 *
 * A field that holds a result itself (FIELD_LIST, FIELD_OBJECT) makes a document: `strata stages
 * --json` is one object with a list of stages inside. */
#ifndef STRATA_RESULTS_RESULT_H
#define STRATA_RESULTS_RESULT_H

#include <stddef.h>

#include "analyze/context.h"
#include "analyze/names/frame.h"
#include "base/buf.h"

enum field_kind {
    FIELD_TEXT,     /* struct str or const char * */
    FIELD_WORD,     /* a text of a fixed set, with underscores for blanks */
    FIELD_FLAG,     /* bool */
    FIELD_INT,      /* a number that counts nothing: an index, a device */
    FIELD_COUNT,    /* an unsigned amount */
    FIELD_BYTES,    /* int64_t or unsigned */
    FIELD_NS,       /* a length of time, int64_t; microseconds in JSON: the key ends in _us */
    FIELD_MEAN_NS,  /* the same as a double */
    FIELD_MS,       /* int64_t nanoseconds; milliseconds in JSON: the key ends in _ms */
    FIELD_AT,       /* a moment; JSON counts from the first event, Parquet from 1970 */
    FIELD_PCT,      /* double */
    FIELD_NUM,      /* double */
    FIELD_PLACE,    /* a struct frame from `get`: file, line and function of the user's code */
    FIELD_LIST,     /* of rows of `inner` */
    FIELD_OBJECT,   /* one row of `inner`, or null where there is none */
    FIELD_ID,       /* a number or a text, from `get` as JSON */
    FIELD_JSON,     /* a text that is a JSON array already, from `get` */
    FIELD_TEXTS,    /* a list of texts, written by `put` */
    FIELD_MAP,      /* an object whose keys are names and values numbers, written by `put` */
    FIELD_TEXT_MAP, /* the same with texts */
};

/* When there is no value. Doubles that are not finite and texts without a pointer are never one. */
enum field_null { NULL_NEVER, NULL_NEGATIVE, NULL_ZERO, NULL_SOMETIMES };

/* What must be trusted (analyze/quality/integrity.h) for the value to mean something. */
enum field_trust { TRUST_ALWAYS, TRUST_IDLE };

/* Whether the page has a column of it. */
enum field_page { PAGE_NOT, PAGE_COLUMN, PAGE_BAR /* with a bar behind the number */ };

struct jout;
struct rows;

struct value {
    bool known;
    bool doubted; /* there is one, but it cannot be trusted */
    union {
        int64_t i; /* of flags, numbers, counts, bytes and times */
        double num;
        struct str text;
        struct frame place;
    };
};

typedef struct value value_fn(const struct rows *r, uint32_t i);
typedef struct rows rows_fn(const struct rows *outer, uint32_t i);
typedef void put_fn(struct jout *j, const struct rows *r, uint32_t i);

/* The texts of a field are one literal, so that a table of them stays small:
 *
 *     "cpu_us\0" "CPU\0" "how long its calls took"
 *      key        heading  meaning */
struct field {
    const char *key;    /* in JSON; "": the rows are bare values */
    const char *term;   /* of the glossary, where it is not the heading */
    const char *column; /* in Parquet and SQLite, where it is not the key (with _ns for _us) */
    union {
        value_fn *get; /* else the member at `offset` */
        rows_fn *rows; /* of `inner`, else the member at `offset` */
        put_fn *put;
    };
    const struct result *inner;
    unsigned short offset;
    unsigned char size;     /* of the member there */
    unsigned char kind;     /* enum field_kind */
    unsigned char null;     /* enum field_null */
    unsigned char trust;    /* enum field_trust */
    unsigned char decimals; /* in JSON, of kinds that are doubles */
    unsigned char page;     /* enum field_page */
    bool sparse : 1;        /* JSON leaves the key out where there is no value */
    bool json_only : 1;     /* no column: nested, or the same figure under an older key */
};

/* Of a column on screen and page; "": not shown as one. */
const char *field_heading(const struct field *f);
const char *field_means(const struct field *f); /* in the documentation; "": said elsewhere */

struct result {
    const char *name; /* "stages" */
    const char *of;   /* what a row is, in words */
    const struct field *fields;
    uint32_t n_fields;
    size_t row_bytes;
    bool by_pointer;                               /* rows are a list of pointers */
    bool (*has)(const struct rows *r, uint32_t i); /* false: row `i` is left out of lists */
    const char *const *keys; /* NULL-terminated: only these of the fields; NULL: all */
};

struct rows {
    const struct result *of;
    const struct context *cx;
    const void *list;
    uint32_t n;
    const void *with; /* what getters need besides the row */
    struct buf *text; /* for a text that a getter makes; it lasts until the next one */
};

/* clang-format off */
#define FIELD_TEXTS_OF(key_, heading_, means_) .key = key_ "\0" heading_ "\0" means_
#define FIELD(kind_, key_, heading_, type, member, means_, ...) \
    {FIELD_TEXTS_OF(key_, heading_, means_), .kind = FIELD_##kind_, \
     .offset = offsetof(type, member), .size = sizeof(((type *)0)->member), __VA_ARGS__}
#define FIELD_GET(kind_, key_, heading_, get_, means_, ...) \
    {FIELD_TEXTS_OF(key_, heading_, means_), .kind = FIELD_##kind_, .get = (get_), __VA_ARGS__}
#define FIELD_IN(kind_, key_, heading_, inner_, rows_, means_, ...) \
    {FIELD_TEXTS_OF(key_, heading_, means_), .kind = FIELD_##kind_, .json_only = true, \
     .inner = (inner_), .rows = (rows_), __VA_ARGS__}
#define FIELD_SUB(key_, inner_, type, member, means_, ...) \
    {FIELD_TEXTS_OF(key_, "", means_), .kind = FIELD_OBJECT, .json_only = true, \
     .inner = (inner_), .offset = offsetof(type, member), __VA_ARGS__}
#define FIELD_PUT(kind_, key_, heading_, put_, means_, ...) \
    {FIELD_TEXTS_OF(key_, heading_, means_), .kind = FIELD_##kind_, .json_only = true, .put = (put_), __VA_ARGS__}
#define FIELD_BARE(kind_, type, ...) \
    {FIELD_TEXTS_OF("", "", ""), .kind = FIELD_##kind_, .size = sizeof(type), __VA_ARGS__}
#define RESULT_IF(name_, of_, list_, type, has_) \
    {.name = (name_), .of = (of_), .fields = (list_), .n_fields = sizeof(list_) / sizeof *(list_), \
     .row_bytes = sizeof(type), .has = (has_)}
#define RESULT_KEYS(name_, of_, result_, keys_, type) \
    {.name = (name_), .of = (of_), .fields = result_, .n_fields = sizeof(result_) / sizeof *(result_), \
     .row_bytes = sizeof(type), .keys = (keys_)}
#define RESULT(name_, of_, list_, type) \
    {.name = (name_), .of = (of_), .fields = (list_), .n_fields = sizeof(list_) / sizeof *(list_), \
     .row_bytes = sizeof(type)}
/* clang-format on */

const void *rows_at(const struct rows *r, uint32_t i);
struct value rows_value(const struct rows *r, uint32_t i, const struct field *f);

/* Numbers that a division makes, places, and values that are not always known or trusted. */
bool field_may_be_null(const struct field *f);

/* Field `i` of a row, in the order of JSON; NULL after the last. */
const struct field *result_nth(const struct result *of, uint32_t i);

/* The field with this key, or NULL. */
const struct field *result_field(const struct result *of, const char *key);

/* A getter, or the rows of an inner list, that is one expression of the rows `r` and index `i`. */
#define VALUE_OF(name, expr)                                   \
    static struct value name(const struct rows *r, uint32_t i) \
    {                                                          \
        (void)r, (void)i;                                      \
        return expr;                                           \
    }
#define ROWS_OF(name, ...)                                    \
    static struct rows name(const struct rows *r, uint32_t i) \
    {                                                         \
        (void)r, (void)i;                                     \
        return (struct rows){__VA_ARGS__};                    \
    }

/* For getters. */
struct value value_int(int64_t v);
struct value value_num(double v);
struct value value_text(struct str s); /* not known where s.p is NULL */
struct value value_cstr(const char *s);
struct value value_place(struct frame f);                         /* not known without a file */
struct value value_row_place(const struct trace *t, row_t frame); /* of a Python frame */
struct value value_name(const struct trace *t, row_t r);          /* of any row, or none */
struct value value_none(void);

#endif
