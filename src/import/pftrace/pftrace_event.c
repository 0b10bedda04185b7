/* pftrace_event.c: see pftrace_private.h. A slice becomes a complete event when it begins; its end
 * only leaves a mark. */
#include "import/pftrace/pftrace_private.h"

#include "base/json_valid.h"
#include "base/mem.h"
#include "base/vec.h"

enum { TYPE_NONE = 0, TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };

enum { MOST_FLOWS = 1024, MOST_UNKNOWN = 1 << 16 };

/* TrackEvent, as far as we read it. */
enum {
    EVENT_CATEGORY_IID = 3,
    EVENT_ANNOTATION = 4,
    EVENT_LEGACY = 6,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK = 11,
    EVENT_CATEGORY = 22,
    EVENT_NAME_TEXT = 23,
    EVENT_FLOWS_OLD = 36,
    EVENT_ENDING_OLD = 42,
    EVENT_FLOWS = 47,
    EVENT_ENDING = 48
};

/* What an event says besides its args, which go straight into pf_reader.event. */
struct track_event {
    uint64_t type, track;
    int64_t legacy_us;
    char legacy_phase;
    uint32_t n_flows;
    struct pb flows; /* the event again, from its first flow on */
};

void pf_reader_init(struct pf_reader *r, const struct pf_survey *s)
{
    *r = (struct pf_reader){.survey = s};
    r->scan.text = s->text;
    r->scan.end = s->end;
    kineto_init(&r->kineto);
    r->kineto.remembers = true;
}

void pf_reader_done(struct pf_reader *r)
{
    kineto_done(&r->kineto);
    for (int i = 0; i < 3; i++) buf_done(&r->raw[i]);
    mem_free(r->marks);
    mem_free(r->metas);
    mem_free(r->unknown);
}

void pf_reader_begin(struct pf_reader *r, struct batch *part)
{
    kineto_begin(&r->kineto, part);
    r->n_marks = r->n_metas = 0;
    r->n_rows = 0;
}

static void pftrace_event_set(struct event *ev, enum event_key key)
{
    ev->have |= 1u << key;
}

static void set_arg(struct event *ev, enum event_arg arg)
{
    ev->have_args |= 1ull << arg;
}

static void set_int_arg(struct event *ev, enum event_arg arg, int64_t v)
{
    if (event_has_arg(ev, arg)) return;
    ev->args[arg].number = v;
    set_arg(ev, arg);
}

static void pftrace_event_set_text(struct event *ev, enum event_key key, const struct pf_text *t)
{
    if (!t || event_has(ev, key)) return;
    *(key == EVENT_NAME ? &ev->name : &ev->cat) = t->text;
    pftrace_event_set(ev, key);
}

static void set_bytes(struct event *ev, enum event_key key, struct str s)
{
    struct pf_text t = {.text = pf_scan_text(s)};
    pftrace_event_set_text(ev, key, &t);
}

/* A nested value as JSON, in memory that lasts until the next event. */
static bool raw_arg(struct pf_reader *r, const struct pf_value *v, enum event_arg arg,
                    struct scan_text *ret)
{
    if (v->kind == PF_JSON || (v->kind == PF_STRING && v->text.n && *v->text.p == '[')) {
        *ret = pf_scan_text(v->text);
        return true;
    }
    struct buf *b = &r->raw[arg == ARG_DIMS ? 0 : arg == ARG_TYPES ? 1 : 2];
    buf_reset(b);
    pf_value_json(&r->view, v, 0, b);
    *ret = pf_scan_text(buf_str(b));
    return buf_ok(b);
}

/* An arg we read, by the type its key has in every format. */
static void take_arg(struct pf_reader *r, const struct pf_value *v)
{
    struct event *ev = &r->event;
    const struct event_arg_key *key = v->arg;
    if (event_has_arg(ev, key->arg)) return;
    union event_value *into = &ev->args[key->arg];
    bool have = false;
    switch (key->type) {
    case ARG_BOOLEAN:
    case ARG_INTEGER: have = pf_value_int(v, &into->number); break;
    case ARG_REAL: have = pf_value_real(v, &into->real); break;
    case ARG_DIM3: have = pf_value_dim3(&r->view, v, into->dim3); break;
    case ARG_RAW: have = raw_arg(r, v, key->arg, &into->text); break;
    case ARG_TEXT: break; /* of metadata events only */
    }
    if (have) set_arg(ev, key->arg);
}

/* Names that AMD's tools give to args we know. */
static void take_foreign(struct event *ev, const struct pf_value *v)
{
    int64_t n;
    if (str_is(v->name, "corr_id") && pf_value_int(v, &n)) set_int_arg(ev, ARG_CORRELATION, n);
}

static void take_annotation(struct pf_reader *r, struct str bytes)
{
    struct pf_value v = pf_read_value(&r->view, bytes);
    if (v.arg) take_arg(r, &v);
    else if (v.name.n == 7) take_foreign(&r->event, &v);
}

/* LegacyEvent: what TRACE_EVENT macros with a phase of their own leave. */
static void take_legacy(struct pf_reader *r, struct str bytes, struct track_event *t)
{
    struct pb m = pb_open(bytes);
    struct pb_field f;
    while (pb_next(&m, &f)) {
        if (f.number == 1)
            pftrace_event_set_text(&r->event, EVENT_NAME, pf_find(&r->view, PF_NAMES, f.value));
        else if (f.number == 2) t->legacy_phase = (char)f.value;
        else if (f.number == 3) t->legacy_us = (int64_t)f.value;
        else if (f.number == 6 || f.number == 10 || f.number == 11) {
            r->event.id = (int64_t)f.value;
            pftrace_event_set(&r->event, EVENT_ID);
        }
    }
}

static void pftrace_event_read_event(struct pf_reader *r, const struct pf_packet *p,
                                     struct track_event *t)
{
    struct event *ev = &r->event;
    struct pb m = pb_open(p->event);
    struct pb_field f;
    for (const char *at = m.p; pb_next(&m, &f); at = m.p) {
        switch (f.number) {
        case EVENT_TYPE: t->type = f.value; break;
        case EVENT_TRACK: t->track = f.value; break;
        case EVENT_NAME_IID:
            pftrace_event_set_text(ev, EVENT_NAME, pf_find(&r->view, PF_NAMES, f.value));
            break;
        case EVENT_NAME_TEXT: set_bytes(ev, EVENT_NAME, f.bytes); break;
        case EVENT_CATEGORY_IID:
            if (f.type == PB_VARINT)
                pftrace_event_set_text(ev, EVENT_CAT, pf_find(&r->view, PF_CATEGORIES, f.value));
            break;
        case EVENT_CATEGORY: set_bytes(ev, EVENT_CAT, f.bytes); break;
        case EVENT_ANNOTATION:
            if (t->type != TYPE_END && f.type == PB_BYTES) take_annotation(r, f.bytes);
            break;
        case EVENT_LEGACY: take_legacy(r, f.bytes, t); break;
        case EVENT_FLOWS_OLD:
        case EVENT_ENDING_OLD:
        case EVENT_FLOWS:
        case EVENT_ENDING:
            if (t->n_flows++ == 0) t->flows = (struct pb){at, m.end, false};
            break;
        default: break;
        }
    }
    if (m.bad) scan_note(&r->scan, DAMAGE_BAD_EVENT, p->begin);
}

/* A call of the CUDA or HIP libraries: cudaX, hipX, cuX. */
static const char *call_category(struct str name)
{
    if (str_starts(name, "cuda") || str_starts(name, "hip")) return "cuda_runtime";
    bool driver = name.n > 2 && str_starts(name, "cu") && name.p[2] >= 'A' && name.p[2] <= 'Z';
    return driver ? "cuda_driver" : NULL;
}

/* PyTorch's first .pftrace files have no categories: what an event is shows in its args. */
static const char *guess_category(const struct event *ev)
{
    struct str name = event_has(ev, EVENT_NAME) ? str_from(ev->name.p, ev->name.n) : str_c("");
    if (event_has_arg(ev, ARG_PY_ID)) return "python_function";
    if (event_has_arg(ev, ARG_CORRELATION)) {
        if (!event_has_arg(ev, ARG_STREAM)) return call_category(name);
        if (str_starts(name, "Memcpy")) return "gpu_memcpy";
        if (str_starts(name, "Memset")) return "gpu_memset";
        return event_has_arg(ev, ARG_GRID) ? "kernel" : NULL;
    }
    if (!event_has_arg(ev, ARG_EXTERNAL_ID)) return NULL;
    return event_has_arg(ev, ARG_DIMS) || str_has(name, "::") ? "cpu_op" : "user_annotation";
}

/* The numbers in brackets of "COMPUTE AGENT [4] STREAM [1] (GPU)", as rocprofv3 names its tracks.
 */
static bool bracket_numbers(struct str name, int64_t ret[2])
{
    int n = 0;
    for (size_t i = 0; i < name.n && n < 2; i++) {
        if (name.p[i] != '[') continue;
        int64_t value = 0;
        size_t first = ++i;
        while (i < name.n && i < first + 9 && name.p[i] >= '0' && name.p[i] <= '9')
            value = value * 10 + (name.p[i++] - '0');
        if (i == first || i >= name.n || name.p[i] != ']') return false;
        ret[n++] = value;
    }
    return n == 2;
}

static void pftrace_event_set_place(struct pf_reader *r, const struct pf_track *t)
{
    struct event *ev = &r->event;
    int64_t numbers[2];
    if (!t) return;
    ev->pid = t->place_pid;
    ev->tid = t->place_tid;
    pftrace_event_set(ev, EVENT_TID);
    if (t->has_pid) pftrace_event_set(ev, EVENT_PID);
    if (t->has_pid || !event_has(ev, EVENT_CAT) ||
        !kind_is_device(cat_kind(str_from(ev->cat.p, ev->cat.n))) ||
        !bracket_numbers(t->name, numbers))
        return;
    ev->pid = (struct event_id){.number = numbers[0]};
    ev->tid = (struct event_id){.number = numbers[1]};
    pftrace_event_set(ev, EVENT_PID);
}

static int add_mark(struct pf_reader *r, const struct pf_packet *p, uint32_t track, bool begins)
{
    if (p->ts_ns == ID_NONE) return 0;
    if (VEC_RESERVE(r->marks, r->n_marks, r->cap_marks, 1)) return ERR_NOMEM;
    r->marks[r->n_marks++] = (struct pf_mark){p->ts_ns, track, begins ? r->n_rows : UINT32_MAX,
                                              (uint64_t)(p->begin - r->survey->text)};
    return 0;
}

static int pftrace_event_add_row(struct pf_reader *r)
{
    TRY(kineto_add(&r->kineto, &r->scan, &r->event));
    r->n_rows++;
    return 0;
}

/* Flows of an event, as the flow events of a JSON trace. */
static int pftrace_event_add_flows(struct pf_reader *r, struct track_event *t)
{
    struct event *ev = &r->event;
    struct pb_field f;
    enum row_kind kind = cat_kind(str_from(ev->cat.p, event_has(ev, EVENT_CAT) ? ev->cat.n : 0));
    bool launch = kind == KIND_RUNTIME || kind == KIND_DRIVER || kind_is_device(kind);
    ev->cat = ev->name = pf_scan_text(str_c(launch ? "ac2g" : "flow"));
    pftrace_event_set(ev, EVENT_CAT);
    pftrace_event_set(ev, EVENT_NAME);
    pftrace_event_set(ev, EVENT_ID);
    for (int n = 0; n < MOST_FLOWS && pb_next(&t->flows, &f);) {
        bool ending = f.number == EVENT_ENDING || f.number == EVENT_ENDING_OLD;
        if (!ending && f.number != EVENT_FLOWS && f.number != EVENT_FLOWS_OLD) continue;
        if (f.type == PB_BYTES) continue;
        ev->phase = ending ? 'f' : 's';
        ev->id = (int64_t)f.value;
        TRY(kineto_add(&r->kineto, &r->scan, ev));
        n++;
    }
    return 0;
}

static char phase_of(const struct track_event *t)
{
    static const char phases[] = {0, 'B', 'E', 'i', 'C'};
    if (t->type >= TYPE_BEGIN && t->type <= TYPE_COUNTER) return phases[t->type];
    return t->legacy_phase;
}

/* Our own instants with what stands beside the events of a JSON trace. */
static int add_metas(struct pf_reader *r, const struct pf_packet *p)
{
    struct pb m = pb_open(p->event);
    struct pb_field f;
    while (pb_next(&m, &f)) {
        if (f.number != EVENT_ANNOTATION || f.type != PB_BYTES) continue;
        struct pf_value v = pf_read_value(&r->view, f.bytes);
        if ((v.kind != PF_STRING && v.kind != PF_JSON) || !v.name.n) continue;
        if (!json_valid(v.text)) continue;
        if (VEC_RESERVE(r->metas, r->n_metas, r->cap_metas, 1)) return ERR_NOMEM;
        r->metas[r->n_metas++] = (struct pf_meta){v.name, v.text};
    }
    return 0;
}

static void pftrace_event_set_times(struct pf_reader *r, const struct pf_packet *p,
                                    const struct track_event *t)
{
    struct event *ev = &r->event;
    if (p->ts_ns == ID_NONE) return;
    ev->ts_ns = p->ts_ns;
    pftrace_event_set(ev, EVENT_TS);
    if (ev->phase != 'X') return;
    ev->dur_ns = t->legacy_us > INT64_MAX / 1000 || t->legacy_us < 0 ? 0 : t->legacy_us * 1000;
    pftrace_event_set(ev, EVENT_DUR);
}

static int add_slice(struct pf_reader *r, const struct pf_packet *p, struct track_event *t,
                     uint32_t track)
{
    struct event *ev = &r->event;
    const char *guessed = event_has(ev, EVENT_CAT) ? NULL : guess_category(ev);
    if (guessed) set_bytes(ev, EVENT_CAT, str_c(guessed));
    pftrace_event_set_place(r, track == MAP_NONE ? NULL : &r->survey->tracks[track]);
    if (ev->phase == 'B') {
        TRY(add_mark(r, p, track, true));
        ev->phase = 'X';
    }
    pftrace_event_set_times(r, p, t);
    TRY(pftrace_event_add_row(r));
    return t->n_flows ? pftrace_event_add_flows(r, t) : 0;
}

static int note_unknown(struct pf_reader *r, uint64_t uuid)
{
    if (r->n_unknown && r->unknown[r->n_unknown - 1] == uuid) return 0;
    if (r->n_unknown == MOST_UNKNOWN) r->n_unknown = 0; /* that many: some will do */
    if (VEC_RESERVE(r->unknown, r->n_unknown, r->cap_unknown, 1)) return ERR_NOMEM;
    r->unknown[r->n_unknown++] = uuid;
    return 0;
}

static int add_track_event(struct pf_reader *r, const struct pf_packet *p)
{
    struct event *ev = &r->event;
    struct track_event t = {.track = p->track};
    pftrace_event_read_event(r, p, &t);
    ev->phase = phase_of(&t);
    uint32_t track = map_find(&r->survey->track_at, t.track);
    if (track == MAP_NONE) TRY(note_unknown(r, t.track));
    if (ev->phase == 'E') return add_mark(r, p, track, false);
    if (event_has(ev, EVENT_CAT) && str_is(str_from(ev->cat.p, ev->cat.n), PF_META))
        return add_metas(r, p);
    if (!ev->phase || strchr("stfM", ev->phase)) return 0;
    if (ev->phase == 'C' && track != MAP_NONE && r->survey->tracks[track].name.n) {
        ev->have &= ~(1u << EVENT_NAME);
        set_bytes(ev, EVENT_NAME, r->survey->tracks[track].name);
    }
    pftrace_event_set(ev, EVENT_PH);
    return add_slice(r, p, &t, track);
}

/* GpuRenderStageEvent, as PyTorch writes device work. */
enum {
    STAGE_ID = 1,
    STAGE_DURATION = 2,
    STAGE_EXTRA = 6,
    STAGE_GPU = 11,
    STAGE_QUEUE_IID = 13,
    STAGE_STAGE_IID = 14,
    STAGE_NAME = 17,
    STAGE_KERNEL_IID = 19,
    STAGE_NAME_IID = 20,
    STAGE_LAUNCH = 21
};

/* Name and value of "extra data"; both are texts. */
static void take_extra(struct pf_reader *r, struct str bytes)
{
    static const struct {
        const char *name;
        enum event_arg arg;
    } names[] = {{"device id", ARG_DEVICE}, {"context id", ARG_CONTEXT}, {"stream id", ARG_STREAM}};
    struct pb m = pb_open(bytes);
    struct pb_field f;
    struct pf_value v = {.kind = PF_STRING, .text = str_c("")};
    while (pb_next(&m, &f)) {
        if (f.number == 1) v.name = f.bytes;
        else if (f.number == 2) v.text = f.bytes;
    }
    int64_t n;
    v.arg = event_find_arg(v.name.p, v.name.n);
    if (v.arg) take_arg(r, &v);
    for (int i = 0; i < 3; i++)
        if (str_is(v.name, names[i].name) && pf_value_int(&v, &n))
            set_int_arg(&r->event, names[i].arg, n);
}

static void take_dim3(struct event *ev, enum event_arg arg, struct str bytes)
{
    struct pb m = pb_open(bytes);
    struct pb_field f;
    memset(ev->args[arg].dim3, 0, sizeof ev->args[arg].dim3);
    while (pb_next(&m, &f))
        if (f.number <= 3) ev->args[arg].dim3[f.number - 1] = (uint32_t)f.value;
    set_arg(ev, arg);
}

/* registers_per_thread, shared_mem_dynamic ... of a launch. */
static void take_launch_arg(struct pf_reader *r, struct str bytes)
{
    struct pb m = pb_open(bytes);
    struct pb_field f;
    struct str name = str_c("");
    int64_t value = 0;
    while (pb_next(&m, &f)) {
        const struct pf_text *t = f.number == 1 ? pf_find(&r->view, PF_LAUNCH_ARGS, f.value) : NULL;
        if (t) name = str_from(t->text.p, t->text.n);
        else if (f.number == 2) name = f.bytes;
        else if (f.number == 3 || f.number == 4) value = (int64_t)f.value;
    }
    if (str_is(name, "registers_per_thread")) set_int_arg(&r->event, ARG_REGISTERS, value);
    if (str_starts(name, "shared_mem_")) {
        int64_t before = event_arg(&r->event, ARG_SHARED, 0);
        r->event.args[ARG_SHARED].number = value > INT32_MAX || value < 0 ? before : before + value;
        set_arg(&r->event, ARG_SHARED);
    }
}

static void take_launch(struct pf_reader *r, struct str bytes)
{
    struct pb m = pb_open(bytes);
    struct pb_field f;
    while (pb_next(&m, &f)) {
        if (f.type != PB_BYTES) continue;
        if (f.number == 1) take_dim3(&r->event, ARG_GRID, f.bytes);
        else if (f.number == 2) take_dim3(&r->event, ARG_BLOCK, f.bytes);
        else if (f.number == 3) take_launch_arg(r, f.bytes);
    }
}

static const char *stage_category(const struct pf_text *stage)
{
    enum { COMPUTE = 2 };
    struct str name = stage ? str_from(stage->text.p, stage->text.n) : str_c("");
    if (str_is(name, "Kernel")) return "kernel";
    if (str_is(name, "Memcpy")) return "gpu_memcpy";
    if (str_is(name, "Memset")) return "gpu_memset";
    if (str_is(name, "Annotation")) return "gpu_user_annotation";
    return stage && stage->number == COMPUTE ? "kernel" : "gpu_render_stage";
}

static int32_t pftrace_event_trailing_number(const struct pf_text *t)
{
    int32_t value = -1;
    uint32_t n = t ? t->text.n : 0, first = n;
    while (first && n - first < 9 && t->text.p[first - 1] >= '0' && t->text.p[first - 1] <= '9')
        first--;
    for (uint32_t i = first; i < n; i++)
        value = (value < 0 ? 0 : value) * 10 + (t->text.p[i] - '0');
    return value;
}

struct stage {
    uint64_t event_id, gpu;
    const struct pf_text *queue, *stage, *kernel;
};

static void pftrace_event_read_stage(struct pf_reader *r, const struct pf_packet *p,
                                     struct stage *t)
{
    struct event *ev = &r->event;
    struct pb m = pb_open(p->event);
    struct pb_field f;
    while (pb_next(&m, &f)) {
        switch (f.number) {
        case STAGE_ID: t->event_id = f.value; break;
        case STAGE_DURATION: ev->dur_ns = f.value > INT64_MAX ? 0 : (int64_t)f.value; break;
        case STAGE_GPU: t->gpu = f.value; break;
        case STAGE_EXTRA: take_extra(r, f.bytes); break;
        case STAGE_LAUNCH: take_launch(r, f.bytes); break;
        case STAGE_QUEUE_IID: t->queue = pf_find(&r->view, PF_STAGES, f.value); break;
        case STAGE_STAGE_IID: t->stage = pf_find(&r->view, PF_STAGES, f.value); break;
        case STAGE_KERNEL_IID: t->kernel = pf_find(&r->view, PF_KERNELS, f.value); break;
        case STAGE_NAME: set_bytes(ev, EVENT_NAME, f.bytes); break;
        case STAGE_NAME_IID:
            pftrace_event_set_text(ev, EVENT_NAME, pf_find(&r->view, PF_NAMES, f.value));
            break;
        default: break;
        }
    }
    if (m.bad) scan_note(&r->scan, DAMAGE_BAD_EVENT, p->begin);
}

static int pftrace_event_add_stage(struct pf_reader *r, const struct pf_packet *p)
{
    struct event *ev = &r->event;
    struct stage t = {0};
    ev->dur_ns = 0;
    pftrace_event_read_stage(r, p, &t);
    pftrace_event_set_text(ev, EVENT_NAME, t.kernel ? t.kernel : t.stage);
    set_bytes(ev, EVENT_CAT, str_c(stage_category(t.stage)));
    if (t.event_id && t.event_id < INT64_MAX) set_int_arg(ev, ARG_CORRELATION, (int64_t)t.event_id);
    int32_t queue = pftrace_event_trailing_number(t.queue);
    if (queue >= 0) set_int_arg(ev, ARG_STREAM, queue);
    ev->phase = 'X';
    ev->pid = (struct event_id){.number = (int32_t)t.gpu};
    ev->tid = (struct event_id){.number = event_arg(ev, ARG_STREAM, 0)};
    ev->ts_ns = p->ts_ns;
    if (p->ts_ns != ID_NONE) pftrace_event_set(ev, EVENT_TS);
    pftrace_event_set(ev, EVENT_PID);
    pftrace_event_set(ev, EVENT_TID);
    pftrace_event_set(ev, EVENT_DUR);
    return pftrace_event_add_row(r);
}

int pf_reader_add(struct pf_reader *r, const struct pf_packet *p)
{
    struct event *ev = &r->event;
    ev->begin = p->begin;
    r->view = (struct pf_view){r->survey, p->state, p->begin};
    ev->have = 0;
    ev->have_args = 0;
    ev->name = ev->cat = pf_scan_text(str_c("")); /* not those of the event before */
    ev->filled_by = NULL;
    scan_begin(&r->scan, p->begin, SCAN_STRICT);
    TRY(p->is_stage ? pftrace_event_add_stage(r, p) : add_track_event(r, p));
    if (r->scan.n_notes) scan_accept(&r->scan, batch_damage(r->kineto.part));
    return 0;
}
