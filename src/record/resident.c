/* resident.c: see resident.h. */
#include "record/resident.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "record/names.h"
#include "record/recorder.h"

#define RESIDENT_MS 10

_Atomic uint64_t resident_next;

/* Bytes; 0 where /proc does not say. */
static double resident_bytes(void)
{
    char text[64];
    int fd = fd_open("/proc/self/statm", O_RDONLY, 0);
    if (fd < 0) return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *second = strchr(text, ' ');
    return second ? (double)strtoll(second, NULL, 10) * (double)sysconf(_SC_PAGESIZE) : 0;
}

void resident_look(uint64_t ticks)
{
    static _Atomic uint64_t every;                      /* ticks between two looks */
    if (!recorder_mine || !recorder_mine->head) return; /* the end itself was not recorded */
    uint64_t due = atomic_load_explicit(&resident_next, memory_order_relaxed), step = every;
    if (!step) every = step = (uint64_t)(recorder_ticks_per_second() * RESIDENT_MS / 1000) + 1;
    if (ticks < due || !atomic_compare_exchange_strong(&resident_next, &due, ticks + step)) return;
    double bytes = resident_bytes();
    uint64_t value;
    memcpy(&value, &bytes, sizeof value);
    uint16_t name = (uint16_t)names_id(str_c(RING_RESIDENT));
    if (bytes > 0)
        recorder_put((struct ring_record){.kind = RING_COUNTER, .name = name, .ticks = ticks},
                     value);
}
