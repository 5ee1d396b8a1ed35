/* svg.c - figures: the page, texts, axes and charts; those of explain, index stats and plan */

/*
 * Figures are written as SVG text, without a library. All positions are computed here, because SVG
 * has no layout of its own: the width of a text is estimated from its number of columns. Text of
 * documents is escaped and cleaned before it is written.
 */
#include "svg.h"

#include <neardup/index.h>
#include <neardup/terminal.h>

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* A page is 800 wide; charts lie between these margins. */
enum {
    SVG_WIDTH = 800,
    SVG_LEFT = 78,
    SVG_RIGHT = 24,
    SVG_PLOT = SVG_WIDTH - SVG_LEFT - SVG_RIGHT
};
/* The height of a chart's plot, and the distance from one chart to the next. */
enum { SVG_CHART = 270, SVG_STRIDE = 380 };

/* A chart: bars for the numbers first to n - 1, and a line, from the value 0 to the highest. */
struct svg_chart {
    double y; /* y of the plot's upper edge */
    unsigned first, n;
    const uint64_t *value;
    const double *line;
};

enum { CUT = 8 };

static void svg_begin(FILE *out, double height)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" "
            "height=\"%.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<style>.bar{fill:#4878a8}.full{fill:#cfd4da}.line{fill:none;stroke:#c44e33;"
            "stroke-width:1.5}.other{fill:none;stroke:#b9bfc6}.grid{stroke:#ddd}.title{font-size:"
            "15px;font-weight:bold}"
            ".head{font-size:18px;font-weight:bold}.hash{font-family:monospace;font-size:11px;fill:"
            "#777}.note{fill:#666}"
            "text{fill:#222}</style>\n"
            "<rect width=\"%d\" height=\"%.0f\" fill=\"#fff\"/>\n",
            SVG_WIDTH, height, SVG_WIDTH, height, SVG_WIDTH, height);
}

static void svg_end(FILE *out)
{
    fputs("</svg>\n", out);
}

/* The code point of a well-formed sequence of UTF-8. */
static uint32_t code_of(const char *s, size_t len)
{
    uint32_t code = (unsigned char)s[0] & (len == 1 ? 0x7FU : 0x7FU >> len);

    for (size_t i = 1; i < len; i++)
        code = code << 6 | ((unsigned char)s[i] & 0x3F);
    return code;
}

/* East Asian characters and pictographs are roughly two columns wide. */
static unsigned columns_of(uint32_t code)
{
    return (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
                   (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
                   (code >= 0xFE30 && code <= 0xFE6F) || (code >= 0xFF00 && code <= 0xFF60) ||
                   (code >= 0x1F300 && code <= 0x1FAFF) || (code >= 0x20000 && code <= 0x3FFFD)
               ? 2
               : 1;
}

static void put_character(FILE *out, const char *s, size_t len, bool is_control)
{
    uint32_t code = code_of(s, len);

    if (is_control || (len == 1 && code >= 0x80) || (code & 0xFFFE) == 0xFFFE)
        fputc('?', out);
    else if (*s == '<' || *s == '>' || *s == '&' || *s == '"')
        fprintf(out, "&#%d;", *s);
    else
        fwrite(s, 1, len, out);
}

/*
 * Write arbitrary text: escaped, without characters that XML forbids, cut at `columns` (0: never),
 * where wide characters take two. `class` "": the default class. Returns the columns used.
 */
static unsigned svg_text(FILE *out, double x, double y, const char *anchor, const char *class,
                         const char *text, unsigned columns)
{
    size_t left = strlen(text);
    unsigned used = 0;

    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s%s%s>", x, y, anchor,
            *class ? " class=\"" : "", class, *class ? "\"" : "");
    while (left) {
        int is_control;
        size_t n = nd_terminal_character(text, left, &is_control);
        bool is_bad = n == 1 && (unsigned char)*text >= 0x80;
        unsigned wide = columns_of(is_bad ? '?' : code_of(text, n));

        if (columns && used + wide + (left > n) > columns) {
            fputs("…", out);
            used++;
            break;
        }
        put_character(out, text, n, is_control || is_bad);
        used += wide;
        text += n;
        left -= n;
    }
    fputs("</text>\n", out);
    return used;
}

/* A short form of a number: 20 k, 1.5 M, 0.003. */
static void svg_number(FILE *out, double x, double y, const char *anchor, double number)
{
    char text[32];

    if (number >= 1e6 && fmod(number, 1e5) == 0)
        snprintf(text, sizeof text, "%g M", number / 1e6);
    else if (number >= 1e4 && fmod(number, 1e2) == 0)
        snprintf(text, sizeof text, "%g k", number / 1e3);
    else if (number >= 1e3)
        snprintf(text, sizeof text, "%.0f", number);
    else
        snprintf(text, sizeof text, "%.4g", number);
    svg_text(out, x, y, anchor, "", text, 0);
}

/*
 * A step of 1, 2 or 5 times a power of ten, so that about five steps make `most`; `whole`: at least
 * 1.
 */
static double svg_tick(double most, bool whole)
{
    double power = pow(10, floor(log10(most / 5))), times = most / 5 / power;

    power *= times > 5 ? 10 : times > 2 ? 5 : times > 1 ? 2 : 1;
    return whole && power < 1 ? 1 : power;
}

/* Draw grid lines across the plot whose lower edge is at y, with their values from 0 to `most`. */
static void svg_grid(FILE *out, double y, double most, bool whole)
{
    double tick = svg_tick(most, whole);

    for (unsigned k = 0; k * tick <= most; k++) {
        double at = y - SVG_CHART * (k * tick) / most;

        fprintf(out, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n",
                SVG_LEFT, SVG_WIDTH - SVG_RIGHT, at, at);
        svg_number(out, SVG_LEFT - 6, at + 4, "end", k * tick);
    }
}

static double x_of(size_t first, size_t n, double i)
{
    return SVG_LEFT + (i - (double)first) * SVG_PLOT / (double)(n - first);
}

/* Write numbers below the plot: each i from first to n - 1 at the middle of its bar. */
static void svg_places(FILE *out, double y, size_t first, size_t n)
{
    size_t bars = n - first,
           step = bars % 8 || bars > 1024 ? (size_t)svg_tick((double)bars, true) : bars / 8;

    svg_number(out, x_of(first, n, (double)first + 0.5), y + 16, "middle", (double)first);
    for (size_t i = (first / step + 1) * step; i + step / 2 < n && i + 1 < n; i += step)
        if (i - first > step / 2)
            svg_number(out, x_of(first, n, (double)i + 0.5), y + 16, "middle", (double)i);
    if (bars > 1)
        svg_number(out, x_of(first, n, (double)n - 0.5), y + 16, "middle", (double)(n - 1));
}

/* A few very high bars would make the others too small to see, so they are cut off. */
static double highest_of(const struct svg_chart *c)
{
    double most = 1, line = 0;

    for (unsigned i = c->first; i < c->n; i++) {
        most = fmax(most, (double)c->value[i]);
        line = fmax(line, c->line[i]);
    }
    return 1.04 * (line > 0 && most > CUT * line ? CUT / 2.0 * line : fmax(most, line));
}

static void draw_bars(FILE *out, const struct svg_chart *c, double most)
{
    double width = (double)SVG_PLOT / (c->n - c->first), last = 0;

    fputs("<g class=\"bar\">\n", out);
    for (unsigned i = c->first; i < c->n; i++) {
        double height = SVG_CHART * fmin((double)c->value[i], most) / most;

        if (height > 0)
            fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n",
                    x_of(c->first, c->n, i) + width * 0.1, c->y + SVG_CHART - height, width * 0.8,
                    height);
    }
    fputs("</g>\n", out);
    for (unsigned i = c->first; i < c->n; i++) { /* bars that are cut off show their value */
        if ((double)c->value[i] <= most || (last > 0 && x_of(c->first, c->n, i) - last < 60))
            continue;
        last = x_of(c->first, c->n, i + 0.5);
        svg_number(out, last, c->y - 2, "middle", (double)c->value[i]);
    }
    fputs("<polyline class=\"line\" points=\"", out);
    for (unsigned i = c->first; i < c->n; i++)
        fprintf(out, "%s%.1f,%.1f", i > c->first ? " " : "", x_of(c->first, c->n, i + 0.5),
                c->y + SVG_CHART - SVG_CHART * c->line[i] / most);
    fputs("\"/>\n", out);
}

static void svg_chart(FILE *out, const struct svg_chart *c, const char *title, const char *below)
{
    double most = highest_of(c), bottom = c->y + SVG_CHART;

    svg_text(out, SVG_LEFT, c->y - 18, "start", "title", title, 0);
    svg_grid(out, bottom, most, true);
    svg_places(out, bottom, c->first, c->n);
    draw_bars(out, c, most);
    svg_text(out, SVG_LEFT + SVG_PLOT / 2.0, bottom + 38, "middle", "", below, 0);
}

/* ---- explain: features by weight and by position, and their hashes --------------------------- */

enum {
    HEAD = 72,       /* space above the first figure */
    ROW = 18,        /* height of the list of features */
    ROWS = 25,       /* features in the list */
    TEXTS_END = 262, /* where feature names end, at most this many columns wide, */
    COLUMNS = 34,    /* and bars begin */
    BARS_END = 560,  /* width of the heaviest feature's bar */
    LABELS = 8,      /* features whose names are written above their bars */
    LABEL_COLUMNS = 16,
};

static size_t rows_of(const struct nd_explained_signature *s)
{
    return s->n_features < ROWS ? s->n_features : ROWS;
}

static double list_height(const struct nd_explained_signature *s)
{
    return 60 + ROW * (double)rows_of(s);
}

static double greatest(const struct nd_explained_signature *s)
{
    return s->n_features ? s->feature[s->by_weight[0]].weight : 0;
}

/* The heaviest features, with their weights and hashes (Seshasai 2009, Figures 3-1 and 3-3). */
static void draw_list(FILE *out, double y, const struct nd_explained_signature *s)
{
    double most = greatest(s) > 0 ? greatest(s) : 1;
    bool is_flat = s->feature[s->by_weight[s->n_features - 1]].weight >= greatest(s);
    const char *after = is_flat ? ", all of one weight" : ", by weight";
    char text[96];

    snprintf(text, sizeof text, "%s %zu features%s",
             rows_of(s) == s->n_features ? "All" : "The first", rows_of(s), after);
    svg_text(out, SVG_LEFT, y, "start", "title", text, 0);
    svg_text(out, SVG_WIDTH - SVG_RIGHT, y, "end", "note", "hash", 0);
    for (size_t i = 0; i < rows_of(s); i++) {
        const struct nd_explained_feature *f = &s->feature[s->by_weight[i]];
        double at = y + 14 + ROW * (double)i, length = (BARS_END - TEXTS_END) * f->weight / most;

        svg_text(out, TEXTS_END - 6, at + 13, "end", "", f->text, COLUMNS);
        fprintf(out, "<rect x=\"%d\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" class=\"bar\"/>\n",
                TEXTS_END, at + 2, length, ROW - 4);
        svg_number(out, TEXTS_END + length + 6, at + 13, "start", f->weight);
        snprintf(text, sizeof text, "%016" PRIx64, f->hash);
        svg_text(out, SVG_WIDTH - SVG_RIGHT, at + 13, "end", "hash", text, 0);
    }
}

static double x_of_feature(const struct nd_explained_signature *s, size_t i)
{
    return SVG_LEFT + ((double)i + 0.5) * SVG_PLOT / (double)s->n_features;
}

/*
 * Draw one vertical line for each feature. If there are more features than columns of the plot,
 * draw the greatest of each column, so that the file of a long document is not longer than that of
 * a short one.
 */
static void draw_weights(FILE *out, double bottom, double most, bool full,
                         const struct nd_explained_signature *s)
{
    enum { COLUMNS_DRAWN = 2 * SVG_PLOT };
    size_t n = s->n_features, columns = n < COLUMNS_DRAWN ? n : COLUMNS_DRAWN;
    double width = fmax(0.5, 0.8 * SVG_PLOT / (double)n);

    fprintf(out, "<g class=\"%s\">\n", full ? "full" : "bar");
    for (size_t c = 0; c < columns; c++) {
        size_t from = c * n / columns, to = (c + 1) * n / columns, best = from;
        double height = 0;

        for (size_t i = from; i < to; i++) {
            double weight = full ? s->feature[i].full : s->feature[i].weight;

            if (weight > height) {
                height = weight;
                best = i;
            }
        }
        height *= SVG_CHART / most;
        if (height > 0)
            fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n",
                    x_of_feature(s, best) - width / 2, bottom - height, width, height);
    }
    fputs("</g>\n", out);
}

/* The area that a name takes: `x` is its middle, `y` its lower edge. */
struct label {
    double x, y, half;
};

/* Whether no higher bar crosses the name and it overlaps none of the n others. */
static bool is_free(const struct label *l, const struct label *other, unsigned n, double bottom,
                    double most, const struct nd_explained_signature *s)
{
    double step = SVG_PLOT / (double)s->n_features;
    double from = floor((l->x - l->half - SVG_LEFT) / step),
           to = ceil((l->x + l->half - SVG_LEFT) / step);

    for (unsigned k = 0; k < n; k++)
        if (fabs(l->x - other[k].x) <= l->half + other[k].half + 4 && fabs(l->y - other[k].y) <= 13)
            return false;
    for (size_t i = (size_t)fmax(0, from); i < s->n_features && (double)i < to; i++)
        if (bottom - SVG_CHART * s->feature[i].weight / most < l->y)
            return false;
    return true;
}

/* Write names above the highest bars, if there is space for them. */
static void draw_labels(FILE *out, double bottom, double most,
                        const struct nd_explained_signature *s)
{
    struct label drawn[LABELS];
    unsigned n = 0;

    for (size_t i = 0; i < s->n_features && i < 8 * LABELS && n < LABELS; i++) {
        const struct nd_explained_feature *f = &s->feature[s->by_weight[i]];
        size_t len = strlen(f->text), columns = len < LABEL_COLUMNS ? len : LABEL_COLUMNS;
        struct label *l = &drawn[n];

        l->half = 3.6 * (double)columns;
        l->x = fmax(SVG_LEFT + l->half,
                    fmin(SVG_WIDTH - SVG_RIGHT - l->half, x_of_feature(s, s->by_weight[i])));
        l->y = bottom - SVG_CHART * f->weight / most - 4;
        if (f->weight <= s->feature[s->by_weight[s->n_features / 2]].weight ||
            !is_free(l, drawn, n, bottom, most, s))
            continue;
        svg_text(out, l->x, l->y - 1, "middle", "", f->text, LABEL_COLUMNS);
        n++;
    }
}

static double greatest_full(const struct nd_explained_signature *s)
{
    double most = 0;

    for (size_t i = 0; i < s->n_features; i++)
        most = fmax(most, s->feature[i].full);
    return most;
}

/*
 * The weights in the order of the document (Seshasai 2009, Figures 3-4 and 5-1 to 5-4). If
 * position, clipping or thresholds changed them, the full weights are drawn behind, each on the
 * scale of its greatest, so that the change can be seen.
 */
static void draw_positions(FILE *out, double y, const struct nd_explained_signature *s)
{
    double most = 1.08 * (greatest(s) > 0 ? greatest(s) : 1), bottom = y + SVG_CHART;
    double full = 1.08 * greatest_full(s);
    bool is_one_scale = fabs(full - most) < most / 1000;

    svg_text(out, SVG_LEFT, y - 18, "start", "title", "Weights in the order of the document", 0);
    svg_grid(out, bottom, most, false);
    if (s->has_full)
        draw_weights(out, bottom, is_one_scale ? most : full, true, s);
    draw_weights(out, bottom, most, false, s);
    draw_labels(out, bottom, most, s);
    svg_places(out, bottom, 1, s->n_features + 1);
    svg_text(out, SVG_LEFT + SVG_PLOT / 2.0, bottom + 38, "middle", "",
             !s->has_full ? "feature, by its first place"
             : is_one_scale
                 ? "feature, by its first place; grey: without position, clipping and thresholds"
                 : "feature, by its first place; grey: without position, clipping and thresholds, "
                   "on a scale of its own",
             0);
}

/* Seshasai 2009, Figure 3-2. */
static void draw_histogram(FILE *out, double y, const struct nd_hash_histogram *h)
{
    double mean[ND_HISTOGRAM_BUCKETS_MAX];
    struct svg_chart chart = {y, 0, h->buckets, h->bucket, mean};
    char title[160], below[160];

    for (unsigned i = 0; i < h->buckets; i++)
        mean[i] = (double)h->distinct / h->buckets;
    snprintf(title, sizeof title, "Hashes of %s%" PRIu64 " different features in %u equal parts",
             h->is_lower_bound ? "at least " : "", h->distinct, h->buckets);
    snprintf(below, sizeof below,
             "part of the space of hashes; line: uniform. Deviation from it: %.2f of what is "
             "expected by chance",
             nd_hash_histogram_deviation(h));
    svg_chart(out, &chart, title, below);
}

static double height_of(const struct nd_explained_signature *s)
{
    return 30 + (s->n_features ? list_height(s) + 2 * SVG_STRIDE : 0);
}

static void draw_signature(FILE *out, double y, const struct nd_explained_signature *s,
                           const struct nd_hash_histogram *h)
{
    char text[160];

    snprintf(text, sizeof text, "%s: %zu features, %zu with a weight%s", s->name, s->n_features,
             s->n_weighted, s->is_set ? " (a set: their weights do not matter)" : "");
    svg_text(out, SVG_LEFT, y, "start", "note", text, 0);
    if (!s->n_features)
        return;
    draw_list(out, y + 30, s);
    y += 30 + list_height(s);
    draw_positions(out, y + 20, s);
    draw_histogram(out, y + 20 + SVG_STRIDE, h);
}

void draw_features(FILE *out, const struct nd_document_features *d,
                   const struct nd_hash_histogram *h)
{
    double height = HEAD, y = HEAD;
    char text[160];

    for (unsigned i = 0; i < d->n_signatures; i++)
        height += height_of(&d->signature[i]);
    svg_begin(out, height);
    svg_text(out, SVG_LEFT, 34, "start", "head", d->name.id, 64);
    snprintf(text, sizeof text, "%" PRIu64 " bytes, %" PRIu64 " tokens", d->bytes, d->tokens);
    svg_text(out, SVG_LEFT, 54, "start", "note", text, 0);
    for (unsigned i = 0; i < d->n_signatures; i++) {
        draw_signature(out, y, &d->signature[i], &h[i]);
        y += height_of(&d->signature[i]);
    }
    svg_end(out);
}

void draw_histograms(FILE *out, const struct nd_hash_histogram *h, unsigned n)
{
    svg_begin(out, SVG_STRIDE * n + 20.0);
    for (unsigned i = 0; i < n; i++)
        draw_histogram(out, 60 + SVG_STRIDE * (double)i, &h[i]);
    svg_end(out);
}

/* ---- index stats ----------------------------------------------------------------------------- */

enum { TOP = 60 };

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
    struct svg_chart leading = {TOP, 0, s->bits, s->leading, uniform};
    struct svg_chart buckets = {TOP + SVG_STRIDE, 0, s->buckets, s->bucket, mean};
    char title[160];

    for (unsigned i = 0; i < s->bits; i++)
        uniform[i] = nd_hamming_stats_uniform(s, i);
    while (leading.first + 64 < s->bits && is_empty(s, leading.first, leading.first + 32))
        leading.first += 32;
    for (unsigned i = 0; i < s->buckets; i++)
        mean[i] = (double)s->count / s->buckets;
    svg_begin(out, 2 * SVG_STRIDE);
    snprintf(title, sizeof title,
             "Highest bit in which neighbours in sorted order differ (%llu of %llu are equal)",
             (unsigned long long)s->equal, (unsigned long long)s->count);
    svg_chart(out, &leading, title, "bit, from the lowest; line: uniform fingerprints");
    snprintf(title, sizeof title, "Fingerprints in %u equal parts of their space", s->buckets);
    svg_chart(out, &buckets, title, "part; line: the mean");
    svg_end(out);
}

/* ---- plan: recall by resemblance, candidates by threshold ------------------------------------ */

enum { SAMPLES = 100 /* of a curve */ };

static double x_of_share(double share)
{
    return SVG_LEFT + SVG_PLOT * share;
}

/* The chance that a pair is compared, by its resemblance. */
static void draw_recall(FILE *out, double bottom, unsigned bands, unsigned rows, const char *class)
{
    fprintf(out, "<polyline class=\"%s\" points=\"", class);
    for (unsigned i = 0; i <= SAMPLES; i++) {
        double x = (double)i / SAMPLES;

        fprintf(out, "%s%.1f,%.1f", i ? " " : "", x_of_share(x),
                bottom - SVG_CHART * nd_bands_recall(x, bands, rows));
    }
    fputs("\"/>\n", out);
}

static void draw_recalls(FILE *out, double y, const struct nd_plan *p)
{
    double bottom = y + SVG_CHART;
    char below[120];

    svg_text(out, SVG_LEFT, y - 18, "start", "title",
             "Chance that a pair is compared, by its resemblance", 0);
    svg_grid(out, bottom, 1, false);
    for (int i = 0; i <= 10; i++)
        svg_number(out, x_of_share(i / 10.0), bottom + 16, "middle", i / 10.0);
    for (size_t i = 0; i < p->n_steps; i++)
        if (p->step[i].bands)
            draw_recall(out, bottom, p->step[i].bands, p->step[i].rows, "other");
    draw_recall(out, bottom, p->sample.bands, p->sample.rows, "line");
    snprintf(below, sizeof below,
             "resemblance; red: %u bands of %u minima, as planned; grey: thresholds from 0.5 to "
             "0.95",
             p->sample.bands, p->sample.rows);
    svg_text(out, SVG_LEFT + SVG_PLOT / 2.0, bottom + 38, "middle", "", below, 0);
}

/* The powers of ten around all that are greater than 0; false: there is none. */
static bool decades_of(const struct nd_plan *p, double *low, double *high)
{
    double least = HUGE_VAL, most = 0;

    for (size_t i = 0; i < p->n_steps; i++)
        if (p->step[i].bands && p->step[i].candidates > 0) {
            least = fmin(least, p->step[i].candidates);
            most = fmax(most, p->step[i].candidates);
        }
    if (most <= 0)
        return false;
    *low = floor(log10(least));
    *high = fmax(ceil(log10(most)), *low + 1);
    return true;
}

static void draw_decades(FILE *out, double bottom, double low, double high)
{
    const int decades = (int)(high - low);

    for (int i = 0; i <= decades; i++) {
        double at = bottom - (double)SVG_CHART * i / decades;

        fprintf(out, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n",
                SVG_LEFT, SVG_WIDTH - SVG_RIGHT, at, at);
        svg_number(out, SVG_LEFT - 6, at + 4, "end", pow(10, low + i));
    }
}

/* Each threshold has its place; one that finds none, or no candidates, has no dot. */
static void draw_candidates(FILE *out, double y, const struct nd_plan *p)
{
    double bottom = y + SVG_CHART, low, high;

    svg_text(out, SVG_LEFT, y - 18, "start", "title", "Candidates a document, by the threshold", 0);
    if (!decades_of(p, &low, &high)) {
        svg_text(out, SVG_LEFT, y + 14, "start", "note",
                 p->n_steps ? "no document of the sample is a candidate of another"
                            : "candidates are not found by bands of minima",
                 0);
        return;
    }
    draw_decades(out, bottom, low, high);
    for (size_t i = 0; i < p->n_steps; i++) {
        const struct nd_plan_step *s = &p->step[i];
        double x = x_of_share(((double)i + 0.5) / (double)p->n_steps), at;

        svg_number(out, x, bottom + 16, "middle", s->threshold);
        if (!s->bands || s->candidates <= 0)
            continue;
        at = bottom - SVG_CHART * (log10(s->candidates) - low) / (high - low);
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" class=\"bar\"/>\n", x, at);
        svg_number(out, x, at - 8, "middle", s->candidates);
    }
    svg_text(out, SVG_LEFT + SVG_PLOT / 2.0, bottom + 38, "middle", "",
             "threshold; each step up is a power of ten", 0);
}

void draw_plan(FILE *out, const struct nd_plan *plan)
{
    svg_begin(out, 2 * SVG_STRIDE);
    if (plan->sample.bands)
        draw_recalls(out, TOP, plan);
    else
        svg_text(out, SVG_LEFT, TOP, "start", "note", "candidates are not found by bands", 0);
    draw_candidates(out, TOP + SVG_STRIDE, plan);
    svg_end(out);
}

/* ---- sweep: the settings by recall and precision ---------------------------------------------- */

enum { NAMED = 60, NAME_HEIGHT = 18 }; /* settings that are numbered, all or else the best */

static double y_of_share(double bottom, double share)
{
    return bottom - SVG_CHART * share;
}

static bool has_place(const struct nd_sweep_row *row)
{
    return !isnan(row->precision) && !isnan(row->recall);
}

static bool is_named(const struct nd_sweep *sweep, size_t i)
{
    return has_place(&sweep->row[i]) && (sweep->n <= NAMED || sweep->row[i].is_best);
}

/* A line through the best settings, from the lowest recall on. */
static void draw_best(FILE *out, double bottom, const struct nd_sweep *sweep)
{
    double from = -1;

    fputs("<polyline class=\"line\" points=\"", out);
    for (;;) {
        const struct nd_sweep_row *next = NULL;

        for (size_t i = 0; i < sweep->n; i++)
            if (sweep->row[i].is_best && sweep->row[i].recall > from &&
                (!next || sweep->row[i].recall < next->recall))
                next = &sweep->row[i];
        if (!next)
            break;
        fprintf(out, "%s%.1f,%.1f", from < 0 ? "" : " ", x_of_share(next->recall),
                y_of_share(bottom, next->precision));
        from = next->recall;
    }
    fputs("\"/>\n", out);
}

static void draw_setting(FILE *out, double bottom, const struct nd_sweep_row *row, size_t number,
                         bool named)
{
    double x = x_of_share(row->recall), y = y_of_share(bottom, row->precision);

    fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" class=\"%s\"/>\n", x, y,
            row->is_best ? 4 : 3, row->is_best ? "bar" : "full");
    if (named)
        svg_number(out, x + 6, y - 4, "start", (double)number);
}

static void name_settings(FILE *out, double y, const struct nd_sweep *sweep)
{
    for (size_t i = 0; i < sweep->n; i++) {
        const struct nd_sweep_row *row = &sweep->row[i];
        char figures[80], number[24];

        if (!is_named(sweep, i))
            continue;
        snprintf(number, sizeof number, "%zu", i + 1);
        snprintf(figures, sizeof figures, "%.3f, %.3f, %.3f%s", row->precision, row->recall,
                 row->f1, row->is_best ? "" : " ·");
        svg_text(out, SVG_LEFT, y, "end", "note", number, 0);
        svg_text(out, SVG_LEFT + 12, y, "start", "", row->setting, 78);
        svg_text(out, SVG_WIDTH - SVG_RIGHT, y, "end", row->is_best ? "" : "note", figures, 0);
        y += NAME_HEIGHT;
    }
}

void draw_sweep(FILE *out, const struct nd_sweep *sweep)
{
    const double bottom = TOP + SVG_CHART;
    size_t names = 0;

    for (size_t i = 0; i < sweep->n; i++)
        names += is_named(sweep, i);
    svg_begin(out, bottom + 100 + (double)names * NAME_HEIGHT);
    svg_text(out, SVG_LEFT, TOP - 18, "start", "title", "Precision, by recall", 0);
    svg_grid(out, bottom, 1, false);
    for (int i = 0; i <= 10; i++)
        svg_number(out, x_of_share(i / 10.0), bottom + 16, "middle", i / 10.0);
    svg_text(out, SVG_LEFT + SVG_PLOT / 2.0, bottom + 38, "middle", "",
             "recall; red: settings that no other beats in both", 0);
    draw_best(out, bottom, sweep);
    for (size_t i = 0; i < sweep->n; i++)
        if (has_place(&sweep->row[i]))
            draw_setting(out, bottom, &sweep->row[i], i + 1, is_named(sweep, i));
    svg_text(out, SVG_WIDTH - SVG_RIGHT, bottom + 66, "end", "note", "precision, recall, F1", 0);
    name_settings(out, bottom + 84, sweep);
    svg_end(out);
}

/* ---- eval: precision and recall over a column ------------------------------------------------- */

enum { DOTS = 40, POINTS_DRAWN = 2 * SVG_PLOT };

/* The values of a chart, from `low` at the left to `high`. */
struct curve_range {
    double low, high;
};

static struct curve_range range_of(const struct nd_eval_point *point, size_t n)
{
    struct curve_range r = {point[0].at, point[0].at};

    for (size_t i = 1; i < n; i++) {
        r.low = fmin(r.low, point[i].at);
        r.high = fmax(r.high, point[i].at);
    }
    if (!(r.high > r.low)) {
        r.low -= 1;
        r.high += 1;
    }
    return r;
}

static double x_of_value(const struct curve_range *r, double at)
{
    return x_of_share((at - r->low) / (r->high - r->low));
}

static void draw_values(FILE *out, double bottom, const struct curve_range *r)
{
    const double tick = svg_tick(r->high - r->low, false);

    const double first = ceil(r->low / tick - 1e-9) * tick + 0.0; /* not -0 */
    const unsigned n = (unsigned)((r->high - first) / tick + 1e-9);

    for (unsigned i = 0; i <= n; i++)
        svg_number(out, x_of_value(r, first + i * tick), bottom + 16, "middle", first + i * tick);
}

/* A line with dots, of which there are not so many that they cover one another. */
static void draw_rate(FILE *out, double bottom, const struct curve_range *r,
                      const struct nd_eval_point *point, size_t n, bool is_recall)
{
    const size_t step = n / POINTS_DRAWN + 1;
    bool is_first = true;

    fprintf(out, "<polyline class=\"%s\" points=\"", is_recall ? "recall" : "line");
    for (size_t i = 0; i < n; i += i + step < n || i + 1 == n ? step : n - 1 - i) {
        const double rate = is_recall ? point[i].recall : point[i].precision;

        if (isnan(rate))
            continue;
        fprintf(out, "%s%.1f,%.1f", is_first ? "" : " ", x_of_value(r, point[i].at),
                y_of_share(bottom, rate));
        is_first = false;
    }
    fputs("\"/>\n", out);
    for (size_t i = 0; n <= DOTS && i < n; i++) {
        const double rate = is_recall ? point[i].recall : point[i].precision;

        if (!isnan(rate))
            fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" class=\"%s\"/>\n",
                    x_of_value(r, point[i].at), y_of_share(bottom, rate),
                    is_recall ? "bar" : "dot");
    }
}

void draw_curves(FILE *out, const char *column, const struct nd_eval_point *point, size_t n)
{
    size_t charts = 0, chart = 0;

    for (size_t i = 0; i < n; i++)
        charts += !i || point[i].result != point[i - 1].result;
    svg_begin(out, charts ? (double)charts * SVG_STRIDE + 20 : 60);
    fputs("<style>.recall{fill:none;stroke:#4878a8;stroke-width:1.5}.dot{fill:#c44e33}</style>\n",
          out);
    if (!charts)
        svg_text(out, SVG_LEFT, 34, "start", "note", "There is no pair to draw.", 0);
    for (size_t from = 0, to; from < n; from = to, chart++) {
        const double y = TOP + (double)chart * SVG_STRIDE, bottom = y + SVG_CHART;
        struct curve_range range;

        for (to = from + 1; to < n && point[to].result == point[from].result;)
            to++;
        range = range_of(point + from, to - from);
        svg_text(out, SVG_LEFT, y - 18, "start", "title", point[from].result, 60);
        svg_text(out, SVG_WIDTH - SVG_RIGHT, y - 18, "end", "note", "red: precision; blue: recall",
                 0);
        svg_grid(out, bottom, 1, false);
        draw_values(out, bottom, &range);
        svg_text(out, SVG_LEFT + SVG_PLOT / 2.0, bottom + 38, "middle", "", column, 60);
        draw_rate(out, bottom, &range, point + from, to - from, false);
        draw_rate(out, bottom, &range, point + from, to - from, true);
    }
    svg_end(out);
}

/* ---- clusters: how many there are of each size ------------------------------------------------ */

/* Each axis begins a little below 1, so that a single cluster can be seen, and ends at a power of ten. */
#define LOG_FROM 0.7

static double log_share(double value, double most)
{
    return log10(value / LOG_FROM) / log10(most / LOG_FROM);
}

static double power_of_ten(uint64_t value)
{
    double power = 10;

    while (power < (double)value)
        power *= 10;
    return power;
}

static void draw_log_grid(FILE *out, double bottom, double largest, double most)
{
    double at = 1;

    while (at <= most * 1.01) {
        const double y = y_of_share(bottom, log_share(at, most));

        fprintf(out, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n",
                SVG_LEFT, SVG_WIDTH - SVG_RIGHT, y, y);
        svg_number(out, SVG_LEFT - 6, y + 4, "end", at);
        at *= 10;
    }
    at = 1;
    while (at <= largest * 1.01) {
        for (int times = 1; times <= 5 && at * times <= largest * 1.01; times += times == 1 ? 1 : 3)
            svg_number(out, x_of_share(log_share(at * times, largest)), bottom + 16, "middle",
                       at * times);
        at *= 10;
    }
}

static void draw_counts(FILE *out, double bottom, const struct nd_cluster_count *count, size_t n,
                        bool of_documents)
{
    const double largest = power_of_ten(count[n - 1].size);
    uint64_t most = 1;

    for (size_t i = 0; i < n; i++) {
        most = count[i].documents > most ? count[i].documents : most;
        most = count[i].clusters > most ? count[i].clusters : most;
    }
    if (!of_documents)
        draw_log_grid(out, bottom, largest, power_of_ten(most));
    for (size_t i = 0; i < n; i++) {
        const uint64_t value = of_documents ? count[i].documents : count[i].clusters;

        if (value)
            fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" class=\"%s\"/>\n",
                    x_of_share(log_share((double)count[i].size, largest)),
                    y_of_share(bottom, log_share((double)value, power_of_ten(most))),
                    of_documents ? "dot" : "bar");
    }
}

void draw_cluster_sizes(FILE *out, const struct nd_cluster_count *count, size_t n)
{
    size_t charts = 0, chart = 0;

    for (size_t i = 0; i < n; i++)
        charts += !i || count[i].result != count[i - 1].result;
    svg_begin(out, charts ? (double)charts * SVG_STRIDE + 20 : 60);
    fputs("<style>.dot{fill:none;stroke:#c44e33;stroke-width:1.5}</style>\n", out);
    if (!charts)
        svg_text(out, SVG_LEFT, 34, "start", "note", "There is no document to count.", 0);
    for (size_t from = 0, to; from < n; from = to, chart++) {
        const double y = TOP + (double)chart * SVG_STRIDE, bottom = y + SVG_CHART;

        for (to = from + 1; to < n && count[to].result == count[from].result;)
            to++;
        svg_text(out, SVG_LEFT, y - 18, "start", "title", count[from].result, 60);
        svg_text(out, SVG_WIDTH - SVG_RIGHT, y - 18, "end", "note",
                 "blue: clusters of this size; red: documents with its near duplicates", 0);
        draw_counts(out, bottom, count + from, to - from, false);
        draw_counts(out, bottom, count + from, to - from, true);
        svg_text(out, SVG_LEFT + SVG_PLOT / 2.0, bottom + 38, "middle", "",
                 "documents of a cluster; a document and its near duplicates", 0);
    }
    svg_end(out);
}

/* ---- reproduce: numbers of a paper beside ours -------------------------------------------------- */

enum { LABEL_CUT = 11, LABELS_DRAWN = 9 };

static double x_of_label(const struct svg_series *s, size_t i)
{
    return x_of_share(((double)i + 0.5) / (double)s->n);
}

static void draw_numbers(FILE *out, double bottom, const struct svg_series *s, double most,
                         bool of_paper)
{
    const double *value = of_paper ? s->paper : s->here;

    fprintf(out, "<polyline fill=\"none\" stroke-width=\"1.5\" stroke=\"%s\" points=\"",
            of_paper ? "#c44e33" : "#4878a8");
    for (size_t i = 0; i < s->n; i++)
        if (!isnan(value[i]))
            fprintf(out, "%.1f,%.1f ", x_of_label(s, i), y_of_share(bottom, value[i] / most));
    fputs("\"/>\n", out);
    for (size_t i = 0; i < s->n; i++)
        if (!isnan(value[i]))
            fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
                    x_of_label(s, i), y_of_share(bottom, value[i] / most),
                    of_paper ? "#c44e33" : "#4878a8");
}

void draw_series(FILE *out, const struct svg_series *s)
{
    const double bottom = TOP + SVG_CHART;
    const size_t step = (s->n + LABELS_DRAWN - 1) / LABELS_DRAWN;
    double most = 0;

    for (size_t i = 0; i < s->n; i++) {
        most = isnan(s->paper[i]) ? most : fmax(most, s->paper[i]);
        most = isnan(s->here[i]) ? most : fmax(most, s->here[i]);
    }
    most = most > 0 ? 1.04 * most : 1;
    svg_begin(out, bottom + 40);
    svg_text(out, SVG_WIDTH - SVG_RIGHT, TOP - 18, "end", "note", "red: the paper; blue: here", 0);
    svg_grid(out, bottom, most, false);
    for (size_t i = 0; i < s->n; i += step)
        svg_text(out, x_of_label(s, i), bottom + 18, "middle", "", s->label[i], LABEL_CUT);
    draw_numbers(out, bottom, s, most, true);
    draw_numbers(out, bottom, s, most, false);
    svg_end(out);
}
