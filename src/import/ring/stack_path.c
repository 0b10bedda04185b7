/* stack_path.c: see stack_rows.h. */
#include "import/ring/stack_rows.h"

#include <inttypes.h>
#include <string.h>

#include "base/intern.h"
#include "trace/module_name.h"

/* The next frame out; false at the end. A definition refers to earlier ones only, so this ends. */
static bool stack_path_take_frame(const struct defs_file *defs, uint32_t *id,
                                  struct stack_frame *ret)
{
    struct def_frame f;
    struct str bytes = *id ? defs_file_get(defs, *id, DEF_FRAME, sizeof f) : (struct str){NULL, 0};
    if (!bytes.p) return false;
    memcpy(&f, bytes.p, sizeof f);
    *ret = (struct stack_frame){f.code, f.module, f.line};
    *id = f.parent < *id ? f.parent : 0;
    return true;
}

void stack_path_read(const struct stack_source *from, uint32_t stack, struct stack_path *ret)
{
    int n = 0;
    while (n < STACK_DEEPEST && stack_path_take_frame(from->defs, &stack, &ret->at[n])) n++;
    ret->n = n;
    ret->cut = n >= from->most_frames;
    for (int i = 0; i < n / 2; i++) {
        struct stack_frame inner = ret->at[i];
        ret->at[i] = ret->at[n - 1 - i];
        ret->at[n - 1 - i] = inner;
    }
}

bool stack_path_is_cut(const struct stack_source *from, uint32_t stack)
{
    struct stack_frame f;
    int n = 0;
    while (n < from->most_frames && stack_path_take_frame(from->defs, &stack, &f)) n++;
    return n >= from->most_frames;
}

struct str stack_frame_text(const struct defs_file *defs, const struct stack_frame *f)
{
    struct str s = {NULL, 0};
    if (f->module) s = defs_file_get(defs, f->module, DEF_MODULE, 1);
    if (!s.p) s = defs_file_get(defs, f->code, DEF_CODE, 1);
    return s.p ? s : str_c("(name lost)");
}

void stack_frame_print(const struct defs_file *defs, const struct stack_frame *f, struct buf *out)
{
    struct str s = stack_frame_text(defs, f);
    for (size_t i = s.n; i-- > 0 && !f->module && f->line;) {
        const char *close = s.p[i] == '(' ? memchr(s.p + i, ')', s.n - i) : NULL;
        if (!close || close + 1 == s.p + s.n || close[1] != ':') continue;
        buf_printf(out, "%.*s(%" PRIu32, (int)i, s.p, f->line);
        s = str_from(close, (size_t)(s.p + s.n - close));
        break;
    }
    buf_add_str(out, s);
}

uint64_t module_token(struct str name)
{
    struct str class = module_class(name);
    uint64_t token = intern_hash(class.n ? class : name);
    return token ? token : 1;
}

bool stack_frame_same_function(const struct stack_frame *a, const struct stack_frame *b)
{
    return a->code == b->code && a->module == b->module;
}

static bool stack_path_same_frame(const struct stack_frame *a, const struct stack_frame *b)
{
    return a->line == b->line && stack_frame_same_function(a, b);
}

int stack_path_common(const struct stack_path *a, const struct stack_path *b)
{
    int n = 0;
    while (n < a->n && n < b->n && stack_path_same_frame(&a->at[n], &b->at[n])) n++;
    return n;
}

/* `n` frames of `cut` match so far; how many do when `next` follows. */
static int match_on(const struct stack_path *cut, const int *shorter, int n,
                    const struct stack_frame *next)
{
    while (n && (n == cut->n || !stack_path_same_frame(&cut->at[n], next))) n = shorter[n];
    return n + (n < cut->n && stack_path_same_frame(&cut->at[n], next));
}

/* Knuth, Morris and Pratt: stacks of functions that call each other match in many places. */
int stack_path_find(const struct stack_path *known, const struct stack_path *cut)
{
    int shorter[STACK_DEEPEST + 1]; /* by length of a match: the next one that ends where it does */
    shorter[0] = shorter[1] = 0;
    for (int i = 1; i < cut->n; i++)
        shorter[i + 1] = match_on(cut, shorter, shorter[i], &cut->at[i]);
    int found = -1, longest = STACK_LEAST_MATCH - 1;
    for (int i = 0, n = 0; i < known->n; i++) {
        n = match_on(cut, shorter, n, &known->at[i]);
        if (n <= longest) continue;
        longest = n;
        found = i + 1 - n;
    }
    return found;
}

void stack_path_join(struct stack_path *p, const struct stack_path *outer, int n)
{
    if (n > STACK_DEEPEST - p->n) n = STACK_DEEPEST - p->n;
    memmove(p->at + n, p->at, (size_t)p->n * sizeof *p->at);
    memcpy(p->at, outer->at, (size_t)n * sizeof *p->at);
    p->n += n;
}
