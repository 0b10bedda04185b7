/* long_run.h: the recording of a program that ran for long, written by the recorder itself with
 * times that never passed: a loop whose steps launch kernels and wait for them, on a device, with
 * samples of a Python stack. */
#ifndef STRATA_TESTS_LONG_RUN_H
#define STRATA_TESTS_LONG_RUN_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/defs.h"
#include "record/names.h"
#include "record/recorder.h"

#define LONG_STEP_NS   20000000u
#define LONG_LAUNCH_NS 100000u
#define LONG_KERNEL_NS 90000u

enum { LONG_LAUNCHES = 128, LONG_SAMPLES = 20, LONG_RINGS = 3 };

struct long_run {
    uint32_t n_steps;
    uint64_t begin; /* ns */
    uint32_t kernel, stack, waiting;
    uint16_t launch, sync, step;
    pthread_barrier_t ready, done;
};

static inline struct ring_record long_value(uint64_t v, uint32_t extra)
{
    return ring_with_id((struct ring_record){.ticks = v, .kind = RING_VALUE}, extra);
}

static inline void long_put(struct ring_record r, struct ring_record value)
{
    struct ring_record slots[2] = {r, value};
    recorder_put_all(slots, 2);
}

static inline uint64_t long_step_at(const struct long_run *r, uint32_t step)
{
    return r->begin + (uint64_t)step * LONG_STEP_NS;
}

/* Waits until its thread has a ring, and until nobody needs one any more. */
static inline void long_wait(pthread_barrier_t *at)
{
    recorder_put((struct ring_record){.kind = RING_PAD}, 0);
    pthread_barrier_wait(at);
}

static inline uint32_t long_correlation(uint32_t step, uint32_t launch)
{
    return step * (LONG_LAUNCHES + 1) + launch + 1;
}

static void *long_program(void *arg)
{
    struct long_run *r = arg;
    long_wait(&r->ready);
    recorder_put((struct ring_record){.ticks = r->begin, .kind = RING_BEGIN, .name = r->step + 1},
                 0);
    for (uint32_t s = 0; s < r->n_steps; s++) {
        uint64_t at = long_step_at(r, s), end = at + (LONG_LAUNCHES + 2) * LONG_LAUNCH_NS;
        recorder_put((struct ring_record){.ticks = at, .kind = RING_BEGIN, .name = r->step}, 0);
        for (uint32_t i = 0; i < LONG_LAUNCHES; i++) {
            uint64_t call = at + i * LONG_LAUNCH_NS;
            long_put(
                (struct ring_record){.ticks = call + 5000, .kind = RING_CALL, .name = r->launch},
                long_value(call, long_correlation(s, i)));
        }
        uint64_t call = at + LONG_LAUNCHES * LONG_LAUNCH_NS;
        struct ring_record slots[4] = {
            {.ticks = end, .kind = RING_CALL, .name = r->sync},
            long_value(call, long_correlation(s, LONG_LAUNCHES)),
            ring_with_id((struct ring_record){.ticks = call, .kind = RING_STACK}, r->waiting),
            long_value(end, 0)};
        recorder_put_all(slots, 4);
        recorder_put((struct ring_record){.ticks = end + 10000, .kind = RING_END}, 0);
    }
    recorder_put((struct ring_record){.ticks = long_step_at(r, r->n_steps), .kind = RING_END}, 0);
    pthread_barrier_wait(&r->done);
    return NULL;
}

/* The thread that takes what the device did. */
static void *long_device(void *arg)
{
    struct long_run *r = arg;
    long_wait(&r->ready);
    for (uint32_t s = 0; s < r->n_steps; s++)
        for (uint32_t i = 0; i < LONG_LAUNCHES; i++) {
            uint64_t at = long_step_at(r, s) + i * LONG_LAUNCH_NS + 7000;
            long_put(ring_with_id((struct ring_record){.ticks = at, .kind = RING_WORK}, r->kernel),
                     long_value(at + LONG_KERNEL_NS, long_correlation(s, i)));
        }
    pthread_barrier_wait(&r->done);
    return NULL;
}

static void *long_sampler(void *arg)
{
    struct long_run *r = arg;
    uint64_t tid = (uint64_t)getpid();
    long_wait(&r->ready);
    for (uint32_t s = 0; s < r->n_steps; s++)
        for (uint32_t i = 0; i < LONG_SAMPLES; i++)
            recorder_put(
                ring_with_id((struct ring_record){.ticks = long_step_at(r, s) + i * 1000000u,
                                                  .kind = RING_STACK_OF},
                             r->stack),
                tid);
    pthread_barrier_wait(&r->done);
    return NULL;
}

static inline uint32_t long_frame(uint32_t parent, const char *code, uint32_t line)
{
    struct def_frame f = {.parent = parent, .code = defs_id(DEF_CODE, str_c(code)), .line = line};
    return defs_id(DEF_FRAME, str_from((const char *)&f, sizeof f));
}

static inline void long_define(struct long_run *r)
{
    struct {
        struct def_work work;
        char name[8];
    } k = {.work = {DEF_WORK_KERNEL, 0, 1, 7, {64, 1, 1}, {256, 1, 1}, 32, 1024}, .name = "matmul"};
    struct {
        struct def_device device;
        char name[8];
    } d = {.device = {.major = 9, .n_sms = 132, .warp_size = 32, .memory_bytes = 1ll << 37},
           .name = "H200"};
    r->kernel = defs_id(DEF_WORK, str_from((const char *)&k, sizeof k.work + 6));
    (void)defs_id(DEF_DEVICE, str_from((const char *)&d, sizeof d.device + 4));
    (void)defs_id(DEF_FACT, str_c("sample_period_us=1000"));
    uint32_t main = long_frame(0, "train.py(1): <module>", 40);
    r->stack = long_frame(main, "train.py(10): train", 14);
    r->waiting = long_frame(main, "train.py(10): train", 17);
    r->step = (uint16_t)names_id(str_c("train_step"));
    if (names_id(str_c("training")) != (uint32_t)r->step + 1) abort();
    r->launch = (uint16_t)names_id(str_c("cuLaunchKernel"));
    r->sync = (uint16_t)names_id(str_c("cuStreamSynchronize"));
}

/* Leaves the recording of `n_steps` steps in `dir`; about 280 records each. */
static inline void long_run_record(const char *dir, uint32_t n_steps)
{
    struct recorder_options o = {
        .where.dir = dir, .os_clock = true, .budget_bytes = (uint64_t)1 << 40};
    if (recorder_start(&o, NULL) < 0) abort();
    struct long_run r = {.n_steps = n_steps, .begin = clock_mono_ns() + 1000000};
    long_define(&r);
    pthread_barrier_init(&r.ready, NULL, LONG_RINGS);
    pthread_barrier_init(&r.done, NULL, LONG_RINGS);
    pthread_t device, sampler;
    if (pthread_create(&device, NULL, long_device, &r) ||
        pthread_create(&sampler, NULL, long_sampler, &r))
        abort();
    long_program(&r);
    pthread_join(device, NULL);
    pthread_join(sampler, NULL);
    pthread_barrier_destroy(&r.ready);
    pthread_barrier_destroy(&r.done);
}

#endif
