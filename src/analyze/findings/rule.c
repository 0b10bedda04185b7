/* rule.c: see rule.h. */
#include "analyze/findings/rule.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyze/findings/findings_constants.h"
#include "analyze/names/kernel_name.h"
#include "analyze/names/program.h"
#include "base/human.h"
#include "base/shell.h"

bool rule_yields(const struct rule *r, const struct rule *other)
{
    for (const struct rule *const *to = r->yields_to; to && *to; to++)
        if (*to == other || rule_yields(*to, other)) return true;
    return false;
}

bool rule_cpu_only(const struct context *cx)
{
    return !timeline_of(cx)->n_devices && !cx->t->n_calls;
}

int64_t rule_least_idle_ns(const struct context *cx)
{
    return (int64_t)((double)wall_of(cx)->wall_ns * cx->th.value[TH_REPORT_GAIN_PCT] / 200);
}

struct finding *rule_finding(const struct context *cx, struct findings *out, const struct rule *r,
                             struct err *e)
{
    struct finding *f = findings_add(out, r, cx->mem);
    if (!f) (void)err_nomem(e);
    return f;
}

const char *rule_text(const struct context *cx, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const char *copy = arena_strdup(cx->mem, str_c(text));
    return copy ? copy : "";
}

const char *rule_name(const struct context *cx, struct str s, int width)
{
    char cut[512];
    const char *copy = arena_strdup(cx->mem, str_c(human_cut(s, width, cut, sizeof cut)));
    return copy ? copy : "";
}

const char *rule_row_name(const struct context *cx, row_t r, int width)
{
    struct demangler d;
    struct str name = trace_name(cx->t, r), brief;
    if (cx->t->kind[r] != KIND_KERNEL) return rule_name(cx, name, width);
    demangler_init(&d);
    bool failed = kernel_name_read(&d, &name, &brief, cx->mem);
    demangler_done(&d);
    return failed ? "" : rule_name(cx, brief, width);
}

void rule_place(const struct context *cx, struct finding *f, const struct place *p)
{
    if (p->source.line > 0) {
        f->file = rule_name(cx, p->source.file, 400);
        f->line = p->source.line;
        f->function = rule_name(cx, p->source.function, 120);
        f->subject = f->function;
        return;
    }
    row_t r = p->op != ROW_NONE ? p->op : p->annotation;
    f->subject = r == ROW_NONE ? "" : rule_row_name(cx, r, 80);
}

const char *limit_name(enum limit l)
{
    static const char *const names[] = {NULL,   "gpu",           "cpu",  "launch", "transfer",
                                        "sync", "communication", "data", "mixed"};
    return names[l];
}

/* A full stop ends a sentence where a capital letter follows; "e.g. this" and "0.5" go on. */
struct str rule_sentence(const char *text)
{
    size_t n = strlen(text ? text : "");
    for (size_t i = 0; i + 2 < n; i++)
        if (text[i] == '.' && text[i + 1] == ' ' && text[i + 2] >= 'A' && text[i + 2] <= 'Z')
            return str_from(text, i + 1);
    return str_from(text, n);
}

/* The module a finding is about, where its subject is the name of a stage: "unet" of
 * "unet_forward"; else what `strata try` takes for the main one. */
static struct str rule_module(const struct finding *f)
{
    static const char *const endings[] = {"_forward", "_decode", "_encode", ".forward"};
    struct str s = str_c(f->subject ? f->subject : "");
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (str_ends(s, endings[i]) && s.n > strlen(endings[i]))
            return str_from(s.p, s.n - strlen(endings[i]));
    return str_c("model");
}

void rule_print_try(struct buf *out, const struct finding *f)
{
    const char *fix = f->tries ? f->tries : f->rule->tries;
    const char *hole = fix ? strstr(fix, "%s") : NULL;
    if (!fix) return;
    if (!hole) {
        buf_adds(out, fix);
        return;
    }
    buf_add_str(out, str_from(fix, (size_t)(hole - fix)));
    buf_add_str(out, rule_module(f));
    buf_adds(out, hole + 2);
}

void rule_print_cost(struct buf *out, const struct finding *f)
{
    static const char *const words[][2] = {[COST_WORK] = {"CPU", "exposed"},
                                           [COST_WAIT] = {"blocked", "exposed"},
                                           [COST_TRANSFER] = {"takes", "not overlapped"}};
    const char *const *w = words[f->rule->cost];
    buf_printf(out, "%s %s, %s %s", w[0], human_time(f->blocked_ns).s, w[1],
               human_time(f->exposed_ns).s);
}

/* A gain above the cost beside it needs a reason: what else the fix saves. */
static void rule_explain_gain(const struct context *cx, struct finding *f)
{
    int64_t cost = f->blocked_ns > f->exposed_ns ? f->blocked_ns : f->exposed_ns;
    if (f->device_ns > cost) cost = f->device_ns;
    if (f->advice || !f->why || (double)f->gain_ns <= finding_gain_over_cost * (double)cost) return;
    f->why = rule_text(cx, "%s %s", f->why,
                       f->rule->limit == LIMIT_SYNC
                           ? "The gain is larger than the wait itself: without it the CPU stays "
                             "ahead of the GPU, and what it launches next is no longer late."
                           : "The gain is larger than this cost: the launches and the CPU time "
                             "that go with it are saved as well.");
}

/* The command that tries the fix on the program that was recorded, as far as the trace names it. */
static const char *rule_try_command(const struct context *cx, const char *fix)
{
    struct buf script;
    buf_init(&script);
    buf_add_str(&script, program_script(cx->t));
    const char *command =
        arena_printf(cx->mem, "strata try --fix %s -- python %s", shell_word(fix).s,
                     script.n ? shell_word(buf_c(&script)).s : "SCRIPT");
    if (script.failed) command = NULL;
    buf_done(&script);
    return command;
}

int rule_sum_up(const struct context *cx, struct finding *f, struct err *e)
{
    rule_explain_gain(cx, f);
    struct buf fix;
    buf_init(&fix);
    if (program_is_torch(cx->t)) rule_print_try(&fix, f);
    f->brief = f->why ? arena_strdup(cx->mem, rule_sentence(f->why)) : NULL;
    f->fix_brief = f->fix ? arena_strdup(cx->mem, rule_sentence(f->fix)) : NULL;
    f->try_fix = fix.n ? arena_strdup(cx->mem, buf_str(&fix)) : NULL;
    f->try_command = f->try_fix ? rule_try_command(cx, f->try_fix) : NULL;
    bool ok = buf_ok(&fix) && (!f->why || f->brief) && (!f->fix || f->fix_brief) &&
              (!fix.n || (f->try_fix && f->try_command));
    buf_done(&fix);
    return ok ? 0 : err_nomem(e);
}

const char *rule_exactly(const struct context *cx, struct str name)
{
    char *out = arena_alloc(cx->mem, name.n * 2 + 3);
    if (!out) return "^$";
    size_t o = 0;
    out[o++] = '^';
    for (size_t i = 0; i < name.n; i++) {
        if (strchr("\\^$.|?*+()[]{}", name.p[i])) out[o++] = '\\';
        out[o++] = name.p[i];
    }
    out[o++] = '$';
    out[o] = '\0';
    return out;
}
