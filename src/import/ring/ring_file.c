/* ring_file.c: see ring_file.h. Nothing in a file is believed before it is checked against the
 * size of the file. */
#include "import/ring/ring_file.h"

#include <string.h>

#include "base/mem.h"

#define LATEST_NS 4000000000000000000u /* the end of this century */

static int ring_file_fail(struct err *e, const char *path, const char *what)
{
    err_at(e, path, 0);
    return FAIL(e, ERR_FORMAT, "%s", what);
}

/* Copies the head out, so that a process still at work cannot change it under us. */
static int ring_file_read_head(const struct file_map *map, const char *path, void *head, size_t n,
                               struct err *e)
{
    memset(head, 0, n);
    if (map->n < RING_HEAD_BYTES) return 0;
    memcpy(head, map->p, n);
    uint32_t version, head_bytes;
    memcpy(&version, map->p + 8, sizeof version);
    memcpy(&head_bytes, map->p + 12, sizeof head_bytes);
    static const char nothing[8];
    if (memcmp(head, nothing, 8) == 0) {
        memset(head, 0, n);
        return 0;
    }
    if (memcmp(head, PROC_MAGIC, 8) != 0 && memcmp(head, RING_MAGIC, 8) != 0)
        return ring_file_fail(e, path, "not a recording file");
    if (version != RING_VERSION || head_bytes != RING_HEAD_BYTES) {
        err_at(e, path, 8);
        return FAIL(e, ERR_VERSION, "has version %u, expected %u", version, RING_VERSION);
    }
    return 0;
}

/* The string at `*at`, which is moved behind it; false at the end, or where it makes no sense. */
static bool next_string(const struct proc_file *f, uint64_t *at, struct ring_string *ret)
{
    uint64_t n = f->map.n > RING_HEAD_BYTES ? f->map.n - RING_HEAD_BYTES : 0;
    if (n > f->head.strings_bytes) n = f->head.strings_bytes;
    if (*at > n || n - *at < sizeof *ret) return false;
    memcpy(ret, f->map.p + RING_HEAD_BYTES + *at, sizeof *ret);
    if (ret->n > RING_TEXT_MAX || ret->id == 0 || ret->id >= RING_NAMES_MAX) return false;
    if (ring_string_bytes(ret->n) > n - *at) return false;
    *at += ring_string_bytes(ret->n);
    return true;
}

static int read_strings(struct proc_file *f, struct err *e)
{
    struct ring_string s;
    for (uint64_t at = 0; next_string(f, &at, &s);)
        if (s.id >= f->n_strings) f->n_strings = s.id + 1;
    f->strings = mem_alloc(f->n_strings * sizeof *f->strings);
    if (!f->strings) return err_nomem(e);
    for (uint32_t i = 0; i < f->n_strings; i++) f->strings[i] = (struct str){"", 0};
    for (uint64_t at = 0; next_string(f, &at, &s);)
        f->strings[s.id] =
            str_from(f->map.p + RING_HEAD_BYTES + at - ring_string_bytes(s.n) + sizeof s, s.n);
    return 0;
}

int proc_file_open(struct proc_file *f, const char *path, struct err *e)
{
    *f = (struct proc_file){0};
    TRY(file_map_found(&f->map, path, e));
    int rc = ring_file_read_head(&f->map, path, &f->head, sizeof f->head, e);
    if (rc == 0 && f->head.pid && memcmp(f->head.magic, PROC_MAGIC, 8) != 0)
        rc = ring_file_fail(e, path, "not the recording of a process");
    if (rc == 0 && (f->head.start_real_ns > LATEST_NS || f->head.start_mono_ns > LATEST_NS / 4))
        rc = ring_file_fail(e, path, "the file header is damaged");
    f->head.host[sizeof f->head.host - 1] = 0;
    f->head.boot[sizeof f->head.boot - 1] = 0;
    f->head.program[sizeof f->head.program - 1] = 0;
    if (rc == 0) rc = read_strings(f, e);
    if (rc < 0) proc_file_close(f);
    return rc;
}

void proc_file_close(struct proc_file *f)
{
    mem_free(f->strings);
    file_unmap(&f->map);
    *f = (struct proc_file){0};
}

static bool head_makes_sense(const struct ring_head *h)
{
    return h->block_records == RING_BLOCK && h->n_logged % RING_BLOCK == 0 &&
           h->log_slots % RING_BLOCK == 0 && h->n_logged <= h->n_written &&
           h->n_written - h->n_logged <= RING_BLOCK;
}

int ring_file_open(struct ring_file *f, const char *path, struct err *e)
{
    *f = (struct ring_file){0};
    TRY(file_map_found(&f->map, path, e));
    struct ring_head h;
    int rc = ring_file_read_head(&f->map, path, &h, sizeof h, e);
    if (rc == 0 && h.version && memcmp(h.magic, RING_MAGIC, 8) != 0)
        rc = ring_file_fail(e, path, "not the recording of a thread");
    if (rc == 0 && h.version && !head_makes_sense(&h))
        rc = ring_file_fail(e, path, "the file header is damaged");
    if (rc < 0) {
        ring_file_close(f);
        return rc;
    }
    f->pid = h.pid;
    f->n_written = h.n_written;
    f->n_logged = h.n_logged;
    f->log_slots = h.log_slots;
    f->n_lost = h.n_lost;
    f->n_overwritten = h.log_slots && h.n_logged > h.log_slots ? h.n_logged - h.log_slots : 0;
    /* A log cut off is a log that lost its end: what is not in the file is not requested. */
    uint64_t in_log = f->map.n > RING_LOG_OFFSET ? (f->map.n - RING_LOG_OFFSET) / 16 : 0;
    if (f->log_slots > in_log) f->log_slots = in_log / RING_BLOCK * RING_BLOCK;
    if (f->log_slots && f->n_logged > f->log_slots) f->first = f->n_logged - f->log_slots;
    if (!f->log_slots && f->n_logged - f->first > in_log) f->first = f->n_logged;
    return 0;
}

void ring_file_close(struct ring_file *f)
{
    file_unmap(&f->map);
    *f = (struct ring_file){0};
}

/* Record `i`, or false when it is not there. */
static bool ring_file_read_record(const struct ring_file *f, uint64_t i, struct ring_record *ret)
{
    uint64_t at = RING_HEAD_BYTES + i % RING_BLOCK * sizeof *ret;
    if (i < f->n_logged) at = RING_LOG_OFFSET + (f->log_slots ? i % f->log_slots : i) * sizeof *ret;
    if (at + sizeof *ret > f->map.n) return false;
    memcpy(ret, f->map.p + at, sizeof *ret);
    return ret->check == ring_check(i);
}

void ring_cursor_init(struct ring_cursor *c, const struct ring_file *f, uint64_t from)
{
    *c = (struct ring_cursor){
        .file = f, .next = from > f->first ? from : f->first, .end = f->n_written};
}

void ring_cursor_block(struct ring_cursor *c, const struct ring_file *f, uint64_t number)
{
    uint64_t end = (number + 1) * RING_BLOCK;
    *c = (struct ring_cursor){
        .file = f, .next = number * RING_BLOCK, .end = end < f->n_written ? end : f->n_written};
}

const struct ring_record *ring_file_block(const struct ring_file *f, uint64_t number,
                                          uint32_t *ret_n)
{
    uint64_t i = number * RING_BLOCK, at = RING_HEAD_BYTES, n = RING_BLOCK;
    if (i < f->n_logged)
        at = RING_LOG_OFFSET + (f->log_slots ? i % f->log_slots : i) * sizeof(struct ring_record);
    else n = f->n_written - i;
    uint64_t room = f->map.n > at ? (f->map.n - at) / sizeof(struct ring_record) : 0;
    *ret_n = (uint32_t)(n < room ? n : room);
    return *ret_n ? (const void *)(f->map.p + at) : NULL;
}

/* The value after the record just read; false when it is lost, and with it the record. */
static bool take_value(struct ring_cursor *c, struct ring_entry *ret)
{
    struct ring_record value;
    if (c->next >= c->end || !ring_file_read_record(c->file, c->next, &value) ||
        value.kind != RING_VALUE) {
        c->n_missing++;
        return false;
    }
    c->next++;
    ret->value = value.ticks;
    ret->extra = ring_id(value);
    return true;
}

bool ring_cursor_next(struct ring_cursor *c, struct ring_entry *ret)
{
    while (c->next < c->end) {
        ret->number = c->next++;
        ret->value = 0;
        ret->extra = 0;
        if (!ring_file_read_record(c->file, ret->number, &ret->r)) {
            c->n_missing++;
            continue;
        }
        if (ret->r.kind == RING_PAD || ret->r.kind == RING_VALUE) continue;
        if (ret->r.kind < RING_WIDE || take_value(c, ret)) return true;
    }
    return false;
}
