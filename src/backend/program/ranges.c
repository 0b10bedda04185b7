/* ranges.c: see ranges.h. */
#include "backend/program/ranges.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/mem.h"
#include "record/recorder.h"

enum { MOST_OPEN = 512, LOOK_BACK = 64 };

struct open_ranges {
    int n; /* may go beyond MOST_OPEN: those are counted, not recorded */
    uintptr_t keys[MOST_OPEN];
    struct {
        uint16_t category, name;
        uint32_t inputs;
        uint64_t begin; /* ticks */
    } what[MOST_OPEN];
};

static __thread struct open_ranges *mine __attribute__((tls_model("initial-exec")));
static pthread_key_t at_thread_exit;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void ranges_thread_exits(void *ranges)
{
    mine = NULL;
    mem_free(ranges);
}

static void ranges_prepare(void)
{
    pthread_key_create(&at_thread_exit, ranges_thread_exits);
}

static bool make_mine(void)
{
    pthread_once(&once, ranges_prepare);
    mine = mem_zalloc(1, sizeof *mine);
    if (mine) pthread_setspecific(at_thread_exit, mine);
    return mine != NULL;
}

bool ranges_begin(uint32_t category, uint32_t name, uintptr_t key)
{
    if (__builtin_expect(!mine, 0) && !make_mine()) return false;
    if (mine->n++ >= MOST_OPEN) return false;
    mine->keys[mine->n - 1] = key;
    mine->what[mine->n - 1].category = (uint16_t)category;
    mine->what[mine->n - 1].name = (uint16_t)name;
    mine->what[mine->n - 1].inputs = 0;
    struct ring_record begin = {
        .kind = RING_BEGIN, .name = (uint16_t)name, .category = (uint16_t)category};
    mine->what[mine->n - 1].begin = recorder_put(begin, 0);
    return true;
}

static int ranges_find(uintptr_t key)
{
    int least = mine->n > LOOK_BACK ? mine->n - LOOK_BACK : 0;
    for (int i = mine->n; i-- > least;)
        if (mine->keys[i] == key) return i;
    return -1;
}

struct range_ended ranges_end(uintptr_t key)
{
    struct range_ended ended = {0};
    if (!mine || !mine->n) return ended;
    if (mine->n > MOST_OPEN) {
        mine->n--;
        return ended;
    }
    int at = ranges_find(key);
    if (at >= 0) ended = (struct range_ended){mine->what[at].name, mine->what[at].begin, 0};
    for (; at >= 0 && mine->n > at; mine->n--)
        ended.end = recorder_put((struct ring_record){.kind = RING_END}, 0);
    return ended;
}

bool ranges_is_innermost(uintptr_t key)
{
    return mine && mine->n > 0 && mine->n <= MOST_OPEN && mine->keys[mine->n - 1] == key;
}

void ranges_set_inputs(uint32_t inputs)
{
    if (mine && mine->n > 0 && mine->n <= MOST_OPEN) mine->what[mine->n - 1].inputs = inputs;
}

uint32_t ranges_inputs(uint32_t category, uint64_t *ret_call)
{
    int n = mine ? mine->n : 0;
    for (int i = n < MOST_OPEN ? n : MOST_OPEN; i-- > 0;) {
        if (mine->what[i].category != category) continue;
        *ret_call = mine->what[i].begin ^ ((uint64_t)mine->keys[i] << 20);
        return mine->what[i].inputs;
    }
    return 0;
}

uint32_t ranges_innermost(uint32_t category)
{
    int n = mine ? mine->n : 0;
    for (int i = n < MOST_OPEN ? n : MOST_OPEN; i-- > 0;)
        if (mine->what[i].category == category) return mine->what[i].name;
    return 0;
}
