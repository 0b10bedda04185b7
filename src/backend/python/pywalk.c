/* pywalk.c: see pywalk.h. */
#include "backend/python/pywalk.h"

#include <string.h>

#include "backend/python/pyread.h"

enum {
    PIECE = 104, /* bytes of a frame that are read at once: the most of any layout */
    MOST_STEPS = 2 * PYWALK_DEEPEST,
    TAG_BITS = 3,
};

static inline uintptr_t word(const void *base, unsigned offset)
{
    uintptr_t w;
    memcpy(&w, (const char *)base + offset, sizeof w);
    return w;
}

static inline uintptr_t object(const struct pylayout *l, const void *base, unsigned offset)
{
    uintptr_t w = word(base, offset);
    return l->tagged ? w & ~(uintptr_t)TAG_BITS : w;
}

/* Frames through which C code entered the interpreter are not of any function. */
static inline bool is_function(const struct pylayout *l, const void *frame)
{
    return l->frame_owner == PYLAYOUT_NONE ||
           ((const uint8_t *)frame)[l->frame_owner] < l->owner_skip;
}

/* A generator is called by something: one that hangs on nothing is just being resumed or left, and
 * where is not known. */
static inline bool is_loose(const struct pylayout *l, const void *frame)
{
    enum { OWNED_BY_GENERATOR = 1 };
    return l->frame_owner != PYLAYOUT_NONE && !word(frame, l->frame_back) &&
           ((const uint8_t *)frame)[l->frame_owner] == OWNED_BY_GENERATOR;
}

static inline uint32_t instr_offset(const struct pylayout *l, const void *frame, uintptr_t code)
{
    if (l->instr_is_index) {
        int32_t last;
        memcpy(&last, (const char *)frame + l->frame_instr, sizeof last);
        return last < 0 ? 0 : (uint32_t)last * 2;
    }
    uintptr_t instr = word(frame, l->frame_instr), first = code + l->code_instr;
    return instr < first ? 0 : (uint32_t)(instr - first);
}

int pywalk_here(const struct pyapi *api, const void *tstate, struct pyframe *ret, int cap)
{
    const struct pylayout *l = api->layout;
    uintptr_t at = word(tstate, l->tstate_frame);
    if (l->cframe_frame != PYLAYOUT_NONE) at = at ? word((const void *)at, l->cframe_frame) : 0;
    int n = 0;
    for (int steps = 0; at && n < cap && steps < MOST_STEPS; steps++) {
        const void *frame = (const void *)at;
        at = word(frame, l->frame_back);
        if (!is_function(l, frame)) continue;
        uintptr_t code = object(l, frame, l->frame_code);
        if (!code || word((const void *)code, sizeof(void *)) != (uintptr_t)api->code_type)
            continue;
        ret[n++] =
            (struct pyframe){code, object(l, frame, l->frame_self), instr_offset(l, frame, code)};
    }
    return n;
}

static uintptr_t innermost(const struct pylayout *l, uintptr_t tstate)
{
    uintptr_t at = 0;
    if (!pyread(&at, tstate + l->tstate_frame, sizeof at)) return 0;
    if (l->cframe_frame != PYLAYOUT_NONE && at && !pyread(&at, at + l->cframe_frame, sizeof at))
        return 0;
    return at;
}

static size_t piece_bytes(const struct pylayout *l)
{
    size_t with_self = (size_t)l->frame_self + sizeof(void *);
    return with_self <= PIECE ? with_self : l->frame_bytes;
}

/* The regions of last time that can still be read, with their bytes. */
static int read_regions(struct pywalk_memo *memo)
{
    uintptr_t from[PYWALK_REGIONS];
    size_t n_bytes[PYWALK_REGIONS];
    for (int i = 0; i < memo->n; i++) {
        from[i] = memo->at[i].begin;
        n_bytes[i] = memo->at[i].end - memo->at[i].begin;
    }
    return pyread_each(memo->bytes, from, n_bytes, memo->n);
}

/* The bytes of the frame at `at`: from the first `n` regions, or into `own`; NULL when there is
 * nothing to read. */
static const void *frame_at(const struct pywalk_memo *memo, int n, uintptr_t at, size_t piece,
                            void *own)
{
    const char *bytes = memo->bytes;
    for (int i = 0; i < n; i++) {
        const struct pywalk_region *r = &memo->at[i];
        if (at >= r->begin && at + piece <= r->end) return bytes + (at - r->begin);
        bytes += r->end - r->begin;
    }
    return pyread(own, at, piece) ? own : NULL;
}

struct regions {
    int n;
    size_t n_bytes;
    struct pywalk_region at[PYWALK_REGIONS];
};

/* Adds a frame to what is read next time: near the one before, or apart. */
static void remember(struct regions *s, uintptr_t at, size_t piece)
{
    enum { NEAR = 2048 };
    struct pywalk_region *r = s->n ? &s->at[s->n - 1] : NULL;
    if (r && at + NEAR >= r->begin && at <= r->end + NEAR) {
        uintptr_t begin = at < r->begin ? at : r->begin;
        uintptr_t end = at + piece > r->end ? at + piece : r->end;
        size_t more = (end - begin) - (r->end - r->begin);
        if (s->n_bytes + more > PYWALK_REGION_BYTES) return;
        *r = (struct pywalk_region){begin, end};
        s->n_bytes += more;
    } else if (s->n < PYWALK_REGIONS && s->n_bytes + piece <= PYWALK_REGION_BYTES) {
        s->at[s->n++] = (struct pywalk_region){at, at + piece};
        s->n_bytes += piece;
    }
}

int pywalk_any(const struct pyapi *api, uintptr_t tstate, struct pywalk_memo *memo,
               struct pyframe *ret, int cap)
{
    const struct pylayout *l = api->layout;
    size_t piece = piece_bytes(l);
    int n_known = read_regions(memo), n = 0;
    uintptr_t at = innermost(l, tstate);
    struct regions seen = {0};
    char own[PIECE];
    for (int steps = 0; at && n < cap && steps < MOST_STEPS; steps++) {
        const void *frame = frame_at(memo, n_known, at, piece, own);
        if (!frame) break;
        remember(&seen, at, piece);
        at = word(frame, l->frame_back);
        if (!is_function(l, frame)) continue;
        if (is_loose(l, frame)) {
            n = 0;
            break;
        }
        uintptr_t code = object(l, frame, l->frame_code);
        uintptr_t self =
            piece >= (size_t)l->frame_self + sizeof self ? object(l, frame, l->frame_self) : 0;
        if (code) ret[n++] = (struct pyframe){code, self, instr_offset(l, frame, code)};
    }
    memcpy(memo->at, seen.at, (size_t)seen.n * sizeof *seen.at);
    memo->n = seen.n;
    return n;
}
