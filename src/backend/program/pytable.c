/* pytable.c: see pytable.h. Tables of pointers that only fill up: readers follow what is published,
 * writers hold the lock. */
#include "backend/program/pytable.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "backend/program/pyread.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "record/defs.h"
#include "record/recorder.h"

#define CODE_SLOTS (1u << 17)
#define NODE_SLOTS (1u << 20)
#define MOST_CODES (CODE_SLOTS / 2)
#define MOST_NODES (NODE_SLOTS / 2)

/* OURS are functions that our own package puts around others: in no stack. */
enum module_call { NOT_MODULE, MODULE_CALL, MODULE_WRAPPER, OURS };

struct pytable_code {
    uintptr_t address;
    struct pycode facts;
    uint32_t name; /* DEF_CODE */
    uint8_t module_call;
};

struct node {
    const struct pytable_code *code;
    uint32_t parent, number;
    uint32_t offset;
    uint32_t module; /* DEF_MODULE */
};

static _Atomic(struct pytable_code *) codes[CODE_SLOTS];
static _Atomic(struct node *) nodes[NODE_SLOTS];
static uint32_t n_codes, n_nodes;
static struct map modules;      /* object -> index into module_list, under the lock */
static struct map class_counts; /* type of object -> modules of it so far */
static struct module {
    uintptr_t type;
    uint32_t name;
} * module_list;
static size_t n_modules, cap_modules;
static uintptr_t cell_type; /* 0: not known */
static struct arena memory;
static char cwd[1024];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void pytable_take(void)
{
    pthread_mutex_lock(&lock);
}

static void pytable_leave(void)
{
    pthread_mutex_unlock(&lock);
}

static void leave_in_child(void)
{
    pthread_mutex_init(&lock, NULL);
}

static void pytable_do_prepare(void)
{
    char fact[32];
    map_init(&modules);
    map_init(&class_counts);
    arena_init(&memory);
    if (!getcwd(cwd, sizeof cwd)) cwd[0] = 0;
    cell_type = (uintptr_t)dlsym(RTLD_DEFAULT, "PyCell_Type");
    (void)recorder_clock(); /* at fork our lock is taken before the recorder's, whose handlers are
                               set by now */
    pthread_atfork(pytable_take, pytable_leave, leave_in_child);
    snprintf(fact, sizeof fact, RING_FACT_FRAMES "=%d", PYWALK_DEEPEST);
    defs_id(DEF_FACT, str_c(fact));
}

void pytable_prepare(void)
{
    pthread_once(&once, pytable_do_prepare);
}

static enum module_call pytable_role_of(struct str file, const char *function)
{
    if (str_ends(file, "/strata/_timeline/derived_ranges.py")) return OURS;
    if (!str_ends(file, "/torch/nn/modules/module.py")) return NOT_MODULE;
    if (strcmp(function, "_call_impl") == 0) return MODULE_CALL;
    return strcmp(function, "_wrapped_call_impl") == 0 ? MODULE_WRAPPER : NOT_MODULE;
}

/* "FILE(LINE): FUNCTION" as torch.profiler writes it, relative to where the program was started. */
static uint32_t pytable_name_of(const struct pyapi *api, const struct pycode *c,
                                enum module_call *ret)
{
    char file[700], function[256], text[RING_TEXT_MAX];
    size_t n = pycode_text(api, c->file, file, sizeof file), n_cwd = strlen(cwd);
    if (!pycode_text(api, c->name, function, sizeof function) || !n) return 0;
    *ret = pytable_role_of(str_from(file, n), function);
    const char *shown = file;
    if (n_cwd > 1 && strncmp(file, cwd, n_cwd) == 0 && file[n_cwd] == '/') shown += n_cwd + 1;
    snprintf(text, sizeof text, "%s(%d): %s", shown, c->first_line, function);
    return defs_id(DEF_CODE, str_c(text));
}

static bool pytable_equal(const struct pycode *a, const struct pycode *b)
{
    return a->file == b->file && a->name == b->name && a->lines == b->lines &&
           a->first_line == b->first_line && a->n_lines == b->n_lines &&
           a->lines_begin == b->lines_begin;
}

/* With the lock held. */
static const struct pytable_code *add_code(const struct pyapi *api, uintptr_t address,
                                           uint32_t slot)
{
    struct pycode facts;
    enum module_call module_call = NOT_MODULE;
    if (n_codes >= MOST_CODES || !pycode_read(api, address, &facts)) return NULL;
    uint32_t name = pytable_name_of(api, &facts, &module_call);
    struct pytable_code *c = name ? arena_alloc(&memory, sizeof *c) : NULL;
    if (!c) return NULL;
    *c = (struct pytable_code){address, facts, name, (uint8_t)module_call};
    n_codes++;
    atomic_store_explicit(&codes[slot], c, memory_order_release);
    return c;
}

/* `facts` are what is at the address now. */
static const struct pytable_code *find_code(uintptr_t address, const struct pycode *facts,
                                            const struct pylayout *l, uint32_t *ret_slot)
{
    for (uint32_t i = (uint32_t)map_mix(address) % CODE_SLOTS;; i = (i + 1) % CODE_SLOTS) {
        const struct pytable_code *c = atomic_load_explicit(&codes[i], memory_order_acquire);
        if (c && (c->address != address ||
                  !(facts ? pytable_equal(&c->facts, facts) : pycode_same(l, address, &c->facts))))
            continue;
        *ret_slot = i;
        return c;
    }
}

static const struct pytable_code *code_of(const struct pyapi *api, uintptr_t address, bool alive)
{
    struct pycode facts;
    uint32_t slot;
    if (!alive && !pycode_read(api, address, &facts)) return NULL;
    const struct pytable_code *c = find_code(address, alive ? NULL : &facts, api->layout, &slot);
    if (c) return c;
    pthread_mutex_lock(&lock);
    c = find_code(address, alive ? NULL : &facts, api->layout, &slot);
    if (!c) c = add_code(api, address, slot);
    pthread_mutex_unlock(&lock);
    return c;
}

/* A word of an object, 0 when unreadable. One that is alive is examined directly: this is called
 * for every module in a stack that has changed. */
static uintptr_t pytable_word_of(uintptr_t object, unsigned word, bool alive)
{
    uintptr_t value = 0, at = object + word * sizeof(void *);
    if (!object || object % sizeof(void *)) return 0;
    if (alive) memcpy(&value, (const void *)at, sizeof value);
    else if (!pyread(&value, at, sizeof value)) return 0;
    return value;
}

static uintptr_t pytable_type_of(uintptr_t object, bool alive)
{
    return pytable_word_of(object, 1, alive);
}

/* The variable `self` of a function is a cell if a function inside it uses it, as in torch's
 * _call_impl: what the cell holds. */
static uintptr_t pytable_held(uintptr_t object, bool alive)
{
    uintptr_t type = pytable_type_of(object, alive);
    return type && type == cell_type ? pytable_word_of(object, 2, alive) : object;
}

static bool pytable_type_name(uintptr_t type, char *name, size_t cap)
{
    enum { TP_NAME = 24 };
    uintptr_t text = 0;
    return pyread(&text, type + TP_NAME, sizeof text) && pyread_text(name, text, cap) > 0;
}

/* "nn.Module: Linear_12", numbered in the order they are seen. With the lock held. */
static uint32_t new_module(uintptr_t type, uint32_t *known)
{
    char class[96], text[128];
    uint32_t *count = map_at(&class_counts, type);
    if (!pytable_type_name(type, class, sizeof class) || !count ||
        VEC_RESERVE(module_list, n_modules, cap_modules, 1))
        return 0;
    if (*count == MAP_NONE) *count = 0;
    snprintf(text, sizeof text, "nn.Module: %s_%u", class, (*count)++);
    module_list[n_modules] = (struct module){type, defs_id(DEF_MODULE, str_c(text))};
    *known = (uint32_t)n_modules;
    return module_list[n_modules++].name;
}

/* With the lock held. */
static uint32_t pytable_module_of(uintptr_t object, bool alive)
{
    object = pytable_held(object, alive);
    uintptr_t type = pytable_type_of(object, alive);
    uint32_t *known = type ? map_at(&modules, object) : NULL;
    if (!known) return 0;
    if (*known != MAP_NONE && module_list[*known].type == type) return module_list[*known].name;
    return new_module(type, known);
}

static uint64_t node_hash(const struct node *n)
{
    return map_mix(((uint64_t)n->parent << 32 ^ (uintptr_t)n->code) ^
                   map_mix((uint64_t)n->module << 32 | n->offset));
}

static struct node *pytable_find_node(const struct node *want, uint32_t *ret_slot)
{
    for (uint32_t i = (uint32_t)node_hash(want) % NODE_SLOTS;; i = (i + 1) % NODE_SLOTS) {
        struct node *n = atomic_load_explicit(&nodes[i], memory_order_acquire);
        if (n && (n->code != want->code || n->parent != want->parent || n->offset != want->offset ||
                  n->module != want->module))
            continue;
        *ret_slot = i;
        return n;
    }
}

/* With the lock held. */
static uint32_t pytable_add_node(const struct pyapi *api, const struct node *want, uint32_t slot)
{
    if (n_nodes >= MOST_NODES) return 0;
    struct def_frame f = {
        .parent = want->parent,
        .code = want->code->name,
        .module = want->module,
        .line = (uint32_t)pycode_line(api, &want->code->facts, want->offset),
    };
    uint32_t number = defs_id(DEF_FRAME, str_from((const char *)&f, sizeof f));
    struct node *n = number ? arena_alloc(&memory, sizeof *n) : NULL;
    if (!n) return 0;
    *n = *want;
    n->number = number;
    n_nodes++;
    atomic_store_explicit(&nodes[slot], n, memory_order_release);
    return number;
}

static uint32_t pytable_node_of(const struct pyapi *api, const struct node *want)
{
    uint32_t slot;
    struct node *n = pytable_find_node(want, &slot);
    if (n) return n->number;
    pthread_mutex_lock(&lock);
    n = pytable_find_node(want, &slot);
    uint32_t number = n ? n->number : pytable_add_node(api, want, slot);
    pthread_mutex_unlock(&lock);
    return number;
}

static uint32_t module_locked(uintptr_t object, bool alive)
{
    pthread_mutex_lock(&lock);
    uint32_t name = pytable_module_of(object, alive);
    pthread_mutex_unlock(&lock);
    return name;
}

/* How much of the stack is as it was. */
static int pytable_unchanged(const struct pyapi *api, const struct pytable_memo *memo,
                             const struct pyframe *frames, int n, bool alive)
{
    int i = 0;
    for (; i < n && i < memo->n; i++) {
        const struct pyframe *now = &frames[n - 1 - i], *then = &memo->at[i].frame;
        const struct pytable_code *c = memo->at[i].code;
        if (now->code != then->code || now->offset != then->offset) break;
        if (c->module_call && now->self != then->self) break;
        if (alive && !pycode_same(api->layout, now->code, &c->facts)) break;
    }
    return i;
}

/* The node of a frame that the last one of the memo called. */
static uint32_t node_after(const struct pyapi *api, const struct pytable_memo *memo,
                           const struct pyframe *f, const struct pytable_code *c, bool alive)
{
    bool wrapped = memo->n && memo->at[memo->n - 1].code->module_call == MODULE_WRAPPER;
    struct node want = {.code = c, .offset = f->offset};
    if (memo->n) want.parent = memo->at[memo->n - 1].node;
    /* A frame that is not a call counts as its caller. */
    if (!pycode_counts(&c->facts, f->offset) || c->module_call == OURS) return want.parent;
    /* A wrapper and the call inside it are one call of the module. */
    if (c->module_call == MODULE_WRAPPER || (c->module_call == MODULE_CALL && !wrapped))
        want.module = module_locked(f->self, alive);
    return pytable_node_of(api, &want);
}

uint32_t pytable_find(const struct pyapi *api, struct pytable_memo *memo,
                      const struct pyframe *frames, int n, bool alive)
{
    pthread_once(&once, pytable_do_prepare);
    for (memo->n = pytable_unchanged(api, memo, frames, n, alive); memo->n < n; memo->n++) {
        const struct pyframe *f = &frames[n - 1 - memo->n];
        const struct pytable_code *c = code_of(api, f->code, alive);
        if (!c) return 0;
        uint32_t node = node_after(api, memo, f, c, alive);
        if (!node && pycode_counts(&c->facts, f->offset) && c->module_call != OURS) return 0;
        memo->at[memo->n].frame = *f;
        memo->at[memo->n].code = c;
        memo->at[memo->n].node = node;
    }
    return n ? memo->at[n - 1].node : 0;
}
