/* test_rules_order.c: what rules declare about each other decides; the order of their list does
 * not. */
#include <glob.h>

#include "analyze/rules/rules.h"
#include "diagnosis.h"
#include "import/import.h"

enum { MOST = 64, SHUFFLES = 4 };

static uint32_t n_rules(void)
{
    uint32_t n = 0;
    while (rules[n]) n++;
    return n;
}

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void shuffle(const struct rule **list, uint32_t n, uint64_t *state)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = next_random(state) % i;
        const struct rule *x = list[i - 1];
        list[i - 1] = list[k];
        list[k] = x;
    }
}

static void check_same(const struct findings *a, const struct findings *b)
{
    CHECK_EQ_INT(a->n_minor, b->n_minor);
    CHECK_EQ_INT(a->all_fixed_ns, b->all_fixed_ns);
    if (!CHECK_EQ_INT(a->n, b->n)) return;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct finding *x = a->items[i], *y = b->items[i];
        CHECK_EQ_STR(x->rule->id, y->rule->id);
        CHECK_EQ_STR(x->title, y->title);
        CHECK_EQ_STR(x->subject, y->subject);
        CHECK_EQ_STR(x->why, y->why);
        CHECK_EQ_INT(x->exposed_ns, y->exposed_ns);
        CHECK_EQ_INT(x->gain_ns, y->gain_ns);
        CHECK_EQ_INT(x->severity, y->severity);
        CHECK_EQ_INT(x->n_edits, y->n_edits);
    }
}

/* Runs the rules in other orders of their list, and compares what they find. */
static void check_orders(struct diagnosis *d, uint64_t seed)
{
    for (int i = 0; i < SHUFFLES; i++) {
        const struct rule *list[MOST] = {NULL};
        struct findings other = {0};
        memcpy(list, rules, n_rules() * sizeof *list);
        shuffle(list, n_rules(), &seed);
        struct err e;
        err_init(&e);
        if (!wall_of(&d->cx)->abstains) CHECK_EQ_INT(rules_run(list, &d->cx, &other, &e), 0);
        CHECK_EQ_INT(findings_rank(&other, &d->cx, &e), 0);
        for (uint32_t k = 0; k < other.n; k++)
            CHECK_EQ_INT(rule_sum_up(&d->cx, other.items[k], &e), 0); /* as the pass does */
        check_same(findings_of(&d->cx), &other);
        findings_done(&other);
    }
}

static uint32_t check_file(const char *path, uint64_t seed)
{
    struct diagnosis d;
    struct trace *t = NULL;
    if (import_open(path, NULL, &t, NULL) < 0) return 0; /* snapshots are no timelines */
    diagnose(&d, t);
    uint32_t n = findings_of(&d.cx)->n;
    check_orders(&d, seed);
    done(&d);
    return n;
}

TEST(findings_do_not_depend_on_the_order_of_the_list)
{
    glob_t found;
    uint32_t n = 0;
    REQUIRE(n_rules() < MOST);
    REQUIRE(glob(TEST_DATA "/*.json", 0, NULL, &found) == 0);
    REQUIRE(glob(TEST_DATA "/*/*.json.[gz]*", GLOB_APPEND, NULL, &found) == 0);
    for (size_t i = 0; i < found.gl_pathc; i++) n += check_file(found.gl_pathv[i], i + 1);
    CHECK(n > 50);
    globfree(&found);
}

static int find_none(const struct context *cx, struct findings *out, struct err *e)
{
    (void)cx, (void)out, (void)e;
    return 0;
}

static const struct rule round_a, round_b;
static const struct rule round_a = {.id = "a", .yields_to = RULE_LIST(&round_b), .run = find_none};
static const struct rule round_b = {
    .id = "b", .silent_after = RULE_LIST(&round_a), .run = find_none};

TEST(a_circle_of_declarations_is_an_error)
{
    const struct rule *const list[] = {&round_a, &round_b, NULL};
    const struct rule *const missing[] = {&round_b, NULL};
    struct diagnosis d;
    struct findings out = {0};
    struct err e;
    err_init(&e);
    struct kit k = kit_begin();
    diagnose(&d, kit_end(&k));
    CHECK_EQ_INT(rules_run(list, &d.cx, &out, &e), ERR_INTERNAL);
    err_init(&e);
    CHECK_EQ_INT(rules_run(missing, &d.cx, &out, &e), ERR_INTERNAL);
    done(&d);
}

static const struct rule advice_c, advice_d;

static int advise(const struct context *cx, struct findings *out, const struct rule *r,
                  struct err *e)
{
    struct finding *f = rule_finding(cx, out, r, e);
    if (!f) return ERR_NOMEM;
    f->advice = true;
    return 0;
}

static int advise_c(const struct context *cx, struct findings *out, struct err *e)
{
    return advise(cx, out, &advice_c, e);
}

static int advise_d(const struct context *cx, struct findings *out, struct err *e)
{
    return advise(cx, out, &advice_d, e);
}

static const struct rule advice_c = {.id = "c", .run = advise_c};
static const struct rule advice_d = {.id = "d", .run = advise_d};

TEST(findings_that_cost_the_same_are_listed_by_rule)
{
    const struct rule *const lists[][3] = {{&advice_c, &advice_d}, {&advice_d, &advice_c}};
    struct diagnosis d;
    struct kit k = kit_begin();
    kit_launch(&k, 10, "gemm", 20, 50);
    diagnose(&d, kit_end(&k));
    for (int i = 0; i < 2; i++) {
        struct findings out = {0};
        REQUIRE(rules_run(lists[i], &d.cx, &out, NULL) == 0);
        CHECK(out.items[0]->rule == &advice_c && out.items[1]->rule == &advice_d);
        findings_done(&out);
    }
    done(&d);
}

TEST(two_rules_that_claim_kernels_have_an_order)
{
    for (uint32_t i = 0; rules[i]; i++)
        for (uint32_t k = 0; rules[k]; k++)
            if (i != k && rules[i]->claims & rules[k]->claims & CLAIM_KERNELS)
                CHECK(rule_yields(rules[i], rules[k]) != rule_yields(rules[k], rules[i]));
}

TEST(a_rule_that_is_yielded_to_claims_something)
{
    for (uint32_t i = 0; rules[i]; i++)
        for (const struct rule *const *to = rules[i]->yields_to; to && *to; to++)
            if (!CHECK((*to)->claims != 0)) fprintf(stderr, "%s\n", (*to)->id);
}

TEST_MAIN
