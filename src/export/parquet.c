/* parquet.c: see parquet.h. Field numbers are those of parquet.thrift. */
#include "export/parquet.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "export/clean.h"
#include "export/packer.h"

/* Writes Thrift's compact protocol, as much of it as the footer of a Parquet file needs.
 *
 *     thrift_init(&t, &out);
 *     thrift_int(&t, 1, THRIFT_I32, 2);
 *     thrift_list(&t, 2, THRIFT_STRUCT, n);
 *     ... n times: thrift_begin(&t); fields; thrift_end(&t);
 *     thrift_end(&t);
 *
 * Fields are written in the order of their ids. A failed append shows in the buffer. */

enum thrift_type {
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_STRUCT = 12
};

enum { THRIFT_DEPTH = 8 };

struct thrift {
    struct buf *out;
    int last[THRIFT_DEPTH]; /* id of the last field, by depth */
    int depth;
};

/* Seven bits per byte, lowest first. */
static void thrift_varint(struct buf *out, uint64_t v)
{
    for (; v >= 128; v >>= 7) buf_addc(out, (char)(v | 128));
    buf_addc(out, (char)v);
}

static uint64_t thrift_zigzag(int64_t v)
{
    return ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0);
}

static void thrift_field(struct thrift *t, int id, enum thrift_type type)
{
    int delta = id - t->last[t->depth];
    assert(delta > 0 && delta < 16);
    buf_addc(t->out, (char)(delta << 4 | (int)type));
    t->last[t->depth] = id;
}

/* inside the outermost struct */
static void thrift_init(struct thrift *t, struct buf *out)
{
    *t = (struct thrift){.out = out};
}

/* Elements of a list. */
static void thrift_item_int(struct thrift *t, int64_t v)
{
    thrift_varint(t->out, thrift_zigzag(v));
}

static void thrift_int(struct thrift *t, int id, enum thrift_type type, int64_t v)
{
    thrift_field(t, id, type);
    thrift_item_int(t, v);
}

static void thrift_item_text(struct thrift *t, struct str s)
{
    thrift_varint(t->out, s.n);
    buf_add_str(t->out, s);
}

static void thrift_text(struct thrift *t, int id, struct str s)
{
    thrift_field(t, id, THRIFT_BINARY);
    thrift_item_text(t, s);
}

static void thrift_list(struct thrift *t, int id, enum thrift_type of, uint32_t n)
{
    thrift_field(t, id, THRIFT_LIST);
    if (n < 15) {
        buf_addc(t->out, (char)(n << 4 | (uint32_t)of));
        return;
    }
    buf_addc(t->out, (char)(0xf0 | (int)of));
    thrift_varint(t->out, n);
}

/* A struct as a field, or as an element of a list (id 0). */
static void thrift_begin(struct thrift *t, int id)
{
    if (id) thrift_field(t, id, THRIFT_STRUCT);
    t->depth++;
    assert(t->depth < THRIFT_DEPTH);
    t->last[t->depth] = 0;
}

static void thrift_end(struct thrift *t)
{
    buf_addc(t->out, 0);
    if (t->depth) t->depth--;
}

enum { TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTE_ARRAY = 6 };
enum { REQUIRED = 0, OPTIONAL = 1 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3 };
enum { CODEC_ZSTD = 6, CONVERTED_UTF8 = 0, PAGE_DATA = 0 };
enum { MOST_PAGE_BYTES = 1 << 30 };

/* Where a column lies in the file. */
struct chunk {
    uint64_t offset, packed_bytes, plain_bytes; /* page headers included */
};

static const int physical[] = {
    [PARQUET_INT] = TYPE_INT64, [PARQUET_NUM] = TYPE_DOUBLE, [PARQUET_TEXT] = TYPE_BYTE_ARRAY};

static void put_le(struct buf *b, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) buf_addc(b, (char)(v >> 8 * i));
}

int parquet_begin(struct parquet *p, const struct parquet_column *columns, uint32_t n,
                  struct err *e)
{
    *p = (struct parquet){.columns = columns, .n_columns = n};
    p->values = mem_zalloc(n, sizeof *p->values);
    return p->values ? 0 : err_nomem(e);
}

void parquet_done(struct parquet *p)
{
    for (uint32_t i = 0; p->values && i < p->n_columns; i++) {
        buf_done(&p->values[i].plain);
        buf_done(&p->values[i].levels);
    }
    mem_free(p->values);
    buf_done(&p->scratch);
}

/* ---- cells */

static void close_run(struct parquet_values *v)
{
    if (!v->run) return;
    thrift_varint(&v->levels, v->run << 1);
    buf_addc(&v->levels, v->there);
    v->run = 0;
}

/* The values of the next cell's column. */
static struct parquet_values *next_cell(struct parquet *p, bool there)
{
    struct parquet_values *v = &p->values[p->at];
    assert(there || p->columns[p->at].may_be_null);
    if (p->columns[p->at].may_be_null) {
        if (v->there != there) close_run(v);
        v->there = there;
        v->run++;
    }
    if (++p->at == p->n_columns) {
        p->at = 0;
        p->n_rows++;
    }
    return v;
}

void parquet_int(struct parquet *p, int64_t v)
{
    assert(p->columns[p->at].type == PARQUET_INT);
    put_le(&next_cell(p, true)->plain, (uint64_t)v, 8);
}

void parquet_num(struct parquet *p, double v)
{
    uint64_t bits;
    assert(p->columns[p->at].type == PARQUET_NUM);
    memcpy(&bits, &v, sizeof bits);
    if (isnan(v)) parquet_null(p);
    else put_le(&next_cell(p, true)->plain, bits, 8);
}

void parquet_text(struct parquet *p, struct str s)
{
    assert(p->columns[p->at].type == PARQUET_TEXT);
    struct parquet_values *v = next_cell(p, true);
    s = clean_utf8(s, &p->scratch);
    if (!buf_ok(&p->scratch)) v->plain.failed = true;
    put_le(&v->plain, s.n, 4);
    buf_add_str(&v->plain, s);
}

void parquet_null(struct parquet *p)
{
    next_cell(p, false);
}

void parquet_cstr(struct parquet *p, const char *s)
{
    if (s) parquet_text(p, str_c(s));
    else parquet_null(p);
}

void parquet_int_unless(struct parquet *p, int64_t v, int64_t none)
{
    if (v == none) parquet_null(p);
    else parquet_int(p, v);
}

/* ---- pages */

/* Levels and values of a column as they are packed. */
static int make_page(struct parquet *p, uint32_t column, struct buf *page, struct err *e)
{
    struct parquet_values *v = &p->values[column];
    close_run(v);
    if (p->columns[column].may_be_null) {
        put_le(page, v->levels.n, 4);
        buf_add(page, v->levels.p, v->levels.n);
    }
    buf_add(page, v->plain.p, v->plain.n);
    if (!buf_ok(&v->levels) || !buf_ok(&v->plain) || !buf_ok(page)) return err_nomem(e);
    if (page->n > MOST_PAGE_BYTES || p->n_rows > INT32_MAX)
        return FAIL(e, ERR_LIMIT, "column %s is too large for a Parquet page",
                    p->columns[column].name);
    return 0;
}

static int parquet_pack(const struct buf *page, struct buf *packed, struct err *e)
{
    void *state = packer_zstd.new();
    size_t bound = packer_zstd.bound(page->n);
    char *room = state ? buf_room(packed, bound) : NULL;
    if (room) packed->n += packer_zstd.pack(state, buf_str(page), room, bound);
    if (state) packer_zstd.free(state);
    return room && packed->n ? 0 : err_nomem(e);
}

static void make_page_header(const struct parquet *p, size_t plain, size_t packed, struct buf *out)
{
    struct thrift t;
    thrift_init(&t, out);
    thrift_int(&t, 1, THRIFT_I32, PAGE_DATA);
    thrift_int(&t, 2, THRIFT_I32, (int64_t)plain);
    thrift_int(&t, 3, THRIFT_I32, (int64_t)packed);
    thrift_begin(&t, 5);
    thrift_int(&t, 1, THRIFT_I32, (int64_t)p->n_rows);
    thrift_int(&t, 2, THRIFT_I32, ENCODING_PLAIN);
    thrift_int(&t, 3, THRIFT_I32, ENCODING_RLE);
    thrift_int(&t, 4, THRIFT_I32, ENCODING_RLE);
    thrift_end(&t);
    thrift_end(&t);
}

/* What a column passes through on its way into the file. */
struct stations {
    struct buf page, packed, head;
    struct file_out *file;
};

static int write_column(struct parquet *p, uint32_t column, struct stations *s, struct chunk *ret,
                        struct err *e)
{
    buf_reset(&s->page);
    buf_reset(&s->packed);
    buf_reset(&s->head);
    TRY(make_page(p, column, &s->page, e));
    TRY(parquet_pack(&s->page, &s->packed, e));
    make_page_header(p, s->page.n, s->packed.n, &s->head);
    if (!buf_ok(&s->head)) return err_nomem(e);
    ret->plain_bytes = s->head.n + s->page.n;
    ret->packed_bytes = s->head.n + s->packed.n;
    TRY(file_out_write(s->file, s->head.p, s->head.n, e));
    return file_out_write(s->file, s->packed.p, s->packed.n, e);
}

static int parquet_write_columns(struct parquet *p, struct chunk *chunks, struct file_out *f,
                                 struct err *e)
{
    struct stations s = {.file = f};
    uint64_t offset = 4; /* after the magic */
    int rc = 0;
    for (uint32_t i = 0; i < p->n_columns && rc == 0 && p->n_rows; i++) {
        chunks[i].offset = offset;
        rc = write_column(p, i, &s, &chunks[i], e);
        offset += chunks[i].packed_bytes;
    }
    buf_done(&s.page);
    buf_done(&s.packed);
    buf_done(&s.head);
    return rc;
}

/* ---- footer */

static void parquet_put_schema(const struct parquet *p, struct thrift *t)
{
    thrift_list(t, 2, THRIFT_STRUCT, p->n_columns + 1);
    thrift_begin(t, 0);
    thrift_text(t, 4, str_c("schema"));
    thrift_int(t, 5, THRIFT_I32, p->n_columns);
    thrift_end(t);
    for (uint32_t i = 0; i < p->n_columns; i++) {
        const struct parquet_column *c = &p->columns[i];
        thrift_begin(t, 0);
        thrift_int(t, 1, THRIFT_I32, physical[c->type]);
        thrift_int(t, 3, THRIFT_I32, c->may_be_null ? OPTIONAL : REQUIRED);
        thrift_text(t, 4, str_c(c->name));
        if (c->type == PARQUET_TEXT) thrift_int(t, 6, THRIFT_I32, CONVERTED_UTF8);
        thrift_end(t);
    }
}

static void put_chunk(const struct parquet *p, uint32_t column, const struct chunk *c,
                      struct thrift *t)
{
    thrift_begin(t, 0);
    thrift_int(t, 2, THRIFT_I64, (int64_t)c->offset);
    thrift_begin(t, 3);
    thrift_int(t, 1, THRIFT_I32, physical[p->columns[column].type]);
    thrift_list(t, 2, THRIFT_I32, 2);
    thrift_item_int(t, ENCODING_PLAIN);
    thrift_item_int(t, ENCODING_RLE);
    thrift_list(t, 3, THRIFT_BINARY, 1);
    thrift_item_text(t, str_c(p->columns[column].name));
    thrift_int(t, 4, THRIFT_I32, CODEC_ZSTD);
    thrift_int(t, 5, THRIFT_I64, (int64_t)p->n_rows);
    thrift_int(t, 6, THRIFT_I64, (int64_t)c->plain_bytes);
    thrift_int(t, 7, THRIFT_I64, (int64_t)c->packed_bytes);
    thrift_int(t, 9, THRIFT_I64, (int64_t)c->offset);
    thrift_end(t);
    thrift_end(t);
}

static void put_row_group(const struct parquet *p, const struct chunk *chunks, struct thrift *t)
{
    uint64_t plain = 0;
    thrift_list(t, 4, THRIFT_STRUCT, p->n_rows ? 1 : 0);
    if (!p->n_rows) return;
    thrift_begin(t, 0);
    thrift_list(t, 1, THRIFT_STRUCT, p->n_columns);
    for (uint32_t i = 0; i < p->n_columns; i++) {
        put_chunk(p, i, &chunks[i], t);
        plain += chunks[i].plain_bytes;
    }
    thrift_int(t, 2, THRIFT_I64, (int64_t)plain);
    thrift_int(t, 3, THRIFT_I64, (int64_t)p->n_rows);
    thrift_end(t);
}

static int write_footer(const struct parquet *p, const struct chunk *chunks, struct file_out *f,
                        struct err *e)
{
    struct buf out = {0};
    struct thrift t;
    thrift_init(&t, &out);
    thrift_int(&t, 1, THRIFT_I32, 1);
    parquet_put_schema(p, &t);
    thrift_int(&t, 3, THRIFT_I64, (int64_t)p->n_rows);
    put_row_group(p, chunks, &t);
    thrift_text(&t, 6, str_c("strata version " STRATA_VERSION ""));
    thrift_end(&t);
    put_le(&out, out.n, 4);
    buf_adds(&out, "PAR1");
    int rc = buf_ok(&out) ? file_out_write(f, out.p, out.n, e) : err_nomem(e);
    buf_done(&out);
    return rc;
}

static int write_all(struct parquet *p, struct chunk *chunks, struct file_out *f, struct err *e)
{
    TRY(file_out_write(f, "PAR1", 4, e));
    TRY(parquet_write_columns(p, chunks, f, e));
    return write_footer(p, chunks, f, e);
}

int parquet_write(struct parquet *p, const char *path, struct err *e)
{
    struct file_out f;
    assert(p->at == 0);
    struct chunk *chunks = mem_zalloc(p->n_columns, sizeof *chunks);
    if (!chunks) return err_nomem(e);
    int rc = file_out_begin(&f, path, e);
    if (rc == 0) {
        rc = write_all(p, chunks, &f, e);
        if (rc == 0) rc = file_out_commit(&f, e);
        else file_out_abort(&f);
    }
    mem_free(chunks);
    return rc;
}
