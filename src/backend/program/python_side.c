/* python_side.c: see python_side.h. */
#include "backend/program/python_side.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "backend/program/depth.h"
#include "backend/program/host_stall.h"
#include "backend/program/pystack.h"
#include "backend/program/torch_flight.h"

enum { DEFAULT_SAMPLES = 1000, MOST_SAMPLES = 10000, DEFAULT_DEPTH = 2, MOST_DEPTH = 1000000 };

enum part { PART_STACKS, PART_SAMPLES, PART_OPS, N_PARTS };

static const char *const part_names[N_PARTS] = {"stacks", "samples", "ops"};
static struct err trouble[N_PARTS]; /* each written once, before its flag */
static atomic_bool has_trouble[N_PARTS];
static struct python_side_options wanted;
static atomic_bool started, complete;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static enum torch_ops_level level_of(const char *text)
{
    if (text && strcmp(text, "off") == 0) return TORCH_OPS_OFF;
    if (text && strcmp(text, "all") == 0) return TORCH_OPS_ALL;
    if (text && strcmp(text, "shapes") == 0) return TORCH_OPS_SHAPES;
    return TORCH_OPS_USER;
}

/* The variable's number; `plain` where it has none, or none up to `most`. */
static unsigned python_side_number(const char *variable, long plain, long most)
{
    const char *text = getenv(variable);
    char *end = NULL;
    long n = text && *text ? strtol(text, &end, 10) : plain;
    return (unsigned)(n < 0 || n > most || (end && *end) ? plain : n);
}

void python_side_options_from_env(struct python_side_options *o)
{
    const char *stacks = getenv("STRATA_PYTHON_STACKS");
    *o = (struct python_side_options){
        .stacks = !stacks || strcmp(stacks, "off") != 0,
        .samples_a_second =
            python_side_number("STRATA_TEST_SAMPLES", DEFAULT_SAMPLES, MOST_SAMPLES),
        .ops = level_of(getenv("STRATA_OPS")),
        .depth = python_side_number("STRATA_DEPTH", DEFAULT_DEPTH, MOST_DEPTH),
    };
}

static void python_side_note(enum part part, const struct err *why)
{
    if (atomic_load(&has_trouble[part])) return;
    trouble[part] = *why;
    atomic_store(&has_trouble[part], true);
}

/* True when there is nothing left to wait for. */
static bool start_stacks(void)
{
    struct err e;
    err_init(&e);
    int rc = pystack_init(&e);
    if (rc < 0 && rc != ERR_USAGE) python_side_note(PART_STACKS, &e);
    return pystack_ready() || (rc < 0 && rc != ERR_USAGE);
}

static bool start_ops(void)
{
    struct err e;
    err_init(&e);
    int rc = torch_ops_start(wanted.ops, &e);
    if (rc < 0) python_side_note(PART_OPS, &e);
    return torch_ops_on() || rc < 0 || wanted.ops == TORCH_OPS_OFF;
}

/* What may have become possible since: Python has come up, torch was loaded. */
static void python_side_go_on(void)
{
    if (atomic_load_explicit(&complete, memory_order_relaxed)) return;
    if (pthread_mutex_trylock(&lock) != 0) return;
    bool all = !wanted.stacks || start_stacks();
    all &= start_ops();
    atomic_store(&complete, all);
    pthread_mutex_unlock(&lock);
}

static void do_chores(void)
{
    python_side_go_on();
    torch_flight_chore();
    host_stall_chore();
    torch_ops_chore();
    depth_chore();
}

static void start_sampler(void)
{
    struct sampler_options o = {wanted.stacks ? wanted.samples_a_second : 0, do_chores};
    struct err e;
    err_init(&e);
    if (sampler_start(&o, &e) < 0) python_side_note(PART_SAMPLES, &e);
}

void python_side_start(const struct python_side_options *o)
{
    pthread_mutex_lock(&lock);
    if (!atomic_exchange(&started, true)) wanted = *o;
    pthread_mutex_unlock(&lock);
    torch_ops_learn(wanted.depth > 0);
    python_side_go_on();
    start_sampler();
    if (wanted.ops != TORCH_OPS_OFF) depth_start(wanted.depth, wanted.late);
}

static void python_side_do_stop(void)
{
    sampler_stop();
    torch_flight_drain();
    atomic_store(&complete, false);
    atomic_store(&started, false); /* the next part may want something else */
}

void python_side_stop(void)
{
    if (!atomic_load(&started)) return;
    depth_stop();
    torch_ops_stop();
    python_side_do_stop();
}

void python_side_rest(void)
{
    if (!atomic_load(&started)) return;
    depth_rest();
    torch_ops_rest();
    python_side_do_stop();
}

void python_side_flush(void)
{
    if (atomic_load(&started)) torch_flight_drain();
}

bool python_side_on(void)
{
    return atomic_load_explicit(&started, memory_order_relaxed);
}

const char *python_side_trouble(const char *part)
{
    for (int i = 0; i < N_PARTS; i++)
        if (strcmp(part, part_names[i]) == 0 && atomic_load(&has_trouble[i])) return trouble[i].msg;
    return NULL;
}
