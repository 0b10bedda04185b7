/* json_block.c: elements of the event array, one after the other, whatever state they are in.
 *
 * The usual event is read by event_fast. What that refuses is read again by event_scan: strictly,
 * then in the forgiving modes, which may not look beyond the next thing that looks like an event;
 * that keeps the work proportional to the text however broken it is. What no mode can read is
 * skipped up to there. */
#include "import/json/json_private.h"

enum { LEAST_MORE = 1 << 16 };

void block_init(struct block_reader *r, struct plain *plain)
{
    r->plain = plain;
    r->fast = event_fast();
    r->scan.text = r->scan.end = plain_text(plain);
    r->all = false;
    kineto_init(&r->kineto);
}

void block_done(struct block_reader *r)
{
    kineto_done(&r->kineto);
}

static uint64_t offset_of(const struct block_reader *r, const char *p)
{
    return (uint64_t)(p - r->scan.text);
}

bool block_more_text(struct block_reader *r, uint64_t from)
{
    if (r->all) return false;
    uint64_t have = offset_of(r, r->scan.end);
    uint64_t again = have > from ? have - from : 0;
    uint64_t want = (have > from ? have : from) + (again > LEAST_MORE ? again : LEAST_MORE);
    uint64_t n = plain_wait(r->plain, want, &r->all);
    r->scan.end = r->scan.text + n;
    return n > have;
}

static bool more_text(struct block_reader *r, const char *p)
{
    return block_more_text(r, offset_of(r, p));
}

/* The first non-blank byte from `p` on; the end of the text when there is none. */
static const char *json_block_solid(struct block_reader *r, const char *p)
{
    do {
        while (p < r->scan.end && scan_is_blank(*p)) p++;
    } while (p >= r->scan.end && more_text(r, p));
    return p;
}

static const char *find_event(struct block_reader *r, const char *p)
{
    const char *found;
    while ((found = event_find(p, r->scan.end)) == r->scan.end && more_text(r, p)) {}
    return found;
}

/* The event at `p` in the forgiving modes; `limit` is where the next one seems to begin. */
static enum scan_result read_forgiving(struct block_reader *r, const char *p, const char *limit)
{
    struct scan *s = &r->scan;
    const char *end = s->end;
    enum scan_result rc = SCAN_BAD;
    s->end = limit;
    for (enum scan_mode mode = SCAN_QUOTES; mode < SCAN_MODES && rc != SCAN_OK; mode++) {
        scan_begin(s, p, mode);
        rc = event_scan(s, &r->event);
    }
    s->end = end;
    return rc;
}

/* The event at `p`; the cursor ends after it, or where reading can go on. */
static enum scan_result json_block_read_event(struct block_reader *r, const char *p)
{
    struct scan *s = &r->scan;
    enum scan_result rc;
    do {
        scan_begin(s, p, SCAN_STRICT);
        rc = event_scan(s, &r->event);
    } while (rc == SCAN_CUT && more_text(r, p));
    if (rc == SCAN_OK) return rc;
    const char *limit = find_event(r, p + 1);
    rc = read_forgiving(r, p, limit);
    if (rc == SCAN_OK) return rc;
    s->p = limit;
    return limit == s->end ? SCAN_CUT : SCAN_BAD;
}

/* An element that is not an object. */
static enum scan_result skip_element(struct block_reader *r, const char *p)
{
    struct scan *s = &r->scan;
    enum scan_result rc;
    do {
        scan_begin(s, p, SCAN_STRICT);
        rc = scan_skip(s);
    } while (rc == SCAN_CUT && more_text(r, p));
    if (rc != SCAN_OK) s->p = find_event(r, p);
    return SCAN_BAD;
}

/* An event without a phase is a span if it has the times of one. */
static bool has_phase(struct event *ev)
{
    if (event_has(ev, EVENT_PH)) return true;
    ev->phase = 'X';
    return event_has(ev, EVENT_TS) && event_has(ev, EVENT_DUR);
}

/* The element at `p`, into the part; the cursor ends after it. Scripts that write a comma before
 * each event start with an empty one. */
static int read_element(struct block_reader *r, struct batch *part, const char *p)
{
    struct scan *s = &r->scan;
    enum scan_result rc = SCAN_OK;
    s->n_notes = 0;
    s->p = *p == '{' ? r->fast(&r->memory, p, s->end, &r->event) : NULL;
    if (!s->p) rc = *p == '{' ? json_block_read_event(r, p) : skip_element(r, p);
    if (rc == SCAN_OK && has_phase(&r->event)) {
        TRY(kineto_add(&r->kineto, s, &r->event));
        scan_accept(s, batch_damage(part));
        return 0;
    }
    if (rc == SCAN_OK && str_is(str_from(p, (size_t)(s->p - p)), "{}")) return 0;
    damage_note(batch_damage(part), rc == SCAN_CUT ? DAMAGE_TRUNCATED : DAMAGE_BAD_EVENT,
                offset_of(r, p));
    return 0;
}

/* Over what stands between two elements, from `p` on, to the next one. */
static const char *next_element(struct block_reader *r, struct batch *part, const char *p)
{
    p = json_block_solid(r, p);
    if (p >= r->scan.end || *p == ']' || *p == '{') return p;
    if (*p != ',') {
        damage_note(batch_damage(part), DAMAGE_BAD_EVENT, offset_of(r, p));
        return find_event(r, p);
    }
    const char *comma = p;
    p = json_block_solid(r, p + 1);
    if (p < r->scan.end && *p == ']')
        damage_note(batch_damage(part), DAMAGE_TRAILING_COMMA, offset_of(r, comma));
    return p;
}

int block_read(struct block_reader *r, struct batch *part, uint64_t from, uint64_t until,
               uint64_t *ret_end, enum block_end *ret_how)
{
    kineto_begin(&r->kineto, part);
    r->scan.end = r->scan.text + plain_wait(r->plain, until, &r->all);
    const char *p = json_block_solid(r, r->scan.text + from), *stop = r->scan.text + until;
    *ret_how = BLOCK_GOES_ON;
    while (p < stop || p >= r->scan.end) {
        if (p >= r->scan.end) {
            *ret_how = BLOCK_CUT_SHORT;
            if (!batch_damage(part)->count[DAMAGE_TRUNCATED])
                damage_note(batch_damage(part), DAMAGE_TRUNCATED, offset_of(r, p));
            break;
        }
        if (*p == ']') {
            *ret_how = BLOCK_CLOSED;
            p++;
            break;
        }
        TRY(read_element(r, part, p));
        p = next_element(r, part, r->scan.p);
    }
    *ret_end = offset_of(r, p);
    return 0;
}
