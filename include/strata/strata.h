/* strata.h: mark what a program does, for C and C++.
 *
 *     strata_begin("decode");            a range on this thread, until strata_end
 *     decode(frame);
 *     strata_end();
 *
 *     { STRATA_SCOPE("upload"); ... }    a range until the end of the block, whatever leaves it
 *     strata_counter("queue", depth);    a value over time
 *
 * Off, every mark is one load and one branch, so marks can stay in shipped code. Compiled with
 * -DSTRATA_DISABLE they are gone. Link with -lstrata_record. Recording starts when the program is
 * run by `strata run`, when STRATA=on is in its environment, or with strata_start. Records are in
 * mapped files the moment they are made: a killed process keeps all of them.
 *
 * Every function may be called from any thread. None of them prints, exits or fails visibly: what
 * could not be recorded is counted. Strings are copied at the first use and then known by their
 * content; pass literals or a small set of names, not text that differs every time. The lower-case
 * marks look the text up on every call (about 10 ns more); the upper-case macros remember it in a
 * static variable and therefore take one fixed text. */
#ifndef STRATA_STRATA_H
#define STRATA_STRATA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Recording in cycles of steps, as torch.profiler.schedule counts them: after `skip_first` steps,
 * `wait` steps without, `warmup` steps in which files are made ready, `active` steps recorded;
 * `repeat` such cycles, 0 for no end. */
struct strata_schedule {
    uint32_t wait, warmup, active, repeat, skip_first;
};

struct strata_name {
    const char *text;
    uint32_t id; /* 0 until the text was seen */
};

#define STRATA_API __attribute__((visibility("default")))

/* Starts recording into the folder `dir`, or where the environment says when it is NULL. 0, or -1
 * when it could not be started; strata_trouble then says why. */
STRATA_API int strata_start(const char *dir);
STRATA_API void strata_stop(void);
STRATA_API const char *strata_trouble(void);

/* Steps: call strata_step at the beginning of each; it ends the one before. Without a schedule
 * everything is recorded; with one, its active steps and nothing before the first step. */
STRATA_API void strata_set_schedule(const struct strata_schedule *s);
STRATA_API void strata_step(void);

STRATA_API void strata_thread_name(const char *name);
STRATA_API void strata_process_name(const char *name);

/* What the inline functions below call when recording is on. Not to be called directly. */
extern STRATA_API int strata_on_;
STRATA_API void strata_begin_(const char *category, const char *name);
STRATA_API void strata_begin_name_(struct strata_name *name);
STRATA_API void strata_end_(void);
STRATA_API void strata_instant_(const char *name);
STRATA_API void strata_counter_(const char *name, double value);
STRATA_API void strata_arg_int_(const char *key, int64_t value);
STRATA_API void strata_arg_num_(const char *key, double value);
STRATA_API void strata_arg_text_(const char *key, const char *value);

/* Whether marks are recorded now. */
#ifdef STRATA_DISABLE
#define strata_on()               0
#define strata_start(dir)         ((void)(dir), 0)
#define strata_stop()             ((void)0)
#define strata_trouble()          "compiled with STRATA_DISABLE"
#define strata_set_schedule(s)    ((void)(s))
#define strata_step()             ((void)0)
#define strata_thread_name(name)  ((void)(name))
#define strata_process_name(name) ((void)(name))
#else
static inline int strata_on(void)
{
    return __builtin_expect(__atomic_load_n(&strata_on_, __ATOMIC_RELAXED), 0);
}
#endif

/* A range on the calling thread; ranges nest. */
static inline void strata_begin(const char *name)
{
    if (strata_on()) strata_begin_((const char *)0, name);
}

static inline void strata_begin_in(const char *category, const char *name)
{
    if (strata_on()) strata_begin_(category, name);
}

static inline void strata_end(void)
{
    if (strata_on()) strata_end_();
}

/* Something that happens at one moment. */
static inline void strata_instant(const char *name)
{
    if (strata_on()) strata_instant_(name);
}

/* A value from now on. */
static inline void strata_counter(const char *name, double value)
{
    if (strata_on()) strata_counter_(name, value);
}

/* A detail of the range or instant that this thread marked last: directly after it. */
static inline void strata_arg_int(const char *key, int64_t value)
{
    if (strata_on()) strata_arg_int_(key, value);
}

static inline void strata_arg_num(const char *key, double value)
{
    if (strata_on()) strata_arg_num_(key, value);
}

static inline void strata_arg_text(const char *key, const char *value)
{
    if (strata_on()) strata_arg_text_(key, value);
}

/* The same with a text that is looked up once, for the hottest places. */
#define STRATA_BEGIN(text)                                        \
    do {                                                          \
        if (strata_on()) {                                        \
            static struct strata_name strata_name_ = {(text), 0}; \
            strata_begin_name_(&strata_name_);                    \
        }                                                         \
    } while (0)
#define STRATA_END() strata_end()

/* A range until the enclosing block is left, by a C++ exception too. */
#ifdef STRATA_DISABLE
#define STRATA_SCOPE(text) ((void)0)
#else
#define STRATA_SCOPE(text) STRATA_SCOPE_NUMBER_(text, __COUNTER__)
#define STRATA_SCOPE_NUMBER_(text, number) \
    STRATA_SCOPE_(text, STRATA_JOIN_(strata_name_, number), STRATA_JOIN_(strata_scope_, number))
#define STRATA_SCOPE_(text, name, scope)                                               \
    static struct strata_name name = {(text), 0};                                      \
    __attribute__((cleanup(strata_scope_end_), unused)) const int scope = strata_on(); \
    if (scope) strata_begin_name_(&name)
#define STRATA_JOIN_(a, b)  STRATA_JOIN2_(a, b)
#define STRATA_JOIN2_(a, b) a##b
#endif

static inline void strata_scope_end_(const int *begun)
{
    if (*begun) strata_end();
}

#ifdef __cplusplus
}
#endif

#endif
