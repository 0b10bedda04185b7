/* torch_tensors.c: see torch_tensors.h.
 *
 *     TensorImpl   vtable, counts, storage, autograd, extra, version, Python's, rank, 5 sizes,
 *                  5 strides, offset, elements         (rank above 5: an address instead of those)
 *     ListImpl     vtable, counts, begin, end, limit
 *
 * in words; how many words the counts are, and what of Python's there is, differs. An undefined
 * tensor has no storage, one of inference mode no version. */
#include "backend/program/torch_tensors.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "format/ring.h"
#include "record/recorder.h"

enum {
    IMPL_WORDS = 32,    /* of a tensor that are searched; it has at least so many */
    MOST_RANK_KEPT = 5, /* sizes that stand in the tensor */
    TO_STRIDES = 6,     /* words from the rank */
    TO_OFFSET = 11,     /* the same */
    TO_ELEMENTS = 12,   /* the same */
    MOST_RANK = 64,
    MOST_LISTED = 512,   /* parts of a list */
    SEARCHED_WORDS = 96, /* of a RecordFunction */
    ENOUGH_TENSORS = 4,  /* that agree on a place */
    ENOUGH_LISTS = 16,   /* of which every one has parts where lists have them */
    MOST_TENSORS = 256,  /* that are compared before the search is given up */
    MOST_VTABLES = 4,
    BATCH = 16, /* slots that are written at once */
};

/* Several libraries may have the same table; which one counts is up to the linker. */
struct vtables {
    uint64_t list[MOST_VTABLES];
    int n;
};

static struct vtables storages, versions;
static int64_t (*version_of)(const void *tensor);
static size_t (*count_outputs)(const void *function);

/* Words of a tensor: storage, version << 8, rank << 16; 0: not known. */
static atomic_uint places;
static atomic_int outputs_at;   /* word of a RecordFunction; 0: not known */
static atomic_int n_lists_read; /* and had what a list has */
static atomic_uint list_tag;    /* of lists, once one was seen */

/* A place counts once so many in a row agree. */
struct vote {
    atomic_uint place, n_agree, n_compared;
};
static struct vote tensor_vote, outputs_vote;

static void torch_tensors_vtables(void *library, const char *symbol, struct vtables *to)
{
    static const char *const others[] = {"libc10.so", "libtorch_python.so"};
    void *libraries[] = {library, dlopen(others[0], RTLD_NOLOAD | RTLD_LAZY),
                         dlopen(others[1], RTLD_NOLOAD | RTLD_LAZY), RTLD_DEFAULT};
    to->n = 0;
    for (int i = 0; i < MOST_VTABLES; i++) {
        const char *at = i == 3 || libraries[i] ? dlsym(libraries[i], symbol) : NULL;
        if (at) to->list[to->n++] = (uint64_t)(uintptr_t)(at + 2 * sizeof(void *));
    }
}

static bool torch_tensors_symbol(void *library, const char *symbol, void *ret)
{
    void *at = dlsym(library, symbol);
    memcpy(ret, &at, sizeof at);
    return at != NULL;
}

bool torch_tensors_find(void *library)
{
    torch_tensors_vtables(library, "_ZTVN3c1011StorageImplE", &storages);
    torch_tensors_vtables(library, "_ZTVN3c1015VariableVersion14VersionCounterE", &versions);
    bool asks =
        torch_tensors_symbol(library, "_ZNK2at10TensorBase8_versionEv", &version_of) &&
        torch_tensors_symbol(library, "_ZNK2at14RecordFunction11num_outputsEv", &count_outputs);
    if (!asks) version_of = NULL;
    return asks && storages.n && versions.n;
}

static bool torch_tensors_vote(struct vote *v, unsigned place)
{
    if (atomic_exchange(&v->place, place) != place) atomic_store(&v->n_agree, 0);
    return place && atomic_fetch_add(&v->n_agree, 1) + 1 >= ENOUGH_TENSORS;
}

static bool torch_tensors_may_vote(struct vote *v)
{
    return atomic_fetch_add(&v->n_compared, 1) < MOST_TENSORS;
}

bool torch_tensors_peek(const void *at, void *into, size_t n)
{
    struct iovec to = {into, n};
    union {
        const void *from;
        void *base;
    } u = {.from = at};
    struct iovec from = {u.base, n};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)n;
}

static bool torch_tensors_is_of(uint64_t vtable, const struct vtables *of)
{
    for (int i = 0; i < of->n; i++)
        if (of->list[i] == vtable) return true;
    return false;
}

/* ---- where a tensor has what ---- */

/* The only word that is the address of an object with one of those tables; 0 for none. */
static unsigned torch_tensors_only(const uint64_t *words, const struct vtables *of)
{
    unsigned found = 0;
    uint64_t vtable;
    for (unsigned i = 2; i < IMPL_WORDS / 2; i++) {
        if (words[i] % 8 || words[i] < 4096 ||
            !torch_tensors_peek((const void *)(uintptr_t)words[i], &vtable, sizeof vtable) ||
            !torch_tensors_is_of(vtable, of))
            continue;
        if (found) return 0;
        found = i;
    }
    return found;
}

static bool torch_tensors_has_sizes(const uint64_t *at, const int64_t *size, size_t rank)
{
    int64_t elements = 1;
    if (at[0] != rank) return false;
    for (size_t i = 0; i < rank; i++) {
        if ((int64_t)at[1 + i] != size[i]) return false;
        elements *= size[i];
    }
    return (int64_t)at[TO_ELEMENTS] == elements && (int64_t)at[TO_OFFSET] >= 0;
}

void torch_tensors_learn(const struct argument *a, const int64_t *size, size_t rank)
{
    uint64_t words[IMPL_WORDS];
    unsigned sizes = 0;
    if (!version_of || torch_tensors_known() || a->tag != TAG_TENSOR) return;
    if (rank < 2 || rank > MOST_RANK_KEPT || !torch_tensors_may_vote(&tensor_vote)) return;
    if (!torch_tensors_peek(a->object, words, sizeof words)) return;
    unsigned storage = torch_tensors_only(words, &storages);
    unsigned version = torch_tensors_only(words, &versions);
    for (unsigned i = version + 1; version && i + TO_ELEMENTS < IMPL_WORDS; i++) {
        if (!torch_tensors_has_sizes(words + i, size, rank)) continue;
        if (sizes) return;
        sizes = i;
    }
    if (!sizes || storage >= version) return;
    if (torch_tensors_vote(&tensor_vote, storage | version << 8 | sizes << 16))
        atomic_store(&places, storage | version << 8 | sizes << 16);
}

bool torch_tensors_known(void)
{
    return atomic_load_explicit(&places, memory_order_relaxed) != 0;
}

bool torch_tensors_settled(void)
{
    return atomic_load(&outputs_at) || !version_of ||
           atomic_load(&tensor_vote.n_compared) >= MOST_TENSORS ||
           atomic_load(&outputs_vote.n_compared) >= MOST_TENSORS;
}

/* ---- a tensor ---- */

struct identity {
    uint64_t storage;
    uint32_t layout, version;
};

static uint64_t torch_tensors_mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint32_t torch_tensors_layout(const uint64_t *at)
{
    uint64_t rank = at[0], h = torch_tensors_mix(rank + 1, at[TO_OFFSET]);
    const uint64_t *strides = at + TO_STRIDES;
    if (rank > MOST_RANK_KEPT) strides = (const uint64_t *)(uintptr_t)at[1] + rank;
    for (uint64_t i = 0; i < rank; i++) h = torch_tensors_mix(h, strides[i]);
    return (uint32_t)(h >> 32);
}

/* The argument is alive, and all of torch's tensors begin alike. */
static struct identity torch_tensors_of(const struct argument *a)
{
    struct identity id = {.version = RING_NO_VERSION};
    unsigned at = atomic_load_explicit(&places, memory_order_relaxed);
    const uint64_t *words = a->object;
    if (!at || a->tag != TAG_TENSOR || !words) return id;
    uint64_t storage = words[at & 0xff], version = words[at >> 8 & 0xff];
    const uint64_t *sizes = words + (at >> 16);
    if (!storage || sizes[0] > MOST_RANK ||
        !torch_tensors_is_of(*(const uint64_t *)(uintptr_t)storage, &storages))
        return id;
    if (version) {
        if (!torch_tensors_is_of(*(const uint64_t *)(uintptr_t)version, &versions)) return id;
        id.version = (uint32_t)version_of(a);
    }
    id.layout = torch_tensors_layout(sizes);
    id.storage = storage;
    return id;
}

/* ---- records ---- */

struct tensor_batch {
    struct ring_record slots[BATCH];
    int n;
    uint64_t ticks;
};

static void torch_tensors_flush(struct tensor_batch *b)
{
    if (b->n) recorder_put_all(b->slots, b->n);
    b->n = 0;
}

static void torch_tensors_add(struct tensor_batch *b, enum ring_tensor type, struct identity id)
{
    struct ring_record first = {.kind = RING_TENSOR, .type = (uint8_t)type, .ticks = b->ticks};
    struct ring_record value = {.kind = RING_VALUE, .ticks = id.storage};
    if (b->n == BATCH) torch_tensors_flush(b);
    b->slots[b->n++] = ring_with_id(first, id.version);
    b->slots[b->n++] = ring_with_id(value, id.layout);
}

/* Through the kernel, until enough lists had what a list has. */
static bool torch_tensors_read_list(const void *at, void *into, size_t n)
{
    if (atomic_load_explicit(&n_lists_read, memory_order_relaxed) < ENOUGH_LISTS)
        return torch_tensors_peek(at, into, n);
    memcpy(into, at, n);
    return true;
}

/* Fills the parts of a list with room for MOST_LISTED; 0 for none, or when it cannot be read. */
static size_t torch_tensors_list(const struct argument *a, struct argument *ret)
{
    uint64_t ends[3];
    unsigned storage = atomic_load_explicit(&places, memory_order_relaxed) & 0xff;
    if (!torch_tensors_read_list(a->object + storage, ends, sizeof ends)) return 0;
    uint64_t bytes = ends[1] - ends[0];
    if (ends[0] % 8 || ends[0] > ends[1] || ends[1] > ends[2] || bytes % sizeof *ret ||
        bytes > MOST_LISTED * sizeof *ret || !bytes ||
        !torch_tensors_read_list((const void *)(uintptr_t)ends[0], ret, bytes))
        return 0;
    for (size_t i = 0; i < bytes / sizeof *ret; i++)
        if (ret[i].tag >= MOST_TAG) return 0;
    if (atomic_load_explicit(&n_lists_read, memory_order_relaxed) < ENOUGH_LISTS)
        atomic_fetch_add_explicit(&n_lists_read, 1, memory_order_relaxed);
    return bytes / sizeof *ret;
}

/* Tensors of the list; what else it has goes into the hash. */
static uint64_t torch_tensors_put_list(struct tensor_batch *b, const struct argument *a, uint64_t h)
{
    struct argument parts[MOST_LISTED];
    size_t n = torch_tensors_list(a, parts);
    h = torch_tensors_mix(h, n + 1);
    atomic_store_explicit(&list_tag, a->tag, memory_order_relaxed);
    for (size_t i = 0; i < n; i++) {
        if (parts[i].tag == TAG_TENSOR)
            torch_tensors_add(b, RING_TENSOR_IN, torch_tensors_of(&parts[i]));
        else if (parts[i].tag) h = torch_tensors_mix(h, (uint64_t)parts[i].integer);
        else h = torch_tensors_mix(h, 1);
    }
    return h;
}

void torch_tensors_put_inputs(const struct argument *a, size_t n, uint64_t lists)
{
    uint64_t h = 0;
    struct tensor_batch b;
    b.n = 0;
    b.ticks = clock_ticks(recorder_clock());
    for (size_t i = 0; i < n; i++) {
        if (a[i].tag == TAG_TENSOR) torch_tensors_add(&b, RING_TENSOR_IN, torch_tensors_of(&a[i]));
        else if (lists >> i & 1) h = torch_tensors_put_list(&b, &a[i], h + i);
    }
    torch_tensors_add(&b, RING_TENSOR_LISTS, (struct identity){.storage = h & INT64_MAX});
    torch_tensors_flush(&b);
}

/* ---- what an operator returns ---- */

static bool torch_tensors_are_outputs(const uint64_t *ends, size_t n)
{
    struct argument first;
    uint64_t bytes = ends[1] - ends[0], vtable, storage;
    unsigned at = atomic_load_explicit(&places, memory_order_relaxed) & 0xff;
    return ends[0] && ends[0] % 8 == 0 && ends[0] < ends[1] && ends[1] <= ends[2] &&
           bytes == n * sizeof first &&
           torch_tensors_peek((const void *)(uintptr_t)ends[0], &first, sizeof first) &&
           first.tag == TAG_TENSOR &&
           torch_tensors_peek(first.object + at, &storage, sizeof storage) &&
           torch_tensors_peek((const void *)(uintptr_t)storage, &vtable, sizeof vtable) &&
           torch_tensors_is_of(vtable, &storages);
}

/* They stand behind the arguments. */
void torch_tensors_learn_outputs(const uint64_t *function, int arguments)
{
    uint64_t words[SEARCHED_WORDS];
    unsigned found = 0;
    if (!torch_tensors_known() || atomic_load(&outputs_at)) return;
    size_t n = count_outputs(function);
    if (!n || !torch_tensors_may_vote(&outputs_vote)) return;
    if (!torch_tensors_peek(function, words, sizeof words)) return;
    for (unsigned i = (unsigned)arguments + 2; i + 2 < SEARCHED_WORDS; i++) {
        if (!torch_tensors_are_outputs(words + i, n)) continue;
        if (found) return;
        found = i;
    }
    if (found && torch_tensors_vote(&outputs_vote, found)) atomic_store(&outputs_at, (int)found);
}

void torch_tensors_put_outputs(const uint64_t *function, int arguments)
{
    int at = atomic_load_explicit(&outputs_at, memory_order_relaxed);
    if (!at) {
        torch_tensors_learn_outputs(function, arguments);
        at = atomic_load_explicit(&outputs_at, memory_order_relaxed);
        if (!at) return;
    }
    const struct argument *a = (const struct argument *)(uintptr_t)function[at];
    const struct argument *end = (const struct argument *)(uintptr_t)function[at + 1];
    struct argument parts[MOST_LISTED];
    struct tensor_batch b;
    b.n = 0;
    b.ticks = clock_ticks(recorder_clock());
    for (; a < end; a++) {
        bool list = a->tag && a->tag == atomic_load_explicit(&list_tag, memory_order_relaxed);
        size_t n = list ? torch_tensors_list(a, parts) : 0;
        if (a->tag == TAG_TENSOR) torch_tensors_add(&b, RING_TENSOR_OUT, torch_tensors_of(a));
        for (size_t i = 0; i < n; i++)
            if (parts[i].tag == TAG_TENSOR)
                torch_tensors_add(&b, RING_TENSOR_OUT, torch_tensors_of(&parts[i]));
    }
    torch_tensors_flush(&b);
}
