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
    } what[MOST_OPEN];
};

static __thread struct open_ranges *mine __attribute__((tls_model("initial-exec")));
static pthread_key_t at_thread_exit;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void thread_exits(void *ranges)
{
    mine = NULL;
    mem_free(ranges);
}

static void prepare(void)
{
    pthread_key_create(&at_thread_exit, thread_exits);
}

static bool make_mine(void)
{
    pthread_once(&once, prepare);
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
    recorder_put((struct ring_record){.kind = RING_BEGIN,
                                      .name = (uint16_t)name,
                                      .category = (uint16_t)category},
                 0);
    return true;
}

static int find(uintptr_t key)
{
    int least = mine->n > LOOK_BACK ? mine->n - LOOK_BACK : 0;
    for (int i = mine->n; i-- > least;)
        if (mine->keys[i] == key) return i;
    return -1;
}

void ranges_end(uintptr_t key)
{
    if (!mine || !mine->n) return;
    if (mine->n > MOST_OPEN) {
        mine->n--;
        return;
    }
    int at = find(key);
    for (; at >= 0 && mine->n > at; mine->n--)
        recorder_put((struct ring_record){.kind = RING_END}, 0);
}

uint32_t ranges_innermost(uint32_t category)
{
    int n = mine ? mine->n : 0;
    for (int i = n < MOST_OPEN ? n : MOST_OPEN; i-- > 0;)
        if (mine->what[i].category == category) return mine->what[i].name;
    return 0;
}
