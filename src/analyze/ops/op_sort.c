/* op_sort.c: the orders a table can be put in. */
#include <stddef.h>
#include <stdlib.h>

#include "analyze/ops/op_table.h"

struct op_sort_key {
    const char *word, *torch_name;
    size_t offset; /* of the 64-bit number in struct op_row */
    bool per_call;
};

#define NO_NUMBER ((size_t)-1) /* rows stay by first appearance */

static const struct op_sort_key keys[] = {
    {"self_device", "self_device_time_total", offsetof(struct op_row, self_device_ns), false},
    {"device", "device_time_total", offsetof(struct op_row, device_total_ns), false},
    {"device_avg", "device_time", offsetof(struct op_row, device_total_ns), true},
    {"self_cpu", "self_cpu_time_total", offsetof(struct op_row, self_cpu_ns), false},
    {"cpu", "cpu_time_total", offsetof(struct op_row, cpu_total_ns), false},
    {"cpu_avg", "cpu_time", offsetof(struct op_row, cpu_total_ns), true},
    {"calls", "count", offsetof(struct op_row, calls), false},
    {"cpu_mem", "cpu_memory_usage", offsetof(struct op_row, cpu_mem_bytes), false},
    {"self_cpu_mem", "self_cpu_memory_usage", offsetof(struct op_row, self_cpu_mem_bytes), false},
    {"device_mem", "device_memory_usage", offsetof(struct op_row, device_mem_bytes), false},
    {"self_device_mem", "self_device_memory_usage", offsetof(struct op_row, self_device_mem_bytes),
     false},
    {"flops", "flops", offsetof(struct op_row, flops), false},
    {"first", "first", NO_NUMBER, false},
};

enum { N_KEYS = sizeof keys / sizeof *keys };

/* Copies `word` with every vendor's name for its device replaced by "device", as torch does. */
static bool op_sort_neutral(const char *word, char *out, size_t cap)
{
    static const char *const vendors[] = {"cuda", "xpu", "privateuse1", "gpu", "hip"};
    size_t o = 0;
    while (*word) {
        size_t skip = 0;
        for (size_t i = 0; i < sizeof vendors / sizeof *vendors && !skip; i++)
            if (strncmp(word, vendors[i], strlen(vendors[i])) == 0) skip = strlen(vendors[i]);
        size_t n = skip ? strlen("device") : 1;
        if (o + n >= cap) return false;
        memcpy(out + o, skip ? "device" : word, n);
        o += n;
        word += skip ? skip : 1;
    }
    out[o] = '\0';
    return true;
}

const struct op_sort_key *op_sort_find(const char *word)
{
    char plain[64];
    if (!op_sort_neutral(word, plain, sizeof plain)) return NULL;
    for (int i = 0; i < N_KEYS; i++)
        if (strcmp(plain, keys[i].word) == 0 || strcmp(plain, keys[i].torch_name) == 0)
            return &keys[i];
    return NULL;
}

const char *op_sort_word(int n)
{
    return n < N_KEYS ? keys[n].word : NULL;
}

const char *op_sort_name(const struct op_sort_key *key)
{
    return key->word;
}

static double op_sort_value(const struct op_row *r, const struct op_sort_key *key)
{
    int64_t v;
    memcpy(&v, (const char *)r + key->offset, sizeof v);
    return key->per_call && r->calls ? (double)v / (double)r->calls : (double)v;
}

/* Device-side annotations are spans over work, not work: without a key they do not lead. */
static int64_t op_sort_work_ns(const struct op_row *r)
{
    return r->is_annotation ? 0 : r->self_device_ns;
}

static int op_sort_by_time(const struct op_row *a, const struct op_row *b)
{
    if (op_sort_work_ns(a) != op_sort_work_ns(b))
        return op_sort_work_ns(a) > op_sort_work_ns(b) ? -1 : 1;
    if (a->self_cpu_ns != b->self_cpu_ns) return a->self_cpu_ns > b->self_cpu_ns ? -1 : 1;
    return 0;
}

/* Whether `b` must come before `a`; equal rows keep their order. */
static bool op_sort_is_behind(const struct op_row *a, const struct op_row *b,
                              const struct op_sort_key *key)
{
    return key ? op_sort_value(b, key) > op_sort_value(a, key) : op_sort_by_time(a, b) > 0;
}

struct order {
    const struct op_row *rows;
    const struct op_sort_key *key;
};

static int op_sort_compare(const void *pa, const void *pb, void *ctx)
{
    const struct order *o = ctx;
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    if (op_sort_is_behind(&o->rows[a], &o->rows[b], o->key)) return 1;
    if (op_sort_is_behind(&o->rows[b], &o->rows[a], o->key)) return -1;
    return (a > b) - (a < b);
}

int op_table_sort(struct op_table *table, const struct op_sort_key *key, struct arena *mem,
                  struct err *e)
{
    if (key && key->offset == NO_NUMBER) return 0;
    uint32_t *index = arena_alloc(mem, (table->n_rows + 1u) * sizeof *index);
    struct op_row *sorted = arena_alloc(mem, (table->n_rows + 1u) * sizeof *sorted);
    if (!index || !sorted) return err_nomem(e);
    for (uint32_t i = 0; i < table->n_rows; i++) index[i] = i;
    struct order o = {table->rows, key};
    qsort_r(index, table->n_rows, sizeof *index, op_sort_compare, &o);
    for (uint32_t i = 0; i < table->n_rows; i++) sorted[i] = table->rows[index[i]];
    table->rows = sorted;
    return 0;
}
