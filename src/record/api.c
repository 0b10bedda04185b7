/* api.c: the functions of strata/strata.h. Each turns its arguments into one record. */
#include "strata/strata.h"

#include <string.h>

#include "record/names.h"
#include "record/recorder.h"
#include "record/resident.h"
#include "record/schedule.h"
#include "record/slow.h"

int strata_on_;

static struct err start_error;

static void api_turn(int on)
{
    __atomic_store_n(&strata_on_, on, __ATOMIC_RELEASE);
}

static uint16_t api_id_of(const char *text)
{
    return text ? (uint16_t)names_id(str_c(text)) : 0;
}

static void api_put(enum ring_kind kind, const char *category, uint16_t name)
{
    recorder_put((struct ring_record){.kind = kind, .category = api_id_of(category), .name = name},
                 0);
}

static uint64_t api_bits(double v)
{
    uint64_t u;
    memcpy(&u, &v, sizeof u);
    return u;
}

int strata_start(const char *dir)
{
    struct recorder_options o;
    recorder_options_from_env(&o);
    if (dir) o.where.dir = dir;
    err_init(&start_error);
    if (recorder_start(&o, &start_error) < 0) return -1;
    api_turn(schedule_active());
    return 0;
}

void strata_stop(void)
{
    if (strata_on()) api_put(RING_PAUSE, NULL, 0);
    api_turn(0);
}

const char *strata_trouble(void)
{
    return start_error.code ? start_error.msg : recorder_trouble();
}

void strata_set_schedule(const struct strata_schedule *s)
{
    schedule_set(s);
    if (recorder_started()) api_turn(schedule_active());
}

void strata_step(void)
{
    if (!recorder_started()) return;
    struct schedule_change c = schedule_next();
    slow_step();
    if (c.getting_ready && !recorder_mine) recorder_adopt();
    if (c.active) recorder_put((struct ring_record){.kind = RING_STEP}, c.number);
    else if (c.was_active) api_put(RING_PAUSE, NULL, 0);
    api_turn(c.active);
}

void strata_thread_name(const char *name)
{
    if (recorder_started()) recorder_set_thread_name(api_id_of(name));
}

void strata_process_name(const char *name)
{
    if (recorder_started()) recorder_set_process_name(api_id_of(name));
}

void strata_begin_(const char *category, const char *name)
{
    api_put(RING_BEGIN, category, api_id_of(name));
}

void strata_begin_name_(struct strata_name *name)
{
    uint32_t id = __atomic_load_n(&name->id, __ATOMIC_RELAXED);
    if (__builtin_expect(!id, 0)) {
        id = api_id_of(name->text);
        __atomic_store_n(&name->id, id, __ATOMIC_RELAXED);
    }
    api_put(RING_BEGIN, NULL, (uint16_t)id);
}

void strata_end_(void)
{
    resident_saw(recorder_put((struct ring_record){.kind = RING_END}, 0));
}

void strata_instant_(const char *name)
{
    api_put(RING_INSTANT, NULL, api_id_of(name));
}

void strata_counter_(const char *name, double value)
{
    recorder_put((struct ring_record){.kind = RING_COUNTER, .name = api_id_of(name)},
                 api_bits(value));
}

static void put_arg(const char *key, enum ring_type type, uint64_t value)
{
    recorder_put((struct ring_record){.kind = RING_ARG, .type = type, .name = api_id_of(key)},
                 value);
}

void strata_arg_int_(const char *key, int64_t value)
{
    put_arg(key, RING_INT, (uint64_t)value);
}

void strata_arg_num_(const char *key, double value)
{
    put_arg(key, RING_NUM, api_bits(value));
}

void strata_arg_text_(const char *key, const char *value)
{
    put_arg(key, RING_TEXT, api_id_of(value));
}
