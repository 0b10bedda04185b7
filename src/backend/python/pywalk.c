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

struct known {
    char bytes[64 * PIECE];
    int n;
};

static size_t piece_bytes(const struct pylayout *l)
{
    size_t with_self = (size_t)l->frame_self + sizeof(void *);
    return with_self <= PIECE ? with_self : l->frame_bytes;
}

/* The bytes of the frame at `at`: from those read together, or into `own`; NULL when unreadable. */
static const void *frame_at(const struct pywalk_memo *memo, const struct known *k, uintptr_t at,
                            size_t piece, int *from, void *own)
{
    for (int i = *from; i < k->n; i++)
        if (memo->frames[i] == at) {
            *from = i + 1;
            return k->bytes + (size_t)i * piece;
        }
    return pyread(own, at, piece) ? own : NULL;
}

int pywalk_any(const struct pyapi *api, uintptr_t tstate, struct pywalk_memo *memo,
               struct pyframe *ret, int cap)
{
    const struct pylayout *l = api->layout;
    size_t piece = piece_bytes(l);
    struct known k;
    k.n = pyread_each(k.bytes, memo->frames, memo->n, piece);
    uintptr_t seen[64], at = innermost(l, tstate);
    char own[PIECE];
    int n = 0, n_seen = 0, from = 0;
    for (int steps = 0; at && n < cap && steps < MOST_STEPS; steps++) {
        const void *frame = frame_at(memo, &k, at, piece, &from, own);
        if (!frame) break;
        if (n_seen < 64) seen[n_seen++] = at;
        at = word(frame, l->frame_back);
        if (!is_function(l, frame)) continue;
        uintptr_t code = object(l, frame, l->frame_code);
        uintptr_t self =
            piece >= (size_t)l->frame_self + sizeof self ? object(l, frame, l->frame_self) : 0;
        if (code) ret[n++] = (struct pyframe){code, self, instr_offset(l, frame, code)};
    }
    memcpy(memo->frames, seen, (size_t)n_seen * sizeof *seen);
    memo->n = n_seen;
    return n;
}
