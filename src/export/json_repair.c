/* json_repair.c: copies JSON and mends what is broken on the way.
 *
 * A quote ends a string only when what follows could follow a string; any other quote inside is
 * taken for part of the text. Everything that is written is valid whatever is read. */
#include "export/export_private.h"

#include "base/jout.h"
#include "base/json_valid.h"
#include "base/utf8.h"

struct mend {
    const char *p, *end;
    struct buf *out;
};

static void mend_value(struct mend *m, int depth);

static bool json_repair_is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

static void json_repair_skip_blanks(struct mend *m)
{
    m->p = json_past_blanks(m->p, m->end);
}

/* Whether the text after a quote at `p` looks as if the quote ended a string. */
static bool ends_string(const char *p, const char *end)
{
    p = json_past_blanks(p + 1, end);
    return p == end || json_repair_is_one_of(*p, ",:}]");
}

/* Bytes of a well-formed escape at `p`, or 0. */
static size_t escape_len(const char *p, const char *end)
{
    char quoted[10] = "\"";
    size_t n = end - p > 1 && p[1] == 'u' ? 6 : 2;
    if ((size_t)(end - p) < n) return 0;
    memcpy(quoted + 1, p, n);
    quoted[n + 1] = '"';
    return json_valid(str_from(quoted, n + 2)) ? n : 0;
}

static void mend_char(struct mend *m)
{
    struct str rest = str_from(m->p, (size_t)(m->end - m->p));
    unsigned char c = (unsigned char)*m->p;
    size_t n = c == '\\' ? escape_len(m->p, m->end) : c < 0x20 || c == '"' ? 0 : utf8_len(rest, 0);
    if (n) buf_add(m->out, m->p, n);
    else if (c == '"' || c == '\\') buf_printf(m->out, "\\%c", c);
    else if (c < 0x20) buf_printf(m->out, "\\u%04x", c);
    else buf_adds(m->out, "\xef\xbf\xbd");
    m->p += n ? n : 1;
}

static void mend_string(struct mend *m)
{
    buf_addc(m->out, '"');
    m->p++;
    while (m->p < m->end && !(*m->p == '"' && ends_string(m->p, m->end))) mend_char(m);
    if (m->p < m->end) m->p++;
    buf_addc(m->out, '"');
}

/* A number, true, false or null as it is; any other word in quotes; nothing at all as null. */
static void mend_word(struct mend *m, bool is_key)
{
    const char *from = m->p;
    while (m->p < m->end && !json_repair_is_one_of(*m->p, is_key ? ":,{}[]\"" : ",{}[]\"")) m->p++;
    struct str s = str_trim(str_from(from, (size_t)(m->p - from)));
    if (!is_key && s.n == 0) buf_adds(m->out, "null");
    else if (!is_key && json_valid(s)) buf_add_str(m->out, s);
    else jout_quote(m->out, s);
}

static void mend_member(struct mend *m, int depth)
{
    if (*m->p == '"') mend_string(m);
    else mend_word(m, true);
    json_repair_skip_blanks(m);
    buf_addc(m->out, ':');
    if (m->p < m->end && *m->p == ':') m->p++;
    mend_value(m, depth);
}

static void skip_separators(struct mend *m)
{
    while (m->p < m->end && (json_is_blank(*m->p) || *m->p == ',')) m->p++;
}

static void mend_container(struct mend *m, int depth)
{
    bool is_object = *m->p++ == '{';
    buf_addc(m->out, is_object ? '{' : '[');
    for (bool any = false;; any = true) {
        skip_separators(m);
        if (m->p == m->end || *m->p == '}' || *m->p == ']') break;
        if (any) buf_addc(m->out, ',');
        if (is_object) mend_member(m, depth + 1);
        else mend_value(m, depth + 1);
    }
    if (m->p < m->end) m->p++;
    buf_addc(m->out, is_object ? '}' : ']');
}

/* Skips a value that lies too deep, strings and all. */
static void skip_container(struct mend *m)
{
    int open = 0;
    do {
        char c = *m->p++;
        if (c == '"')
            while (m->p < m->end && *m->p++ != '"') {}
        else open += (c == '{' || c == '[') - (c == '}' || c == ']');
    } while (open > 0 && m->p < m->end);
    buf_adds(m->out, "null");
}

static void mend_value(struct mend *m, int depth)
{
    json_repair_skip_blanks(m);
    char c = m->p < m->end ? *m->p : '\0';
    if (c == '"') mend_string(m);
    else if (c != '{' && c != '[') mend_word(m, false);
    else if (depth < JSON_VALID_DEPTH) mend_container(m, depth);
    else skip_container(m);
}

void json_repair(struct str s, struct buf *out)
{
    struct mend m = {s.p, s.p + s.n, out};
    mend_value(&m, 0);
}
