/* graph_nodes.c: see graph_nodes.h. */
#include "backend/cuda/graph_nodes.h"

#include <pthread.h>

#include "backend/program/native_stack.h"
#include "backend/program/pystack.h"
#include "backend/program/torch_ops.h"
#include "record/defs.h"

enum { MOST_KEPT = 2048 }; /* of one definition, which has room for 2730 */

static struct def_node kept[MOST_KEPT];
static uint32_t n_kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static_assert(sizeof kept <= RING_DEF_BYTES, "they are one definition");

/* With the lock held. */
static void write_kept(void)
{
    if (n_kept) defs_id(DEF_NODES, str_from((const char *)kept, n_kept * sizeof *kept));
    n_kept = 0;
}

static void keep(struct def_node node)
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
    keep((struct def_node){.node = node, .stack = stack, .op = torch_ops_innermost()});
}

void graph_nodes_cloned(uint64_t node, uint64_t from)
{
    keep((struct def_node){.node = node, .from = from});
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
    n_kept = 0;
}
