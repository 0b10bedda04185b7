/* parquet_file.c: the description at the end of a Parquet file, in Thrift's compact protocol. */
#include "import/parquet_file.h"

#include "import/thrift_in.h"

enum { MOST_COLUMNS = 1024, MOST_GROUPS = 1 << 20 };

static enum parquet_type type_of(int64_t v)
{
    bool known = v == PARQUET_BOOL || v == PARQUET_INT32 || v == PARQUET_INT64 ||
                 v == PARQUET_FLOAT || v == PARQUET_DOUBLE || v == PARQUET_TEXT;
    return known ? (enum parquet_type)v : PARQUET_OTHER;
}

/* SchemaElement; *ret_children says whether it holds others. */
static void read_element(struct thrift_in *t, struct parquet_column *c, int64_t *ret_children)
{
    enum { TYPE = 1, REPETITION = 3, NAME = 4, CHILDREN = 5 };
    enum { REQUIRED = 0, OPTIONAL = 1 };
    struct thrift_field f = {0};
    *c = (struct parquet_column){.type = PARQUET_OTHER};
    *ret_children = 0;
    while (thrift_in_next(t, &f)) {
        if (f.id == TYPE) c->type = type_of(thrift_in_int(t, &f));
        else if (f.id == NAME) c->name = thrift_in_text(t, &f);
        else if (f.id == CHILDREN) *ret_children = thrift_in_int(t, &f);
        else if (f.id == REPETITION) {
            int64_t how = thrift_in_int(t, &f);
            c->optional = how == OPTIONAL;
            if (how != REQUIRED && how != OPTIONAL) c->type = PARQUET_OTHER;
        } else thrift_in_skip(t, &f);
    }
}

/* A root and its columns: what nests deeper is not for us. */
static int read_schema(struct thrift_in *t, const struct thrift_field *f, struct arena *mem,
                       struct parquet_file *p)
{
    int64_t n = thrift_in_list(t, f), children;
    if (n < 1 || n > MOST_COLUMNS) return ERR_FORMAT;
    struct parquet_column root;
    read_element(t, &root, &children);
    if (children != n - 1) return ERR_FORMAT;
    p->columns = arena_zalloc(mem, (size_t)n, sizeof *p->columns);
    if (!p->columns) return ERR_NOMEM;
    p->n_columns = (uint32_t)n - 1;
    for (uint32_t i = 0; i < p->n_columns; i++) {
        read_element(t, &p->columns[i], &children);
        if (children) return ERR_FORMAT;
    }
    return t->bad ? ERR_FORMAT : 0;
}

static void read_chunk_data(struct thrift_in *t, struct parquet_chunk *c)
{
    enum { CODEC = 4, VALUES = 5, PACKED = 7, DATA = 9, DICTIONARY = 11 };
    struct thrift_field f = {0};
    while (thrift_in_next(t, &f)) {
        switch (f.id) {
        case CODEC: c->codec = thrift_in_int(t, &f); break;
        case VALUES: c->n_values = thrift_in_int(t, &f); break;
        case PACKED: c->packed_bytes = thrift_in_int(t, &f); break;
        case DATA: c->data_offset = thrift_in_int(t, &f); break;
        case DICTIONARY: c->dictionary_offset = thrift_in_int(t, &f); break;
        default: thrift_in_skip(t, &f); break;
        }
    }
}

static int read_group(struct thrift_in *t, struct arena *mem, const struct parquet_file *p,
                      struct parquet_group *g)
{
    enum { COLUMNS = 1, ROWS = 3, CHUNK_DATA = 3 };
    struct thrift_field f = {0}, inner;
    g->chunks = arena_zalloc(mem, p->n_columns + 1, sizeof *g->chunks);
    if (!g->chunks) return ERR_NOMEM;
    while (thrift_in_next(t, &f)) {
        if (f.id == ROWS) g->n_rows = thrift_in_int(t, &f);
        else if (f.id != COLUMNS) thrift_in_skip(t, &f);
        else {
            int64_t n = thrift_in_list(t, &f);
            if (n != p->n_columns) return ERR_FORMAT;
            for (int64_t i = 0; i < n; i++)
                for (inner = (struct thrift_field){0}; thrift_in_next(t, &inner);) {
                    if (inner.id == CHUNK_DATA) read_chunk_data(t, &g->chunks[i]);
                    else thrift_in_skip(t, &inner);
                }
        }
    }
    return t->bad ? ERR_FORMAT : 0;
}

static int read_groups(struct thrift_in *t, const struct thrift_field *f, struct arena *mem,
                       struct parquet_file *p)
{
    int64_t n = thrift_in_list(t, f);
    if (n < 0 || n > MOST_GROUPS || n > t->end - t->p) return ERR_FORMAT;
    p->groups = arena_zalloc(mem, (size_t)n + 1, sizeof *p->groups);
    if (!p->groups) return ERR_NOMEM;
    p->n_groups = (uint32_t)n;
    for (uint32_t i = 0; i < p->n_groups; i++) TRY(read_group(t, mem, p, &p->groups[i]));
    return 0;
}

static int read_footer(struct thrift_in *t, struct arena *mem, struct parquet_file *p)
{
    enum { SCHEMA = 2, GROUPS = 4 };
    struct thrift_field f = {0};
    int rc = 0;
    while (rc == 0 && thrift_in_next(t, &f)) {
        if (f.id == SCHEMA && !p->columns) rc = read_schema(t, &f, mem, p);
        else if (f.id == GROUPS && p->columns && !p->groups) rc = read_groups(t, &f, mem, p);
        else thrift_in_skip(t, &f);
    }
    return rc < 0 ? rc : t->bad || !p->columns ? ERR_FORMAT : 0;
}

int parquet_open(struct str bytes, struct arena *mem, struct parquet_file *ret, struct err *e)
{
    uint32_t n = 0;
    *ret = (struct parquet_file){.bytes = bytes};
    bool ends = bytes.n > 12 && memcmp(bytes.p, "PAR1", 4) == 0 &&
                memcmp(bytes.p + bytes.n - 4, "PAR1", 4) == 0;
    if (ends) memcpy(&n, bytes.p + bytes.n - 8, sizeof n);
    if (!ends || n > bytes.n - 12)
        return FAIL(e, ERR_FORMAT, "not a whole Parquet file: its end is missing");
    struct thrift_in t = {bytes.p + bytes.n - 8 - n, bytes.p + bytes.n - 8, false};
    int rc = read_footer(&t, mem, ret);
    if (rc == ERR_NOMEM) return err_nomem(e);
    return rc < 0 ? FAIL(e, rc, "a Parquet file with a damaged or nested description") : 0;
}
