/* mutate.c: see mutate.h. A text is looked through once for its values; a change replaces the bytes
 * of one of them, or of two. */
#include "fuzz/mutate.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/strata_file.h"

enum { MOST_NODES = 8192, DEEPEST = 64, MOST_CHANGES = 4, TRIES = 64, BLOCK = 64 };

struct node {
    size_t at, end;      /* the value */
    size_t key, key_end; /* with its quotes; both 0 in an array */
    char kind;           /* { [ " or 0 for numbers and words */
};

struct map {
    uint8_t *p;
    size_t n, most;
    uint64_t *state;
    struct node nodes[MOST_NODES];
    size_t n_nodes;
};

static const char *const extremes[] = {
    "0",
    "-1",
    "1",
    "0.5",
    "-0.001",
    "1e308",
    "-1e308",
    "1e-300",
    "1e18",
    "-1e18",
    "1e15",
    "null",
    "4294967295",
    "4294967296",
    "NaN",
    "2147483647",
    "65536",
    "1000000",
    "-1000",
    "true",
    "-2147483648",
    "9223372036854775807",
    "9007199254740993",
    "\"7\"",
    "\"0x10\"",
    "\"\"",
    "[]",
    "{}",
    "18446744073709551615",
    "-9223372036854775808",
};

static const char *const odd_strings[] = {
    "\"\"",
    "\"\\u001b[31m\"",
    "\"\\ud800\"",
    "\"<script>\"",
    "\"%s%n\"",
    "\"a.py(1): f\"",
    "\"\\u0000\"",
    "\"ProfilerStep#1\"",
    "\"../../x\"",
    "\"aten::item\"",
    "\"kernel\"",
    "\"gpu_memcpy\"",
    "\"cpu_op\"",
    "\"cuda_runtime\"",
    "\"user_annotation\"",
    "\"python_function\"",
    "\"X\"",
    "\"cudaStreamSynchronize\"",
    "\"cudaLaunchKernel\"",
    "\"\xff\xfe\"",
    "\"overhead\"",
    "\"Memcpy HtoD (Pageable -> Device)\"",
    "\"gpu_user_annotation\"",
    "\"ac2g\"",
};

#define PICK(list, s) (list)[mutate_random(s) % (sizeof(list) / sizeof *(list))]

uint64_t mutate_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *state = x;
    return x * 0x2545f4914f6cdd1dULL >> 16;
}

static size_t below(uint64_t *state, size_t n)
{
    return n ? (size_t)(mutate_random(state) % n) : 0;
}

static size_t string_end(const uint8_t *p, size_t n, size_t i)
{
    for (i++; i < n && p[i] != '"'; i++)
        if (p[i] == '\\') i++;
    return i < n ? i + 1 : n;
}

static size_t word_end(const uint8_t *p, size_t n, size_t i)
{
    while (i < n && (isalnum(p[i]) || p[i] == '.' || p[i] == '-' || p[i] == '+')) i++;
    return i;
}

static struct node *add(struct map *m, size_t at, size_t end, char kind)
{
    struct node *x = &m->nodes[m->n_nodes++];
    *x = (struct node){at, end, 0, 0, kind};
    return x;
}

static bool is_key(const struct map *m, size_t end)
{
    while (end < m->n && isspace(m->p[end])) end++;
    return end < m->n && m->p[end] == ':';
}

/* Every value of the text with its key, in order; stops where there are too many. */
static void look(struct map *m)
{
    size_t open[DEEPEST], depth = 0, key = 0, key_end = 0;
    m->n_nodes = 0;
    for (size_t i = 0, end; i < m->n && m->n_nodes < MOST_NODES; i = end) {
        uint8_t c = m->p[i];
        struct node *x = NULL;
        end = i + 1;
        if (c == '"') {
            end = string_end(m->p, m->n, i);
            if (is_key(m, end)) key = i, key_end = end;
            else x = add(m, i, end, '"');
        } else if (c == '{' || c == '[') {
            x = add(m, i, m->n, (char)c);
            if (depth < DEEPEST) open[depth] = m->n_nodes - 1;
            depth++;
        } else if ((c == '}' || c == ']') && depth > 0) {
            if (--depth < DEEPEST) m->nodes[open[depth]].end = end;
        } else if (isalnum(c) || c == '-') {
            end = word_end(m->p, m->n, i + 1);
            x = add(m, i, end, 0);
        }
        if (x) x->key = key, x->key_end = key_end, key = key_end = 0;
    }
}

/* Puts `n` bytes in the place of those from `at` to `end`; false when there is no room. */
static bool splice(struct map *m, size_t at, size_t end, const void *with, size_t n)
{
    if (m->n - (end - at) + n > m->most) return false;
    memmove(m->p + at + n, m->p + end, m->n - end);
    if (n) memcpy(m->p + at, with, n);
    m->n = m->n - (end - at) + n;
    return true;
}

static const struct node *any(struct map *m, char kind)
{
    for (int t = 0; t < TRIES; t++) {
        const struct node *x = &m->nodes[below(m->state, m->n_nodes)];
        if (x->kind == kind) return x;
    }
    return NULL;
}

static const struct node *alike(struct map *m, const struct node *a)
{
    size_t n = a->key_end - a->key;
    for (int t = 0; t < TRIES * 4; t++) {
        const struct node *b = &m->nodes[below(m->state, m->n_nodes)];
        if (b == a || b->kind != a->kind || b->key_end - b->key != n) continue;
        if (memcmp(m->p + b->key, m->p + a->key, n) == 0) return b;
    }
    return NULL;
}

static void replace(struct map *m, const struct node *x, const char *with)
{
    if (x) splice(m, x->at, x->end, with, strlen(with));
}

static void to_extreme(struct map *m)
{
    replace(m, any(m, 0), PICK(extremes, m->state));
}

static void to_odd_string(struct map *m)
{
    replace(m, any(m, '"'), PICK(odd_strings, m->state));
}

static void to_other_kind(struct map *m)
{
    replace(m, &m->nodes[below(m->state, m->n_nodes)], PICK(extremes, m->state));
}

static void nudge(struct map *m, const struct node *x)
{
    char text[64], out[64];
    if (!x || x->end - x->at >= sizeof text) return;
    memcpy(text, m->p + x->at, x->end - x->at);
    text[x->end - x->at] = 0;
    static const double by[] = {-1, 1, -0.001, 0.001, 10, -10, 100};
    double v = strtod(text, NULL), times = below(m->state, 4) ? 1 : 2;
    snprintf(out, sizeof out, "%.15g", v * times + PICK(by, m->state));
    splice(m, x->at, x->end, out, strlen(out));
}

static void nudge_any(struct map *m)
{
    nudge(m, any(m, 0));
}

/* The value of one goes to the other; both ways if `swap`. */
static void exchange(struct map *m, bool swap)
{
    const struct node *a = &m->nodes[below(m->state, m->n_nodes)], *b = alike(m, a);
    if (!b) return;
    if (b->at < a->at) {
        const struct node *t = a;
        a = b;
        b = t;
    }
    if (a->end > b->at) return; /* one is inside the other */
    size_t n_a = a->end - a->at, n_b = b->end - b->at;
    uint8_t *both = malloc(n_a + n_b + 1);
    if (!both) return;
    memcpy(both, m->p + a->at, n_a);
    memcpy(both + n_a, m->p + b->at, n_b);
    bool fits = splice(m, b->at, b->end, both, n_a);
    if (fits && swap) splice(m, a->at, a->end, both + n_a, n_b);
    free(both);
}

static void copy_over(struct map *m)
{
    exchange(m, false);
}

static void swap_values(struct map *m)
{
    exchange(m, true);
}

static void swap_keys(struct map *m)
{
    const struct node *a = &m->nodes[below(m->state, m->n_nodes)];
    const struct node *b = &m->nodes[below(m->state, m->n_nodes)];
    char text[128];
    size_t n = b->key_end - b->key;
    if (!a->key_end || !b->key_end || n > sizeof text) return;
    memcpy(text, m->p + b->key, n);
    splice(m, a->key, a->key_end, text, n);
}

/* A value with its key and one comma. */
static void drop(struct map *m)
{
    const struct node *x = &m->nodes[below(m->state, m->n_nodes)];
    size_t at = x->key_end ? x->key : x->at, end = x->end;
    while (end < m->n && isspace(m->p[end])) end++;
    if (end < m->n && m->p[end] == ',') end++;
    else
        for (end = x->end; at > 0 && (isspace(m->p[at - 1]) || m->p[at - 1] == ','); at--)
            if (m->p[at - 1] == ',') {
                at--;
                break;
            }
    splice(m, at, end, "", 0);
}

/* Doubles an element of an array; the copy, which comes second, keeps its numbers or changes a few:
 * an event inside the other, beside it, or across its end. */
static void dup(struct map *m)
{
    const struct node *x = any(m, '{');
    if (!x || x->key_end) return;
    size_t n = x->end - x->at, at = x->at, end = x->end;
    uint8_t *copy = malloc(n + 1);
    if (!copy) return;
    copy[0] = ',';
    memcpy(copy + 1, m->p + at, n);
    bool fits = splice(m, end, end, copy, n + 1);
    free(copy);
    if (!fits || !below(m->state, 2)) return;
    look(m);
    for (int t = 0; t < TRIES; t++) {
        const struct node *y = &m->nodes[below(m->state, m->n_nodes)];
        if (y->kind || y->at <= end || y->end >= end + n) continue;
        nudge(m, y);
        return;
    }
}

static void change_json(struct map *m)
{
    static void (*const ways[])(struct map *) = {
        to_extreme,  to_extreme,    nudge_any, nudge_any, copy_over, swap_values, swap_values,
        swap_values, to_odd_string, drop,      dup,       dup,       swap_keys,   to_other_kind,
    };
    look(m);
    if (m->n_nodes) PICK(ways, m->state)(m);
}

static void change_bytes(struct map *m)
{
    uint8_t block[BLOCK];
    size_t at = below(m->state, m->n), most = m->n - at < BLOCK ? m->n - at : BLOCK;
    size_t n = below(m->state, most + 1), to = below(m->state, m->n + 1);
    memcpy(block, m->p + at, n);
    switch (below(m->state, 5)) {
    case 0: splice(m, at, at + n, "", 0); break;
    case 1: splice(m, to, to, block, n); break;
    case 2: m->p[at] ^= (uint8_t)(1 << below(m->state, 8)); break;
    case 3: m->p[at] = (uint8_t)mutate_random(m->state); break;
    default: replace(m, &(struct node){.at = at, .end = at + n}, PICK(extremes, m->state)); break;
    }
}

/* A number of 1, 2, 4 or 8 bytes in an item of a section of a .strata file: to an extreme, to about
 * what it was, or to what stands in another item. False where it is no such file. */
static bool change_native(struct map *m)
{
    struct strata_foot f;
    struct strata_section s;
    if (m->n < sizeof(struct strata_head) + sizeof f) return false;
    if (memcmp(m->p, STRATA_MAGIC, 8) != 0) return false;
    memcpy(&f, m->p + m->n - sizeof f, sizeof f);
    if (f.table_offset > m->n || f.n_sections > (m->n - f.table_offset) / sizeof s) return false;
    if (!f.n_sections) return false;
    memcpy(&s, m->p + f.table_offset + below(m->state, f.n_sections) * sizeof s, sizeof s);
    if (!s.item_bytes || !s.n_items || s.offset > m->n) return false;
    if (s.n_items > (m->n - s.offset) / s.item_bytes) return false;
    size_t size = s.item_bytes % 8 == 0 && below(m->state, 2) ? 8 : s.item_bytes % 4 == 0 ? 4 : 1;
    size_t field = below(m->state, s.item_bytes / size) * size;
    uint8_t *at = m->p + s.offset + below(m->state, s.n_items) * s.item_bytes + field;
    const uint8_t *other = m->p + s.offset + below(m->state, s.n_items) * s.item_bytes + field;
    static const uint64_t values[] = {0, 1, UINT64_MAX, UINT32_MAX, 1u << 31, 1ull << 63, 7, 4096};
    uint64_t v = 0;
    memcpy(&v, below(m->state, 3) ? at : other, size);
    switch (below(m->state, 4)) {
    case 0: v = PICK(values, m->state); break;
    case 1: v += 1; break;
    case 2: v -= 1; break;
    default: memcpy(&v, other, size); break;
    }
    memcpy(at, &v, size);
    return true;
}

size_t mutate(uint8_t *p, size_t n, size_t most, uint64_t *state)
{
    static struct map m; /* large */
    m.p = p, m.n = n, m.most = most, m.state = state;
    bool json = memchr(p, '{', n) && memchr(p, '"', n);
    for (size_t left = 1 + below(state, MOST_CHANGES); left && m.n; left--) {
        if (below(state, 16) && change_native(&m)) continue;
        if (json && below(state, 8)) change_json(&m);
        else change_bytes(&m);
    }
    return m.n;
}
