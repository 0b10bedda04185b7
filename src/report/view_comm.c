/* view_comm.c: see view_comm.h. */
#include "report/view_comm.h"

#include "base/stats.h"

#define KINDS_SHOWN 5

static double hidden_pct(int64_t time_ns, int64_t exposed_ns)
{
    return stats_pct((double)(time_ns - exposed_ns), (double)time_ns);
}

static void put_rate(struct text_table *table, int col, double bytes_per_s)
{
    if (bytes_per_s > 0) text_table_cellf(table, col, "%.2f", bytes_per_s / 1e9);
    else text_table_cell(table, col, "-");
}

/* "default_pg, 8 ranks", or as much of it as is known. */
static void put_group(struct text_table *table, int col, const struct message_group *g)
{
    char name[64];
    struct str of =
        g->description.n && !str_is(g->description, "undefined") ? g->description : g->name;
    human_cut(of, 24, name, sizeof name);
    if (g->ranks)
        text_table_cellf(table, col, "%s%s%s ranks", name, name[0] ? ", " : "",
                         human_count((uint64_t)g->ranks).s);
    else text_table_cell(table, col, name[0] ? name : "-");
}

static void put_kind(struct text_table *table, const struct messages *m,
                     const struct message_kind *k, int unit)
{
    text_table_row(table, TEXT_PLAIN);
    text_table_cell(table, 0, collective_name(k->what));
    put_group(table, 1, &m->groups[k->group]);
    screen_count(table, 2, k->calls);
    screen_time(table, 3, k->time_ns, unit);
    screen_time(table, 4, k->exposed_ns, unit);
    text_table_cellf(table, 5, "%.0f %%", hidden_pct(k->time_ns, k->exposed_ns));
    screen_bytes(table, 6, k->n_sized ? k->bytes : 0);
    put_rate(table, 7, k->algo_bytes_per_s);
    put_rate(table, 8, k->algo_bytes_per_s * k->bus_factor);
}

static void put_table(const struct screen *s, const struct messages *m)
{
    static const char *const heads[] = {"collective", "group", "calls", "time",    "exposed",
                                        "hidden",     "bytes", "GB/s",  "bus GB/s"};
    struct text_table table;
    int64_t largest = 0;
    text_table_init(&table);
    for (int i = 0; i < 9; i++) text_table_col(&table, heads[i], i > 1 ? TEXT_RIGHT : TEXT_LEFT);
    for (uint32_t i = 0; i < m->n_kinds && i < KINDS_SHOWN; i++)
        if (m->kinds[i].time_ns > largest) largest = m->kinds[i].time_ns;
    for (uint32_t i = 0; i < m->n_kinds && i < KINDS_SHOWN; i++)
        put_kind(&table, m, &m->kinds[i], screen_unit(largest));
    text_table_print(&table, s->out, 2, s->width, s->color);
    text_table_done(&table);
    if (m->n_kinds > KINDS_SHOWN)
        buf_printf(s->out, "  ... and %s more (--json lists all)\n",
                   human_count(m->n_kinds - KINDS_SHOWN).s);
}

void view_comm_text(const struct screen *s, const struct context *cx)
{
    const struct comm *c = comm_of(cx);
    struct comm_device d = comm_main(c);
    if (!c->n_works || !d.comm_ns) return;
    struct buf line;
    buf_init(&line);
    buf_printf(&line, "communication: %s in %s call%s, ", human_time(d.comm_ns).s,
               human_count(c->n_works).s, c->n_works == 1 ? "" : "s");
    buf_printf(&line, "%s of it hidden under other work; ",
               human_pct(hidden_pct(d.comm_ns, d.exposed_ns)).s);
    buf_printf(&line, "%s exposed, %s of the wall clock", human_time(d.exposed_ns).s,
               human_pct(comm_exposed_pct(c)).s);
    buf_adds(s->out, "\n  ");
    text_wrap(s->out, buf_c(&line), 2, s->width);
    buf_done(&line);
    put_table(s, messages_of(cx));
}

static void json_group(struct jout *j, const struct message_group *g)
{
    jout_str(j, "group", g->name);
    jout_str(j, "group_description", g->description);
    if (g->ranks) jout_int(j, "group_size", g->ranks);
    else jout_null(j, "group_size");
}

static void json_rate(struct jout *j, const char *key, double bytes_per_s)
{
    if (bytes_per_s > 0) jout_num(j, key, bytes_per_s / 1e9, 3);
    else jout_null(j, key);
}

static void json_kind(struct jout *j, const struct context *cx, const struct message_kind *k)
{
    jout_obj(j, NULL);
    jout_cstr(j, "name", collective_name(k->what));
    jout_str(j, "kernel", trace_name(cx->t, k->example));
    json_group(j, &messages_of(cx)->groups[k->group]);
    jout_uint(j, "calls", k->calls);
    jout_us(j, "time_us", k->time_ns);
    jout_us(j, "exposed_us", k->exposed_ns);
    jout_num(j, "overlap_pct", hidden_pct(k->time_ns, k->exposed_ns), 3);
    jout_us(j, "min_us", k->shortest_ns);
    jout_us(j, "median_us", k->median_ns);
    jout_us(j, "max_us", k->longest_ns);
    if (k->n_sized) jout_int(j, "bytes", k->bytes);
    else jout_null(j, "bytes");
    json_rate(j, "algo_gb_per_s", k->algo_bytes_per_s);
    json_rate(j, "bus_gb_per_s", k->algo_bytes_per_s * k->bus_factor);
    json_rate(j, "best_bus_gb_per_s", k->best_algo_bytes_per_s * k->bus_factor);
    jout_end_obj(j);
}

static void json_groups(struct jout *j, const struct messages *m)
{
    jout_arr(j, "groups");
    for (uint32_t i = 0; i < m->n_groups; i++) {
        jout_obj(j, NULL);
        json_group(j, &m->groups[i]);
        jout_uint(j, "calls", m->groups[i].calls);
        jout_us(j, "time_us", m->groups[i].time_ns);
        jout_us(j, "exposed_us", m->groups[i].exposed_ns);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

void view_comm_json(struct jout *j, const struct context *cx)
{
    const struct comm *c = comm_of(cx);
    const struct messages *m = messages_of(cx);
    struct comm_device d = comm_main(c);
    if (!c->n_works) {
        jout_null(j, "communication");
        return;
    }
    jout_obj(j, "communication");
    jout_int(j, "device", d.device);
    jout_us(j, "recorded_us", c->wall_ns);
    jout_us(j, "compute_us", d.compute_ns);
    jout_us(j, "copy_us", d.copy_ns);
    jout_us(j, "comm_us", d.comm_ns);
    jout_us(j, "exposed_us", d.exposed_ns);
    jout_num(j, "exposed_pct", comm_exposed_pct(c), 3);
    jout_num(j, "overlap_pct", hidden_pct(d.comm_ns, d.exposed_ns), 3);
    json_groups(j, m);
    jout_arr(j, "collectives");
    for (uint32_t i = 0; i < m->n_kinds; i++) json_kind(j, cx, &m->kinds[i]);
    jout_end_arr(j);
    jout_end_obj(j);
}
