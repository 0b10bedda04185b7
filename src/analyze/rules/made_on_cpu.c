/* made_on_cpu.c: operators compute on the CPU what is then uploaded: spectra, rows of a table,
 * noise. Operators, the conversion and the upload are one thing, with one fix: to do it on the GPU.
 */
#include "analyze/findings/host_uploads.h"
#include "analyze/rules/rules.h"
#include "base/human.h"

static int made_on_cpu_report(const struct context *cx, struct host_uploads *u,
                              struct findings *out, struct err *e);

static int made_on_cpu_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct host_uploads u;
    int rc = host_uploads_find(cx, &u, e);
    if (rc == 0 && u.n && spare_pays(&u.spare, cx)) rc = made_on_cpu_report(cx, &u, out, e);
    spare_done(&u.spare);
    return rc;
}

const struct rule rule_made_on_cpu = {
    .id = "made_on_cpu",
    .summary = "operators compute on the CPU what is uploaded",
    .limit = LIMIT_CPU,
    .claims = CLAIM_KERNELS | CLAIM_TIME,
    .run = made_on_cpu_run,
};

static int made_on_cpu_report(const struct context *cx, struct host_uploads *u,
                              struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_made_on_cpu, e);
    if (!f) return ERR_NOMEM;
    struct place p;
    TRY(spare_into(&u->spare, cx, f, e));
    source_places_find(places_of(cx), u->longest, &p);
    rule_place(cx, f, &p);
    f->subject = rule_row_name(cx, u->longest, 80);
    f->title = "what is uploaded is computed on the CPU";
    f->why = rule_text(cx,
                       "Operators work on the CPU for %s, then their result is uploaded (%s in %s "
                       "cop%s); the GPU has nothing to do meanwhile.",
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
