/* test_pystack.c: stacks, samples and refusals with an interpreter that is none: this program has
 * the functions and objects of CPython 3.12 that the walk looks for, so that sanitizers see all of
 * it. The real ones are walked in tests/python. */
#include "backend/program/pystack.h"

#include <pthread.h>
#include <stdatomic.h>

#include "analyze/names/source_place.h"
#include "backend/program/python_side.h"
#include "backend/program/watched.h"
#include "record/recorder.h"
#include "recording.h"

#define EXPORT __attribute__((visibility("default"), used))

/* Objects, at the offsets of 3.12. */
struct text {
    char head[16];
    int64_t length, hash;
    uint32_t state;
    char data[64 - 36];
};

struct table {
    char head[16];
    int64_t size, hash;
    uint8_t data[64];
};

struct code {
    int64_t refs;
    const void *type;
    char pad[52];
    int32_t first_line;
    char more[40];
    struct text *file, *name, *qualname;
    struct table *lines;
    char rest[32];
    int32_t first;
    char extra[12];
    uint8_t instructions[40];
};

struct pyframe_312 {
    struct code *code;
    struct pyframe_312 *back;
    char pad[40];
    uint8_t *instr;
    char more[6];
    uint8_t owner;
    char rest[1];
    void *self;
};

struct cframe {
    struct pyframe_312 *current;
};

struct tstate {
    char pad[56];
    struct cframe *cframe;
};

_Static_assert(offsetof(struct text, data) == 36, "offsets of 3.12");
_Static_assert(offsetof(struct table, data) == 32, "offsets of 3.12");
_Static_assert(offsetof(struct code, first_line) == 68, "offsets of 3.12");
_Static_assert(offsetof(struct code, file) == 112, "offsets of 3.12");
_Static_assert(offsetof(struct code, lines) == 136, "offsets of 3.12");
_Static_assert(offsetof(struct code, first) == 176, "offsets of 3.12");
_Static_assert(offsetof(struct code, instructions) == 192, "offsets of 3.12");
_Static_assert(offsetof(struct pyframe_312, instr) == 56, "offsets of 3.12");
_Static_assert(offsetof(struct pyframe_312, owner) == 70, "offsets of 3.12");
_Static_assert(offsetof(struct pyframe_312, self) == 72, "offsets of 3.12");
_Static_assert(offsetof(struct tstate, cframe) == 56, "offsets of 3.12");

/* Around all others: through it C code came in. */
static struct pyframe_312 root = {.owner = 3};

/* The interpreter's functions. */
static __thread struct tstate *this_tstate;
static const char *version = "3.12.1 (main)";
static bool has_gil = true, initialized = true, lines_lie;

EXPORT char PyCode_Type[400];
EXPORT uint64_t _PyRuntime[64]; /* begins with the list of offsets, from 3.13 on */
EXPORT const char *Py_GetVersion(void);
EXPORT int Py_IsInitialized(void);
EXPORT void *PyGILState_GetThisThreadState(void);
EXPORT void *_PyThreadState_UncheckedGet(void);
EXPORT int Py_AddPendingCall(int (*fn)(void *), void *arg);
EXPORT void *PyEval_GetFrame(void);
EXPORT void *PyFrame_GetBack(void *frame);
EXPORT void *PyFrame_GetCode(void *frame);
EXPORT int PyFrame_GetLineNumber(void *frame);
EXPORT const char *PyUnicode_AsUTF8(void *text);
EXPORT void Py_DecRef(void *object);

const char *Py_GetVersion(void)
{
    return version;
}

int Py_IsInitialized(void)
{
    return initialized;
}

void *PyGILState_GetThisThreadState(void)
{
    return this_tstate;
}

void *_PyThreadState_UncheckedGet(void)
{
    return has_gil ? this_tstate : NULL;
}

static int (*pending)(void *);

int Py_AddPendingCall(int (*fn)(void *), void *arg)
{
    (void)arg;
    pending = fn;
    return 0;
}

void *PyEval_GetFrame(void)
{
    return this_tstate->cframe->current;
}

/* As the interpreter does: those through which C code came in are nobody's, and so are those that
 * have not begun. */
static bool is_nobodys(const struct pyframe_312 *f)
{
    return f->owner == 3 || f->instr < f->code->instructions + (ptrdiff_t)f->code->first * 2;
}

void *PyFrame_GetBack(void *frame)
{
    struct pyframe_312 *f = ((struct pyframe_312 *)frame)->back;
    while (f && is_nobodys(f)) f = f->back;
    return f;
}

void *PyFrame_GetCode(void *frame)
{
    return ((struct pyframe_312 *)frame)->code;
}

static int line_of(const struct pyframe_312 *f)
{
    return f->code->first_line + 1 + (int)(f->instr - f->code->instructions) / 2;
}

int PyFrame_GetLineNumber(void *frame)
{
    return line_of(frame) + lines_lie;
}

const char *PyUnicode_AsUTF8(void *text)
{
    return (char *)text + 40;
}

void Py_DecRef(void *object)
{
    (void)object;
}

static void set_text(struct text *t, const char *s)
{
    enum { ASCII_COMPACT = 1 << 2 | 32 | 64 };
    *t = (struct text){.length = (int64_t)strlen(s), .state = ASCII_COMPACT};
    snprintf((char *)t + 40, sizeof *t - 40, "%s", s);
}

/* One line an instruction: entries of one unit, one line further down, two columns. */
static void set_lines(struct table *t)
{
    enum { ONE_LINE_DOWN = 0x80 | 11 << 3 };
    t->size = 60;
    for (int i = 0; i < 60; i += 3) {
        t->data[i] = ONE_LINE_DOWN;
        t->data[i + 1] = t->data[i + 2] = 1;
    }
}

struct function {
    struct code code;
    struct text file, name;
    struct table lines;
};

static void set_function(struct function *f, const char *file, const char *name, int first_line)
{
    memset(f, 0, sizeof *f);
    set_text(&f->file, file);
    set_text(&f->name, name);
    set_lines(&f->lines);
    f->code = (struct code){.type = PyCode_Type,
                            .first_line = first_line,
                            .file = &f->file,
                            .name = &f->name,
                            .lines = &f->lines};
}

enum { INNER = 3, DEPTH = 8 };

/* A thread of that interpreter, with room for some frames; frame 0 is the outermost. */
struct runner {
    struct tstate tstate;
    struct cframe cframe;
    struct pyframe_312 frames[DEPTH];
};

static void enter(struct runner *r, int depth, struct function *f, int instruction)
{
    struct pyframe_312 *frame = &r->frames[depth];
    *frame = (struct pyframe_312){.code = &f->code,
                                  .back = depth ? &r->frames[depth - 1] : &root,
                                  .instr = f->code.instructions + instruction * 2};
    r->cframe.current = frame;
}

static void begin_thread(struct runner *r)
{
    memset(r, 0, sizeof *r);
    r->tstate.cframe = &r->cframe;
    this_tstate = &r->tstate;
}

static struct function outer, around, inner;
static struct runner me;

static void set_up(const char *dir)
{
    strata_start(dir);
    set_function(&outer, "x.py", "outer", 10);
    set_function(&inner, "x.py", "inner", 50);
    begin_thread(&me);
    enter(&me, 0, &outer, 3);
    enter(&me, 1, &outer, 0);
    me.frames[1].owner = 3; /* through C */
    set_function(&around, "x.py", "around", 30);
    around.code.first = 4;
    enter(&me, 2, &around, 3); /* the interpreter's own */
    enter(&me, INNER, &inner, 4);
}

static void walk(const char *dir)
{
    struct err e;
    err_init(&e);
    set_up(dir);
    CHECK_EQ_INT(pystack_init(&e), 0);
    REQUIRE(pystack_ready());
    has_gil = false;
    uint32_t a = pystack_now();
    CHECK(a != 0);
    CHECK_EQ_UINT(pystack_now(), a);
    enter(&me, INNER, &inner, 5);
    uint32_t b = pystack_now();
    CHECK(b != 0 && b != a);
    enter(&me, INNER, &inner, 4);
    CHECK_EQ_UINT(pystack_now(), a);
    pystack_mark(1000, 2000);
    /* Another function takes the place of the first in memory. */
    set_function(&inner, "y.py", "other", 70);
    enter(&me, INNER, &inner, 4);
    uint32_t c = pystack_now();
    CHECK(c != 0 && c != a);
    this_tstate = NULL;
    CHECK_EQ_UINT(pystack_now(), 0);
}

TEST(a_stack_is_a_number)
{
    struct folder f = folder_new();
    CHECK_EQ_INT(in_child(walk, f.path), 0);
    folder_done(&f);
}

static void mark_lines(const char *dir)
{
    set_up(dir);
    CHECK_EQ_INT(pystack_init(NULL), 0);
    uint64_t begin = clock_ticks(recorder_clock());
    pystack_mark(begin, clock_ticks(recorder_clock()) + 1000);
}

/* What a report says of something inside `r`: the running line, and each function once. */
static void check_place(const struct trace *t, row_t r)
{
    struct source_places w;
    struct place p;
    row_t stack[8];
    REQUIRE(source_places_init(&w, t, NULL) == 0);
    source_places_find(&w, r, &p);
    CHECK_EQ_INT(p.source.line, 55);
    CHECK(!p.line_is_start);
    CHECK_EQ_INT(source_places_stack(&w, r, stack, 8), 2);
    source_places_done(&w);
}

TEST(a_wait_has_functions_and_lines_around_it)
{
    struct folder f;
    struct trace *t = record_in_child(mark_lines, &f);
    REQUIRE(t != NULL);
    row_t o = find_row(t, "x.py(10): outer"), i = find_row(t, "x.py(50): inner");
    row_t ol = find_row(t, "x.py(14): outer"), il = find_row(t, "x.py(55): inner");
    REQUIRE(o != ROW_NONE && i != ROW_NONE && ol != ROW_NONE && il != ROW_NONE);
    CHECK_EQ_INT(t->parent[ol], o);
    CHECK_EQ_INT(t->parent[i], ol);
    CHECK_EQ_INT(t->parent[il], i);
    CHECK_EQ_INT(t->flags[ol] & ROW_LINE, ROW_LINE);
    CHECK_EQ_INT(t->flags[o] & ROW_LINE, 0);
    check_place(t, il);
    trace_free(t);
    folder_done(&f);
}

static void check_refused(const char *dir, const char *why)
{
    struct err e;
    err_init(&e);
    set_up(dir);
    CHECK_EQ_INT(pystack_init(&e), ERR_UNSUPPORTED);
    CHECK(strstr(e.msg, why) != NULL);
    CHECK(!pystack_ready());
    CHECK_EQ_UINT(pystack_now(), 0);
    err_init(&e);
    CHECK_EQ_INT(pystack_init(&e), ERR_UNSUPPORTED);
}

static void refuse_newer(const char *dir)
{
    version = "3.16.0 (main)";
    check_refused(dir, "Python 3.16");
}

static void refuse_older(const char *dir)
{
    version = "3.9.1 (main)";
    check_refused(dir, "Python 3.9");
}

static void refuse_free_threads(const char *dir)
{
    version = "3.13.0 experimental free-threading build (main)";
    check_refused(dir, "free-threaded");
}

static void begin_list(const char *of)
{
    version = of;
    memcpy(_PyRuntime, "xdebugpy", sizeof *_PyRuntime);
}

static void refuse_listed_free_threads(const char *dir)
{
    begin_list("3.14.0 (main)");
    _PyRuntime[2] = 1;
    check_refused(dir, "Python 3.14 is a free-threaded build");
}

static void refuse_listed_layout(const char *dir)
{
    begin_list("3.15.0 (main)");
    check_refused(dir, "Python 3.15 has an unknown frame layout");
}

/* The table does not fit: 3.11 keeps its frames elsewhere. What is read there is no frame. */
static void refuse_other_layout(const char *dir)
{
    version = "3.11.0 (main)";
    check_refused(dir, "not where they should be");
}

static void refuse_wrong_lines(const char *dir)
{
    lines_lie = true;
    check_refused(dir, "not where they should be");
}

TEST(what_is_unknown_is_refused)
{
    void (*const cases[])(const char *) = {
        refuse_newer,         refuse_older,        refuse_free_threads, refuse_listed_free_threads,
        refuse_listed_layout, refuse_other_layout, refuse_wrong_lines,
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct folder f = folder_new();
        CHECK_EQ_INT(in_child(cases[i], f.path), 0);
        folder_done(&f);
    }
}

/* Before Python is up there is nothing to say; without the GIL the check waits for its turn. */
static void come_later(const char *dir)
{
    struct err e;
    err_init(&e);
    set_up(dir);
    initialized = false;
    CHECK_EQ_INT(pystack_init(&e), ERR_USAGE);
    initialized = true;
    has_gil = false;
    err_init(&e);
    CHECK_EQ_INT(pystack_init(&e), 0);
    CHECK(!pystack_ready());
    REQUIRE(pending != NULL);
    CHECK_EQ_UINT(pystack_now(), 0);
    has_gil = true;
    CHECK_EQ_INT(pending(NULL), 0);
    CHECK(pystack_ready());
    CHECK(pystack_now() != 0);
}

TEST(the_check_waits_for_the_gil)
{
    struct folder f = folder_new();
    CHECK_EQ_INT(in_child(come_later, f.path), 0);
    folder_done(&f);
}

/* The period that a thread chooses after it has read itself, with one of so many ticks wanted. */
static uint64_t period_chosen(uint64_t wanted)
{
    uint64_t now = clock_ticks(recorder_clock());
    watched_begin(wanted);
    watched_read(now);
    return atomic_load(&watched_me->due) - now;
}

static void read_slowly(const char *dir)
{
    set_up(dir);
    watched_prepare();
    CHECK_EQ_INT(pystack_init(NULL), 0);
    watched_begin(1);
    watched_add_me();
    REQUIRE(watched_me != NULL);
    uint64_t hour = (uint64_t)(recorder_ticks_per_second() * 3600);
    CHECK_EQ_UINT(period_chosen(hour), hour);
    CHECK_EQ_UINT(period_chosen(2), 2 * WATCHED_MOST_PERIODS); /* a reading takes longer */
    uint64_t between = hour / 3600 / 1000000; /* a microsecond: many readings per period */
    CHECK(period_chosen(between) >= between);
    CHECK(period_chosen(between) <= between * WATCHED_MOST_PERIODS);
}

TEST(slow_readings_become_rarer_up_to_a_limit)
{
    struct folder f = folder_new();
    CHECK_EQ_INT(in_child(read_slowly, f.path), 0);
    folder_done(&f);
}

/* Three samples, each 2.5 times as long after the last as was planned. */
static void sample_late(const char *dir)
{
    struct sampler_options o = {1000, NULL};
    struct err e;
    err_init(&e);
    set_up(dir);
    CHECK_EQ_INT(pystack_init(&e), 0);
    CHECK_EQ_INT(sampler_start(&o, &e), 0);
    sampler_stop();
    uint64_t at = clock_ticks(recorder_clock()), ms = (uint64_t)(recorder_ticks_per_second() / 1e3);
    for (uint64_t i = 0; i < 3; i++) {
        struct ring_record r = {.kind = RING_STACK_OF, .ticks = at + i * ms * 5 / 2};
        recorder_put(ring_with_id(r, pystack_now()), (uint64_t)getpid());
    }
}

TEST(samples_are_as_good_as_they_are_close)
{
    struct folder f;
    struct trace *t = record_in_child(sample_late, &f);
    REQUIRE(t != NULL);
    struct str us = trace_meta(t, TRACE_META_SAMPLED);
    REQUIRE(us.p != NULL);
    long got = strtol(us.p, NULL, 10);
    CHECK(got >= 2490 && got <= 2510);
    trace_free(t);
    folder_done(&f);
}

/* Threads that call and return all the time, with frames that are not whole at some moments. */
static atomic_bool enough;

static void *run_python(void *unused)
{
    (void)unused;
    struct runner *r = calloc(1, sizeof *r);
    struct function *f = calloc(1, sizeof *f);
    set_function(f, "x.py", "busy", 100);
    begin_thread(r);
    enter(r, 0, &outer, 1);
    for (unsigned i = 0; !atomic_load(&enough); i++) {
        int depth = 1 + (int)(i % (DEPTH - 1));
        for (int d = 1; d <= depth; d++) enter(r, d, i & 8 ? f : &inner, (int)(i % 19));
        watched_passes(clock_ticks(recorder_clock()));
        if (i % 3 == 0) CHECK(pystack_now() != 0);
        r->frames[depth].code = i & 1 ? NULL : (struct code *)16;
        r->frames[depth].back = (struct pyframe_312 *)(uintptr_t)(i & 1);
        if (i % 1000 == 0) usleep(1500);
        enter(r, 0, &outer, 1);
    }
    this_tstate = NULL;
    free(f); /* late readers find memory that is gone */
    free(r);
    return NULL;
}

static void sample_threads(const char *dir)
{
    pthread_t threads[4];
    struct sampler_options o = {5000, NULL};
    struct err e;
    err_init(&e);
    set_up(dir);
    CHECK_EQ_INT(pystack_init(&e), 0);
    CHECK_EQ_INT(sampler_start(&o, &e), 0);
    for (int round = 0; round < 3; round++) {
        atomic_store(&enough, false);
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, run_python, NULL);
        usleep(100000);
        pid_t child = fork();
        if (child == 0) {
            uint32_t stack = pystack_now();
            sampler_stop();
            _exit(stack ? 0 : 1);
        }
        int status = 1;
        waitpid(child, &status, 0);
        CHECK_EQ_INT(status, 0);
        atomic_store(&enough, true);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    }
    sampler_stop();
    sampler_stop();
    CHECK_EQ_INT(sampler_start(&o, &e), 0);
    sampler_stop();
}

TEST(sampling_under_load)
{
    struct folder f;
    struct trace *t = record_in_child(sample_threads, &f);
    REQUIRE(t != NULL);
    CHECK(count_rows(t, "x.py(10): outer") >= 4);
    trace_free(t);
    folder_done(&f);
}

TEST_MAIN
