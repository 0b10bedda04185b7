/* pftrace.c: a Perfetto trace, wave by wave: one thread moves over the packets and keeps what later
 * ones refer to, then all decode the events of that stretch, then the parts are joined in order.
 *
 *     text   |== wave 0 ==|== wave 1 ==|...
 *            survey, then [block][block][block][block] side by side, then join
 *
 * Where something turns out to be written later than it is used (a track's description) or not in
 * the order of time, everything is read once more, knowing that. */
#include "import/importer.h"

#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "base/vec.h"
#include "import/bytes/inflate.h"
#include "import/json/json_private.h"
#include "import/pftrace/pftrace_private.h"

#define USUAL_BLOCK ((uint64_t)512 << 10)

enum { MOST_BLOCKS = 64, BLOCKS_PER_THREAD = 4, WAVE_PACKETS = 1 << 18, LEAST_PACKET = 4 };
enum { EVENT_BYTES = 200 }; /* of usual traces */

struct wave {
    struct pf_survey *survey;
    struct pf_packet *packets;
    int n, first[MOST_BLOCKS + 1], n_blocks; /* block i has packets [first[i], first[i + 1]) */
    int most_blocks, most;                   /* blocks and packets of a wave */
    struct batch *parts[MOST_BLOCKS];
    struct pf_reader *readers;
    int rc[MOST_BLOCKS];
    struct pf_meta *metas; /* of all blocks so far */
    size_t n_metas, cap_metas;
};

static void decode_block(void *ctx, int item, int worker)
{
    struct wave *w = ctx;
    struct pf_reader *r = &w->readers[item];
    int rc = w->parts[item] ? batch_reset(w->parts[item]) : 0;
    if (!w->parts[item]) w->parts[item] = batch_new();
    if (!w->parts[item]) rc = ERR_NOMEM;
    if (rc == 0) pf_reader_begin(r, w->parts[item]);
    for (int i = w->first[item]; rc == 0 && i < w->first[item + 1]; i++)
        rc = pf_reader_add(r, &w->packets[i]);
    w->rc[item] = rc;
}

static void cut_blocks(struct wave *w, uint64_t block_bytes)
{
    w->n_blocks = 0;
    const char *begin = NULL;
    for (int i = 0; i < w->n; i++) {
        bool full = begin && (uint64_t)(w->packets[i].begin - begin) >= block_bytes;
        if (begin && (!full || w->n_blocks == w->most_blocks)) continue;
        w->first[w->n_blocks++] = i;
        begin = w->packets[i].begin;
    }
    w->first[w->n_blocks] = w->n;
}

/* Adds the decoded blocks to the trace, in file order. */
static int pftrace_join(struct wave *w, struct builder *b, struct pf_pairs *pairs, struct err *e)
{
    for (int i = 0; i < w->n_blocks; i++) {
        const struct pf_reader *r = &w->readers[i];
        TRY(err_grow(e, w->rc[i]));
        uint32_t first = builder_n_rows(b);
        TRY(builder_copy_part(b, w->parts[i], e));
        TRY(err_grow(e, pf_pairs_add(pairs, r->marks, r->n_marks, first)));
        if (VEC_RESERVE(w->metas, w->n_metas, w->cap_metas, r->n_metas)) return err_nomem(e);
        for (size_t k = 0; k < r->n_metas; k++) w->metas[w->n_metas++] = r->metas[k];
    }
    return 0;
}

static void pftrace_tell(const struct pf_survey *s, const struct import_options *o)
{
    if (o->progress)
        o->progress->tell(o->progress, (uint64_t)(s->at - s->text), (uint64_t)(s->end - s->text));
}

static int read_waves(struct wave *w, struct builder *b, struct pf_pairs *pairs,
                      const struct import_options *o, struct err *e)
{
    uint64_t block = o->block_bytes ? o->block_bytes : USUAL_BLOCK;
    uint64_t bytes = block * (uint64_t)w->most_blocks;
    while (w->survey->at < w->survey->end) {
        w->n = pf_survey_fill(w->survey, w->packets, w->most, bytes);
        TRY(err_grow(e, w->n));
        if (pairs->unordered) continue; /* only to know all tracks next time */
        TRY(err_grow(e, pf_place(w->survey)));
        cut_blocks(w, block);
        pool_run(o->n_threads, w->n_blocks, decode_block, w);
        TRY(pftrace_join(w, b, pairs, e));
        pftrace_tell(w->survey, o);
    }
    return pairs->unordered ? 0 : err_grow(e, pf_pairs_end(pairs));
}

/* Whether a track was described after events of it had been read. */
static bool came_late(const struct wave *w)
{
    for (int i = 0; i < w->most_blocks; i++)
        for (size_t k = 0; k < w->readers[i].n_unknown; k++)
            if (pf_find_track(w->survey, w->readers[i].unknown[k])) return true;
    return false;
}

/* Names of processes and threads, once all are known. */
static int pftrace_add_label(struct batch *p, enum batch_label what, const struct pf_track *t,
                             struct str text)
{
    struct intern *strings = batch_strings(p);
    struct batch_key pid = {t->place_pid.number, 0}, tid = {t->place_tid.number, 0};
    if (pid.number == ID_NONE)
        pid.text = intern_add(strings, str_from(t->place_pid.text.p, t->place_pid.text.n));
    if (tid.number == ID_NONE)
        tid.text = intern_add(strings, str_from(t->place_tid.text.p, t->place_tid.text.n));
    str_id id = text.p ? intern_add(strings, text) : 0;
    if (pid.text == STR_NONE || tid.text == STR_NONE || id == STR_NONE) return ERR_NOMEM;
    return batch_add_label(p, what, pid, tid, id, t->sort_index);
}

static int pftrace_add_labels(const struct pf_survey *s, struct batch *p)
{
    for (size_t i = 0; i < s->n_tracks; i++) {
        const struct pf_track *t = &s->tracks[i];
        if (t->is_counter || str_ends(t->name, " (overlap)")) continue;
        struct str thread = t->thread_name.n ? t->thread_name : t->name;
        if (t->process_name.n) TRY(pftrace_add_label(p, LABEL_PROCESS_NAME, t, t->process_name));
        if (t->labels.n) TRY(pftrace_add_label(p, LABEL_PROCESS_LABELS, t, t->labels));
        if (t->is_process && t->sort_index)
            TRY(pftrace_add_label(p, LABEL_PROCESS_SORT, t, str_c("")));
        if (t->is_process) continue;
        if (thread.n) TRY(pftrace_add_label(p, LABEL_THREAD_NAME, t, thread));
        if (t->sort_index) TRY(pftrace_add_label(p, LABEL_THREAD_SORT, t, str_c("")));
    }
    return 0;
}

static int pftrace_finish(struct wave *w, struct builder *b, struct err *e)
{
    struct pf_survey *s = w->survey;
    struct batch *p = batch_new();
    if (!p) return err_nomem(e);
    int rc = err_grow(e, pftrace_add_labels(s, p));
    if (rc == 0) rc = builder_copy_part(b, p, e);
    batch_free(p);
    for (size_t i = 0; rc == 0 && i < w->n_metas; i++)
        rc = err_grow(e, head_add(b, w->metas[i].key, w->metas[i].value));
    struct trace *t = builder_trace(b);
    damage_merge(&t->damage, &s->damage);
    if (t->base_ns == 0) t->base_ns = s->base_ns;
    if (rc == 0) rc = err_grow(e, pf_index_states(s));
    if (rc == 0 && builder_n_rows(b) == 0 && s->n_compressed)
        return FAIL(
            e, ERR_UNSUPPORTED,
            "a Perfetto trace whose packets are compressed one by one, which cannot be read; "
            "\"traceconv decompress_packets IN OUT\" writes one that can");
    if (rc == 0 && builder_n_rows(b) == 0)
        return FAIL(e, ERR_FORMAT, "a Perfetto trace without track events or GPU work");
    return rc;
}

/* Reads everything once; *ret_again says that it must be read again, with `keep`. */
static int read_once(struct wave *w, struct builder *b, bool keep, const struct import_options *o,
                     bool *ret_again, struct err *e)
{
    struct pf_pairs pairs;
    pf_pairs_init(&pairs, b, keep);
    w->n_metas = 0;
    int rc = read_waves(w, b, &pairs, o, e);
    *ret_again = rc == 0 && !keep && (pairs.unordered || w->survey->places_changed || came_late(w));
    pf_pairs_done(&pairs);
    return rc;
}

static void wave_free(struct wave *w)
{
    if (!w) return;
    for (int i = 0; i < w->most_blocks && w->readers; i++) pf_reader_done(&w->readers[i]);
    for (int i = 0; i < MOST_BLOCKS; i++) batch_free(w->parts[i]);
    mem_free(w->readers);
    mem_free(w->packets);
    mem_free(w->metas);
    mem_free(w);
}

static struct wave *wave_new(struct pf_survey *s, int n_threads)
{
    struct wave *w = mem_zalloc(1, sizeof *w);
    if (!w) return NULL;
    size_t bytes = (size_t)(s->end - s->text);
    w->survey = s;
    w->most = bytes / LEAST_PACKET < WAVE_PACKETS ? (int)(bytes / LEAST_PACKET) + 1 : WAVE_PACKETS;
    w->most_blocks = n_threads * BLOCKS_PER_THREAD;
    if (w->most_blocks > MOST_BLOCKS) w->most_blocks = MOST_BLOCKS;
    w->packets = mem_alloc((size_t)w->most * sizeof *w->packets);
    w->readers = mem_zalloc((size_t)w->most_blocks, sizeof *w->readers);
    for (int i = 0; i < w->most_blocks && w->readers; i++) pf_reader_init(&w->readers[i], s);
    if (w->packets && w->readers) return w;
    wave_free(w);
    return NULL;
}

static struct builder *begin_trace(const struct pf_args *a, const char *path, struct err *e)
{
    struct builder *b = builder_new(e);
    if (!b) return NULL;
    struct trace *t = builder_trace(b);
    t->format = "perfetto";
    t->path = mem_strdup(path);
    t->source_bytes = (uint64_t)(a->survey.end - a->survey.text);
    builder_expect(b, t->source_bytes / EVENT_BYTES);
    if (t->path) return b;
    builder_free(b);
    err_nomem(e);
    return NULL;
}

/* Decides about the second time. On success *ret has all rows. */
static int pftrace_read_all(struct pf_args *a, const char *path, const struct import_options *o,
                            struct builder **ret, struct err *e)
{
    bool again = true;
    struct wave *w = wave_new(&a->survey, o->n_threads);
    int rc = w ? 0 : err_nomem(e);
    *ret = NULL;
    for (int time = 0; rc == 0 && again && time < 2; time++) {
        builder_free(*ret);
        *ret = begin_trace(a, path, e);
        rc = *ret ? pf_survey_rewind(&a->survey) : ERR_NOMEM;
        if (rc == 0) rc = read_once(w, *ret, time > 0, o, &again, e);
    }
    if (rc == 0) rc = pftrace_finish(w, *ret, e);
    if (rc == 0 && a->cut && !a->survey.damage.count[DAMAGE_TRUNCATED])
        damage_note(&builder_trace(*ret)->damage, DAMAGE_TRUNCATED,
                    builder_trace(*ret)->source_bytes);
    wave_free(w);
    return rc;
}

static int open_text(struct pf_args *a, struct err *e)
{
    bool all = false, whole;
    TRY(plain_open(&a->plain, &a->file, &a->options, e));
    uint64_t n = plain_wait(a->plain, UINT64_MAX - FILE_PADDING, &all);
    TRY(plain_result(a->plain, &whole, e));
    pf_survey_init(&a->survey, str_from(plain_text(a->plain), n));
    a->cut = !whole;
    return 0;
}

static int open_pftrace(struct file_map *file, const char *path, const struct import_options *o,
                        struct trace **ret, struct err *e)
{
    struct builder *b = NULL;
    struct pf_args *a = pf_args_new(file, o);
    if (!a) return err_nomem(e);
    int rc = open_text(a, e);
    if (rc == 0) rc = pftrace_read_all(a, path, o, &b, e);
    if (rc < 0) {
        a->base.free(&a->base);
        builder_free(b);
        return rc;
    }
    builder_trace(b)->args = &a->base;
    return builder_freeze(b, o->n_threads, ret, e);
}

/* Whether a field can be one of TracePacket, by its number and type: messages, with few exceptions.
 */
static bool fits_packet(const struct pb_field *f)
{
    static const uint8_t numbers[] = {3, 8, 10, 13, 41, 42, 58, 79, 87, 88, 98};
    if (f->number > 1000) return false;
    for (size_t i = 0; i < sizeof numbers; i++)
        if (f->number == numbers[i]) return f->type == PB_VARINT;
    return f->type == PB_BYTES;
}

/* JSON after an empty line; no packet begins like that. */
static bool looks_like_json(struct str head)
{
    return (head.p[1] == '{' || head.p[1] == '[') && head.p[2] && strchr("\"\r\n{", head.p[2]);
}

/* A trace is a run of packets, each field 1: a newline to a reader of text. */
static bool pftrace_sniff(struct str head)
{
    struct pb m = pb_open(head), packet;
    struct pb_field f;
    uint64_t n;
    if (head.n < 4 || *head.p != '\n' || looks_like_json(head)) return false;
    m.p++;
    if (!pb_varint(&m, &n) || n == 0) return false;
    bool cut = n > (uint64_t)(m.end - m.p);
    packet = (struct pb){m.p, cut ? m.end : m.p + n, false};
    bool any = false;
    while (pb_next(&packet, &f)) {
        if (!fits_packet(&f)) return false;
        any = true;
    }
    if (packet.bad && !cut) return false;
    if (!any && packet.p < packet.end) { /* one field, longer than what we see */
        uint64_t tag;
        return pb_varint(&packet, &tag) && (tag & 7) == PB_BYTES && tag >> 3 > 0 && tag >> 3 < 140;
    }
    return any && (cut || m.p + n == m.end || m.p[n] == '\n');
}

const struct importer import_pftrace = {"perfetto", pftrace_sniff, open_pftrace, .inflates = true};
