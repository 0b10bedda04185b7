/* view_ranks.c: see view_ranks.h. */
#include "report/view_ranks.h"

#include "analyze/names/frame.h"
#include "base/jout.h"
#include "base/stats.h"

#define RANKS_SHOWN       16
#define COLLECTIVES_SHOWN 5
#define MISSING_SHOWN     8
#define STRAGGLERS_SHOWN  4
#define PATH_SHOWN        4

static const struct rank_summary *rank_of(const struct rank_set *s, uint32_t i)
{
    return &s->ranks[i];
}

/* ---- JSON */

static void json_ranks(struct jout *j, const struct rank_set *s)
{
    jout_arr(j, "ranks");
    for (uint32_t i = 0; i < s->n; i++) {
        const struct rank_summary *r = rank_of(s, i);
        jout_obj(j, NULL);
        jout_int(j, "rank", r->rank);
        jout_cstr(j, "host", r->host);
        jout_cstr(j, "path", r->path);
        jout_us(j, "wall_us", r->wall_ns);
        jout_us(j, "compute_us", r->compute_ns);
        jout_us(j, "comm_us", r->comm_ns);
        jout_us(j, "exposed_comm_us", r->exposed_ns);
        jout_num(j, "exposed_comm_pct", stats_pct((double)r->exposed_ns, (double)r->wall_ns), 3);
        jout_us(j, "wait_us", s->wait_ns[i]);
        jout_us(j, "idle_us", r->idle_ns);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void json_source(struct jout *j, const struct rank_place *p)
{
    if (!p->file) {
        jout_null(j, "source");
        return;
    }
    jout_obj(j, "source");
    jout_cstr(j, "file", p->file);
    jout_int(j, "line", p->line);
    jout_cstr(j, "function", p->function);
    jout_end_obj(j);
}

static void json_stragglers(struct jout *j, const struct rank_set *s)
{
    jout_arr(j, "stragglers");
    for (uint32_t i = 0; i < s->n_stragglers; i++) {
        const struct rank_straggler *x = &s->stragglers[i];
        jout_obj(j, NULL);
        jout_int(j, "rank", rank_of(s, x->rank)->rank);
        jout_us(j, "late_us", x->late_ns);
        jout_uint(j, "collectives", x->collectives);
        jout_cstr(j, "stage", x->place.stage);
        jout_cstr(j, "cause", rank_cause_name(x->cause));
        jout_us(j, "cause_us", x->cause_ns);
        jout_cstr(j, "subject", x->place.name);
        if (x->ratio > 0) jout_num(j, "ratio", x->ratio, 3);
        else jout_null(j, "ratio");
        json_source(j, &x->place);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void json_collectives(struct jout *j, const struct rank_set *s)
{
    jout_arr(j, "collectives");
    for (uint32_t i = 0; i < s->n_list; i++) {
        const struct rank_collective *c = &s->list[i];
        jout_obj(j, NULL);
        jout_cstr(j, "group", c->group);
        jout_int(j, "seq", c->seq);
        jout_cstr(j, "name", collective_name(c->what));
        if (c->bytes >= 0) jout_int(j, "bytes", c->bytes);
        else jout_null(j, "bytes");
        jout_uint(j, "members", c->n);
        jout_us(j, "end_us", c->end_ns);
        jout_us(j, "transfer_us", c->transfer_ns);
        jout_int(j, "last_rank", rank_of(s, c->members[c->last].rank)->rank);
        jout_us(j, "spread_us", c->spread_ns);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void json_clocks(struct jout *j, const struct rank_set *s)
{
    jout_arr(j, "clocks");
    for (uint32_t i = 0; i < s->n; i++) {
        const struct rank_clock *c = &s->clocks[i];
        jout_obj(j, NULL);
        jout_int(j, "rank", rank_of(s, i)->rank);
        jout_cstr(j, "host", rank_of(s, i)->host);
        if (c->aligned) {
            jout_num(j, "offset_us", c->offset_ns / 1e3, 3);
            jout_num(j, "drift_ppm", c->drift * 1e6, 3);
            jout_num(j, "error_us", c->error_ns / 1e3, 3);
        } else {
            jout_null(j, "offset_us");
            jout_null(j, "drift_ppm");
            jout_null(j, "error_us");
        }
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void json_path(struct jout *j, const struct rank_set *s)
{
    jout_arr(j, "critical_path");
    for (uint32_t i = 0; i < s->n_path; i++) {
        const struct rank_hop *h = &s->path[i];
        const struct rank_collective *c = &s->list[h->collective];
        jout_obj(j, NULL);
        jout_int(j, "rank", rank_of(s, c->members[c->last].rank)->rank);
        jout_us(j, "start_us", h->start_ns);
        jout_us(j, "own_us", h->own_ns);
        jout_cstr(j, "collective", collective_name(c->what));
        jout_int(j, "seq", c->seq);
        jout_us(j, "transfer_us", h->transfer_ns);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void json_who(struct jout *j, const struct rank_set *s)
{
    jout_int(j, "world_size", s->world);
    jout_arr(j, "missing_ranks");
    for (uint32_t i = 0; i < s->n_missing; i++) jout_int(j, NULL, s->missing[i]);
    jout_end_arr(j);
    jout_arr(j, "duplicate_ranks");
    for (uint32_t i = 0; i < s->n_twice; i++) {
        jout_obj(j, NULL);
        jout_int(j, "rank", s->twice[i].rank);
        jout_cstr(j, "path", s->twice[i].path);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

void view_ranks_json(struct buf *out, const struct view_ranks *v)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    json_who(&j, v->set);
    jout_us(&j, "step_us", v->set->step_ns);
    if (v->step_without_ns > 0) jout_us(&j, "step_without_straggler_us", v->step_without_ns);
    else jout_null(&j, "step_without_straggler_us");
    json_ranks(&j, v->set);
    json_stragglers(&j, v->set);
    json_collectives(&j, v->set);
    json_clocks(&j, v->set);
    json_path(&j, v->set);
    jout_uint(&j, "unmatched", v->set->unmatched);
    jout_end_obj(&j);
}

/* ---- text */

static void put_who(const struct screen *s, const struct rank_set *r)
{
    buf_printf(s->out, "%s of %d ranks, ", human_count(r->n).s, r->world);
    buf_printf(s->out, "%s collective%s matched", human_count(r->n_list).s,
               r->n_list == 1 ? "" : "s");
    if (r->unmatched) buf_printf(s->out, ", %s not", human_count(r->unmatched).s);
    buf_addc(s->out, '\n');
    if (r->n_missing) {
        buf_adds(s->out, "  !  missing: rank");
        for (uint32_t i = 0; i < r->n_missing && i < MISSING_SHOWN; i++)
            buf_printf(s->out, "%s %d", i ? "," : "", r->missing[i]);
        if (r->n_missing > MISSING_SHOWN)
            buf_printf(s->out, " and %s more", human_count(r->n_missing - MISSING_SHOWN).s);
        buf_addc(s->out, '\n');
    }
    for (uint32_t i = 0; i < r->n_twice && i < MISSING_SHOWN; i++)
        buf_printf(s->out, "  !  rank %d is there twice; left out: %s\n", r->twice[i].rank,
                   r->twice[i].path);
}

static void put_cause(struct buf *out, const struct rank_straggler *x)
{
    const struct rank_place *p = &x->place;
    char cut[128];
    buf_adds(out, rank_cause_words(x->cause));
    if (x->cause != RANK_CAUSE_SLOW_CLOCK && p->name)
        buf_printf(out, ": %s", human_cut(str_c(p->name), 60, cut, sizeof cut));
    if (x->ratio > 0) buf_printf(out, ", %.2f times as long as elsewhere", x->ratio);
    if (p->stage && !(p->name && strcmp(p->stage, p->name) == 0))
        buf_printf(out, ", in %s", human_cut(str_c(p->stage), 40, cut, sizeof cut));
    if (!p->file) return;
    buf_printf(out, " (%s", p->file);
    frame_print_line(out, p->line);
    buf_printf(out, " %s)", p->function ? p->function : "");
}

static void put_straggler(const struct screen *s, const struct rank_set *r,
                          const struct rank_straggler *x)
{
    struct buf line;
    buf_init(&line);
    buf_printf(&line, "rank %d is late by %s in total, ", rank_of(r, x->rank)->rank,
               human_time(x->late_ns).s);
    buf_printf(&line, "to %s collective%s: ", human_count(x->collectives).s,
               x->collectives == 1 ? "" : "s");
    put_cause(&line, x);
    buf_adds(s->out, "  ");
    text_wrap(s->out, buf_c(&line), 4, s->width);
    buf_done(&line);
}

void view_ranks_verdict(const struct screen *s, const struct view_ranks *v)
{
    const struct rank_set *r = v->set;
    buf_addc(s->out, '\n');
    if (!r->n_list) {
        buf_adds(s->out,
                 r->n > 1 ? "  who waits for whom is unknown: these traces share no collective\n"
                          : "  it takes the traces of several ranks to see who waits for whom\n");
        if (r->n > 1 && r->ranks[0].part >= 0)
            buf_adds(s->out, "  (strata run --level timeline records collectives)\n");
        return;
    }
    if (!r->n_stragglers) {
        text_styled(s->out, TEXT_GREEN, s->color,
                    "  no straggler: no rank keeps the others waiting");
        buf_addc(s->out, '\n');
    }
    for (uint32_t i = 0; i < r->n_stragglers && i < STRAGGLERS_SHOWN; i++)
        put_straggler(s, r, &r->stragglers[i]);
    if (r->n_stragglers > STRAGGLERS_SHOWN)
        buf_printf(s->out, "  ... and %s more\n",
                   human_count(r->n_stragglers - STRAGGLERS_SHOWN).s);
    if (v->step_without_ns > 0 && r->n_stragglers) {
        buf_printf(s->out, "  a step takes %s; ", human_time(r->step_ns).s);
        buf_printf(s->out, "%s if no rank came late\n", human_time(v->step_without_ns).s);
    }
}

static void put_ranks(const struct screen *s, const struct rank_set *r)
{
    static const char *const heads[] = {"rank",    "wall",    "compute", "comm",
                                        "exposed", "of wall", "waits",   "idle"};
    struct text_table table;
    int64_t largest = 0;
    uint32_t most = s->limit < r->n ? s->limit : r->n;
    text_table_init(&table);
    for (int i = 0; i < 8; i++) text_table_col(&table, heads[i], TEXT_RIGHT);
    for (uint32_t i = 0; i < most; i++)
        if (r->ranks[i].wall_ns > largest) largest = r->ranks[i].wall_ns;
    int unit = screen_unit(largest);
    for (uint32_t i = 0; i < most; i++) {
        const struct rank_summary *x = rank_of(r, i);
        text_table_row(&table, TEXT_PLAIN);
        text_table_cellf(&table, 0, "%d", x->rank);
        screen_time(&table, 1, x->wall_ns, unit);
        screen_time(&table, 2, x->compute_ns, unit);
        screen_time(&table, 3, x->comm_ns, unit);
        screen_time(&table, 4, x->exposed_ns, unit);
        text_table_cell(&table, 5,
                        human_pct(stats_pct((double)x->exposed_ns, (double)x->wall_ns)).s);
        screen_time(&table, 6, r->wait_ns[i], unit);
        screen_time(&table, 7, x->idle_ns, unit);
    }
    buf_addc(s->out, '\n');
    text_table_print(&table, s->out, 2, s->width, s->color);
    text_table_done(&table);
    screen_more(s, r->n);
}

/* The collectives that keep most ranks waiting longest. */
static void pick_widest(const struct rank_set *r, uint32_t *best, uint32_t *n)
{
    for (uint32_t i = 0; i < r->n_list; i++) {
        uint32_t k = *n;
        for (; k > 0 && r->list[best[k - 1]].spread_ns < r->list[i].spread_ns; k--)
            if (k < COLLECTIVES_SHOWN) best[k] = best[k - 1];
        if (k >= COLLECTIVES_SHOWN) continue;
        best[k] = i;
        if (*n < COLLECTIVES_SHOWN) ++*n;
    }
}

static void put_collectives(const struct screen *s, const struct rank_set *r)
{
    static const char *const heads[] = {"collective", "group",  "number",
                                        "transfer",   "spread", "last rank"};
    struct text_table table;
    uint32_t best[COLLECTIVES_SHOWN], n = 0;
    pick_widest(r, best, &n);
    if (!n) return;
    text_table_init(&table);
    for (int i = 0; i < 6; i++) text_table_col(&table, heads[i], i > 1 ? TEXT_RIGHT : TEXT_LEFT);
    for (uint32_t i = 0; i < n; i++) {
        const struct rank_collective *c = &r->list[best[i]];
        text_table_row(&table, TEXT_PLAIN);
        text_table_cell(&table, 0, collective_name(c->what));
        text_table_cell(&table, 1, c->group[0] ? c->group : "-");
        text_table_cellf(&table, 2, "%lld", (long long)c->seq);
        text_table_cell(&table, 3, human_time(c->transfer_ns).s);
        text_table_cell(&table, 4, human_time(c->spread_ns).s);
        text_table_cellf(&table, 5, "%d", rank_of(r, c->members[c->last].rank)->rank);
    }
    buf_adds(s->out, "\n  where ranks arrive furthest apart\n");
    text_table_print(&table, s->out, 2, s->width, s->color);
    text_table_done(&table);
}

/* Whose own time the critical path is made of, most first. */
static void put_path(const struct screen *s, const struct rank_set *r)
{
    uint32_t best[PATH_SHOWN], n = 0;
    int64_t all = r->path_transfer_ns;
    if (!r->n_path) return;
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t k = n;
        all += r->path_own_ns[i];
        if (!r->path_own_ns[i]) continue;
        for (; k > 0 && r->path_own_ns[best[k - 1]] < r->path_own_ns[i]; k--)
            if (k < PATH_SHOWN) best[k] = best[k - 1];
        if (k >= PATH_SHOWN) continue;
        best[k] = i;
        if (n < PATH_SHOWN) n++;
    }
    buf_printf(s->out, "\n  critical path: transfers %s",
               human_pct(stats_pct((double)r->path_transfer_ns, (double)all)).s);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(s->out, ", rank %d %s", rank_of(r, best[i])->rank,
                   human_pct(stats_pct((double)r->path_own_ns[best[i]], (double)all)).s);
    buf_addc(s->out, '\n');
}

static void put_clocks(const struct screen *s, const struct rank_set *r)
{
    if (!r->n_list) return;
    double offset = 0, error = 0;
    uint32_t apart = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct rank_clock *c = &r->clocks[i];
        apart += !c->aligned;
        if (c->offset_ns > offset) offset = c->offset_ns;
        if (-c->offset_ns > offset) offset = -c->offset_ns;
        if (c->error_ns > error) error = c->error_ns;
    }
    buf_printf(s->out, "  clocks: up to %s apart, ", human_time((int64_t)offset).s);
    buf_printf(s->out, "aligned to %s on the ends of collectives", human_time((int64_t)error).s);
    if (apart)
        buf_printf(s->out, "; %s rank%s none with the first", human_count(apart).s,
                   apart == 1 ? " shares" : "s share");
    buf_addc(s->out, '\n');
}

void view_ranks_text(const struct screen *s, const struct view_ranks *v)
{
    put_who(s, v->set);
    view_ranks_verdict(s, v);
    put_ranks(s, v->set);
    put_collectives(s, v->set);
    put_path(s, v->set);
    put_clocks(s, v->set);
    buf_addc(s->out, '\n');
}
