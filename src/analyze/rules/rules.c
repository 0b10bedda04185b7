/* rules.c: runs the rules in an order that their declarations allow; see rules.h. */
#include "analyze/rules/rules.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/comm/messages.h"
#include "analyze/device/gpu_clocks.h"
#include "analyze/device/queue.h"
#include "analyze/findings/claims.h"
#include "analyze/kernels/roofline.h"
#include "analyze/launches/launches.h"
#include "analyze/names/host_cause.h"
#include "analyze/recorded/process_settings.h"
#include "analyze/recorded/recorded.h"
#include "analyze/sequence/sequence.h"

#define RULES_LIST(id) &rule_##id,
const struct rule *const rules[] = {RULES(RULES_LIST) NULL};

enum { RULES_MOST = sizeof rules / sizeof *rules };

/* The rules of a list that have run, with what they found. */
struct rules_state {
    const struct rule *ran[RULES_MOST];
    bool found[RULES_MOST];
    uint32_t n;
};

static bool rules_all_ran(const struct rules_state *s, const struct rule *const *list)
{
    for (; list && *list; list++) {
        uint32_t i = 0;
        while (i < s->n && s->ran[i] != *list) i++;
        if (i == s->n) return false;
    }
    return true;
}

static bool rules_have_found(const struct rules_state *s, const struct rule *const *list)
{
    for (; list && *list; list++)
        for (uint32_t i = 0; i < s->n; i++)
            if (s->ran[i] == *list && s->found[i]) return true;
    return false;
}

static bool rules_is_due(const struct rules_state *s, const struct rule *r)
{
    const struct rule *const self[] = {r, NULL};
    return !rules_all_ran(s, self) && rules_all_ran(s, r->yields_to) &&
           rules_all_ran(s, r->silent_after);
}

static int rules_run_one(struct rules_state *s, const struct rule *r, const struct context *cx,
                         struct findings *out, struct err *e)
{
    uint32_t before = out->n;
    TRY(claims_gather(cx, r, out, e));
    if (!rules_have_found(s, r->silent_after)) TRY(r->run(cx, out, e));
    s->ran[s->n] = r;
    s->found[s->n++] = out->n > before;
    return 0;
}

static int rules_by_place(const void *a, const void *b)
{
    const struct finding *x = *(struct finding *const *)a, *y = *(struct finding *const *)b;
    if (x->advice != y->advice) return x->advice - y->advice;
    if (x->advice && x->severity != y->severity) return x->severity > y->severity ? -1 : 1;
    if (x->advice && x->exposed_ns != y->exposed_ns) return x->exposed_ns > y->exposed_ns ? -1 : 1;
    if (x->rule != y->rule) return strcmp(x->rule->id, y->rule->id);
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Orders what was found, whichever rule ran first: advice by severity and cost, all else by rule.
 */
static void rules_settle(struct findings *f)
{
    if (f->n) qsort(f->items, f->n, sizeof *f->items, rules_by_place);
    for (uint32_t i = 0; i < f->n; i++) f->items[i]->place = i;
}

int rules_run(const struct rule *const *list, const struct context *cx, struct findings *out,
              struct err *e)
{
    struct rules_state s = {.n = 0};
    uint32_t before, n = 0;
    while (list[n]) n++;
    if (n >= RULES_MOST) return FAIL(e, ERR_INTERNAL, "a list of %u rules", n);
    do {
        before = s.n;
        for (uint32_t i = 0; i < n; i++)
            if (rules_is_due(&s, list[i])) TRY(rules_run_one(&s, list[i], cx, out, e));
    } while (s.n > before);
    if (s.n < n)
        return FAIL(e, ERR_INTERNAL, "rules yield to each other in a circle, or to one not listed");
    rules_settle(out);
    return 0;
}

/* Keeps what is about kernels where idle time says nothing: of a process that has just started. */
static void rules_drop_unjudged(const struct context *cx, struct findings *f)
{
    uint32_t kept = 0;
    if (recorded_of(cx)->idle_judged) return;
    for (uint32_t i = 0; i < f->n; i++)
        if (f->items[i]->device_ns > 0) f->items[kept++] = f->items[i];
    f->n = kept;
}

static int rules_run_pass(struct context *cx, void *ret, struct err *e)
{
    if (!wall_of(cx)->abstains) TRY(rules_run(rules, cx, ret, e));
    rules_drop_unjudged(cx, ret);
    TRY(findings_rank(ret, cx, e));
    const struct findings *f = ret;
    for (uint32_t i = 0; i < f->n; i++) TRY(rule_sum_up(cx, f->items[i], e));
    return 0;
}

static void rules_done_pass(void *result)
{
    findings_done(result);
}

static const struct pass *const needs[] = {
    &stages_pass,   &memory_pass,   &launchless_pass,  &launch_delays_pass,    &launches_pass,
    &wall_pass,     &roofline_pass, &host_causes_pass, &gpu_clocks_pass,       &queues_pass,
    &messages_pass, &recorded_pass, &sequence_pass,    &process_settings_pass, NULL};

const struct pass findings_pass = {
    .id = PASS_FINDINGS,
    .size = sizeof(struct findings),
    .needs = needs,
    .run = rules_run_pass,
    .done = rules_done_pass,
};
