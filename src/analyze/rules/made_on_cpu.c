/* made_on_cpu.c: operators compute on the CPU what is then uploaded: spectra, rows of a table,
 * noise. Operators, the conversion and the upload are one thing, with one fix: to do it on the GPU.
 */
#include "analyze/findings/host_uploads.h"
#include "analyze/rules/rules.h"
#include "base/human.h"

/* A kind of making something on the CPU: how it is found, and what is said of it. */
struct made_on_cpu_kind {
    int (*find)(const struct context *cx, struct host_uploads *ret, struct err *e);
    int (*report)(const struct context *cx, struct host_uploads *u, struct finding *f,
                  struct err *e);
};

static int made_on_cpu_computed(const struct context *cx, struct host_uploads *u, struct finding *f,
                                struct err *e);
static int made_on_cpu_listed(const struct context *cx, struct host_uploads *u, struct finding *f,
                              struct err *e);

static const struct made_on_cpu_kind made_on_cpu_kinds[] = {
    {host_uploads_find, made_on_cpu_computed}, {list_tensors_find, made_on_cpu_listed}};

static int made_on_cpu_look(const struct context *cx, const struct made_on_cpu_kind *kind,
                            struct findings *out, struct err *e)
{
    struct host_uploads u;
    int rc = kind->find(cx, &u, e);
    if (rc == 0 && u.n && spare_pays(&u.spare, cx)) {
        struct finding *f = rule_finding(cx, out, &rule_made_on_cpu, e);
        rc = f ? kind->report(cx, &u, f, e) : ERR_NOMEM;
    }
    spare_done(&u.spare);
    return rc;
}

static int made_on_cpu_run(const struct context *cx, struct findings *out, struct err *e)
{
    for (size_t i = 0; i < sizeof made_on_cpu_kinds / sizeof *made_on_cpu_kinds; i++)
        TRY(made_on_cpu_look(cx, &made_on_cpu_kinds[i], out, e));
    return 0;
}

const struct rule rule_made_on_cpu = {
    .id = "made_on_cpu",
    .summary = "operators compute on the CPU what is uploaded",
    .limit = LIMIT_CPU,
    .claims = CLAIM_KERNELS | CLAIM_TIME,
    .run = made_on_cpu_run,
};

static int made_on_cpu_computed(const struct context *cx, struct host_uploads *u, struct finding *f,
                                struct err *e)
{
    struct place p;
    TRY(spare_into(&u->spare, cx, f, e));
    source_places_find(places_of(cx), u->longest, &p);
    rule_place(cx, f, &p);
    f->subject = rule_row_name(cx, u->longest, 80);
    f->title = "what is uploaded is computed on the CPU";
    f->why = rule_text(cx,
                       "Operators work on the CPU for %s, then their result is uploaded (%s in %s "
                       "cop%s); the GPU is idle meanwhile.",
                       human_time(u->operators_ns).s, human_bytes(u->bytes).s, human_count(u->n).s,
                       u->n == 1 ? "y" : "ies");
    f->fix =
        "Do it on the GPU: upload the inputs (ids.to(device), sound.to(device); pinned if they are large) and run the "
        "same operators there, with tables and windows that stay on the GPU; make random "
        "numbers and masks there, with device=...; convert after the upload.";
    f->not_fixed = "Random numbers of the GPU are other ones. Tables take memory of the GPU.";
    f->show = "gaps %s";
    f->device_ns = 0;
    finding_note(f, cx->mem, cx->t->ts_ns[u->longest], u->longest, "the longest of them: %s, %s",
                 f->subject, human_time(cx->t->dur_ns[u->longest]).s);
    finding_note(f, cx->mem, ID_NONE, ROW_NONE, "their inputs are %s",
                 human_bytes(kernel_whole(u->inputs_bytes)).s);
    return 0;
}

static int made_on_cpu_listed(const struct context *cx, struct host_uploads *u, struct finding *f,
                              struct err *e)
{
    struct place p;
    TRY(spare_into(&u->spare, cx, f, e));
    source_places_find(places_of(cx), u->longest, &p);
    rule_place(cx, f, &p);
    if (!f->file) f->subject = "torch.tensor";
    f->title = "tensors are made of Python lists";
    f->why = rule_text(cx,
                       "%s times a tensor is made of a Python list, number by number, and uploaded "
                       "(%s on the CPU).",
                       human_count(u->n).s, human_time(u->operators_ns).s);
    f->fix =
        "Make it once, before the loop, and keep it on the GPU; if its values change, keep them "
        "in a tensor or a NumPy array (torch.from_numpy) instead of a list: torch.tensor goes "
        "through a list twice, number by number.";
    f->not_fixed = "Values that come as a new list each time have to be converted somewhere.";
    f->show = "gaps %s";
    finding_note(f, cx->mem, cx->t->ts_ns[u->longest], u->longest, "one of them is done here");
    return 0;
}
