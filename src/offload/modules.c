/* modules.c: see facts.h. Both kinds of file are JSON objects; a reader gets one key at a time
 * and takes its value off the scanner, or passes over it. */
#include "offload/facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "import/json/json_scan.h"

#define MOST_MODULES 1000000

struct reader {
    struct scan s;
    struct arena *mem;
    struct facts *f;
    struct facts_module *list; /* growing, on the heap */
    size_t n, cap;
    struct facts_module now; /* the entry being read */
};

/* Takes the value of `key`; what it leaves is an error. */
typedef int key_fn(struct reader *r, struct str key);

static int modules_bad(const struct reader *r, struct err *e)
{
    err_set(e, ERR_FORMAT, "not a list of modules or a safetensors file");
    err_at(e, "", (int64_t)(r->s.p - r->s.text));
    return ERR_FORMAT;
}

/* ---- scanning ---- */

static bool modules_is_empty(struct reader *r, char close)
{
    scan_blanks(&r->s);
    if (r->s.p >= r->s.end || *r->s.p != close) return false;
    r->s.p++;
    return true;
}

static int each_key(struct reader *r, key_fn *fn)
{
    bool more = true;
    if (scan_expect(&r->s, '{') != SCAN_OK) return ERR_FORMAT;
    if (modules_is_empty(r, '}')) return 0;
    while (more) {
        struct scan_text key;
        scan_blanks(&r->s);
        if (scan_peek(&r->s) != SCAN_STRING || scan_string(&r->s, true, &key) != SCAN_OK ||
            scan_expect(&r->s, ':') != SCAN_OK)
            return ERR_FORMAT;
        scan_blanks(&r->s);
        TRY(fn(r, str_from(key.p, key.n)));
        if (scan_next(&r->s, '}', &more) != SCAN_OK) return ERR_FORMAT;
    }
    return 0;
}

static int each_item(struct reader *r, int (*fn)(struct reader *))
{
    bool more = true;
    if (scan_expect(&r->s, '[') != SCAN_OK) return ERR_FORMAT;
    if (modules_is_empty(r, ']')) return 0;
    while (more) {
        TRY(fn(r));
        if (scan_next(&r->s, ']', &more) != SCAN_OK) return ERR_FORMAT;
    }
    return 0;
}

static int pass_over(struct reader *r)
{
    return scan_skip(&r->s) == SCAN_OK ? 0 : ERR_FORMAT;
}

/* A number in [0, most]. */
static int modules_read_number(struct reader *r, double most, double *ret)
{
    bool have;
    if (scan_double(&r->s, ret, &have) != SCAN_OK) return ERR_FORMAT;
    return have && *ret >= 0 && *ret <= most ? 0 : ERR_FORMAT;
}

static int read_name(struct reader *r, const char **ret)
{
    struct scan_text text;
    if (scan_peek(&r->s) != SCAN_STRING || scan_string(&r->s, false, &text) != SCAN_OK)
        return ERR_FORMAT;
    *ret = arena_strdup(r->mem, str_from(text.p, text.n));
    return *ret ? 0 : ERR_NOMEM;
}

static int add_module(struct reader *r)
{
    if (r->n == MOST_MODULES) return ERR_LIMIT;
    if (VEC_RESERVE(r->list, r->n, r->cap, 1)) return ERR_NOMEM;
    r->list[r->n++] = r->now;
    return 0;
}

/* ---- a list of modules ---- */

static int list_module_key(struct reader *r, struct str key)
{
    double v = 0;
    if (str_is(key, "name")) return read_name(r, &r->now.name);
    if (str_is(key, "bytes")) {
        TRY(modules_read_number(r, 0x1p60, &v));
        r->now.bytes = (int64_t)v;
    } else if (str_is(key, "moved_bytes")) {
        TRY(modules_read_number(r, 0x1p60, &v));
        r->now.moved_bytes = (int64_t)v;
    } else if (str_is(key, "tensors")) {
        TRY(modules_read_number(r, 1e6, &v));
        r->now.n_tensors = (uint32_t)v;
    } else if (str_is(key, "compute_ms")) {
        TRY(modules_read_number(r, 1e9, &v));
        r->now.compute_ns = (int64_t)(v * 1e6);
    } else if (str_is(key, "flops")) {
        TRY(modules_read_number(r, 1e18, &r->now.flops));
    } else {
        return pass_over(r);
    }
    return 0;
}

static int list_module(struct reader *r)
{
    r->now = (struct facts_module){0};
    TRY(each_key(r, list_module_key));
    struct facts_module *m = &r->now;
    if (m->moved_bytes < m->bytes) m->moved_bytes = m->bytes;
    m->loose = m->name && str_ends(str_c(m->name), "(rest)");
    if (m->loose) r->f->rest_bytes += m->moved_bytes;
    return add_module(r);
}

/* accelerate empties the cache around every module. */
static int list_scheme(struct reader *r)
{
    const char *name;
    TRY(read_name(r, &name));
    r->f->empties_cache = strcmp(name, "sequential") == 0;
    return 0;
}

static int list_key(struct reader *r, struct str key)
{
    if (str_is(key, "modules")) return each_item(r, list_module);
    if (str_is(key, "scheme")) return list_scheme(r);
    if (!str_is(key, "passes_per_step")) return pass_over(r);
    double v;
    TRY(modules_read_number(r, 1000, &v));
    r->f->passes = (uint32_t)v;
    return 0;
}

/* ---- a safetensors header ---- */

static int tensor_end(struct reader *r)
{
    double v;
    TRY(modules_read_number(r, 0x1p60, &v));
    /* two offsets: the first is taken off, the second added */
    r->now.bytes = (int64_t)v - r->now.bytes;
    return 0;
}

static int tensor_key(struct reader *r, struct str key)
{
    if (!str_is(key, "data_offsets")) return pass_over(r);
    r->now.bytes = 0;
    TRY(each_item(r, tensor_end));
    return r->now.bytes >= 0 ? 0 : ERR_FORMAT;
}

/* "blocks.0.attn.to_q.weight" is a tensor of the module "blocks.0.attn.to_q". */
static struct str modules_module_of(struct str tensor)
{
    size_t n = tensor.n;
    while (n && tensor.p[n - 1] != '.') n--;
    return n ? str_from(tensor.p, n - 1) : tensor;
}

static int header_key(struct reader *r, struct str key)
{
    if (str_is(key, "__metadata__")) return pass_over(r);
    r->now = (struct facts_module){.n_tensors = 1};
    r->now.name = arena_strdup(r->mem, modules_module_of(key));
    if (!r->now.name) return ERR_NOMEM;
    TRY(each_key(r, tensor_key));
    return add_module(r);
}

/* What runs first and last, as far as names tell: embeddings, blocks, output. */
static int modules_place_of(const char *name)
{
    struct str top = str_from(name, strcspn(name, "."));
    if (str_has(top, "embed") || str_ends(top, "_in") || str_starts(top, "patch")) return 0;
    return str_has(top, "out") || str_has(top, "final") || str_has(top, "head") ? 2 : 1;
}

/* Runs of digits compare as numbers: block 9 comes before block 10. */
static int modules_compare_names(const char *a, const char *b)
{
    while (*a && *b) {
        size_t x = strspn(a, "0123456789"), y = strspn(b, "0123456789");
        if (x && y) {
            unsigned long long i = strtoull(a, NULL, 10), k = strtoull(b, NULL, 10);
            if (i != k) return i < k ? -1 : 1;
            a += x;
            b += y;
        } else {
            if (*a != *b) return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
            a++;
            b++;
        }
    }
    return (*a != '\0') - (*b != '\0');
}

static int modules_by_name(const void *a, const void *b)
{
    const struct facts_module *x = a, *y = b;
    int place = modules_place_of(x->name) - modules_place_of(y->name);
    return place ? place : modules_compare_names(x->name, y->name);
}

/* Tensors of one module stand together once sorted. */
static void join_tensors(struct reader *r)
{
    size_t n = 0;
    if (r->n) qsort(r->list, r->n, sizeof *r->list, modules_by_name);
    for (size_t i = 0; i < r->n; i++) {
        if (n && strcmp(r->list[n - 1].name, r->list[i].name) == 0) {
            r->list[n - 1].bytes += r->list[i].bytes;
            r->list[n - 1].n_tensors++;
        } else {
            r->list[n++] = r->list[i];
        }
    }
    r->n = n;
}

/* ---- files ---- */

static void modules_set_text(struct reader *r, const char *p, uint64_t n)
{
    r->s = (struct scan){.text = p, .end = p + n};
    scan_begin(&r->s, p, SCAN_STRICT);
}

static int read_safetensors(struct reader *r, const struct file_map *m)
{
    uint64_t n;
    memcpy(&n, m->p, sizeof n); /* little-endian, as are the machines we run on */
    modules_set_text(r, m->p + sizeof n, n);
    TRY(each_key(r, header_key));
    join_tensors(r);
    return 0;
}

static bool is_safetensors(const struct file_map *m)
{
    uint64_t n;
    if (m->n < 10 || m->p[8] != '{') return false;
    memcpy(&n, m->p, sizeof n);
    return n >= 2 && n <= m->n - 8;
}

static int modules_append(struct reader *r)
{
    struct facts *f = r->f;
    size_t n = f->n_modules + r->n;
    struct facts_module *all = arena_zalloc(r->mem, n + 1, sizeof *all);
    if (!all) return ERR_NOMEM;
    if (f->n_modules) memcpy(all, f->modules, f->n_modules * sizeof *all);
    if (r->n) memcpy(all + f->n_modules, r->list, r->n * sizeof *all);
    f->modules = all;
    f->n_modules = (uint32_t)n;
    return 0;
}

static int modules_read_modules(struct reader *r, const struct file_map *m, struct err *e)
{
    modules_set_text(r, m->p, m->n);
    int rc = m->n == 0           ? ERR_FORMAT
             : is_safetensors(m) ? read_safetensors(r, m)
                                 : each_key(r, list_key);
    if (rc == ERR_FORMAT) return modules_bad(r, e);
    if (rc == 0 && r->n == 0) return FAIL(e, ERR_FORMAT, "the file has no modules");
    if (rc == ERR_LIMIT) return FAIL(e, rc, "more than %d modules", MOST_MODULES);
    if (rc == 0) rc = modules_append(r);
    return err_grow(e, rc);
}

int modules_read(const char *path, struct arena *mem, struct facts *f, struct err *e)
{
    struct file_map m;
    struct reader r = {.mem = mem, .f = f};
    TRY(file_map(&m, path, e));
    int rc = modules_read_modules(&r, &m, e);
    mem_free(r.list);
    file_unmap(&m);
    if (rc < 0) err_at(e, path, ERR_NO_OFFSET);
    return rc;
}
