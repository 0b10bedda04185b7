/* inflate.h: compressed input, piece by piece, to plain text. The format is recognized by its first
 * bytes; several members or frames in a row read as one text. */
#ifndef STRATA_IMPORT_BYTES_INFLATE_H
#define STRATA_IMPORT_BYTES_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* A compressed format. One `state` reads one input from its start to its end. */
struct codec {
    const char *name;
    unsigned most_ratio; /* text per compressed byte beyond which we suspect a bomb */
    bool (*is)(struct str head);
    void *(*new)(struct str in); /* NULL when out of memory */
    void (*free)(void *state);

    /* Fills `out`; *ret_n is less than `room` only at the end of what can be read. `*ret_whole`
     * then says whether the input was complete and sound. */
    int (*step)(void *state, char *out, size_t room, size_t *ret_n, bool *ret_whole);

    uint64_t (*consumed)(const void *state); /* compressed bytes so far */
    void *(*clone)(const void *state); /* a state that goes on from here; NULL pointer: cannot */
};

extern const struct codec codec_gzip, codec_zstd;

/* The format of the input, or NULL when it is not compressed. */
const struct codec *codec_find(struct str head);

struct inflater {
    const struct codec *codec;
    void *state;
    uint64_t produced;
    uint64_t limit; /* most bytes of text; 0 = judge by the ratio */
    bool ended, whole;
};

/* STRATA_MAX_INFLATE in the environment sets the limit, in bytes of text. */
int inflater_init(struct inflater *f, const struct codec *codec, struct str in,
                  struct err *e) MUST_USE;
void inflater_done(struct inflater *f);

/* Up to `room` more bytes; fewer only at the end, where `ended` and `whole` are set. ERR_LIMIT for
 * what looks like a bomb. */
int inflater_step(struct inflater *f, char *out, size_t room, size_t *ret_n,
                  struct err *e) MUST_USE;

/* At most `most` bytes of text, added to `out`; *ret_whole (may be NULL) says whether the input was
 * read to its end and sound. */
int inflate_all(const struct codec *codec, struct str in, size_t most, struct buf *out,
                bool *ret_whole, struct err *e) MUST_USE;

#endif
