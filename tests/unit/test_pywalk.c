/* test_pywalk.c: the frames of every version that is known, laid out by hand in memory: those that
 * are the interpreter's own, marked pointers, a generator that hangs on nothing. Whether the
 * offsets are those of a real interpreter is for tests/python. */
#include "backend/program/pytable.h"
#include "test.h"

enum { FIRST = 10, LAST = 15, N_FRAMES = 6, BYTES = 512 };

static char code_type;

/* Threads and frames of one interpreter; frame 0 is the innermost. */
struct place {
    struct pyapi api;
    _Alignas(16) char tstate[BYTES], cframe[BYTES], frames[N_FRAMES][BYTES], root[BYTES];
    _Alignas(16) char codes[N_FRAMES][BYTES], objects[N_FRAMES][BYTES];
};

static void put(void *base, unsigned offset, const void *pointer, unsigned mark)
{
    uintptr_t w = (uintptr_t)pointer | mark;
    memcpy((char *)base + offset, &w, sizeof w);
}

/* Frame `i` runs instruction `i` of its code for its object, called by the next. */
static void set_frame(struct place *p, int i)
{
    const struct pylayout *l = p->api.layout;
    char *frame = p->frames[i];
    unsigned mark = l->tagged ? (unsigned)i % 2 : 0;
    put(p->codes[i], sizeof(void *), &code_type, 0);
    put(frame, l->frame_code, p->codes[i], mark);
    put(frame, l->frame_self, p->objects[i], mark);
    put(frame, l->frame_back, i + 1 < N_FRAMES ? p->frames[i + 1] : l->rooted ? p->root : NULL, 0);
    if (l->instr_is_index) memcpy(frame + l->frame_instr, &(int32_t){i}, sizeof(int32_t));
    else put(frame, l->frame_instr, p->codes[i] + l->code_instr + (size_t)i * 2, 0);
}

static void set_place(struct place *p, int minor)
{
    memset(p, 0, sizeof *p);
    p->api = (struct pyapi){.layout = pylayout_of(3, minor), .code_type = &code_type};
    const struct pylayout *l = p->api.layout;
    bool has_cframe = l->cframe_frame != PYLAYOUT_NONE;
    put(p->tstate, l->tstate_frame, has_cframe ? p->cframe : p->frames[0], 0);
    if (has_cframe) put(p->cframe, l->cframe_frame, p->frames[0], 0);
    for (int i = 0; i < N_FRAMES; i++) set_frame(p, i);
    if (l->rooted) p->root[l->frame_owner] = (char)l->owner_skip;
}

static void set_owner(struct place *p, int i, int owner)
{
    p->frames[i][p->api.layout->frame_owner] = (char)owner;
}

/* Both walks; the frames must be those whose digits are in `want`, innermost first. */
static void check_walk(const struct place *p, const char *want)
{
    static struct pywalk_memo memo;
    const struct pylayout *l = p->api.layout;
    struct pyframe here[N_FRAMES], any[N_FRAMES];
    int n_want = (int)strlen(want);
    memo.n = 0;
    REQUIRE(pywalk_here(&p->api, p->tstate, here, N_FRAMES) == n_want);
    REQUIRE(pywalk_any(&p->api, (uintptr_t)p->tstate, &memo, any, N_FRAMES) == n_want);
    for (int k = 0; k < n_want; k++) {
        int i = want[k] - '0';
        CHECK(here[k].code == (uintptr_t)p->codes[i] && any[k].code == here[k].code);
        CHECK(here[k].self == (uintptr_t)p->objects[i]);
        CHECK(any[k].self == here[k].self || l->minor == 10); /* too far away to be read there */
        CHECK_EQ_UINT(here[k].offset, (unsigned)i * 2);
        CHECK_EQ_UINT(any[k].offset, (unsigned)i * 2);
    }
}

TEST(all_frames_of_functions)
{
    struct place p;
    for (int minor = FIRST; minor <= LAST; minor++) {
        set_place(&p, minor);
        check_walk(&p, "012345");
    }
    CHECK(pylayout_of(3, FIRST - 1) == NULL && pylayout_of(3, LAST + 1) == NULL);
    CHECK(pylayout_of(2, FIRST) == NULL);
}

/* Where C code came in there is a frame without a function, with None for its code or nothing; and
 * from 3.14 on one of another kind still. */
TEST(the_interpreters_own_are_left_out)
{
    struct place p;
    for (int minor = FIRST + 1; minor <= LAST; minor++) {
        set_place(&p, minor);
        for (int i = 0; i < N_FRAMES; i++) set_owner(&p, i, i % 3);
        set_owner(&p, 1, 3);
        put(p.frames[1], p.api.layout->frame_code, p.objects[1], p.api.layout->tagged);
        set_owner(&p, 3, 3);
        put(p.frames[3], p.api.layout->frame_code, NULL, p.api.layout->tagged);
        set_owner(&p, 5, minor < 14 ? 3 : 4);
        check_walk(&p, "024");
    }
}

/* Seen from outside, a generator without a caller is on its way in or out: no stack is known. */
TEST(a_generator_that_hangs_on_nothing)
{
    static struct pywalk_memo memo;
    struct place p;
    struct pyframe frames[N_FRAMES];
    for (int minor = FIRST + 1; minor <= LAST; minor++) {
        set_place(&p, minor);
        set_owner(&p, 2, 1);
        check_walk(&p, "012345");
        put(p.frames[2], p.api.layout->frame_back, NULL, 0);
        CHECK_EQ_INT(pywalk_any(&p.api, (uintptr_t)p.tstate, &memo, frames, N_FRAMES), 0);
    }
}

/* So is one that ends before the frame that is around all others, or comes to something that is no
 * frame. */
TEST(a_chain_that_ends_too_early)
{
    static struct pywalk_memo memo;
    struct place p;
    struct pyframe frames[N_FRAMES];
    for (int minor = FIRST; minor <= LAST; minor++) {
        set_place(&p, minor);
        put(p.frames[3], p.api.layout->frame_back, NULL, 0);
        CHECK_EQ_INT(pywalk_any(&p.api, (uintptr_t)p.tstate, &memo, frames, N_FRAMES),
                     p.api.layout->rooted ? 0 : 4);
        set_place(&p, minor);
        put(p.codes[3], sizeof(void *), &p, 0);
        memo = (struct pywalk_memo){0};
        CHECK_EQ_INT(pywalk_any(&p.api, (uintptr_t)p.tstate, &memo, frames, N_FRAMES), 0);
    }
}

TEST(broken_chains_end)
{
    static struct pywalk_memo memo;
    struct place p;
    struct pyframe frames[PYWALK_DEEPEST];
    for (int minor = FIRST; minor <= LAST; minor++) {
        set_place(&p, minor);
        put(p.frames[3], p.api.layout->frame_back, p.frames[0], 0);
        CHECK_EQ_INT(pywalk_here(&p.api, p.tstate, frames, PYWALK_DEEPEST), PYWALK_DEEPEST);
        put(p.frames[3], p.api.layout->frame_back, (void *)16, 0);
        CHECK_EQ_INT(pywalk_any(&p.api, (uintptr_t)p.tstate, &memo, frames, PYWALK_DEEPEST), 0);
        put(p.frames[3], p.api.layout->frame_back, (void *)(UINTPTR_MAX - 15), 0);
        CHECK_EQ_INT(pywalk_any(&p.api, (uintptr_t)p.tstate, &memo, frames, PYWALK_DEEPEST), 0);
        CHECK_EQ_INT(pywalk_any(&p.api, 16, &memo, frames, PYWALK_DEEPEST), 0);
    }
}

TEST_MAIN
