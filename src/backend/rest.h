/* rest.h: a long run is not recorded throughout (strata run --level timeline without --always).
 *
 *     recorded |============|      |==|          |==|                    |==|
 *              units are steady    wakes briefly, longer and longer apart
 *
 * Once enough of what the program repeats (record/repeats.h) took about the same time, or after
 * half a minute of work, the recorder rests: the device's library is switched off, nothing is
 * sampled. It wakes for some units, after 10 s, 20 s, 40 s and then every minute, and at once when
 * the units take another time than before. Stages, derived ranges and NVTX go on: they are cheap,
 * and say how long every unit took. One process of a run rests; ranks, which are compared with each
 * other, do not. Marks in the recording (format/ring.h) say when it rested. */
#ifndef STRATA_BACKEND_REST_H
#define STRATA_BACKEND_REST_H

#include <stdbool.h>
#include <stdint.h>

#include "record/repeats.h"

/* Whether this process may rest (STRATA_REST=on). */
bool rest_wanted(void);

/* The recording of this process has begun, or is over. Any number of times. */
void rest_start(void);
void rest_stop(void);

/* Another recorder of this process sees units, too. */
void rest_listen(struct repeats_seen *units);

/* Something that must be recorded begins, or that must not be disturbed; or it ends. It wakes, and
 * stays awake until all have ended. */
void rest_hold(bool begins);

/* rest_plan.c: when to rest and when to wake. */

/* What is known at one look. */
struct rest_look {
    uint64_t now_ns;
    bool works; /* there is work on a device, or units */
    bool held;
    uint32_t name, n; /* of the unit */
    uint64_t usual_ns;
    bool steady;
};

/* Begins as zeroes but for the scale. */
struct rest_plan {
    double scale; /* of all its times; 1 but in tests */
    bool resting;
    uint64_t began_ns; /* work; 0: none yet */
    uint64_t since_ns; /* when it began to rest, or woke */
    uint64_t slept;    /* how long it is to rest, when it does */
    uint64_t usual_ns; /* of the unit, when it began to rest */
    uint32_t name, n;  /* of the unit, when it woke */
    uint32_t n_rests;
};

/* Whether it is to rest from now on; changes the plan accordingly. */
bool rest_plan_look(struct rest_plan *p, const struct rest_look *k);

#endif
