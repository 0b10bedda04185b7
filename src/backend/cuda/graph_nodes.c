/* graph_nodes.c: see cuda_private.h. */
#include "backend/cuda/cuda_private.h"

#include <pthread.h>

#include "backend/program/native_stack.h"
#include "backend/program/pystack.h"
#include "backend/program/torch_ops.h"
#include "record/defs.h"

enum { MOST_KEPT = 2048 }; /* of one definition, which has room for 2730 */

static struct def_node kept[MOST_KEPT];
static struct def_node_inputs inputs[MOST_KEPT];
static uint32_t n_kept, n_inputs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static_assert(sizeof kept <= RING_DEF_BYTES, "they are one definition");
static_assert(sizeof inputs <= RING_DEF_BYTES, "these too");

/* With the lock held. */
static void write_kept(void)
{
    if (n_kept) defs_id(DEF_NODES, str_from((const char *)kept, n_kept * sizeof *kept));
    if (n_inputs)
        defs_id(DEF_NODE_INPUTS, str_from((const char *)inputs, n_inputs * sizeof *inputs));
    n_kept = n_inputs = 0;
}

static void graph_nodes_keep_inputs(uint64_t node)
{
    struct def_node_inputs in = {.node = node};
    in.inputs = torch_ops_inputs_of(&in.call);
    if (!in.inputs) return;
    pthread_mutex_lock(&lock);
    if (n_inputs == MOST_KEPT) write_kept();
    inputs[n_inputs++] = in;
    pthread_mutex_unlock(&lock);
}

static void graph_nodes_keep(struct def_node node)
{
    pthread_mutex_lock(&lock);
    if (n_kept == MOST_KEPT) write_kept();
    kept[n_kept++] = node;
    pthread_mutex_unlock(&lock);
}

void graph_nodes_created(uint64_t node)
{
    uint32_t stack = pystack_now();
    if (!pystack_ready()) stack = native_stack_on(0);
    graph_nodes_keep((struct def_node){.node = node, .stack = stack, .op = torch_ops_innermost()});
    graph_nodes_keep_inputs(node);
}

void graph_nodes_cloned(uint64_t node, uint64_t from)
{
    graph_nodes_keep((struct def_node){.node = node, .from = from});
}

void graph_nodes_write(void)
{
    pthread_mutex_lock(&lock);
    write_kept();
    pthread_mutex_unlock(&lock);
}

void graph_nodes_forget(void)
{
    pthread_mutex_init(&lock, NULL);
    n_kept = n_inputs = 0;
}
