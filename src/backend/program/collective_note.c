/* collective_note.c: see collective_note.h. */
#include "backend/program/collective_note.h"

#include <string.h>

#include "record/names.h"
#include "record/recorder.h"

struct collective_note collective_note_of(struct str label)
{
    return (struct collective_note){.label = label,
                                    .seq = -1,
                                    .in = -1,
                                    .out = -1,
                                    .size = -1,
                                    .from = -1,
                                    .to = -1,
                                    .channels = -1};
}

static void collective_note_put_number(const char *key, int64_t value)
{
    if (value < 0) return;
    recorder_put((struct ring_record){.kind = RING_ARG,
                                      .name = (uint16_t)names_id(str_c(key)),
                                      .type = RING_INT},
                 (uint64_t)value);
}

static void collective_note_put_text(const char *key, struct str text)
{
    if (!text.n) return;
    recorder_put((struct ring_record){.kind = RING_ARG,
                                      .name = (uint16_t)names_id(str_c(key)),
                                      .type = RING_TEXT},
                 names_id(text));
}

/* "all_reduce" of "gloo:all_reduce". */
static struct str what_of(struct str label)
{
    const char *colon = label.n ? memchr(label.p, ':', label.n) : NULL;
    if (!colon) return label;
    return str_from(colon + 1, label.n - (size_t)(colon + 1 - label.p));
}

void collective_note_args(const struct collective_note *n)
{
    collective_note_put_text("Collective name", what_of(n->label));
    collective_note_put_text("Process Group Name", n->group);
    collective_note_put_text("Process Group Description", n->description);
    collective_note_put_text("Process Group Ranks", n->members);
    collective_note_put_number("Group size", n->size);
    collective_note_put_number("Seq", n->seq);
    collective_note_put_number("In msg nelems", n->in);
    collective_note_put_number("Out msg nelems", n->out);
    collective_note_put_text("dtype", n->dtype);
    collective_note_put_number("Src Rank", n->from);
    collective_note_put_number("Dst Rank", n->to);
    collective_note_put_text("Algorithm", n->algorithm);
    collective_note_put_text("Protocol", n->protocol);
    collective_note_put_number("Channels", n->channels);
}

void collective_note_put(const struct collective_note *n)
{
    uint32_t category = names_id(str_c(n->launched ? RING_LAUNCHED : RING_COLLECTIVE));
    recorder_put((struct ring_record){.kind = RING_RANGE,
                                      .ticks = n->ticks,
                                      .name = (uint16_t)names_id(n->label),
                                      .category = (uint16_t)category},
                 n->ticks);
    collective_note_args(n);
}
