/* stats_svg.c - the figures of index stats, drawn */
#include "stats_svg.h"

#include <math.h>
#include <stdbool.h>

enum { WIDTH = 800, LEFT = 78, RIGHT = 24, TOP = 60, CUT = 8, CHART = 270, STRIDE = 380 };

/* One chart: bars from number `first` to before n, and a line, from value 0 to `most`. */
struct chart {
    double y; /* of its upper edge */
    unsigned first, n;
    const uint64_t *value;
    const double *line;
    double most;
};

static double x_of(const struct chart *c, double i)
{
    return LEFT + (i - c->first) * (WIDTH - LEFT - RIGHT) / (c->n - c->first);
}

static double y_of(const struct chart *c, double value)
{
    return c->y + CHART - CHART * value / c->most;
}

/* 1, 2 or 5 times a power of ten, so that about five of them make `most`. */
static double tick_of(double most)
{
    double power = pow(10, floor(log10(most / 5))), times = most / 5 / power;

    power *= times > 5 ? 10 : times > 2 ? 5 : times > 1 ? 2 : 1;
    return power < 1 ? 1 : power;
}

static void draw_text(FILE *out, double x, double y, const char *anchor, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, text);
}

static void draw_number(FILE *out, double x, double y, const char *anchor, double number)
{
    char text[32];

    if (number >= 1e6 && fmod(number, 1e5) == 0)
        snprintf(text, sizeof text, "%g M", number / 1e6);
    else if (number >= 1e4 && fmod(number, 1e2) == 0)
        snprintf(text, sizeof text, "%g k", number / 1e3);
    else
        snprintf(text, sizeof text, "%.0f", number);
    draw_text(out, x, y, anchor, text);
}

static void draw_axes(FILE *out, const struct chart *c)
{
    unsigned bars = c->n - c->first, step = bars % 8 ? (unsigned)tick_of(bars) : bars / 8;
    double tick = tick_of(c->most);

    for (unsigned k = 0; k * tick <= c->most; k++) {
        double v = k * tick;

        fprintf(out, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n", LEFT,
                WIDTH - RIGHT, y_of(c, v), y_of(c, v));
        draw_number(out, LEFT - 6, y_of(c, v) + 4, "end", v);
    }
    for (unsigned i = c->first; i < c->n - step / 2; i += step)
        draw_number(out, x_of(c, i + 0.5), c->y + CHART + 16, "middle", i);
    draw_number(out, x_of(c, c->n - 0.5), c->y + CHART + 16, "middle", c->n - 1);
}

static void draw_bars(FILE *out, const struct chart *c)
{
    double width = (double)(WIDTH - LEFT - RIGHT) / (c->n - c->first), last = 0;

    fputs("<g class=\"bar\">\n", out);
    for (unsigned i = c->first; i < c->n; i++) {
        double value = fmin((double)c->value[i], c->most);

        if (value > 0)
            fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n",
                    x_of(c, i) + width * 0.1, y_of(c, value), width * 0.8, CHART * value / c->most);
    }
    fputs("</g>\n", out);
    for (unsigned i = c->first; i < c->n; i++) { /* bars that go on say how far */
        if ((double)c->value[i] <= c->most || (last > 0 && x_of(c, i) - last < 60))
            continue;
        last = x_of(c, i + 0.5);
        draw_number(out, last, c->y - 2, "middle", (double)c->value[i]);
    }
    fputs("<polyline class=\"line\" points=\"", out);
    for (unsigned i = c->first; i < c->n; i++)
        fprintf(out, "%s%.1f,%.1f", i > c->first ? " " : "", x_of(c, i + 0.5), y_of(c, c->line[i]));
    fputs("\"/>\n", out);
}

/* A few very high bars would make the others too small to see: they are cut. */
static double highest_of(const struct chart *c)
{
    double most = 1, line = 0;

    for (unsigned i = c->first; i < c->n; i++) {
        most = fmax(most, (double)c->value[i]);
        line = fmax(line, c->line[i]);
    }
    return 1.04 * (line > 0 && most > CUT * line ? CUT / 2.0 * line : fmax(most, line));
}

static void draw_chart(FILE *out, struct chart *c, const char *title, const char *below)
{
    c->most = highest_of(c);
    fprintf(out, "<text x=\"%d\" y=\"%.1f\" class=\"title\">%s</text>\n", LEFT, c->y - 18, title);
    draw_axes(out, c);
    draw_bars(out, c);
    draw_text(out, LEFT + (WIDTH - LEFT - RIGHT) / 2.0, c->y + CHART + 38, "middle", below);
}

static bool is_empty(const struct nd_hamming_stats *s, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        if (s->leading[i])
            return false;
    return true;
}

void draw_stats(FILE *out, const struct nd_hamming_stats *s)
{
    double uniform[ND_HAMMING_BITS_MAX], mean[ND_HAMMING_BUCKETS_MAX];
    struct chart leading = {TOP, 0, s->bits, s->leading, uniform, 0};
    struct chart buckets = {TOP + STRIDE, 0, s->buckets, s->bucket, mean, 0};
    char title[160];

    for (unsigned i = 0; i < s->bits; i++)
        uniform[i] = nd_hamming_stats_uniform(s, i);
    while (leading.first + 64 < s->bits && is_empty(s, leading.first, leading.first + 32))
        leading.first += 32;
    for (unsigned i = 0; i < s->buckets; i++)
        mean[i] = (double)s->count / s->buckets;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<style>.bar{fill:#4878a8}.line{fill:none;stroke:#c44e33;stroke-width:1.5}"
            ".grid{stroke:#ddd}.title{font-size:15px;font-weight:bold}text{fill:#222}</style>\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
            WIDTH, 2 * STRIDE, WIDTH, 2 * STRIDE, WIDTH, 2 * STRIDE);
    snprintf(title, sizeof title,
             "Highest bit in which neighbours in sorted order differ (%llu of %llu are equal)",
             (unsigned long long)s->equal, (unsigned long long)s->count);
    draw_chart(out, &leading, title, "bit, from the lowest; line: uniform fingerprints");
    snprintf(title, sizeof title, "Fingerprints in %u equal parts of their space", s->buckets);
    draw_chart(out, &buckets, title, "part; line: the mean");
    fputs("</svg>\n", out);
}
