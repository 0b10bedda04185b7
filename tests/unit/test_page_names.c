/* test_page_names.c: the strings of a page and the curves under its tracks. */
#include "page/page_names.h"

#include "diagnosis.h"
#include "page/page_set.h"

struct strings {
    struct page_block block;
    struct page_names names;
};

/* Every row's name, written. */
static struct strings write_all(const struct trace *t)
{
    struct strings s = {.block.n_parts = 0};
    CHECK_EQ_INT(page_names_init(&s.names, t, NULL), 0);
    for (row_t r = 0; r < t->n_rows; r++) page_names_row(&s.names, r);
    CHECK_EQ_INT(page_names_put(&s.names, &s.block, NULL), 0);
    return s;
}

static void drop(struct strings *s)
{
    page_names_done(&s->names);
    page_block_done(&s->block);
}

static const uint8_t *column(const struct strings *s, const char *name, uint32_t *ret_n)
{
    for (uint32_t i = 0; i < s->block.n_parts; i++) {
        if (strcmp(s->block.parts[i].name, name) != 0) continue;
        if (ret_n) *ret_n = s->block.parts[i].n;
        return (const uint8_t *)s->block.bytes.p + s->block.parts[i].offset;
    }
    return NULL;
}

static uint64_t varint(const uint8_t **p)
{
    uint64_t v = 0;
    int shift = 0;
    do v |= (uint64_t)(**p & 127) << shift, shift += 7;
    while (*(*p)++ & 128);
    return v;
}

/* String number i. */
static struct str text(const struct strings *s, uint64_t i)
{
    const uint8_t *len = column(s, "string_len", NULL), *at = column(s, "string_bytes", NULL);
    uint64_t n = varint(&len);
    for (; i; i--) at += n, n = varint(&len);
    return str_from((const char *)at, n);
}

static struct str shorter(const struct strings *s, uint64_t i)
{
    const uint8_t *p = column(s, "string_short", NULL);
    uint64_t to = varint(&p);
    for (; i; i--) to = varint(&p);
    return text(s, to);
}

TEST(each_string_once_with_a_short_form_where_there_is_a_better_one)
{
    struct kit k = kit_begin();
    kit_python(&k, "diffusers/pipe.py(10): step", 0, 100);
    kit_op(&k, "aten::add", 10, 10);
    kit_op(&k, "aten::add", 30, 10);
    kit_launch(&k, 40, "void at::native::fill<8, float>(int, float)", 50, 10);
    struct trace *t = kit_end(&k);
    struct strings s = write_all(t);
    uint32_t n = 0;
    column(&s, "string_len", &n);
    CHECK_EQ_UINT(n, 4 + 2); /* names, and two short forms */
    CHECK_EQ_BYTES(text(&s, 0), "diffusers/pipe.py(10): step");
    CHECK_EQ_BYTES(shorter(&s, 0), "step");
    CHECK_EQ_BYTES(text(&s, 1), "aten::add");
    CHECK_EQ_BYTES(shorter(&s, 1), "aten::add");
    CHECK_EQ_BYTES(shorter(&s, 3), "fill");
    CHECK_EQ_UINT(column(&s, "string_kind", NULL)[0], KIND_PYTHON);
    drop(&s);
    trace_free(t);
}

TEST(long_names_are_cut_between_characters)
{
    enum { N = 3000 };
    struct kit k = kit_begin();
    char *name = malloc(2 * N + 1);
    for (int i = 0; i < N; i++) memcpy(name + 2 * i, "\xc3\xa9", 2);
    name[2 * N] = 0;
    kit_op(&k, name, 0, 10);
    memmove(name + 1, name, 2 * N);
    name[0] = 'x'; /* now the limit is in the middle of a character */
    name[2 * N] = 0;
    kit_op(&k, name, 20, 10);
    struct trace *t = kit_end(&k);
    struct strings s = write_all(t);
    CHECK_EQ_UINT(text(&s, 0).n, PAGE_NAME_BYTES + 3);
    CHECK_EQ_UINT(text(&s, 1).n, PAGE_NAME_BYTES - 1 + 3);
    CHECK(str_ends(text(&s, 1), "\xc3\xa9\xe2\x80\xa6"));
    drop(&s);
    trace_free(t);
    free(name);
}

/* ---- curves */

static const struct page_curve *curve(const struct page_curves *c, const char *id)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (strcmp(c->list[i].id, id) == 0) return &c->list[i];
    return NULL;
}

static int64_t series_at(const struct page_block *b, uint64_t offset, uint32_t i)
{
    const uint8_t *p = (const uint8_t *)b->bytes.p + offset;
    int64_t sum = 0;
    for (uint32_t k = 0; k <= i; k++) {
        uint64_t v = varint(&p);
        sum += (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
    }
    return sum;
}

TEST(curves_of_a_device)
{
    struct kit k = kit_begin();
    kit_op(&k, "all", 0, 65536);
    kit_launch(&k, 10, "first", 20, 32768 - 20);
    kit_launch(&k, 30, "second", 32768, 1000);
    kit_memory(&k, 40, 100, 100, 0);
    kit_memory(&k, 50, 200, 300, 0);
    kit_memory(&k, 60, -250, 50, 0);
    struct diagnosis d;
    diagnose(&d, kit_end(&k));
    struct page_curves curves;
    struct page_block block = {.n_parts = 0};
    CHECK_EQ_INT(context_need(&d.cx, &launches_pass, NULL), 0);
    CHECK_EQ_INT(page_curves_run(&d.cx, &block, &d.mem, &curves, NULL), 0);
    const struct page_curve *busy = curve(&curves, "busy"), *queue = curve(&curves, "queue"),
                            *memory = curve(&curves, "memory");
    REQUIRE(CHECK(busy && queue && memory));
    CHECK(!curve(&curves, "reserved")); /* all of it is 0 */
    CHECK_EQ_INT(series_at(&block, busy->levels[0].max, 100), 10000);
    CHECK_EQ_INT(series_at(&block, busy->levels[0].max, busy->levels[0].n - 1), 0);
    CHECK_EQ_INT(queue->max, 1); /* the second waits for the first */
    CHECK_EQ_INT(memory->max, 300);
    REQUIRE(CHECK_EQ_UINT(memory->n_points, 3));
    CHECK_EQ_INT(series_at(&block, memory->points_v, 0), 100);
    CHECK_EQ_INT(series_at(&block, memory->points_v, 1), 300);
    CHECK_EQ_INT(series_at(&block, memory->points_v, 2), 50);
    CHECK_EQ_UINT(memory->n_levels, 0); /* so few are drawn one by one */
    page_block_done(&block);
    done(&d);
}

TEST_MAIN
