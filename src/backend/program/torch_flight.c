/* torch_flight.c: see torch_flight.h.
 *
 * The function is called by its mangled name. It returns a std::string, which in C is a hidden
 * first argument: where to put it. */
#include "backend/program/torch_flight.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "backend/program/collective_note.h"
#include "base/jdoc.h"
#include "record/recorder.h"

#define LIBRARY "gloo:"

enum {
    MANY = 1500, /* torch keeps 2,000 unless set otherwise */
    SELDOM_S = 3,
};

/* std::string of libstdc++: short ones stand in `local`. */
struct text {
    char *p;
    size_t n;
    char local[16];
};

typedef void *dump_fn(struct text *ret, bool collectives, bool only_active);
typedef void free_fn(void *p);

static dump_fn *dump;
static free_fn *release;
static bool searched;
static atomic_uint n_seen; /* since the list was last read */
static uint64_t since_real_ns, read_mono_ns;
static double next_id; /* of the list's entries */
static pid_t owner;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The moment of reading, by both clocks. */
struct moment {
    uint64_t ticks, real_ns;
    double ticks_per_ns;
};

void torch_flight_start(void)
{
    if (owner != getpid()) pthread_mutex_init(&lock, NULL); /* also after a fork */
    owner = getpid();
    pthread_mutex_lock(&lock);
    since_real_ns = clock_real_ns();
    read_mono_ns = clock_mono_ns();
    atomic_store(&n_seen, 0);
    pthread_mutex_unlock(&lock);
}

void torch_flight_see(const char *name)
{
    if (strncmp(name, LIBRARY, sizeof LIBRARY - 1) == 0)
        atomic_fetch_add_explicit(&n_seen, 1, memory_order_relaxed);
}

static bool torch_flight_find(void)
{
#if defined(__x86_64__)
    if (searched) return dump && release;
    void *library = dlopen("libtorch_cpu.so", RTLD_NOLOAD | RTLD_LAZY);
    if (!library) return false;
    void *at[] = {dlsym(library, "_ZN4c10d18dump_fr_trace_jsonB5cxx11Ebb"),
                  dlsym(library, "_ZdlPv")};
    memcpy(&dump, &at[0], sizeof dump);
    memcpy(&release, &at[1], sizeof release);
    searched = true;
#endif
    return dump && release;
}

/* The elements of all tensors of a list: [[1000], [2, 3]]. */
static int64_t count_elements(const struct jdoc *sizes)
{
    double all = 0;
    if (!sizes || sizes->kind != JDOC_ARRAY) return -1;
    for (uint32_t i = 0; i < sizes->n; i++) {
        const struct jdoc *dims = &sizes->items[i];
        double n = 1;
        for (uint32_t k = 0; dims->kind == JDOC_ARRAY && k < dims->n; k++)
            n *= dims->items[k].number;
        all += n;
    }
    return sizes->n && all >= 0 && all < 9e15 ? (int64_t)all : -1;
}

static struct str item_text(const struct jdoc *list, uint32_t i)
{
    bool there = list && list->kind == JDOC_ARRAY && i < list->n;
    return there && list->items[i].kind == JDOC_STRING ? list->items[i].text : (struct str){"", 0};
}

static uint64_t ticks_at(const struct moment *now, double real_ns)
{
    double back = ((double)now->real_ns - real_ns) * now->ticks_per_ns;
    return back > 0 && back < (double)now->ticks ? now->ticks - (uint64_t)back : now->ticks;
}

static void put_entry(const struct jdoc *e, const struct moment *now)
{
    const char *label = jdoc_text(e, "profiling_name", "");
    const struct jdoc *group = jdoc_get(e, "process_group"), *two_way = jdoc_get(e, "is_p2p");
    double created = jdoc_number(e, "time_created_ns", 0);
    bool p2p = two_way && two_way->kind == JDOC_BOOL && two_way->yes;
    if (strncmp(label, LIBRARY, sizeof LIBRARY - 1) != 0 || created < (double)since_real_ns) return;
    struct collective_note n = collective_note_of(str_c(label));
    n.group = item_text(group, 0);
    n.description = item_text(group, 1);
    n.seq = (int64_t)jdoc_number(e, p2p ? "p2p_seq_id" : "collective_seq_id", -1);
    n.in = count_elements(jdoc_get(e, "input_sizes"));
    n.out = count_elements(jdoc_get(e, "output_sizes"));
    n.dtype = item_text(jdoc_get(e, n.in >= 0 ? "input_dtypes" : "output_dtypes"), 0);
    n.ticks = ticks_at(now, created);
    collective_note_put(&n);
}

static void put_entries(const struct jdoc *list, const struct moment *now)
{
    if (!list || list->kind != JDOC_ARRAY) return;
    for (uint32_t i = 0; i < list->n; i++) {
        double id = jdoc_number(&list->items[i], "record_id", -1);
        if (id < next_id) continue;
        next_id = id + 1;
        put_entry(&list->items[i], now);
    }
}

/* With the lock held. */
static void read_list(void)
{
    struct text text;
    struct jdoc doc;
    struct arena mem;
    atomic_store(&n_seen, 0);
    read_mono_ns = clock_mono_ns();
    if (!torch_flight_find()) return;
    dump(&text, true, false);
    struct moment now = {clock_ticks(recorder_clock()), clock_real_ns(),
                         recorder_ticks_per_second() / 1e9};
    arena_init(&mem);
    if (jdoc_parse(str_from(text.p, text.n), &mem, &doc, NULL) == 0)
        put_entries(jdoc_get(&doc, "entries"), &now);
    arena_done(&mem);
    if (text.p != text.local) release(text.p);
}

static bool torch_flight_is_due(void)
{
    unsigned n = atomic_load_explicit(&n_seen, memory_order_relaxed);
    return n >= MANY || (n && clock_mono_ns() - read_mono_ns > SELDOM_S * UINT64_C(1000000000));
}

void torch_flight_chore(void)
{
    if (!torch_flight_is_due() || owner != getpid() || pthread_mutex_trylock(&lock) != 0) return;
    read_list();
    pthread_mutex_unlock(&lock);
}

void torch_flight_drain(void)
{
    if (!atomic_load(&n_seen) || owner != getpid()) return;
    pthread_mutex_lock(&lock);
    if (atomic_load(&n_seen)) read_list();
    pthread_mutex_unlock(&lock);
}
