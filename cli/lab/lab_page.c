/* lab_page.c - the report of reproductions as a page for people */
#include "lab/lab_page.h"

#include "lab/lab_verdict.h"
#include "svg.h"

#include <neardup/terminal.h>
#include <neardup/version.h>

#include <math.h>
#include <string.h>

static const char style[] =
    ":root{color-scheme:light dark}\n"
    "body{margin:0 auto;max-width:60rem;padding:1rem;font:1rem/1.5 system-ui,sans-serif;"
    "background:#fff;color:#1c2024}\n"
    "h1{font-size:1.6rem}h2{margin:3rem 0 .25rem;font-size:1.25rem}h3{margin:1.75rem 0 .5rem;"
    "font-size:1rem}\n"
    "p,li{max-width:46rem;overflow-wrap:anywhere}.soft{color:#59636e}\n"
    ".wide{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.2rem .75rem .2rem 0;text-align:right;font-weight:400}\n"
    "th:first-child{text-align:left;overflow-wrap:anywhere}\n"
    "thead th{border-bottom:1px solid #c7cdd3;color:#59636e}\n"
    ".off{color:#b3261e;font-weight:600}\n"
    "svg{display:block;width:100%;min-width:34rem;max-width:50rem;height:auto;margin:.75rem 0;"
    "border-radius:.5rem}\n"
    "a{color:#0b5cad}a:focus-visible,.wide:focus-visible{outline:3px solid "
    "#0b5cad;outline-offset:2px}\n"
    "@media (prefers-color-scheme:dark){body{background:#15181b;color:#e6e8ea}.soft,thead th"
    "{color:#a4adb5}thead th{border-color:#454c52}.off{color:#ff8f87}a{color:#7cb8f5}"
    "a:focus-visible,.wide:focus-visible{outline-color:#7cb8f5}}\n";

/* Write text that means nothing but itself. */
static void put_text(FILE *out, const char *text)
{
    for (size_t n; *text; text += n) {
        int is_control;

        n = nd_terminal_character(text, strlen(text), &is_control);
        if (is_control || (n == 1 && (unsigned char)*text >= 0x80))
            fputc('?', out);
        else if (n == 1 && strchr("<>&\"'", *text))
            fprintf(out, "&#%d;", *text);
        else
            fwrite(text, 1, n, out);
    }
}

static void put_element(FILE *out, const char *tag, const char *class, const char *text)
{
    fprintf(out, "<%s%s%s%s>", tag, *class ? " class=\"" : "", class, *class ? "\"" : "");
    put_text(out, text);
    fprintf(out, "</%s>\n", tag);
}

void lab_page_begin(FILE *out)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
          "'unsafe-inline'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<title>Results of papers, run again</title>\n<style>\n",
          out);
    fputs(style, out);
    fputs("</style>\n</head>\n<body>\n<main>\n<h1>Results of papers, run again</h1>\n"
          "<p>The papers’ numbers beside those found here. A paper’s corpus is seldom free, so the "
          "order of its numbers tells more than their size.</p>\n",
          out);
}

void lab_page_end(FILE *out)
{
    fputs("<p class=\"soft\">Made by neardup " ND_VERSION ".</p>\n</main>\n</body>\n</html>\n",
          out);
}

static void put_cell(FILE *out, double value, bool is_off)
{
    char text[LAB_NUMBER_TEXT];

    lab_number_text(value, text);
    fprintf(out, "<td%s>%s</td>", is_off ? " class=\"off\"" : "", text);
}

static bool has_unexpected(const struct lab_series *s, const double *value)
{
    for (size_t i = 0; i < s->n_labels; i++)
        if (!lab_is_expected(s, i, value[i]))
            return true;
    return false;
}

static void put_table(FILE *out, const struct lab_series *s, const double *value)
{
    const bool is_off = has_unexpected(s, value);

    fprintf(out,
            "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Numbers\"><table>"
            "<thead><tr><th scope=\"col\">label</th>%s<th scope=\"col\">here</th>%s</tr></thead>"
            "<tbody>\n",
            s->n_paper ? "<th scope=\"col\">paper</th>" : "",
            is_off ? "<th scope=\"col\">expected</th>" : "");
    for (size_t i = 0; i < s->n_labels; i++) {
        fputs("<tr><th scope=\"row\">", out);
        put_text(out, s->label[i]);
        fputs("</th>", out);
        if (s->n_paper)
            put_cell(out, i < s->n_paper ? s->paper[i] : NAN, false);
        put_cell(out, value[i], !lab_is_expected(s, i, value[i]));
        if (is_off)
            put_cell(out, i < s->n_expect ? s->expect[i] : NAN, false);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

static void put_series(FILE *out, const struct lab_run *run, size_t i)
{
    const struct lab_series *s = &run->lab->series[i];
    const struct lab_outcome *o = &run->series[i];
    const double *value = run->value[i];

    put_element(out, "h3", "", s->about ? s->about : s->name);
    if (o->state != LAB_DONE) {
        fprintf(out, "<p class=\"%s\">%s: ", o->state == LAB_FAILED ? "off" : "soft",
                o->state == LAB_SKIPPED ? "Skipped" : "Failed");
        put_text(out, o->reason ? o->reason : "");
        fputs("</p>\n", out);
        return;
    }
    put_table(out, s, value);
    if (has_unexpected(s, value))
        fputs("<p class=\"off\">Some numbers are not as expected: the corpus, or neardup, has "
              "changed.</p>\n",
              out);
    if (lab_has_verdict(s, value)) {
        fputs("<p>", out);
        lab_put_verdict(out, s, value);
        fputs("</p>\n", out);
    }
    if (s->n_paper && s->n_labels >= 3) {
        const struct svg_series drawn = {(const char *const *)s->label, s->paper, value,
                                         s->n_paper < s->n_labels ? s->n_paper : s->n_labels};

        fputs("<div class=\"wide figure\" tabindex=\"0\" role=\"group\" "
              "aria-label=\"Figure of these numbers\">\n",
              out);
        draw_series(out, &drawn);
        fputs("</div>\n", out);
    }
}

void lab_page_put(FILE *out, const struct lab_run *run)
{
    const struct lab *lab = run->lab;

    fputs("<section>\n", out);
    put_element(out, "h2", "", lab->title);
    put_element(out, "p", "soft", lab->paper);
    fputs("<p>Run again by <code>neardup reproduce ", out);
    put_text(out, lab->name);
    fputs("</code>.", out);
    if (lab->corpus) {
        fputs(" Here: ", out);
        put_text(out, lab->corpus);
        fputc('.', out);
    }
    fputs("</p>\n", out);
    for (size_t i = 0; i < lab->n_parts; i++)
        if (run->part[i].state == LAB_FAILED) {
            fputs("<p class=\"off\">Step ", out);
            put_text(out, lab->part[i].name);
            fputs(" failed: ", out);
            put_text(out, run->part[i].reason ? run->part[i].reason : "");
            fputs("</p>\n", out);
        }
    for (size_t i = 0; i < lab->n_series; i++)
        put_series(out, run, i);
    for (size_t i = 0; i < lab->n_remarks; i++)
        put_element(out, "p", "", lab->remark[i]);
    if (lab->n_cannot)
        fputs("<h3>Not reproduced</h3>\n", out);
    for (size_t i = 0; i < lab->n_cannot; i++)
        put_element(out, "p", "", lab->cannot[i]);
    fputs("</section>\n", out);
}
