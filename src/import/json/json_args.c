/* json_args.c: see json_private.h.
 *
 * Compressed text is inflated again, a window at a time. On the way the state of the codec is
 * saved every few megabytes, so that going back costs one such stretch, not the whole file.
 * Recorders write one kind of event after the other; a reader that goes by time jumps
 * between these places, so several of them stay open. */
#include "import/json/json_private.h"

#include <pthread.h>

#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"
#include "import/bytes/inflate.h"
#include "import/json/json_scan.h"

#define WINDOW ((size_t)1 << 20)
#define STRIDE ((uint64_t)8 << 20) /* text between saved states */

enum { CURSORS = 16 };

struct saved {
    uint64_t offset;
    void *state;
};

/* A place in the text. */
struct cursor {
    struct inflater inflater; /* without a state: not in use */
    struct buf window;        /* text from `begin` on; the inflater stands at its end */
    uint64_t begin;
    uint64_t used; /* when last */
};

struct json_args {
    struct args_source base;
    struct file_map file;
    const struct codec *codec; /* NULL for plain text */

    pthread_mutex_t lock; /* all below: traces are shared between threads */
    struct cursor cursors[CURSORS];
    uint64_t now; /* counts what was requested */
    struct saved *saved;
    size_t n_saved, cap_saved;
};

static void json_args_args_free(struct args_source *self)
{
    struct json_args *a = (struct json_args *)self;
    for (int i = 0; i < CURSORS; i++) {
        inflater_done(&a->cursors[i].inflater);
        buf_done(&a->cursors[i].window);
    }
    for (size_t i = 0; i < a->n_saved; i++) a->codec->free(a->saved[i].state);
    mem_free(a->saved);
    pthread_mutex_destroy(&a->lock);
    file_unmap(&a->file);
    mem_free(a);
}

static uint64_t json_args_end_of(const struct cursor *c)
{
    return c->begin + c->window.n;
}

/* Saves the codec's state where it stands, when that is worth it. Failing costs only time. */
static void save_state(struct json_args *a, const struct cursor *c)
{
    uint64_t last = a->n_saved ? a->saved[a->n_saved - 1].offset : 0, offset = json_args_end_of(c);
    if (!a->codec->clone || offset < last + STRIDE) return;
    if (VEC_RESERVE(a->saved, a->n_saved, a->cap_saved, 1)) return;
    void *state = a->codec->clone(c->inflater.state);
    if (state) a->saved[a->n_saved++] = (struct saved){offset, state};
}

/* The last saved state from which the text at `offset` can be reached, or NULL. */
static const struct saved *saved_before(const struct json_args *a, uint64_t offset)
{
    size_t i = 0;
    SEARCH_PAST(i, a->n_saved, a->saved[i].offset <= offset);
    return i ? &a->saved[i - 1] : NULL;
}

/* The cursor that reaches `offset` with the least to inflate, or NULL. */
static struct cursor *cursor_before(struct json_args *a, uint64_t offset)
{
    struct cursor *best = NULL;
    for (int i = 0; i < CURSORS; i++) {
        struct cursor *c = &a->cursors[i];
        if (!c->inflater.state || c->begin > offset) continue;
        if (!best || json_args_end_of(c) > json_args_end_of(best)) best = c;
    }
    return best;
}

static struct cursor *least_used(struct json_args *a)
{
    struct cursor *least = a->cursors;
    for (int i = 1; i < CURSORS; i++)
        if (a->cursors[i].used < least->used) least = &a->cursors[i];
    return least;
}

/* Puts the cursor to a saved state, or to the start. */
static int json_args_restart(struct json_args *a, struct cursor *c, const struct saved *from,
                             struct err *e)
{
    inflater_done(&c->inflater);
    TRY(inflater_init(&c->inflater, a->codec, str_from(a->file.p, a->file.n), e));
    buf_reset(&c->window);
    c->begin = 0;
    void *state = from ? a->codec->clone(from->state) : NULL;
    if (!state) return 0;
    a->codec->free(c->inflater.state);
    c->inflater.state = state;
    c->inflater.produced = c->begin = from->offset;
    return 0;
}

/* A cursor from which the text at `offset` can be reached going forward. */
static int find_cursor(struct json_args *a, uint64_t offset, struct cursor **ret, struct err *e)
{
    const struct saved *saved = saved_before(a, offset);
    *ret = cursor_before(a, offset);
    if (!*ret || (saved && saved->offset > json_args_end_of(*ret))) {
        *ret = least_used(a);
        TRY(json_args_restart(a, *ret, saved, e));
    }
    (*ret)->used = ++a->now;
    return 0;
}

/* One more window of text; what lies before `keep` is dropped. False at the end. */
static int json_args_extend(struct json_args *a, struct cursor *c, uint64_t keep, bool *ret_more,
                            struct err *e)
{
    uint64_t end = json_args_end_of(c);
    save_state(a, c);
    uint64_t drop = keep > end ? c->window.n : keep > c->begin ? keep - c->begin : 0;
    if (drop) {
        memmove(c->window.p, c->window.p + drop, c->window.n - drop);
        c->window.n -= drop;
        c->begin += drop;
    }
    char *room = buf_room(&c->window, WINDOW + SCAN_PADDING);
    if (!room) return err_nomem(e);
    size_t n;
    TRY(inflater_step(&c->inflater, room, WINDOW, &n, e));
    c->window.n += n;
    memset(c->window.p + c->window.n, 0, SCAN_PADDING);
    *ret_more = n > 0;
    return 0;
}

/* The args of the event at the start of `text`; SCAN_CUT when more text is needed. */
static enum scan_result json_args_find_args(struct str text, enum scan_mode mode, struct str *ret)
{
    struct scan s = {.text = text.p, .end = text.p + text.n};
    scan_begin(&s, text.p, mode);
    *ret = str_c("{}");
    bool more = true;
    TRY(scan_expect(&s, '{'));
    while (more && scan_peek(&s) == SCAN_STRING) {
        struct scan_text key;
        TRY(scan_string(&s, true, &key));
        TRY(scan_expect(&s, ':'));
        scan_blanks(&s);
        const char *value = s.p;
        TRY(scan_skip(&s));
        if (str_is(str_from(key.p, key.n), "args")) {
            *ret = str_from(value, (size_t)(s.p - value));
            return SCAN_OK;
        }
        TRY(scan_next(&s, '}', &more));
    }
    return more && s.p >= s.end ? SCAN_CUT : SCAN_OK;
}

static enum scan_result find_args_any(struct str text, struct str *ret)
{
    enum scan_result rc = SCAN_BAD;
    for (enum scan_mode mode = SCAN_STRICT; mode < SCAN_MODES && rc == SCAN_BAD; mode++)
        rc = json_args_find_args(text, mode, ret);
    return rc;
}

static int json_args_read_plain(struct json_args *a, uint64_t src, struct str *ret)
{
    if (src < a->file.n) find_args_any(str_from(a->file.p + src, a->file.n - src), ret);
    return 0;
}

static int read_inflated(struct json_args *a, uint64_t src, struct str *ret, struct err *e)
{
    struct cursor *c;
    TRY(find_cursor(a, src, &c, e));
    for (bool more = true; more;) {
        uint64_t end = json_args_end_of(c);
        if (src < end) {
            struct str text = str_from(c->window.p + (src - c->begin), end - src);
            if (find_args_any(text, ret) != SCAN_CUT) return 0;
        }
        TRY(json_args_extend(a, c, src, &more, e));
    }
    return 0;
}

static int json_args_args_read(struct args_source *self, uint64_t src, struct buf *out,
                               struct err *e)
{
    struct json_args *a = (struct json_args *)self;
    struct str text = str_c("{}");
    pthread_mutex_lock(&a->lock);
    int rc = a->codec ? read_inflated(a, src, &text, e) : json_args_read_plain(a, src, &text);
    if (rc == 0) buf_add_str(out, text);
    pthread_mutex_unlock(&a->lock);
    if (rc == 0) rc = buf_status(out, e);
    return rc;
}

struct args_source *json_args_new(struct file_map *file)
{
    struct json_args *a = mem_zalloc(1, sizeof *a);
    if (!a) {
        file_unmap(file);
        return NULL;
    }
    a->base = (struct args_source){json_args_args_read, json_args_args_free};
    a->file = *file;
    *file = (struct file_map){0};
    a->codec = codec_find(str_from(a->file.p, a->file.n));
    pthread_mutex_init(&a->lock, NULL);
    return &a->base;
}

const struct file_map *json_args_file(const struct args_source *a)
{
    return &((const struct json_args *)a)->file;
}
