/* json_args.c: see json_args.h.
 *
 * Compressed text is inflated again, a window at a time. On the way the state of the codec is
 * saved every few megabytes, so that going back costs one such stretch, not the whole file. */
#include "import/json_args.h"

#include <pthread.h>

#include "base/mem.h"
#include "base/vec.h"
#include "import/inflate.h"
#include "import/json_scan.h"

#define WINDOW ((size_t)1 << 20)
#define STRIDE ((uint64_t)8 << 20) /* text between saved states */

struct saved {
    uint64_t offset;
    void *state;
};

struct json_args {
    struct args_source base;
    struct file_map file;
    const struct codec *codec; /* NULL for plain text */

    pthread_mutex_t lock; /* all below: traces are shared between threads */
    struct inflater inflater;
    struct buf window; /* text from `begin` on; the inflater stands at its end */
    uint64_t begin;
    struct saved *saved;
    size_t n_saved, cap_saved;
};

static void args_free(struct args_source *self)
{
    struct json_args *a = (struct json_args *)self;
    inflater_done(&a->inflater);
    for (size_t i = 0; i < a->n_saved; i++) a->codec->free(a->saved[i].state);
    mem_free(a->saved);
    buf_done(&a->window);
    pthread_mutex_destroy(&a->lock);
    file_unmap(&a->file);
    mem_free(a);
}

/* Saves the codec's state where it stands, when that is worth it. Failing costs only time. */
static void save_state(struct json_args *a, uint64_t offset)
{
    uint64_t last = a->n_saved ? a->saved[a->n_saved - 1].offset : 0;
    if (!a->codec->clone || offset < last + STRIDE) return;
    if (VEC_RESERVE(a->saved, a->n_saved, a->cap_saved, 1)) return;
    void *state = a->codec->clone(a->inflater.state);
    if (state) a->saved[a->n_saved++] = (struct saved){offset, state};
}

/* Puts the inflater where the text at `offset` can still be reached going forward. */
static int rewind_to(struct json_args *a, uint64_t offset, struct err *e)
{
    size_t i = a->n_saved;
    while (i > 0 && a->saved[i - 1].offset > offset) i--;
    inflater_done(&a->inflater);
    TRY(inflater_init(&a->inflater, a->codec, str_from(a->file.p, a->file.n), e));
    buf_reset(&a->window);
    a->begin = 0;
    void *state = i ? a->codec->clone(a->saved[i - 1].state) : NULL;
    if (!state) return 0;
    a->codec->free(a->inflater.state);
    a->inflater.state = state;
    a->inflater.produced = a->begin = a->saved[i - 1].offset;
    return 0;
}

/* One more window of text; what lies before `keep` is dropped. False at the end. */
static int extend(struct json_args *a, uint64_t keep, bool *ret_more, struct err *e)
{
    uint64_t end = a->begin + a->window.n;
    save_state(a, end);
    uint64_t drop = keep > end ? a->window.n : keep > a->begin ? keep - a->begin : 0;
    if (drop) {
        memmove(a->window.p, a->window.p + drop, a->window.n - drop);
        a->window.n -= drop;
        a->begin += drop;
    }
    char *room = buf_room(&a->window, WINDOW + SCAN_PADDING);
    if (!room) return err_nomem(e);
    size_t n;
    TRY(inflater_step(&a->inflater, room, WINDOW, &n, e));
    a->window.n += n;
    memset(a->window.p + a->window.n, 0, SCAN_PADDING);
    *ret_more = n > 0;
    return 0;
}

/* The args of the event at the start of `text`; SCAN_CUT when more text is needed. */
static enum scan_result find_args(struct str text, enum scan_mode mode, struct str *ret)
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
        rc = find_args(text, mode, ret);
    return rc;
}

static int read_plain(struct json_args *a, uint64_t src, struct str *ret)
{
    if (src < a->file.n) find_args_any(str_from(a->file.p + src, a->file.n - src), ret);
    return 0;
}

static int read_inflated(struct json_args *a, uint64_t src, struct str *ret, struct err *e)
{
    if (!a->inflater.state || src < a->begin) TRY(rewind_to(a, src, e));
    for (bool more = true; more;) {
        uint64_t end = a->begin + a->window.n;
        if (src < end) {
            struct str text = str_from(a->window.p + (src - a->begin), end - src);
            if (find_args_any(text, ret) != SCAN_CUT) return 0;
        }
        TRY(extend(a, src, &more, e));
    }
    return 0;
}

static int args_read(struct args_source *self, uint64_t src, struct buf *out, struct err *e)
{
    struct json_args *a = (struct json_args *)self;
    struct str text = str_c("{}");
    pthread_mutex_lock(&a->lock);
    int rc = a->codec ? read_inflated(a, src, &text, e) : read_plain(a, src, &text);
    if (rc == 0) buf_add_str(out, text);
    pthread_mutex_unlock(&a->lock);
    if (rc == 0 && !buf_ok(out)) return err_nomem(e);
    return rc;
}

struct args_source *json_args_new(struct file_map *file)
{
    struct json_args *a = mem_zalloc(1, sizeof *a);
    if (!a) {
        file_unmap(file);
        return NULL;
    }
    a->base = (struct args_source){args_read, args_free};
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
