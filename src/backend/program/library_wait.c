/* library_wait.c: see python_side.h. */
#include "backend/program/python_side.h"

#include "backend/program/pystack.h"
#include "backend/program/watched.h"
#include "record/names.h"
#include "record/recorder.h"

uint64_t library_wait_begin(void)
{
    if (!python_side_on()) return 0;
    uint64_t now = clock_ticks(recorder_clock());
    watched_enters(now);
    return now;
}

void library_wait_end(uint64_t begin, const char *name)
{
    if (!begin || !python_side_on()) return;
    uint64_t end = clock_ticks(recorder_clock());
    struct ring_record slots[2] = {
        {.ticks = end,
         .kind = RING_CALL,
         .name = (uint16_t)names_id(str_c(name)),
         .category = (uint16_t)names_id(str_c(RING_LIBRARY_CALL))},
        {.ticks = begin, .kind = RING_VALUE},
    };
    recorder_put_all(slots, 2);
    uint32_t stack = pystack_now();
    if (stack)
        recorder_put(ring_with_id((struct ring_record){.kind = RING_STACK, .ticks = begin}, stack),
                     end);
    watched_was_seen(end);
}
