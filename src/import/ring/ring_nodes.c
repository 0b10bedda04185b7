/* ring_nodes.c: see ring_process.h. */
#include "import/ring/ring_process.h"

#include <stdlib.h>
#include <string.h>

#include "base/jout.h"
#include "base/map.h"
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
    struct def_node_inputs *inputs; /* by node */
    size_t n_inputs, cap_inputs;
    struct map calls;             /* of operators -> how many nodes each made */
    struct intern names, origins; /* origins: the ids of their names, as bytes */
    uint32_t *path;               /* of the origin at hand */
    size_t n_path, cap_path;
    struct stack_path stack;
    struct buf scratch, text;
};

static int ring_nodes_by_node(const void *a, const void *b)
{
    const struct def_node *x = a, *y = b;
    return x->node < y->node ? -1 : x->node > y->node;
}

static int ring_nodes_collect(struct nodes *w)
{
    for (uint32_t id = 0; id < w->p->defs.n; id++) {
        struct str def = defs_file_get(&w->p->defs, id, DEF_NODES, sizeof *w->list);
        size_t n = def.p ? def.n / sizeof *w->list : 0;
        if (!n || w->n + n > MOST_NODES) continue;
        if (VEC_RESERVE(w->list, w->n, w->cap, n)) return ERR_NOMEM;
        memcpy(w->list + w->n, def.p, n * sizeof *w->list);
        w->n += n;
    }
    if (w->n) qsort(w->list, w->n, sizeof *w->list, ring_nodes_by_node);
    return 0;
}

static int ring_nodes_inputs_by_node(const void *a, const void *b)
{
    const struct def_node_inputs *x = a, *y = b;
    return x->node < y->node ? -1 : x->node > y->node;
}

static int ring_nodes_collect_inputs(struct nodes *w)
{
    for (uint32_t id = 0; id < w->p->defs.n; id++) {
        struct str def = defs_file_get(&w->p->defs, id, DEF_NODE_INPUTS, sizeof *w->inputs);
        size_t n = def.p ? def.n / sizeof *w->inputs : 0;
        if (!n || w->n_inputs + n > MOST_NODES) continue;
        if (VEC_RESERVE(w->inputs, w->n_inputs, w->cap_inputs, n)) return ERR_NOMEM;
        memcpy(w->inputs + w->n_inputs, def.p, n * sizeof *w->inputs);
        w->n_inputs += n;
    }
    for (size_t i = 0; i < w->n_inputs; i++) {
        uint32_t *n = map_at(&w->calls, map_mix(w->inputs[i].call));
        if (!n) return ERR_NOMEM;
        *n = *n == MAP_NONE ? 1 : *n + 1;
    }
    if (w->n_inputs) qsort(w->inputs, w->n_inputs, sizeof *w->inputs, ring_nodes_inputs_by_node);
    return 0;
}

/* What the operator of a node was called with: empty where it is not known, and where the operator
 * made several nodes, which share its work in a way that nothing shows. */
static struct str ring_nodes_inputs(const struct nodes *w, uint64_t node)
{
    struct def_node_inputs key = {.node = node};
    const struct def_node_inputs *at =
        w->n_inputs ? bsearch(&key, w->inputs, w->n_inputs, sizeof key, ring_nodes_inputs_by_node)
                    : NULL;
    if (!at || map_find(&w->calls, map_mix(at->call)) != 1) return str_c("");
    return defs_file_get(&w->p->defs, at->inputs, DEF_SHAPES, 1);
}

static const struct def_node *ring_nodes_find(const struct nodes *w, uint64_t node)
{
    struct def_node key = {.node = node};
    return bsearch(&key, w->list, w->n, sizeof key, ring_nodes_by_node);
}

/* The node that was captured, of which `at` is a copy of copies. NULL where that is not known. */
static const struct def_node *ring_nodes_captured(const struct nodes *w, const struct def_node *at)
{
    for (int i = 0; at && at->from && i < MOST_COPIES; i++) at = ring_nodes_find(w, at->from);
    return at && !at->from && (at->stack || at->op) ? at : NULL;
}

static int ring_nodes_add_name(struct nodes *w, char kind, struct str name)
{
    buf_reset(&w->scratch);
    buf_addc(&w->scratch, kind);
    buf_add_str(&w->scratch, name);
    str_id id = buf_ok(&w->scratch) ? intern_add(&w->names, buf_str(&w->scratch)) : STR_NONE;
    if (id == STR_NONE || VEC_RESERVE(w->path, w->n_path, w->cap_path, 1)) return ERR_NOMEM;
    w->path[w->n_path++] = id;
    return 0;
}

static int ring_nodes_add_frame(struct nodes *w, const struct stack_frame *f)
{
    buf_reset(&w->text);
    stack_frame_print(&w->p->defs, f, &w->text);
    return buf_ok(&w->text) ? ring_nodes_add_name(w, f->module ? 'm' : 'p', buf_str(&w->text))
                            : ERR_NOMEM;
}

/* STR_NONE when out of memory. */
static str_id origin_of(struct nodes *w, const struct def_node *node)
{
    struct stack_source from = {&w->p->defs, STACK_DEEPEST};
    struct str op = proc_file_string(&w->p->proc, node->op);
    w->n_path = 0;
    stack_path_read(&from, node->stack, &w->stack);
    for (int i = 0; i < w->stack.n; i++)
        if (ring_nodes_add_frame(w, &w->stack.at[i]) < 0) return STR_NONE;
    if (node->op && op.n && ring_nodes_add_name(w, 'o', op) < 0) return STR_NONE;
    struct str inputs = ring_nodes_inputs(w, node->node);
    if (inputs.n && ring_nodes_add_name(w, 's', inputs) < 0) return STR_NONE;
    return intern_add(&w->origins, str_from((const char *)w->path, w->n_path * sizeof *w->path));
}

static int put_nodes(struct nodes *w, struct jout *j)
{
    jout_arr(j, "nodes");
    for (size_t i = 0; i < w->n; i++) {
        if (i + 1 < w->n && w->list[i + 1].node == w->list[i].node) continue;
        const struct def_node *made = ring_nodes_captured(w, &w->list[i]);
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

static void ring_nodes_put_names(const struct nodes *w, struct jout *j)
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

static int ring_nodes_put(struct nodes *w, struct builder *b)
{
    struct buf json;
    struct jout j;
    buf_init(&json);
    jout_init(&j, &json, false);
    jout_obj(&j, NULL);
    int rc = put_nodes(w, &j);
    ring_nodes_put_names(w, &j);
    jout_end_obj(&j);
    buf_reset(&w->text);
    buf_adds(&w->text, TRACE_META_CAPTURED);
    if (w->p->device_text) buf_adds(&w->text, w->p->device_text);
    if (rc == 0 && (!buf_ok(&json) || !buf_ok(&w->text))) rc = ERR_NOMEM;
    if (rc == 0) rc = builder_add_meta(b, buf_str(&w->text), buf_str(&json));
    buf_done(&json);
    return rc;
}

static int ring_nodes_run(struct nodes *w, struct builder *b)
{
    if (intern_init(&w->names) || intern_init(&w->origins)) return ERR_NOMEM;
    TRY(ring_nodes_collect(w));
    TRY(ring_nodes_collect_inputs(w));
    return w->n ? ring_nodes_put(w, b) : 0;
}

int ring_nodes_add(struct builder *b, const struct ring_process *p, struct err *e)
{
    struct nodes *w = mem_zalloc(1, sizeof *w);
    if (!w) return err_nomem(e);
    w->p = p;
    map_init(&w->calls);
    buf_init(&w->scratch);
    buf_init(&w->text);
    int rc = ring_nodes_run(w, b);
    intern_done(&w->names);
    intern_done(&w->origins);
    buf_done(&w->scratch);
    buf_done(&w->text);
    map_done(&w->calls);
    mem_free(w->list);
    mem_free(w->inputs);
    mem_free(w->path);
    mem_free(w);
    return rc < 0 ? err_nomem(e) : 0;
}
