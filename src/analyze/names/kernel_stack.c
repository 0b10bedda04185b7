/* kernel_stack.c: see kernel_stack.h. Arguments of kernels are read where the first kernels of
 * Triton have a stack, and else not at all. */
#include "analyze/names/kernel_stack.h"

#include <stdio.h>
#include <stdlib.h>

#include "analyze/names/torch_words.h"
#include "base/jdoc.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "format/xxh64.h"

enum { MOST_TRIED = 32, LONGEST_FRAME = 1024 };

struct kernel_stacks {
    struct context *cx;
    struct map texts;  /* (kernel, text of its arguments from the stack on) -> place, or NO_PLACE */
    struct map places; /* (kernel, place) -> place */
    struct map names;  /* kernel -> its first place */
    struct kernel_source *said;
    size_t n, cap;
    struct buf args;
    bool failed; /* out of memory */
};

#define NO_PLACE (UINT32_MAX - 1)

/* ---- a stack in words ---- */

/* `  File "/app/model.py", line 84, in forward`. */
static bool kernel_stack_frame(struct str line, struct frame *ret)
{
    line = str_trim(line);
    long file = str_find(line, "File \""), after = str_find(line, "\", line "), in;
    if (file != 0 || after < 6) return false;
    struct str rest = str_from(line.p + after + 8, line.n - (size_t)after - 8);
    char digits[12];
    size_t n = 0;
    for (; n < rest.n && n + 1 < sizeof digits && rest.p[n] >= '0' && rest.p[n] <= '9'; n++)
        digits[n] = rest.p[n];
    digits[n] = 0;
    in = str_find(rest, ", in ");
    *ret = (struct frame){.file = str_from(line.p + 6, (size_t)after - 6),
                          .line = (int32_t)strtol(digits, NULL, 10)};
    if (in >= 0) ret->function = str_trim(str_from(rest.p + in + 5, rest.n - (size_t)in - 5));
    return n > 0 && n < 10 && ret->file.n && ret->function.n;
}

static bool kernel_stack_is_users(const struct frame *f)
{
    char name[LONGEST_FRAME];
    int n = snprintf(name, sizeof name, STR_FMT "(%d): " STR_FMT, STR_ARG(f->file), (int)f->line,
                     STR_ARG(f->function));
    return n > 0 && (size_t)n < sizeof name && frame_class(str_from(name, (size_t)n)) == FRAME_USER;
}

bool kernel_stack_place(struct str stack, struct frame *ret)
{
    bool found = false, users = false;
    while (stack.n) {
        const char *end = memchr(stack.p, '\n', stack.n);
        size_t n = end ? (size_t)(end - stack.p) : stack.n;
        struct frame f;
        if (kernel_stack_frame(str_from(stack.p, n), &f)) {
            bool own = kernel_stack_is_users(&f);
            if (own || !users) *ret = f;
            users |= own;
            found = true;
        }
        n += end != NULL;
        stack = str_from(stack.p + n, stack.n - n);
    }
    return found;
}

/* Of several stacks the first that has a line: the kernel does something for each. */
static bool kernel_stack_first(const struct jdoc *stacks, struct frame *ret)
{
    if (!stacks) return false;
    if (stacks->kind == JDOC_STRING) return kernel_stack_place(stacks->text, ret);
    for (uint32_t i = 0; stacks->kind == JDOC_ARRAY && i < stacks->n; i++)
        if (stacks->items[i].kind == JDOC_STRING && kernel_stack_place(stacks->items[i].text, ret))
            return true;
    return false;
}

/* ---- the kernels of a trace ---- */

/* The arguments from the stack on; nothing where they have none. */
static struct str kernel_stack_text(struct kernel_stacks *k, row_t r)
{
    buf_reset(&k->args);
    int rc = trace_args(k->cx->t, r, &k->args, NULL);
    k->failed |= rc == ERR_NOMEM || !buf_ok(&k->args);
    if (rc < 0 || k->failed) return str_c("");
    struct str all = buf_str(&k->args);
    long at = str_find(all, "\"stack\"");
    return at < 0 ? str_c("") : str_from(all.p + at, all.n - (size_t)at);
}

static bool kernel_stack_is_kernel(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_KERNEL && t->aux[r] < t->n_gpu;
}

/* Whether one of the first kernels of Triton, by name, has a stack. */
static bool kernel_stack_is_there(struct kernel_stacks *k)
{
    const struct trace *t = k->cx->t;
    str_id tried[MOST_TRIED];
    uint32_t n = 0;
    for (row_t r = 0; r < t->n_rows && n < MOST_TRIED; r++) {
        if (!kernel_stack_is_kernel(t, r) || !torch_is_inductor(trace_name(t, r))) continue;
        uint32_t i = 0;
        while (i < n && tried[i] != t->name[r]) i++;
        if (i < n) continue;
        tried[n++] = t->name[r];
        if (kernel_stack_text(k, r).n) return true;
    }
    return false;
}

static int kernel_stack_add(struct kernel_stacks *k, row_t r, const struct frame *f, uint32_t *ret)
{
    const struct trace *t = k->cx->t;
    uint64_t place = map_mix(xxh64(f->file.p, f->file.n) ^ (uint64_t)f->line) ^ t->name[r];
    uint32_t *at = map_at(&k->places, map_mix(place));
    if (!at || VEC_RESERVE(k->said, k->n, k->cap, 1)) return ERR_NOMEM;
    if (*at == MAP_NONE) {
        const char *file = arena_strdup(k->cx->mem, frame_path(f->file));
        const char *function = arena_strdup(k->cx->mem, f->function);
        if (!file || !function) return ERR_NOMEM;
        *at = (uint32_t)k->n;
        k->said[k->n++] = (struct kernel_source){.kernel = trace_name(t, r),
                                                 .place = {str_c(file), str_c(function), f->line}};
    }
    *ret = *at;
    return 0;
}

/* The place of a kernel with such arguments. */
static int kernel_stack_parse(struct kernel_stacks *k, row_t r, uint32_t *ret)
{
    struct arena scratch;
    struct jdoc doc;
    struct frame f;
    struct err ignored;
    err_init(&ignored);
    arena_init(&scratch);
    *ret = NO_PLACE;
    int rc = jdoc_parse(buf_str(&k->args), &scratch, &doc, &ignored);
    if (rc == 0 && kernel_stack_first(jdoc_get(&doc, "stack"), &f))
        rc = kernel_stack_add(k, r, &f, ret);
    arena_done(&scratch);
    return rc == ERR_NOMEM ? rc : 0;
}

static int kernel_stack_of(struct kernel_stacks *k, row_t r, uint32_t *ret)
{
    struct str text = kernel_stack_text(k, r);
    *ret = NO_PLACE;
    if (!text.n) return 0;
    uint64_t key = map_mix(xxh64(text.p, text.n) ^ k->cx->t->name[r]);
    uint32_t *at = map_at(&k->texts, key);
    if (!at) return ERR_NOMEM;
    if (*at == MAP_NONE) TRY(kernel_stack_parse(k, r, at));
    *ret = *at;
    return 0;
}

static int kernel_stack_hand_over(struct kernel_stacks *k, struct kernel_sources *ret)
{
    struct arena *mem = k->cx->mem;
    struct kernel_source *said = arena_alloc(mem, (k->n + 1) * sizeof *said);
    struct kernel_source *of_all = arena_alloc(mem, (k->n + 1) * sizeof *said);
    if (!said || !of_all) return ERR_NOMEM;
    for (size_t i = 0; i < k->n; i++) {
        uint64_t key = xxh64(k->said[i].kernel.p, k->said[i].kernel.n);
        uint32_t *first = map_at(&k->names, key);
        if (!first) return ERR_NOMEM;
        said[i] = of_all[i] = k->said[i];
        if (*first == MAP_NONE) *first = (uint32_t)i;
        else of_all[i].place = of_all[*first].place = (struct frame){0};
    }
    ret->said = said;
    ret->said_of_all = of_all;
    return 0;
}

static int kernel_stack_run(struct kernel_stacks *k, struct kernel_sources *ret)
{
    const struct trace *t = k->cx->t;
    if (!kernel_stack_is_there(k)) return 0;
    uint32_t *of = arena_zalloc(k->cx->mem, t->n_gpu + (size_t)1, sizeof *of), place;
    if (!of) return ERR_NOMEM;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!kernel_stack_is_kernel(t, r)) continue;
        TRY(kernel_stack_of(k, r, &place));
        if (place != NO_PLACE) of[t->aux[r]] = place + 1;
    }
    ret->said_of = of;
    return kernel_stack_hand_over(k, ret);
}

int kernel_stack_read(struct context *cx, struct kernel_sources *ret)
{
    struct kernel_stacks k = {.cx = cx};
    if (!cx->t->args) return 0;
    map_init(&k.texts);
    map_init(&k.places);
    map_init(&k.names);
    buf_init(&k.args);
    int rc = kernel_stack_run(&k, ret);
    if (k.failed) rc = ERR_NOMEM;
    buf_done(&k.args);
    map_done(&k.names);
    map_done(&k.places);
    map_done(&k.texts);
    mem_free(k.said);
    return rc;
}
