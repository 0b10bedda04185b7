/* pywalk.c: see pytable.h. */
#include "backend/program/pytable.h"

#include <string.h>

#include "backend/program/pyread.h"

enum {
    PIECE = 112, /* bytes of a frame that are read at once: the most of any layout */
    MOST_STEPS = 2 * PYWALK_DEEPEST,
    TAG_BITS = 3,
};

static inline uintptr_t pywalk_word(const void *base, unsigned offset)
{
    uintptr_t w;
    memcpy(&w, (const char *)base + offset, sizeof w);
    return w;
}

static inline uintptr_t pywalk_object(const struct pylayout *l, const void *base, unsigned offset)
{
    uintptr_t w = pywalk_word(base, offset);
    return l->tagged ? w & ~(uintptr_t)TAG_BITS : w;
}

/* Frames through which C code entered the interpreter are not of any function. */
static inline bool pywalk_is_function(const struct pylayout *l, const void *frame)
{
    return l->frame_owner == PYLAYOUT_NONE ||
           ((const uint8_t *)frame)[l->frame_owner] < l->owner_skip;
}

/* Not of a running call, or a generator that nothing has called: it is just being entered or left,
 * and what it hangs on is not its caller. */
static inline bool is_loose(const struct pylayout *l, const void *frame)
{
    enum { OWNED_BY_GENERATOR = 1, UNWINDING = 2 };
    if (l->frame_state != PYLAYOUT_NONE && ((const uint8_t *)frame)[l->frame_state] & ~UNWINDING)
        return true;
    return l->frame_owner != PYLAYOUT_NONE && !pywalk_word(frame, l->frame_back) &&
           ((const uint8_t *)frame)[l->frame_owner] == OWNED_BY_GENERATOR;
}

static inline uint32_t instr_offset(const struct pylayout *l, const void *frame, uintptr_t code)
{
    if (l->instr_is_index) {
        int32_t last;
        memcpy(&last, (const char *)frame + l->frame_instr, sizeof last);
        return last < 0 ? 0 : (uint32_t)last * 2;
    }
    uintptr_t instr = pywalk_word(frame, l->frame_instr), first = code + l->code_instr;
    return instr < first ? 0 : (uint32_t)(instr - first);
}

int pywalk_here(const struct pyapi *api, const void *tstate, struct pyframe *ret, int cap)
{
    const struct pylayout *l = api->layout;
    uintptr_t at = pywalk_word(tstate, l->tstate_frame);
    if (l->cframe_frame != PYLAYOUT_NONE)
        at = at ? pywalk_word((const void *)at, l->cframe_frame) : 0;
    int n = 0;
    for (int steps = 0; at && n < cap && steps < MOST_STEPS; steps++) {
        const void *frame = (const void *)at;
        at = pywalk_word(frame, l->frame_back);
        if (!pywalk_is_function(l, frame)) continue;
        uintptr_t code = pywalk_object(l, frame, l->frame_code);
        if (!code || pywalk_word((const void *)code, sizeof(void *)) != (uintptr_t)api->code_type)
            continue;
        ret[n++] = (struct pyframe){code, pywalk_object(l, frame, l->frame_self),
                                    instr_offset(l, frame, code)};
    }
    return n;
}

static size_t piece_bytes(const struct pylayout *l)
{
    size_t with_self = (size_t)l->frame_self + sizeof(void *);
    return with_self <= PIECE ? with_self : l->frame_bytes;
}

/* What was read in one go: where the innermost frame is, and the regions of last time. */
struct snapshot {
    uintptr_t innermost; /* 0 when there is none */
    int n_regions;       /* that can still be read */
};

/* The pointer to the innermost frame and the frames belong together only if they are read at the
 * same time, as near as it gets: in one call, the pointer first, the innermost frames next. */
static struct snapshot pywalk_read_all(const struct pylayout *l, uintptr_t tstate,
                                       struct pywalk_memo *memo)
{
    uintptr_t first = tstate + l->tstate_frame;
    bool held = l->cframe_frame != PYLAYOUT_NONE; /* by something that tstate points to */
    uintptr_t from[2 + PYWALK_REGIONS] = {first, held && memo->holder ? memo->holder : first};
    size_t n_bytes[2 + PYWALK_REGIONS] = {sizeof first, sizeof first};
    for (int i = 0; i < memo->n; i++) {
        from[2 + i] = memo->at[i].begin;
        n_bytes[2 + i] = memo->at[i].end - memo->at[i].begin;
    }
    struct snapshot s = {0, pyread_each(memo->pointers, from, n_bytes, 2 + memo->n) - 2};
    if (s.n_regions < memo->n) memo->n = 0; /* not there any more */
    if (s.n_regions < 0) {
        memo->holder = 0;
        return s;
    }
    s.innermost = memo->pointers[1];
    if (!held || !memo->pointers[0]) return s;
    uintptr_t holder = memo->pointers[0] + l->cframe_frame;
    if (holder != memo->holder && !pyread(&s.innermost, holder, sizeof holder)) s.innermost = 0;
    memo->holder = holder;
    return s;
}

/* The bytes of the frame at `at`: from the first `n` regions, or into `own`; NULL when there is
 * nothing to read. */
static const void *pywalk_frame_at(const struct pywalk_memo *memo, int n, uintptr_t at,
                                   size_t piece, void *own)
{
    const char *bytes = memo->bytes;
    for (int i = 0; i < n; i++) {
        const struct pywalk_region *r = &memo->at[i];
        if (at >= r->begin && at < r->end && r->end - at >= piece) return bytes + (at - r->begin);
        bytes += r->end - r->begin;
    }
    return pyread(own, at, piece) ? own : NULL;
}

/* Whether it is a code object; those seen before are known. Where the thread has moved on, what was
 * a frame holds something else by now, and this shows it. */
static bool is_code(const struct pyapi *api, struct pywalk_memo *memo, uintptr_t address)
{
    uintptr_t type, *known = &memo->codes[address / 16 % PYWALK_CODES];
    if (*known == address) return address != 0;
    if (!pyread(&type, address + sizeof(void *), sizeof type) || type != (uintptr_t)api->code_type)
        return false;
    *known = address;
    return true;
}

struct regions {
    int n;
    size_t n_bytes;
    struct pywalk_region at[PYWALK_REGIONS];
};

/* What is read next time: that, and what was read this time close beyond it, where calls that are
 * over just now will be again. */
static void pywalk_keep(struct pywalk_memo *memo, struct regions *s)
{
    for (int i = 0; i < s->n; i++)
        for (int k = 0; k < memo->n; k++) {
            struct pywalk_region *now = &s->at[i], *then = &memo->at[k];
            if (then->begin > now->end || then->end <= now->end || then->end - now->end > PIECE * 8)
                continue;
            size_t more = then->end - now->end;
            if (s->n_bytes + more > PYWALK_REGION_BYTES) continue;
            s->n_bytes += more;
            now->end = then->end;
        }
    memcpy(memo->at, s->at, (size_t)s->n * sizeof *s->at);
    memo->n = s->n;
}

/* Adds a frame to what is read next time: near the one before, or apart. */
static void pywalk_remember(struct regions *s, uintptr_t at, size_t piece)
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
    bool has_self = piece >= (size_t)l->frame_self + sizeof(void *);
    struct snapshot s = pywalk_read_all(l, tstate, memo);
    struct regions seen = {0};
    char own[PIECE];
    int n = 0;
    bool function = false;
    uintptr_t at = s.innermost, last = 0;
    for (int steps = 0; at && n < cap && steps < MOST_STEPS; steps++) {
        const void *frame = pywalk_frame_at(memo, s.n_regions, at, piece, own);
        if (!frame) return 0;
        pywalk_remember(&seen, at, piece);
        last = at;
        at = pywalk_word(frame, l->frame_back);
        function = pywalk_is_function(l, frame);
        if (!function) continue;
        uintptr_t code = pywalk_object(l, frame, l->frame_code);
        if (is_loose(l, frame) || !is_code(api, memo, code)) return 0;
        uintptr_t self = has_self ? pywalk_object(l, frame, l->frame_self) : 0;
        ret[n++] = (struct pyframe){code, self, instr_offset(l, frame, code)};
    }
    if (!at && function && l->rooted) return 0; /* that was not the end of it */
    memo->outermost = at ? 0 : last;
    pywalk_keep(memo, &seen);
    return n;
}
