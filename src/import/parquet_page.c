/* parquet_page.c: the pages of a column: unpacked, then levels (which rows are NULL), then values.
 *
 *     v1  [levels, each with its length][values]       packed together
 *     v2  [levels][values]                             only the values are packed
 */
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "import/parquet_file.h"
#include "import/snappy.h"
#include "import/thrift_in.h"

enum { MOST_PAGE = 1 << 28, MOST_ROWS = 1 << 22 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2, PAGE_DATA_V2 = 3 };
enum { PLAIN = 0, PLAIN_DICTIONARY = 2, RLE = 3, RLE_DICTIONARY = 8 };
enum { NOT_PACKED = 0, SNAPPY = 1, GZIP = 2, ZSTD = 6 };

struct page {
    int64_t type, plain_bytes, packed_bytes, n_values, encoding, def_bytes, rep_bytes;
    bool packed; /* of v2 */
};

/* A column being read. */
struct reading {
    const struct parquet_column *column;
    const struct parquet_chunk *chunk;
    struct arena *mem;
    struct parquet_value *dictionary, *values;
    int64_t n_dictionary, n, n_rows; /* n of n_rows are there */
};

static void read_data_header(struct thrift_in *t, struct page *h)
{
    struct thrift_field f = {0};
    while (thrift_in_next(t, &f)) {
        if (f.id == 1) h->n_values = thrift_in_int(t, &f);
        else if (f.id == 2) h->encoding = thrift_in_int(t, &f);
        else thrift_in_skip(t, &f);
    }
}

static void read_data_header_v2(struct thrift_in *t, struct page *h)
{
    struct thrift_field f = {0};
    while (thrift_in_next(t, &f)) {
        switch (f.id) {
        case 1: h->n_values = thrift_in_int(t, &f); break;
        case 4: h->encoding = thrift_in_int(t, &f); break;
        case 5: h->def_bytes = thrift_in_int(t, &f); break;
        case 6: h->rep_bytes = thrift_in_int(t, &f); break;
        case 7: h->packed = thrift_in_int(t, &f) != 0; break;
        default: thrift_in_skip(t, &f); break;
        }
    }
}

static bool read_header(struct thrift_in *t, struct page *h)
{
    struct thrift_field f = {0};
    *h = (struct page){.type = -1, .packed = true};
    while (thrift_in_next(t, &f)) {
        switch (f.id) {
        case 1: h->type = thrift_in_int(t, &f); break;
        case 2: h->plain_bytes = thrift_in_int(t, &f); break;
        case 3: h->packed_bytes = thrift_in_int(t, &f); break;
        case 5:
        case 7: read_data_header(t, h); break;
        case 8: read_data_header_v2(t, h); break;
        default: thrift_in_skip(t, &f); break;
        }
    }
    return !t->bad && h->plain_bytes >= 0 && h->plain_bytes <= MOST_PAGE && h->packed_bytes >= 0 &&
           h->n_values >= 0;
}

static bool unpack_gzip(struct str packed, char *to, size_t n)
{
    z_stream z = {0};
    if (inflateInit2(&z, 15 + 32) != Z_OK) return false;
    z.next_in = (unsigned char *)(uintptr_t)packed.p;
    z.avail_in = (unsigned)packed.n;
    z.next_out = (unsigned char *)to;
    z.avail_out = (unsigned)n;
    bool ok = inflate(&z, Z_FINISH) == Z_STREAM_END && z.avail_out == 0;
    inflateEnd(&z);
    return ok;
}

static bool unpack(int64_t codec, struct str packed, char *to, size_t n)
{
    switch (codec) {
    case SNAPPY: return snappy_unpack(packed, to, n);
    case GZIP: return unpack_gzip(packed, to, n);
    case ZSTD: return ZSTD_decompress(to, n, packed.p, packed.n) == n;
    default: return false;
    }
}

/* The plain bytes of a page, of which the first `skip` are not packed. .p is NULL on failure. */
static struct str plain_bytes(struct reading *r, const struct page *h, struct str packed,
                              size_t skip)
{
    size_t n = (size_t)h->plain_bytes;
    if (r->chunk->codec == NOT_PACKED || !h->packed) return packed;
    char *to = arena_alloc(r->mem, n + 1);
    if (!to || skip > packed.n || skip > n) return (struct str){NULL, 0};
    memcpy(to, packed.p, skip);
    struct str rest = str_from(packed.p + skip, packed.n - skip);
    if (n > skip && !unpack(r->chunk->codec, rest, to + skip, n - skip))
        return (struct str){NULL, 0};
    return str_from(to, n);
}

/* Numbers of `width` bits in runs: repeated, or packed eight at a time. */
struct runs {
    const unsigned char *p, *end;
    int width;
    uint64_t left, bits; /* of the run at hand */
    bool repeats;
    uint32_t value;
    int n_bits;
};

static bool next_run(struct runs *s)
{
    uint64_t head = 0;
    int shift = 0;
    do {
        if (s->p >= s->end || shift > 56) return false;
        head |= (uint64_t)(*s->p & 0x7f) << shift;
        shift += 7;
    } while (*s->p++ & 0x80);
    s->repeats = !(head & 1);
    s->left = s->repeats ? head >> 1 : (head >> 1) * 8;
    s->bits = 0;
    s->n_bits = 0;
    s->value = 0;
    int n = (s->width + 7) / 8;
    if (s->repeats && s->end - s->p < n) return false;
    for (int i = 0; s->repeats && i < n; i++) s->value |= (uint32_t)*s->p++ << 8 * i;
    return true;
}

static bool next_number(struct runs *s, uint32_t *ret)
{
    while (s->left == 0)
        if (!next_run(s)) return false;
    s->left--;
    *ret = s->value;
    if (s->repeats) return true;
    while (s->n_bits < s->width) {
        if (s->p >= s->end) return false;
        s->bits |= (uint64_t)*s->p++ << s->n_bits;
        s->n_bits += 8;
    }
    *ret = (uint32_t)(s->bits & ((1ull << s->width) - 1));
    s->bits >>= s->width;
    s->n_bits -= s->width;
    return true;
}

/* The next plain value; false where the bytes end. */
static bool plain_value(const struct reading *r, struct str *bytes, int64_t i,
                        struct parquet_value *v)
{
    size_t n = r->column->type == PARQUET_INT64 || r->column->type == PARQUET_DOUBLE ? 8 : 4;
    int32_t small;
    float real;
    if (r->column->type == PARQUET_BOOL) {
        if ((size_t)i / 8 >= bytes->n) return false;
        *v = (struct parquet_value){.kind = PARQUET_IS_INT, .number = bytes->p[i / 8] >> i % 8 & 1};
        return true;
    }
    if (bytes->n < n) return false;
    const char *p = bytes->p;
    *bytes = str_from(p + n, bytes->n - n);
    *v = (struct parquet_value){.kind = PARQUET_IS_INT};
    memcpy(&small, p, sizeof small);
    switch (r->column->type) {
    case PARQUET_INT32: v->number = small; return true;
    case PARQUET_INT64: memcpy(&v->number, p, 8); return true;
    case PARQUET_FLOAT:
        memcpy(&real, p, sizeof real);
        v->kind = PARQUET_IS_REAL;
        v->real = (double)real;
        return true;
    case PARQUET_DOUBLE:
        v->kind = PARQUET_IS_REAL;
        memcpy(&v->real, p, 8);
        return true;
    case PARQUET_TEXT:
        if (small < 0 || (size_t)small > bytes->n) return false;
        v->kind = PARQUET_IS_TEXT;
        v->text = str_from(bytes->p, (size_t)small);
        *bytes = str_from(bytes->p + small, bytes->n - (size_t)small);
        return true;
    default: return false;
    }
}

static bool add_dictionary(struct reading *r, const struct page *h, struct str bytes)
{
    if (h->n_values > MOST_ROWS || (uint64_t)h->n_values > bytes.n * 8) return false;
    r->dictionary = arena_zalloc(r->mem, (size_t)h->n_values + 1, sizeof *r->dictionary);
    if (!r->dictionary) return false;
    for (r->n_dictionary = 0; r->n_dictionary < h->n_values; r->n_dictionary++)
        if (!plain_value(r, &bytes, r->n_dictionary, &r->dictionary[r->n_dictionary])) return false;
    return true;
}

/* Where the values of a data page come from. */
struct source {
    bool by_dictionary;
    struct runs indices;
    struct str bytes;
    int64_t n; /* plain values so far */
};

static bool begin_values(struct source *s, int64_t encoding, struct str bytes)
{
    *s = (struct source){.bytes = bytes};
    if (encoding == PLAIN) return true;
    s->by_dictionary = encoding == PLAIN_DICTIONARY || encoding == RLE_DICTIONARY;
    if (!s->by_dictionary) return false;
    if (bytes.n == 0) return true; /* all NULL */
    int width = (unsigned char)*bytes.p;
    const unsigned char *p = (const unsigned char *)bytes.p;
    s->indices = (struct runs){.p = p + 1, .end = p + bytes.n, .width = width};
    return width <= 32;
}

static bool next_value(const struct reading *r, struct source *s, struct parquet_value *v)
{
    uint32_t i;
    if (!s->by_dictionary) return plain_value(r, &s->bytes, s->n++, v);
    if (!next_number(&s->indices, &i) || i >= r->n_dictionary) return false;
    *v = r->dictionary[i];
    return true;
}

/* Splits the definition levels off; they say which rows have a value. */
static bool split_levels(const struct reading *r, const struct page *h, struct str *bytes,
                         struct runs *levels)
{
    uint32_t n = 0;
    *levels = (struct runs){.width = 1};
    if (h->type == PAGE_DATA_V2) {
        if (h->rep_bytes != 0 || h->def_bytes < 0 || (uint64_t)h->def_bytes > bytes->n)
            return false;
        n = (uint32_t)h->def_bytes;
    } else if (r->column->optional) {
        if (bytes->n < 4) return false;
        memcpy(&n, bytes->p, 4);
        *bytes = str_from(bytes->p + 4, bytes->n - 4);
        if (n > bytes->n) return false;
    }
    levels->p = (const unsigned char *)bytes->p;
    levels->end = levels->p + n;
    *bytes = str_from(bytes->p + n, bytes->n - n);
    return true;
}

static bool add_data(struct reading *r, const struct page *h, struct str bytes)
{
    struct runs levels;
    struct source s;
    if (h->n_values > r->n_rows - r->n || !split_levels(r, h, &bytes, &levels) ||
        !begin_values(&s, h->encoding, bytes))
        return false;
    for (int64_t i = 0; i < h->n_values; i++) {
        uint32_t there = 1;
        struct parquet_value *v = &r->values[r->n];
        if (r->column->optional && !next_number(&levels, &there)) return false;
        if (there && !next_value(r, &s, v)) return false;
        r->n++;
    }
    return true;
}

static bool add_page(struct reading *r, const struct page *h, struct str packed)
{
    bool v2 = h->type == PAGE_DATA_V2;
    if (h->type != PAGE_DATA && h->type != PAGE_DICTIONARY && !v2) return true; /* an index */
    if (v2 && (h->def_bytes < 0 || h->def_bytes > INT32_MAX)) return false;
    struct str plain = plain_bytes(r, h, packed, v2 ? (size_t)h->def_bytes : 0);
    if (!plain.p) return false;
    return h->type == PAGE_DICTIONARY ? add_dictionary(r, h, plain) : add_data(r, h, plain);
}

int parquet_read(const struct parquet_file *p, uint32_t group, uint32_t column, struct arena *mem,
                 struct parquet_value **ret, struct err *e)
{
    const struct parquet_chunk *c = &p->groups[group].chunks[column];
    struct reading r = {&p->columns[column], c, mem, .n_rows = p->groups[group].n_rows};
    if (r.n_rows < 0 || r.n_rows > MOST_ROWS)
        return FAIL(e, ERR_LIMIT, "a Parquet row group of more than %d rows", (int)MOST_ROWS);
    r.values = arena_zalloc(mem, (size_t)r.n_rows + 1, sizeof *r.values);
    if (!r.values) return err_nomem(e);
    *ret = r.values;
    if (r.column->type == PARQUET_OTHER) return 0;
    int64_t begin = c->dictionary_offset > 0 && c->dictionary_offset < c->data_offset
                        ? c->dictionary_offset
                        : c->data_offset;
    if (begin < 4 || c->packed_bytes < 0 || (uint64_t)begin > p->bytes.n ||
        (uint64_t)c->packed_bytes > p->bytes.n - (uint64_t)begin)
        return FAIL(e, ERR_FORMAT, "a Parquet column beyond the end of its file");
    struct thrift_in t = {p->bytes.p + begin, p->bytes.p + begin + c->packed_bytes, false};
    struct page h;
    while (r.n < r.n_rows && t.p < t.end) {
        if (!read_header(&t, &h) || h.packed_bytes > t.end - t.p) break;
        struct str packed = str_from(t.p, (size_t)h.packed_bytes);
        t.p += h.packed_bytes;
        if (!add_page(&r, &h, packed)) break;
    }
    if (r.n == r.n_rows) return 0;
    return FAIL(e, ERR_FORMAT,
                "column " STR_FMT " of a Parquet file is damaged or in an encoding "
                "that is not read",
                STR_ARG(r.column->name));
}
