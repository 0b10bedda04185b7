/* pftrace_state.c: see pftrace_state.h. Field numbers are those of Perfetto's public .proto files.
 */
#include "import/pftrace/pftrace_state.h"

#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"
#include "trace/bounds.h"

enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOT_ID = 6, FIRST_SEQUENCE_CLOCK = 64 };
enum { RESET_STATE = 1 };
enum { MOST_TEXTS = 1 << 28, MOST_CLOCKS = 16, MOST_ANCESTORS = 32 };

/* TracePacket */
enum {
    PACKET_CLOCKS = 6,
    PACKET_TIME = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_CLEARED = 41,
    PACKET_COMPRESSED = 50,
    PACKET_STAGE = 53,
    PACKET_CLOCK = 58,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK = 60,
    PACKET_ZSTD = 133
};

void pf_survey_init(struct pf_survey *s, struct str text)
{
    *s = (struct pf_survey){.text = text.p, .at = text.p, .end = text.p + text.n};
    s->primary_clock = CLOCK_BOOT_ID;
}

static void pftrace_state_forget(struct pf_survey *s)
{
    for (size_t i = 0; i < s->n_states; i++) map_done(&s->states[i].texts);
    for (size_t i = 0; i < s->n_sequences; i++) mem_free(s->sequences[i].clocks);
    map_done(&s->sequence_at);
    map_init(&s->sequence_at);
    s->n_states = s->n_sequences = s->n_texts = 0;
    memset(s->clocks, 0, sizeof s->clocks);
    s->n_compressed = s->n_foreign = 0;
    s->damage = (struct damage){0};
}

void pf_survey_done(struct pf_survey *s)
{
    pftrace_state_forget(s);
    map_done(&s->sequence_at);
    map_done(&s->track_at);
    map_done(&s->missing);
    mem_free(s->states);
    mem_free(s->sequences);
    mem_free(s->texts);
    mem_free(s->tracks);
    mem_free(s->by_sequence);
}

int pf_survey_rewind(struct pf_survey *s)
{
    pftrace_state_forget(s);
    s->tracks_known = s->at == s->end;
    s->at = s->text;
    s->places_changed = false;
    s->n_placed = 0;
    return 0;
}

struct scan_text pf_scan_text(struct str s)
{
    unsigned char high = 0;
    uint32_t n = s.n > SCAN_MOST_STRING ? SCAN_MOST_STRING : (uint32_t)s.n;
    for (uint32_t i = 0; i < n; i++) high |= (unsigned char)s.p[i];
    return (struct scan_text){s.p, n, false, high >= 0x80};
}

static int add_state(struct pf_survey *s, uint32_t sequence, const char *at)
{
    if (VEC_RESERVE(s->states, s->n_states, s->cap_states, 1)) return ERR_NOMEM;
    struct pf_sequence *q = &s->sequences[sequence];
    q->state = (uint32_t)s->n_states;
    s->states[s->n_states++] =
        (struct pf_state){.sequence = sequence, .begin = (uint64_t)(at - s->text)};
    return 0;
}

/* The sequence of that id, added when new; NULL when out of memory. */
static struct pf_sequence *sequence_of(struct pf_survey *s, uint64_t id, const char *at)
{
    uint32_t *slot = map_at(&s->sequence_at, id);
    if (!slot) return NULL;
    if (*slot != MAP_NONE) return &s->sequences[*slot];
    if (VEC_RESERVE(s->sequences, s->n_sequences, s->cap_sequences, 1)) return NULL;
    uint32_t i = (uint32_t)s->n_sequences;
    s->sequences[s->n_sequences++] = (struct pf_sequence){.id = id};
    if (add_state(s, i, at)) return NULL;
    *slot = i;
    return &s->sequences[i];
}

static uint64_t text_key(enum pf_table table, uint64_t iid)
{
    return iid << 5 | (uint64_t)table;
}

const struct pf_text *pf_find(const struct pf_view *v, enum pf_table table, uint64_t iid)
{
    const struct pf_survey *s = v->survey;
    uint32_t i = map_find(&s->states[v->state].texts, text_key(table, iid));
    return i == MAP_NONE || s->texts[i].at > v->packet ? NULL : &s->texts[i];
}

/* An entry of InternedData: an id, a text, and for some tables a little more. */
static int pftrace_state_add_text(struct pf_survey *s, struct pf_state *state, enum pf_table table,
                                  struct str bytes, const char *at)
{
    struct pb m = pb_open(bytes);
    struct pb_field f;
    struct pf_text t = {.at = at};
    uint64_t iid = 0;
    while (pb_next(&m, &f)) {
        if (f.number == 1) iid = f.value;
        else if (f.number == 2 && f.type == PB_BYTES) t.text = pf_scan_text(f.bytes);
        else if (f.number == 3 && f.type == PB_BYTES) t.other = pf_scan_text(f.bytes);
        else if (f.number == 4 && f.type == PB_VARINT) t.number = (uint32_t)f.value;
    }
    if (table == PF_KERNELS && t.other.n) t.text = t.other; /* the demangled name */
    if (table == PF_ARG_NAMES) t.arg = event_find_arg(t.text.p, t.text.n);
    uint32_t *slot = map_at(&state->texts, text_key(table, iid));
    if (slot && *slot != MAP_NONE) return 0; /* none may be given twice: the first counts */
    if (!slot || s->n_texts >= MOST_TEXTS || VEC_RESERVE(s->texts, s->n_texts, s->cap_texts, 1))
        return ERR_NOMEM;
    *slot = (uint32_t)s->n_texts;
    s->texts[s->n_texts++] = t;
    return 0;
}

static int add_interned(struct pf_survey *s, struct pf_state *state, struct str bytes,
                        const char *at)
{
    struct pb m = pb_open(bytes);
    struct pb_field f;
    while (pb_next(&m, &f)) {
        if (f.type != PB_BYTES) continue;
        switch (f.number) {
        case PF_CATEGORIES:
        case PF_NAMES:
        case PF_ARG_NAMES:
        case PF_LOCATIONS:
        case PF_STAGES:
        case PF_ARG_TEXTS:
            TRY(pftrace_state_add_text(s, state, (enum pf_table)f.number, f.bytes, at));
            break;
        case 1000: TRY(pftrace_state_add_text(s, state, PF_KERNELS, f.bytes, at)); break;
        case 1001: TRY(pftrace_state_add_text(s, state, PF_LAUNCH_ARGS, f.bytes, at)); break;
        default: break;
        }
    }
    return 0;
}

static void set_defaults(struct pf_state *state, struct str bytes)
{
    struct pb m = pb_open(bytes), inner;
    struct pb_field f, g;
    while (pb_next(&m, &f)) {
        if (f.number == PACKET_CLOCK) state->clock = (uint32_t)f.value;
        if (f.number != PACKET_EVENT || f.type != PB_BYTES) continue;
        for (inner = pb_open(f.bytes); pb_next(&inner, &g);)
            if (g.number == 11) state->track = g.value;
    }
}

static struct pf_clock *clock_of(struct pf_survey *s, struct pf_sequence *q, uint32_t id, bool add)
{
    if (id < FIRST_SEQUENCE_CLOCK) return s->clocks[id].id || add ? &s->clocks[id] : NULL;
    for (size_t i = 0; i < q->n_clocks; i++)
        if (q->clocks[i].id == id) return &q->clocks[i];
    if (!add || q->n_clocks >= MOST_CLOCKS || VEC_RESERVE(q->clocks, q->n_clocks, q->cap_clocks, 1))
        return NULL;
    q->clocks[q->n_clocks] = (struct pf_clock){0};
    return &q->clocks[q->n_clocks++];
}

static int64_t clamp_ns(uint64_t value, uint64_t unit_ns)
{
    uint64_t ns;
    if (unit_ns == 0) unit_ns = 1;
    if (__builtin_mul_overflow(value, unit_ns, &ns) || ns > (uint64_t)BOUNDS_TS_NS)
        return BOUNDS_TS_NS;
    return (int64_t)ns;
}

struct reading {
    uint64_t id, value, unit_ns;
    bool incremental;
};

static struct reading read_clock(struct str bytes)
{
    struct pb m = pb_open(bytes);
    struct pb_field f;
    struct reading r = {0};
    while (pb_next(&m, &f)) {
        if (f.number == 1) r.id = f.value;
        else if (f.number == 2) r.value = f.value;
        else if (f.number == 3) r.incremental = f.value != 0;
        else if (f.number == 4) r.unit_ns = f.value;
    }
    return r;
}

/* All clocks read at one moment: how far each is from the trace's. */
static void set_clocks(struct pf_survey *s, struct pf_sequence *q, struct str bytes)
{
    struct reading all[MOST_CLOCKS];
    int n = 0;
    struct pb m = pb_open(bytes);
    struct pb_field f;
    while (pb_next(&m, &f)) {
        if (f.number == 2 && f.value > 0 && f.value < FIRST_SEQUENCE_CLOCK)
            s->primary_clock = (uint32_t)f.value;
        else if (f.number == 1 && f.type == PB_BYTES && n < MOST_CLOCKS)
            all[n++] = read_clock(f.bytes);
    }
    int64_t here_ns = -1;
    for (int i = 0; i < n; i++)
        if (all[i].id == s->primary_clock) here_ns = clamp_ns(all[i].value, all[i].unit_ns);
    for (int i = 0; i < n; i++) {
        struct pf_clock *c =
            all[i].id && all[i].id < 128 ? clock_of(s, q, (uint32_t)all[i].id, true) : NULL;
        if (!c) continue;
        int64_t ns = clamp_ns(all[i].value, all[i].unit_ns);
        *c = (struct pf_clock){(uint32_t)all[i].id, all[i].incremental, all[i].unit_ns, ns,
                               here_ns < 0 ? 0 : here_ns - ns};
        if (all[i].id == CLOCK_REALTIME_ID && here_ns >= 0) s->base_ns = ns - here_ns;
    }
}

/* A packet's time on the trace's clock. */
static int64_t packet_ns(struct pf_survey *s, struct pf_sequence *q, uint32_t clock, uint64_t value)
{
    if (clock == 0) clock = s->states[q->state].clock;
    if (clock == 0 || clock == s->primary_clock) return clamp_ns(value, 1);
    struct pf_clock *c = clock < 128 ? clock_of(s, q, clock, false) : NULL;
    if (!c) return clamp_ns(value, 1);
    int64_t ns = clamp_ns(value, c->unit_ns);
    if (c->incremental) {
        ns = ns > BOUNDS_TS_NS - c->last_ns ? BOUNDS_TS_NS : c->last_ns + ns;
        c->last_ns = ns;
    }
    return ns + c->to_trace_ns;
}

const struct pf_track *pf_find_track(const struct pf_survey *s, uint64_t uuid)
{
    uint32_t i = map_find(&s->track_at, uuid);
    return i == MAP_NONE ? NULL : &s->tracks[i];
}

static void read_process(struct pf_track *t, struct str bytes)
{
    struct pb m = pb_open(bytes);
    struct pb_field f;
    t->is_process = true;
    while (pb_next(&m, &f)) {
        if (f.number == 1) t->pid = (int32_t)f.value;
        else if (f.number == 3) t->sort_index = (int32_t)f.value;
        else if (f.number == 6 && f.type == PB_BYTES) t->process_name = f.bytes;
        else if (f.number == 8 && f.type == PB_BYTES) t->labels = f.bytes;
    }
}

static void pftrace_state_read_thread(struct pf_track *t, struct str bytes)
{
    struct pb m = pb_open(bytes);
    struct pb_field f;
    t->is_thread = true;
    while (pb_next(&m, &f)) {
        if (f.number == 1) t->pid = (int32_t)f.value;
        else if (f.number == 2) t->tid = (int64_t)f.value;
        else if (f.number == 3) t->sort_index = (int32_t)f.value;
        else if (f.number == 5 && f.type == PB_BYTES) t->thread_name = f.bytes;
    }
}

static void read_counter(struct pf_track *t, struct str bytes)
{
    struct pb m = pb_open(bytes);
    struct pb_field f;
    t->is_counter = true;
    while (pb_next(&m, &f)) {
        if (f.number == 4) t->multiplier = f.value;
        else if (f.number == 5) t->incremental = f.value != 0;
    }
}

static bool pftrace_state_same_place(const struct pf_track *a, const struct pf_track *b)
{
    return a->parent == b->parent && a->is_process == b->is_process &&
           a->is_thread == b->is_thread && a->is_counter == b->is_counter && a->pid == b->pid &&
           a->tid == b->tid && (a->is_thread || str_eq(a->name, b->name)) &&
           str_eq(a->description, b->description);
}

static int pftrace_state_add_track(struct pf_survey *s, struct str bytes)
{
    struct pf_track t = {0};
    struct pb m = pb_open(bytes);
    struct pb_field f;
    while (pb_next(&m, &f)) {
        bool text = f.type == PB_BYTES;
        if (f.number == 1) t.uuid = f.value;
        else if (f.number == 5 && !text) t.parent = f.value;
        else if ((f.number == 2 || f.number == 10) && text) t.name = f.bytes;
        else if (f.number == 3 && text) read_process(&t, f.bytes);
        else if (f.number == 4 && text) pftrace_state_read_thread(&t, f.bytes);
        else if (f.number == 8 && text) read_counter(&t, f.bytes);
        else if (f.number == 12) t.sort_index = (int32_t)f.value;
        else if (f.number == 14 && text) t.description = f.bytes;
    }
    uint32_t *slot = map_at(&s->track_at, t.uuid);
    if (!slot) return ERR_NOMEM;
    if (*slot != MAP_NONE) {
        struct pf_track *old = &s->tracks[*slot];
        if (!pftrace_state_same_place(old, &t)) s->places_changed = true;
        t.place_pid = old->place_pid;
        t.place_tid = old->place_tid;
        t.has_pid = old->has_pid;
        *old = t;
        return 0;
    }
    if (map_find(&s->missing, t.uuid) != MAP_NONE) s->places_changed = true;
    if (VEC_RESERVE(s->tracks, s->n_tracks, s->cap_tracks, 1)) return ERR_NOMEM;
    *slot = (uint32_t)s->n_tracks;
    s->tracks[s->n_tracks++] = t;
    return 0;
}

/* What the outside of a packet says. */
struct outside {
    uint64_t sequence, time, flags;
    uint32_t clock;
    bool has_time, cleared;
    struct str interned, defaults, clocks, track, event, stage;
};

static void read_outside(struct pf_survey *s, struct str bytes, struct outside *o)
{
    struct pb m = pb_open(bytes);
    struct pb_field f;
    while (pb_next(&m, &f)) {
        switch (f.number) {
        case PACKET_TIME:
            o->time = f.value;
            o->has_time = true;
            break;
        case PACKET_SEQUENCE: o->sequence = f.value; break;
        case PACKET_FLAGS: o->flags = f.value; break;
        case PACKET_CLEARED: o->cleared = f.value != 0; break;
        case PACKET_CLOCK: o->clock = (uint32_t)f.value; break;
        case PACKET_EVENT: o->event = f.bytes; break;
        case PACKET_STAGE: o->stage = f.bytes; break;
        case PACKET_INTERNED: o->interned = f.bytes; break;
        case PACKET_DEFAULTS: o->defaults = f.bytes; break;
        case PACKET_CLOCKS: o->clocks = f.bytes; break;
        case PACKET_TRACK: o->track = f.bytes; break;
        case PACKET_COMPRESSED:
        case PACKET_ZSTD: s->n_compressed++; break;
        default: s->n_foreign += f.type == PB_BYTES; break;
        }
    }
    if (m.bad) damage_note(&s->damage, DAMAGE_BAD_EVENT, (uint64_t)(m.p - s->text));
}

/* One packet; 1 when it has an event, which is then in *ret. */
static int survey_packet(struct pf_survey *s, const char *at, struct str bytes,
                         struct pf_packet *ret)
{
    struct outside o = {0};
    read_outside(s, bytes, &o);
    struct pf_sequence *q = sequence_of(s, o.sequence, at);
    if (!q) return ERR_NOMEM;
    if (o.flags & RESET_STATE || o.cleared) TRY(add_state(s, (uint32_t)(q - s->sequences), at));
    struct pf_state *state = &s->states[q->state];
    if (o.defaults.p) set_defaults(state, o.defaults);
    if (o.clocks.p) set_clocks(s, q, o.clocks);
    if (o.interned.p) TRY(add_interned(s, state, o.interned, at));
    if (o.track.p && !s->tracks_known) TRY(pftrace_state_add_track(s, o.track));
    int64_t ts_ns = o.has_time ? packet_ns(s, q, o.clock, o.time) : ID_NONE;
    if (!o.event.p && !o.stage.p) return 0;
    *ret = (struct pf_packet){
        .begin = at,
        .event = o.event.p ? o.event : o.stage,
        .ts_ns = ts_ns,
        .track = state->track,
        .state = q->state,
        .is_stage = !o.event.p,
    };
    return 1;
}

int pf_survey_fill(struct pf_survey *s, struct pf_packet *packets, int most, uint64_t bytes)
{
    int n = 0;
    const char *begin = s->at;
    struct pb m = {s->at, s->end, false};
    struct pb_field f;
    while (n < most && (uint64_t)(m.p - begin) < bytes && pb_next(&m, &f)) {
        const char *at = s->at;
        s->at = m.p;
        if (f.number != 1 || f.type != PB_BYTES) continue;
        int rc = survey_packet(s, at, f.bytes, &packets[n]);
        if (rc < 0) return rc;
        n += rc;
    }
    if (m.bad) {
        damage_note(&s->damage, DAMAGE_TRUNCATED, (uint64_t)(s->at - s->text));
        s->at = s->end;
    }
    return n;
}

int pf_index_states(struct pf_survey *s)
{
    s->by_sequence = mem_alloc(s->n_states * sizeof *s->by_sequence);
    if (!s->by_sequence) return ERR_NOMEM;
    uint32_t at = 0;
    for (size_t i = 0; i < s->n_states; i++) s->sequences[s->states[i].sequence].n_states++;
    for (size_t i = 0; i < s->n_sequences; i++) {
        s->sequences[i].first_state = at;
        at += s->sequences[i].n_states;
        s->sequences[i].n_states = 0;
    }
    for (size_t i = 0; i < s->n_states; i++) {
        struct pf_sequence *q = &s->sequences[s->states[i].sequence];
        s->by_sequence[q->first_state + q->n_states++] = (uint32_t)i;
    }
    return 0;
}

uint32_t pf_state_at(const struct pf_survey *s, uint64_t sequence, uint64_t offset)
{
    uint32_t at = map_find(&s->sequence_at, sequence);
    if (at == MAP_NONE) return MAP_NONE;
    const struct pf_sequence *q = &s->sequences[at];
    const uint32_t *states = s->by_sequence + q->first_state;
    uint32_t i = 0;
    SEARCH_PAST(i, q->n_states, s->states[states[i]].begin <= offset);
    return i ? states[i - 1] : MAP_NONE;
}

static const struct pf_track *pftrace_state_parent_of(const struct pf_survey *s,
                                                      const struct pf_track *t)
{
    return t->parent && t->parent != t->uuid ? pf_find_track(s, t->parent) : NULL;
}

/* "pid 0 tid 7": how our own exports number what the operating system does not. */
static bool read_description(struct pf_track *t)
{
    long long pid, tid;
    char text[64], end;
    if (t->description.n >= sizeof text) return false;
    memcpy(text, t->description.p ? t->description.p : "", t->description.n);
    text[t->description.n] = '\0';
    if (sscanf(text, "pid %lld tid %lld%c", &pid, &tid, &end) != 2) return false;
    t->place_pid.number = pid;
    t->place_tid.number = tid;
    return t->has_pid = true;
}

static struct event_id pftrace_state_id_of(struct str text)
{
    struct event_id id;
    event_id_from_text(&id, pf_scan_text(text));
    return id;
}

/* The process a track without one belongs to: that of what it stands under, or the name of the
 * topmost. */
static void place_under(const struct pf_survey *s, struct pf_track *t)
{
    const struct pf_track *up = pftrace_state_parent_of(s, t), *top = NULL;
    for (int i = 0; up && i < MOST_ANCESTORS; i++, up = pftrace_state_parent_of(s, up)) {
        top = up;
        if (!up->is_process && !up->is_thread) continue;
        t->place_pid.number = up->pid;
        t->has_pid = true;
        return;
    }
    if (!top) return;
    t->place_pid = pftrace_state_id_of(top->name);
    t->has_pid = true;
}

static void pftrace_state_place(const struct pf_survey *s, struct pf_track *t)
{
    const struct event_id none = {.number = ID_NONE};
    const struct pf_track *up = pftrace_state_parent_of(s, t);
    t->place_pid = t->place_tid = none;
    t->has_pid = t->is_thread || t->is_process;
    if (t->has_pid) t->place_pid.number = t->pid;
    if (t->is_thread) {
        t->place_tid.number = t->tid;
    } else if (up && str_ends(t->name, " (overlap)")) { /* what crosses others of that thread */
        struct pf_track same = *up;
        if (pftrace_state_parent_of(s, &same)) same.parent = 0; /* one step is enough */
        pftrace_state_place(s, &same);
        t->place_pid = same.place_pid;
        t->place_tid = same.place_tid;
        t->has_pid = same.has_pid;
        if (!same.has_pid) place_under(s, t);
    } else if (!read_description(t)) {
        t->place_tid = pftrace_state_id_of(t->is_process ? str_c("process") : t->name);
        if (!t->has_pid) place_under(s, t);
        if (!t->name.n && !t->is_process) t->place_tid.number = (int64_t)(t->uuid >> 1);
    }
}

int pf_place(struct pf_survey *s)
{
    for (; s->n_placed < s->n_tracks; s->n_placed++) {
        struct pf_track *t = &s->tracks[s->n_placed];
        pftrace_state_place(s, t);
        if (!t->parent || pf_find_track(s, t->parent)) continue;
        uint32_t *slot = map_at(&s->missing, t->parent);
        if (!slot) return ERR_NOMEM;
        *slot = 0;
    }
    return 0;
}
