/* conv_layout.c: convolutions whose tensors lie in NCHW order, while the kernels want NHWC: cuDNN
 * turns inputs and results around for each of them, and the norms and pools between them walk
 * memory the wrong way. */
#include <math.h>

#include "analyze/findings/kernel_fix.h"
#include "analyze/rules/rules.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"

struct found {
    struct kernel_fix fix;
    uint32_t n_turned;
    int64_t turned_ns;
    bool any; /* a conversion was seen, the last one in `step` */
    uint32_t step;
};

/* Norms over channels and pools, as torch has them for NCHW. */
static bool walks_across(const struct context *cx, row_t r, const struct roof_kind *k)
{
    struct str name = trace_name(cx->t, r);
    if (str_has(name, "_nchw") && str_has(name, "pool")) return true;
    bool norm = str_has(name, "batch_norm_") || str_has(name, "bn_fw") || str_has(name, "bn_bw");
    return norm && k->family == FAMILY_NORM && !str_has(name, "channels_last") &&
           !str_has(name, "nhwc") && !str_has(name, "NHWC");
}

static uint32_t conv_layout_step_of(const struct context *cx, row_t r)
{
    row_t call = trace_launch_of(cx->t, r);
    bool unknown = call == ROW_NONE || steps_may_be_layers(steps_of(cx));
    return unknown ? UINT32_MAX : steps_at(steps_of(cx), cx->t->ts_ns[call]);
}

/* What comes into the program is in NCHW order: the first tensor of a step is converted once,
 * in either place. */
static bool is_input(const struct context *cx, struct found *x, row_t r)
{
    uint32_t step = conv_layout_step_of(cx, r);
    bool first = !x->any || step != x->step;
    x->any = true;
    x->step = step;
    return first;
}

/* Only where layouts are turned around: elsewhere the order may be right as it is. */
static int conv_layout_collect(const struct context *cx, struct found *x, struct err *e)
{
    const struct roofline *f = roofline_of(cx);
    for (row_t r = 0; r < cx->t->n_rows; r++) {
        if (cx->t->kind[r] != KIND_KERNEL) continue;
        if (!roofline_kind(f, cx->t, r)->traits.converts_layout || is_input(cx, x, r)) continue;
        TRY(kernel_fix_add(&x->fix, cx, r, 0, e));
        x->n_turned++;
        x->turned_ns += cx->t->dur_ns[r];
    }
    for (row_t r = 0; r < cx->t->n_rows && x->n_turned; r++) {
        if (cx->t->kind[r] != KIND_KERNEL) continue;
        const struct roof_kind *k = roofline_kind(f, cx->t, r);
        if (!walks_across(cx, r, k)) continue;
        double now = (double)cx->t->dur_ns[r], roof = roofline_row_ns(f, cx->t, r);
        double then =
            isnan(roof) ? conv_layout_usual_share * now : roof / conv_layout_channels_last_share;
        if (then < now) TRY(kernel_fix_add(&x->fix, cx, r, then, e));
    }
    return 0;
}

static int conv_layout_report(const struct context *cx, const struct found *x, struct findings *out,
                              struct err *e);

static int conv_layout_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct found x = {.fix = {.others = out}};
    int rc = conv_layout_collect(cx, &x, e);
    if (rc == 0 && kernel_fix_pays(&x.fix, cx)) rc = conv_layout_report(cx, &x, out, e);
    kernel_fix_done(&x.fix);
    return rc;
}

const struct rule rule_conv_layout = {
    .id = "conv_layout",
    .summary = "convolutions convert their tensors from NCHW to NHWC and back",
    .limit = LIMIT_GPU,
    .tries = "channels_last:%s",
    .claims = CLAIM_KERNELS,
    .yields_to = RULE_LIST(&rule_odd_gemm),
    .run = conv_layout_run,
};

static int conv_layout_report(const struct context *cx, const struct found *x, struct findings *out,
                              struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_conv_layout, e);
    if (!f) return ERR_NOMEM;
    TRY(kernel_fix_into(&x->fix, cx, f, e));
    f->title = "convolutions convert tensor layouts";
    f->effort = EFFORT_ONE_LINE;
    f->why = rule_text(
        cx,
        "%s kernels only convert tensors from NCHW to NHWC and back around convolutions "
        "(%s)%s.",
        human_count(x->n_turned).s, human_time(x->turned_ns).s,
        x->fix.n > x->n_turned ? "; norms and pools between them read the NCHW order slowly" : "");
    f->fix = "Keep model and inputs in NHWC order: model.to(memory_format=torch.channels_last) and "
             "x.to(memory_format=torch.channels_last), two lines.";
    f->not_fixed = "An operator that supports only NCHW converts the tensor back: check how many "
                   "of these kernels are left afterwards.";
    f->show = "kernels %s --filter '[nN][cChH][hHwW][wWcC]'";
    return 0;
}
