/* ring_nodes.c: see ring_nodes.h. */
#include "import/ring_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/jout.h"
#include "base/mem.h"
#include "base/vec.h"

enum {
    MOST_COPIES = 16, /* of copies: a graph is copied once or twice before it is launched */
    MOST_NODES = 1 << 20,
};

struct nodes {
    const struct ring_process *p;
    struct def_node *list; /* by node */
    size_t n, cap;
    struct intern names, origins; /* origins: the ids of their names, as bytes */
    uint32_t *path;               /* of the origin at hand */
    size_t n_path, cap_path;
    struct stack_path stack;
    struct buf scratch, text;
};

static int by_node(const void *a, const void *b)
{
    const struct def_node *x = a, *y = b;
    return x->node < y->node ? -1 : x->node > y->node;
}

static int collect(struct nodes *w)
{
    for (uint32_t id = 0; id < w->p->defs.n; id++) {
        struct str def = defs_file_get(&w->p->defs, id, DEF_NODES, sizeof *w->list);
        size_t n = def.p ? def.n / sizeof *w->list : 0;
        if (!n || w->n + n > MOST_NODES) continue;
        if (VEC_RESERVE(w->list, w->n, w->cap, n)) return ERR_NOMEM;
        memcpy(w->list + w->n, def.p, n * sizeof *w->list);
        w->n += n;
    }
    if (w->n) qsort(w->list, w->n, sizeof *w->list, by_node);
    return 0;
}

static const struct def_node *find(const struct nodes *w, uint64_t node)
{
    struct def_node key = {.node = node};
    return bsearch(&key, w->list, w->n, sizeof key, by_node);
}

/* The node that was captured, of which `at` is a copy of copies. NULL where that is not known. */
static const struct def_node *captured(const struct nodes *w, const struct def_node *at)
{
    for (int i = 0; at && at->from && i < MOST_COPIES; i++) at = find(w, at->from);
    return at && !at->from && (at->stack || at->op) ? at : NULL;
}

static int add_name(struct nodes *w, char kind, struct str name)
{
    buf_reset(&w->scratch);
    buf_addc(&w->scratch, kind);
    buf_add_str(&w->scratch, name);
    str_id id = buf_ok(&w->scratch) ? intern_add(&w->names, buf_str(&w->scratch)) : STR_NONE;
    if (id == STR_NONE || VEC_RESERVE(w->path, w->n_path, w->cap_path, 1)) return ERR_NOMEM;
    w->path[w->n_path++] = id;
    return 0;
}

static int add_frame(struct nodes *w, const struct stack_frame *f)
{
    buf_reset(&w->text);
    stack_frame_print(&w->p->defs, f, &w->text);
    return buf_ok(&w->text) ? add_name(w, f->module ? 'm' : 'p', buf_str(&w->text)) : ERR_NOMEM;
}

/* STR_NONE when out of memory. */
static str_id origin_of(struct nodes *w, const struct def_node *node)
{
    struct stack_source from = {&w->p->defs, STACK_DEEPEST};
    struct str op = proc_file_string(&w->p->proc, node->op);
    w->n_path = 0;
    stack_path_read(&from, node->stack, &w->stack);
    for (int i = 0; i < w->stack.n; i++)
        if (add_frame(w, &w->stack.at[i]) < 0) return STR_NONE;
    if (node->op && op.n && add_name(w, 'o', op) < 0) return STR_NONE;
    return intern_add(&w->origins, str_from((const char *)w->path, w->n_path * sizeof *w->path));
}

static int put_nodes(struct nodes *w, struct jout *j)
{
    jout_arr(j, "nodes");
    for (size_t i = 0; i < w->n; i++) {
        if (i + 1 < w->n && w->list[i + 1].node == w->list[i].node) continue;
        const struct def_node *made = captured(w, &w->list[i]);
        str_id origin = made ? origin_of(w, made) : 0;
        if (origin == STR_NONE) return ERR_NOMEM;
        if (!origin) continue;
        jout_uint(j, NULL, w->list[i].node >> 32);
        jout_uint(j, NULL, (uint32_t)w->list[i].node);
        jout_uint(j, NULL, origin - 1);
    }
    jout_end_arr(j);
    return 0;
}

static void put_names(const struct nodes *w, struct jout *j)
{
    jout_arr(j, "names");
    for (str_id i = 1; i < w->names.n; i++) jout_str(j, NULL, intern_get(&w->names, i));
    jout_end_arr(j);
    jout_arr(j, "origins");
    for (str_id i = 1; i < w->origins.n; i++) {
        struct str path = intern_get(&w->origins, i);
        jout_arr(j, NULL);
        for (size_t k = 0; k + sizeof(uint32_t) <= path.n; k += sizeof(uint32_t)) {
            uint32_t name;
            memcpy(&name, path.p + k, sizeof name);
            jout_uint(j, NULL, name - 1);
        }
        jout_end_arr(j);
    }
    jout_end_arr(j);
}

static int put(struct nodes *w, struct builder *b)
{
    struct buf json;
    struct jout j;
    buf_init(&json);
    jout_init(&j, &json, false);
    jout_obj(&j, NULL);
    int rc = put_nodes(w, &j);
    put_names(w, &j);
    jout_end_obj(&j);
    buf_reset(&w->text);
    buf_adds(&w->text, TRACE_META_CAPTURED);
    if (w->p->device_text) buf_adds(&w->text, w->p->device_text);
    if (rc == 0 && (!buf_ok(&json) || !buf_ok(&w->text))) rc = ERR_NOMEM;
    if (rc == 0) rc = builder_add_meta(b, buf_str(&w->text), buf_str(&json));
    buf_done(&json);
    return rc;
}

static int run(struct nodes *w, struct builder *b)
{
    if (intern_init(&w->names) || intern_init(&w->origins)) return ERR_NOMEM;
    TRY(collect(w));
    return w->n ? put(w, b) : 0;
}

int ring_nodes_add(struct builder *b, const struct ring_process *p, struct err *e)
{
    struct nodes *w = mem_zalloc(1, sizeof *w);
    if (!w) return err_nomem(e);
    w->p = p;
    buf_init(&w->scratch);
    buf_init(&w->text);
    int rc = run(w, b);
    intern_done(&w->names);
    intern_done(&w->origins);
    buf_done(&w->scratch);
    buf_done(&w->text);
    mem_free(w->list);
    mem_free(w->path);
    mem_free(w);
    return rc < 0 ? err_nomem(e) : 0;
}
