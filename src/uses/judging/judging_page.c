/* judging_page.c - the page on which a sample is judged: pairs beside each other, keys for labels */

/*
 * Each case is a section with both texts; web/report/judge.mjs shows one after the other, keeps the
 * labels in the browser, and makes the file of judgements of the cells that each section carries.
 * The stratum from which a case was drawn is among these cells, but nowhere to be seen.
 */
#include "uses/judging/judging_page.h"

#include <inttypes.h>

#include "base/hash.h"
#include "report/html_page.h"
#include "report/side_by_side.h"

/* Longer texts are shown only where they differ, with words around it. */
enum { WHOLE_BYTES = 20000, WORDS_AROUND = 100 };

static enum nd_status flush(struct nd_judging_page *page, FILE *stream, struct nd_error *err)
{
    if (page->text.failed || page->cells.failed)
        return nd_fail(err, ND_ENOMEM, "out of memory for a page");
    fwrite(page->text.text.data, 1, page->text.text.len, stream);
    page->text.text.len = 0;
    return ferror(stream) ? nd_fail(err, ND_EIO, "cannot write") : ND_OK;
}

enum nd_status nd_judging_page_begin(struct nd_judging_page *page, const char *source,
                                     unsigned seed, struct nd_error *err)
{
    struct nd_json *out = &page->text;

    nd_html_begin(out, "Are these two the same?", nd_web_report_judge_css);
    nd_html_put(out, "<h1>Are these two the same?</h1>\n<p class=\"lead\">");
    nd_html_format(out, "%zu pairs of ", page->n);
    nd_html_words(out, source);
    nd_html_format(out,
                   ", drawn with seed %u. Words that only one text has are marked. Judge by what "
                   "the texts say: would anyone miss the second who has the first?</p>\n"
                   "<noscript><p>This page needs JavaScript to take judgements.</p></noscript>\n",
                   seed);
    return out->failed ? nd_fail(err, ND_ENOMEM, "out of memory for a page") : ND_OK;
}

/* The cells of the row before and behind its label, with tabs, as values of attributes. */
static void put_cells(struct nd_judging_page *page, const struct nd_judging_case *one)
{
    struct nd_json *cells = &page->cells;
    size_t before;
    char text[40];

    cells->text.len = 0;
    nd_tsv_field(cells, one->name[0]);
    nd_json_bytes(cells, "\t", 1);
    nd_tsv_field(cells, one->name[1]);
    before = cells->text.len;
    nd_json_bytes(cells, text, (size_t)snprintf(text, sizeof text, "%d\t", one->is_listed ? 1 : 0));
    nd_tsv_field(cells, one->stratum);
    nd_json_bytes(cells, text, (size_t)snprintf(text, sizeof text, "\t%" PRIu64 "\t", one->size));
    nd_tsv_field(cells, one->drawn);
    if (cells->failed)
        return;
    page->hash = nd_mix64(page->hash + nd_hash_bytes(cells->text.data, cells->text.len));
    nd_html_put(&page->text, " data-before=\"");
    nd_html_text(&page->text, (struct nd_view){cells->text.data, before});
    nd_html_put(&page->text, "\" data-behind=\"");
    nd_html_text(&page->text,
                 (struct nd_view){cells->text.data + before, cells->text.len - before});
    nd_html_put(&page->text, "\"");
}

/* The name of a document, as the head of its column. */
static struct nd_view put_head(struct nd_json *head, struct nd_view name)
{
    head->text.len = 0;
    nd_html_text(head, name);
    return head->failed ? (struct nd_view){"", 0}
                        : (struct nd_view){head->text.data, head->text.len};
}

enum nd_status nd_judging_page_add(struct nd_judging_page *page, const struct nd_judging_case *one,
                                   FILE *stream, struct nd_error *err)
{
    const bool is_long = one->text[0].len + one->text[1].len > WHOLE_BYTES;
    struct nd_json head[2] = {{.failed = false}, {.failed = false}};
    struct nd_side side[2];
    enum nd_status status;

    nd_html_put(&page->text, "<section class=\"case\"");
    put_cells(page, one);
    nd_html_format(&page->text, ">\n<h2>Pair %zu of %zu</h2>\n", ++page->n_added, page->n);
    for (unsigned k = 0; k < 2; k++)
        side[k] = (struct nd_side){one->text[k], put_head(&head[k], one->name[k])};
    status = nd_html_side_by_side(&page->text, side, is_long ? WORDS_AROUND : ND_SIDE_WHOLE, err);
    nd_html_put(&page->text, "</section>\n");
    page->text.failed |= head[0].failed || head[1].failed;
    nd_json_release(&head[0]);
    nd_json_release(&head[1]);
    return status == ND_OK ? flush(page, stream, err) : status;
}

enum nd_status nd_judging_page_end(struct nd_judging_page *page, FILE *stream, struct nd_error *err)
{
    nd_html_format(&page->text,
                   "<div class=\"judge-bar\" id=\"judge\" data-key=\"%016" PRIx64 "\" hidden>\n"
                   "<p id=\"place\" role=\"status\"></p>\n",
                   page->hash);
    nd_html_put(
        &page->text,
        "<div class=\"choices\" role=\"group\" aria-label=\"Judgement\">\n"
        "<button type=\"button\" data-label=\"same\">Same <kbd>1</kbd></button>\n"
        "<button type=\"button\" data-label=\"different\">Different <kbd>2</kbd></button>\n"
        "<button type=\"button\" data-label=\"unsure\">Unsure <kbd>3</kbd></button>\n"
        "</div>\n<div class=\"steps\">\n"
        "<button type=\"button\" class=\"quiet\" data-step=\"-1\">Back <kbd>j</kbd></button>\n"
        "<button type=\"button\" class=\"quiet\" data-step=\"1\">On <kbd>k</kbd></button>\n"
        "<button type=\"button\" class=\"quiet\" id=\"save\">Download <kbd>s</kbd></button>\n"
        "</div>\n</div>\n");
    nd_html_end(&page->text, nd_web_report_judge_mjs);
    return flush(page, stream, err);
}

void nd_judging_page_release(struct nd_judging_page *page)
{
    nd_json_release(&page->text);
    nd_json_release(&page->cells);
}
