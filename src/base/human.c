/* human.c: see human.h. */
#include "base/human.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/utf8.h"

static int decimals_for(double v)
{
    v = fabs(v);
    return v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2;
}

static void human_put(struct human *h, double v, const char *unit)
{
    snprintf(h->s, sizeof h->s, "%.*f %s", decimals_for(v), v, unit);
}

struct human human_time(int64_t ns)
{
    struct human h;
    double a = fabs((double)ns);
    if (a < 999.5) snprintf(h.s, sizeof h.s, "%lld ns", (long long)ns);
    else if (a < 999.5e3) human_put(&h, (double)ns / 1e3, "us");
    else if (a < 999.5e6) human_put(&h, (double)ns / 1e6, "ms");
    else human_put(&h, (double)ns / 1e9, "s");
    if (ns == 0) snprintf(h.s, sizeof h.s, "0");
    return h;
}

struct human human_time_in(int64_t ns, int unit)
{
    static const double scale[] = {1, 1e3, 1e6, 1e9};
    static const char *const name[] = {"ns", "us", "ms", "s"};
    struct human h;
    human_put(&h, (double)ns / scale[unit], name[unit]);
    return h;
}

struct human human_bytes(int64_t bytes)
{
    static const char *const name[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    struct human h;
    double v = (double)bytes;
    int unit = 0;
    while (fabs(v) >= 999.5 && unit < 6) v /= 1000, unit++;
    if (unit == 0) snprintf(h.s, sizeof h.s, "%lld B", (long long)bytes);
    else human_put(&h, v, name[unit]);
    return h;
}

struct human human_longer(double pct)
{
    struct human h;
    if (pct < 99.5) snprintf(h.s, sizeof h.s, "%.0f %% longer", pct);
    else snprintf(h.s, sizeof h.s, "%.1f times as long", 1 + pct / 100);
    return h;
}

struct human human_count(uint64_t n)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    struct human h;
    int o = 0;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0) h.s[o++] = ',';
        h.s[o++] = digits[i];
    }
    h.s[o] = '\0';
    return h;
}

struct human human_pct(double pct)
{
    struct human h;
    if (fabs(pct) < 0.05) pct = 0; /* no "-0.0 %" */
    if (!isfinite(pct)) snprintf(h.s, sizeof h.s, "-");
    else snprintf(h.s, sizeof h.s, "%.*f %%", fabs(pct) >= 99.95 ? 0 : 1, pct);
    return h;
}

/* Appends the character of `s` at `i`, if it fits; the new length. */
static size_t add_char(char *out, size_t o, size_t cap, struct str s, size_t i)
{
    size_t len = utf8_safe_len(s, i);
    if (o + (len ? len : 1) >= cap) return o;
    if (!len) out[o++] = '?';
    else memmove(out + o, s.p + i, len), o += len;
    return o;
}

const char *human_cut(struct str s, int width, char *out, size_t cap)
{
    enum { DOTS = 3 };
    int total = utf8_width(s);
    bool cut = total > width;
    int dots = !cut ? 0 : width >= DOTS ? DOTS : width > 0 ? width : 0;
    int head = cut ? (width - dots) * 2 / 5 : total;
    int tail = cut ? width - dots - head : 0;
    size_t o = 0;
    int col = 0;
    for (size_t i = 0; i < s.n;) {
        size_t len = utf8_len(s, i);
        int w = utf8_width(str_from(s.p + i, len ? len : 1));
        if (col + w <= head || (tail > 0 && col >= total - tail)) o = add_char(out, o, cap, s, i);
        else
            for (; dots > 0; dots--) o = add_char(out, o, cap, str_c("."), 0);
        col += w;
        i += len ? len : 1;
    }
    if (cap) out[o] = '\0';
    return out;
}

const char *human_cut_path(struct str s, int width, char *out, size_t cap)
{
    size_t first = 0, file = 0, end = 0;
    char shorter[512];
    while (end < s.n && s.p[end] != ' ') end++;
    for (size_t i = 0; i < end; i++)
        if (s.p[i] == '/') file = i + 1, first = first ? first : i;
    if (utf8_width(s) <= width || !file) return human_cut(s, width, out, cap);
    struct str name = str_from(s.p + file, s.n - file);
    snprintf(shorter, sizeof shorter, STR_FMT "/.../" STR_FMT, STR_ARG(str_from(s.p, first)),
             STR_ARG(name));
    bool fits = first && utf8_width(str_c(shorter)) <= width;
    return human_cut(fits ? str_c(shorter) : name, width, out, cap);
}

/* Bytes of the code at `s` that only sets a colour, 0 for any other code. */
static size_t color_code(struct str s)
{
    size_t n = 2;
    if (s.n < 3 || s.p[0] != '\033' || s.p[1] != '[') return 0;
    while (n < s.n && (s.p[n] == ';' || (s.p[n] >= '0' && s.p[n] <= '9'))) n++;
    return n < s.n && s.p[n] == 'm' ? n + 1 : 0;
}

size_t human_clean_lines(char *s, size_t n, bool color)
{
    struct str all = str_from(s, n);
    size_t o = 0;
    for (size_t i = 0; i < n;) {
        size_t code = color ? color_code(str_from(s + i, n - i)) : 0;
        size_t len = code ? code : utf8_len(all, i);
        size_t next = i + (len ? len : 1);
        if (code || s[i] == '\n' || s[i] == '\t') memmove(s + o, s + i, next - i), o += next - i;
        else o = add_char(s, o, n + 1, all, i);
        i = next;
    }
    return o;
}

char *human_clean(char *s)
{
    struct str all = str_c(s);
    size_t o = 0;
    for (size_t i = 0; i < all.n;) {
        size_t len = utf8_len(all, i);
        size_t next = i + (len ? len : 1);
        o = add_char(s, o, all.n + 1, all, i); /* never longer than what it replaces */
        i = next;
    }
    s[o] = '\0';
    return s;
}
