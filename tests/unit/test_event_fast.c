/* test_event_fast.c: every version of the fast scanner against the general one, which is the
 * reference: where the fast one has an answer, it is the same. */
#include "import/json/event_fast.h"
#include "test.h"

static const char *const versions[] = {"basic", "avx2", "avx512"};

/* Events as the recorders write them, and some that must be refused. */
static const char *const samples[] = {
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::to\", \"pid\": 1213, \"tid\": 1213,\n"
    "    \"ts\": 3846726413931.841, \"dur\": 4.415,\n    \"args\": {\n      \"External id\": 3,"
    "\"Record function id\": 0, \"Concrete Inputs\": [\"\", \"15\", \"False\"], \"Input type\": "
    "[\"c10::BFloat16\", \"Scalar\", \"\"], \"Input Strides\": [[2097152, 4096, 1], [], []], "
    "\"Input Dims\": [[1, 512, 4096], [], []], \"Ev Idx\": 2\n    }\n  }",
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"void at::native::(anonymous namespace)::"
    "distribution_elementwise_grid_stride_kernel<float, 4, at::native::templates::cuda::normal>\","
    "\"pid\":0,\"tid\":7,\"ts\":12,\"dur\":1.5,\"args\":{\"queued\":0,\"device\":0,\"stream\":7,"
    "\"correlation\":382875,\"registers per thread\":168,\"shared memory\":213188,"
    "\"blocks per SM\":0.03030303,\"warps per SM\":12.0,\"grid\":[2,66,1],\"block\": [ 384 , 1, 1 "
    "],"
    "\"est. achieved occupancy %\":0,\"graph node id\":9007199254740993}}",
    "{\"name\": \"process_name\", \"ph\": \"M\", \"ts\": 1.0, \"pid\": \"Spans\", \"tid\": "
    "\"stream 7\","
    " \"args\": {\"name\": \"a \\\"quoted\\\" \\\\ name\"}}",
    "{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": \"[memory]\", "
    "\"pid\": -1,"
    "\"tid\": \"42\", \"ts\": -5.25, \"args\": {\"Bytes\": -512, \"Addr\": 139894355653632, "
    "\"finished\": false, \"Python parent id\": null}}",
    "{\"ph\": \"f\", \"id\": 9, \"bp\": \"e\", \"ts\": 1, \"x\": {\"y\": [1, {\"z\": \"}\"}]}, "
    "\"w\": true}",
    "{\"ph\":\"X\",\"name\":\"caf\xc3\xa9\",\"ts\":1,\"dur\":2,\"args\":{}}",
    "{\"ph\":\"X\",\"ts\":1e3,\"dur\":2}",
    "{\"ph\":\"X\",\"ts\":1.0005,\"dur\":2}",
    "{\"ph\":\"X\",\"ts\":18446744073709551615,\"dur\":N/A}",
    "{\"ph\":\"X\",\"ts\":1,\"ts\":2}",
    "{\"ph\":\"X\",\"name\":\"a\"b\",\"ts\":1}",
    "{\"ph\":\"X\",\"name\":\"a\nb\",\"ts\":1}",
    "{\"ph\":\"X\",\"args\":{\"Input Dims\":[[1,2],[\"]\",\"a\\\"b\"]],\"Input "
    "type\":[[}],\"x\":[nan]}}",
    "{\"ph\" : \"X\" , \"ts\" : 1 ,}",
    "{\"ph\":\"XY\",\"pid\":1.5}",
    "{}",
};

static struct event_memory memory;
static struct event a, b; /* by the fast version, by the general one */

static bool same_text(struct scan_text x, struct scan_text y)
{
    return x.p == y.p && x.n == y.n && x.escaped == y.escaped && x.non_ascii == y.non_ascii;
}

/* The same words, though one may stand in a template. */
static bool same_words(struct scan_text x, struct scan_text y)
{
    return x.n == y.n && memcmp(x.p, y.p, x.n) == 0 && x.escaped == y.escaped;
}

static bool same_arg(const struct event_arg_key *k)
{
    const union event_value *x = &a.args[k->arg], *y = &b.args[k->arg];
    switch ((enum event_arg_type)k->type) {
    case ARG_REAL: return x->real == y->real;
    case ARG_DIM3: return memcmp(x->dim3, y->dim3, sizeof x->dim3) == 0;
    case ARG_RAW:
    case ARG_TEXT: return same_text(x->text, y->text);
    default: return x->number == y->number;
    }
}

/* No template is known. */
static void forget(void)
{
    memset(&memory, 0, sizeof memory);
    memset(&a, 0, sizeof a);
}

/* NULL when both say the same, else what differs. */
static const char *difference(void)
{
    if (a.have != b.have) return "members";
    if (a.have_args != b.have_args) return "args";
    if (event_has(&a, EVENT_PH) && a.phase != b.phase) return "ph";
    if (event_has(&a, EVENT_TS) && a.ts_ns != b.ts_ns) return "ts";
    if (event_has(&a, EVENT_DUR) && a.dur_ns != b.dur_ns) return "dur";
    if (event_has(&a, EVENT_ID) && a.id != b.id) return "id";
    if (event_has(&a, EVENT_NAME) && !same_text(a.name, b.name)) return "name";
    if (event_has(&a, EVENT_CAT) && !same_words(a.cat, b.cat)) return "cat";
    if (event_has(&a, EVENT_PID) && a.pid.number != b.pid.number) return "pid";
    if (event_has(&a, EVENT_TID) && a.tid.number != b.tid.number) return "tid";
    for (int n = 0; n <= LONGEST_ARG_KEY; n++)
        for (const struct event_arg_key *k = event_arg_keys[n]; k->key[0]; k++)
            if (event_has_arg(&a, k->arg) && !same_arg(k)) return k->key;
    return NULL;
}

/* Whether the fast version had an answer; a wrong one fails the test. */
static bool compare(event_fast_fn *fast, const char *text, size_t n)
{
    memset(&b, 0, sizeof b);
    const char *after = fast(&memory, text, text + n, &a);
    if (!after) return false;
    struct scan s = {.text = text, .end = text + n};
    scan_begin(&s, text, SCAN_STRICT);
    bool ok = CHECK_EQ_INT(event_scan(&s, &b), SCAN_OK) && CHECK(s.p == after) &&
              CHECK_EQ_INT(s.n_notes, 0);
    if (ok) ok = CHECK_EQ_STR(difference(), NULL);
    if (!ok) printf("  in " STR_FMT "\n", (int)n, text);
    return true;
}

/* A copy with nothing behind it but the padding a reader may look at. */
static char *padded(const char *text, size_t n)
{
    char *copy = malloc(n + SCAN_PADDING);
    memcpy(copy, text, n);
    memset(copy + n, 0, SCAN_PADDING);
    return copy;
}

TEST(agrees_with_the_general_scanner)
{
    for (size_t v = 0; v < sizeof versions / sizeof *versions; v++) {
        event_fast_fn *fast = event_fast_named(versions[v]);
        if (!fast) continue;
        int answered = 0;
        for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
            size_t n = strlen(samples[i]);
            for (size_t cut = 0; cut <= n; cut++) {
                char *text = padded(samples[i], cut);
                forget();
                bool answer = cut && compare(fast, text, cut);
                /* by template now; the one of the whole event must not fit a part of it */
                if (answer) CHECK(compare(fast, text, cut));
                if (cut == n - 1) CHECK(!compare(fast, text, cut));
                if (cut < n) CHECK(!answer);
                else answered += answer;
                free(text);
            }
        }
        CHECK_EQ_INT(answered, 6);
    }
}

/* Inside arrays, which nobody decodes, the fast versions look at brackets and strings only. */
TEST(arrays_must_balance)
{
    static const struct {
        const char *array;
        bool accepted;
    } cases[] = {
        {"[]", true},
        {"[[1, -2.5], [], \"]\", \"a[\"]", true},
        {"[\"0123456789012345678901234567890123456789012345678901234567890]\", [2]]", true},
        {"[{\"a\": [1]}, null, true]", true},
        {"[\"a\\\"]\", 1]", true},
        {"[[1]", false},
        {"[nan]", false},
        {"[\"a\"b\"]", false},
        {"[\"a\nb\"]", false},
        {"[1}]", false},
    };
    for (size_t v = 0; v < sizeof versions / sizeof *versions; v++) {
        event_fast_fn *fast = event_fast_named(versions[v]);
        for (size_t i = 0; fast && i < sizeof cases / sizeof *cases; i++) {
            char text[256];
            int n =
                snprintf(text, sizeof text, "{\"ph\":\"X\",\"args\":{\"x\":%s,\"Input Dims\":%s}}",
                         cases[i].array, cases[i].array);
            char *copy = padded(text, (size_t)n);
            forget();
            for (int again = 0; again < 2; again++)
                if (!CHECK_EQ_INT(compare(fast, copy, (size_t)n), cases[i].accepted))
                    printf("  for %s\n", cases[i].array);
            free(copy);
        }
    }
}

TEST(agrees_on_mutated_events)
{
    static const char bytes[] = "\"\\{}[]:,. \n\t0123456789-+eEnulltruefalse\x01\x7f\x80\xff";
    uint64_t seed = 88172645463325252u;
    for (size_t v = 0; v < sizeof versions / sizeof *versions; v++) {
        event_fast_fn *fast = event_fast_named(versions[v]);
        if (!fast) continue;
        int answered = 0;
        for (int round = 0; round < 20000; round++) {
            const char *sample = samples[(size_t)round % (sizeof samples / sizeof *samples)];
            size_t n = strlen(sample);
            if (strchr(sample, '[')) continue;
            char *text = padded(sample, n);
            if (round % 5 == 0) forget();
            else compare(fast, text, n); /* the template of the sound event may be tried */
            for (int k = 0; k < 1 + round % 3; k++) {
                seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
                text[1 + seed % (n - 1)] = bytes[(seed >> 32) % (sizeof bytes - 1)];
            }
            answered += compare(fast, text, n);
            free(text);
        }
        CHECK(answered > 300); /* else nothing was compared */
    }
}

/* More kinds of event than there are templates, in an order that repeats and one that does not. */
TEST(templates_come_and_go)
{
    for (size_t v = 0; v < sizeof versions / sizeof *versions; v++) {
        event_fast_fn *fast = event_fast_named(versions[v]);
        if (!fast) continue;
        forget();
        for (int i = 0; i < 2000; i++) {
            int kind = i < 1000 ? i % (TEMPLATES - 1) : i * 7 % (3 * TEMPLATES);
            char text[256];
            int n = snprintf(
                text, sizeof text,
                "{\"ph\":\"X\",\"cat\":\"c%d\",\"name\":\"n%d\",\"pid\":%d,\"tid\":\"t%d\","
                "\"ts\":%d.5,\"args\":{\"finished\":%s,\"correlation\":%d}}",
                kind, i, kind, kind, i, kind % 2 ? "true" : "false", i);
            char *copy = padded(text, (size_t)n);
            CHECK(compare(fast, copy, (size_t)n));
            CHECK_EQ_INT(a.args[ARG_FINISHED].number, kind % 2);
            CHECK(
                str_eq(str_from(a.tid.text.p, a.tid.text.n), str_from(b.tid.text.p, b.tid.text.n)));
            free(copy);
        }
    }
}

TEST(every_arg_key_is_found)
{
    int n_keys = 0;
    for (size_t n = 0; n <= LONGEST_ARG_KEY; n++)
        for (const struct event_arg_key *k = event_arg_keys[n]; k->key[0]; k++, n_keys++) {
            CHECK_EQ_UINT(strlen(k->key), n);
            CHECK(event_find_arg(k->key, n) == k);
        }
    CHECK(n_keys >= ARG_COUNT);
    CHECK(event_find_arg("External ID", 11) == NULL);
    CHECK(event_find_arg("", 0) == NULL);
}

TEST_MAIN
