/* export_private.h: what the formats share. */
#ifndef STRATA_EXPORT_EXPORT_PRIVATE_H
#define STRATA_EXPORT_EXPORT_PRIVATE_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/file.h"
#include "export/export.h"
#include "trace/trace.h"

/* strip.c: what goes into a file that will be shown to others. */

/* Whether `m` goes into the file: all do, unless it is to be stripped. Then unknown keys do not:
 * whole environments with access tokens have been seen there. */
bool strip_keeps(const struct trace *t, const struct meta *m, const struct export_options *o);

/* By string id: whether something that goes into the file refers to it, so that the texts of what
 * is left out are left out too. The caller's to mem_free; NULL when out of memory. */
bool *strip_strings(const struct trace *t, const struct export_options *o);

/* chrome_args.c: the args of an event, for formats that want JSON. */

/* Appends the row's args as a valid JSON object: as written where the source has some and can still
 * be read (repaired if need be), else made from the row's side table with the keys Kineto uses.
 * `scratch` is memory to work in. *ret_any says whether there are any; nothing is appended
 * otherwise. */
int chrome_args_add(const struct trace *t, row_t r, struct buf *scratch, struct buf *out,
                    bool *ret_any, struct err *e) MUST_USE;

/* order.c: rows in the order their events stood in the input. Args are read fastest this way, and
 * a file written this way looks like the one that was read. */

/* All rows by trace->src. The array is the caller's to mem_free; NULL when out of memory. */
row_t *order_by_src(const struct trace *t);

/* json_repair.c: raw text out of a damaged trace as the nearest valid JSON. */

/* Appends `s` as one valid JSON value: broken strings escaped, bare words quoted, commas put
 * right, what is open at the end closed. Sound parts keep their bytes, but for blanks. What follows
 * the value is dropped; what nests deeper than JSON_VALID_DEPTH becomes null. */
void json_repair(struct str s, struct buf *out);

/* fmt.c: numbers appended to text, fast: exporters write a hundred million of them. */

void fmt_u64(struct buf *b, uint64_t v);
void fmt_i64(struct buf *b, int64_t v);
void fmt_us(struct buf *b, int64_t ns); /* exact microseconds, three decimals */

/* A string literal. */
#define FMT_LIT(b, text) buf_add((b), (text), sizeof(text) - 1)

/* sqlite_tables.c: the tables of a SQLite export: how each is made and filled. */

struct sqlite_fill {
    const struct trace *t;
    const struct export_options *o;
    sqlite3_stmt *insert;
    struct buf scratch, args;
    bool *strings; /* which of them go into the file */
    struct err *e; /* set when a fill fails */
};

struct sqlite_table {
    const char *create;
    const char *insert;
    uint64_t (*count)(const struct sqlite_fill *f); /* how often to call `bind` */

    /* Binds the i-th entry; 1 to insert it, 0 to leave it out, or an error code. */
    int (*bind)(struct sqlite_fill *f, uint64_t i);
};

extern const struct sqlite_table sqlite_tables[];
extern const int sqlite_n_tables;

extern const char sqlite_tables_indexes[]; /* indexes and views, made after the tables are full */

#endif
