/* run_page.c - what a run removed, as a page for people */
#include "report/run_page.h"

#include "evidence/name.h"
#include "report/html_page.h"
#include "report/side_by_side.h"

#include <neardup/version.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Equal words shown around each change; examples of each cluster, and of each class of words. */
enum { CONTEXT = 12, OF_CLUSTER = 2, OF_CLASS = 4 };

struct page {
    const struct nd_run_page *of;
    struct nd_output *out;
    struct nd_json text, head[2], room;
    uint64_t n_cases;
};

/* Hand on what has been made, so that a page needs the memory of one section. */
static enum nd_status pass_on(struct page *p, struct nd_error *err)
{
    enum nd_status status;

    if (p->text.failed || p->head[0].failed || p->head[1].failed || p->room.failed)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = nd_output_write(p->out, p->text.text.data, p->text.text.len, err);
    p->text.text.len = 0;
    return status;
}

/* ---- Numbers -------------------------------------------------------------------------------------- */

static void put_tile(struct nd_json *out, const char *name, uint64_t value, uint64_t whole)
{
    if (value == ND_PAGE_UNKNOWN)
        return;
    nd_html_format(out, "<li><h2>%s</h2><p class=\"tile-value\">", name);
    nd_html_count(out, value);
    nd_html_put(out, "</p>");
    if (whole && whole != ND_PAGE_UNKNOWN) {
        nd_html_put(out, "<p class=\"soft\">");
        nd_html_share(out, value, whole);
        nd_html_put(out, " of all</p>");
    }
    nd_html_put(out, "</li>\n");
}

static void put_numbers(struct page *p)
{
    const struct nd_run_page *of = p->of;
    struct nd_json *out = &p->text;

    nd_html_put(out, "<ul class=\"tiles counts\">\n");
    put_tile(out, "Documents", of->documents, 0);
    put_tile(out, "Kept", of->kept, of->documents);
    put_tile(out, "Removed", of->removed, of->documents);
    put_tile(out, "Equal bytes", of->identical_bytes, of->documents);
    put_tile(out, "Equal words", of->identical_tokens, of->documents);
    put_tile(out, "Near", of->near, of->documents);
    put_tile(out, "Clusters", of->n_clusters, 0);
    if (of->bad_records)
        put_tile(out, "Bad records", of->bad_records, 0);
    nd_html_put(out,
                "</ul>\n<p class=\"soft\">Removed documents have the bytes or the words of a kept "
                "one, or are near it.</p>\n");
}

static void put_notes(struct page *p)
{
    if (!p->of->n_notes)
        return;
    nd_html_put(&p->text,
                "<section id=\"missing\"><h2>What is not here</h2>\n<ul class=\"notes\">\n");
    for (size_t i = 0; i < p->of->n_notes; i++) {
        const struct nd_json *note = &p->of->note[i];

        p->text.failed |= note->failed;
        nd_html_put(&p->text, "<li>");
        nd_html_text(&p->text, (struct nd_view){note->text.data, note->text.len});
        nd_html_put(&p->text, "</li>\n");
    }
    nd_html_put(&p->text, "</ul></section>\n");
}

static void put_recipe(struct page *p)
{
    if (!p->of->recipe.data)
        return;
    nd_html_put(&p->text,
                "<details class=\"recipe\"><summary>The recipe</summary><pre class=\"code\">");
    nd_html_text(&p->text, p->of->recipe);
    nd_html_put(&p->text, "</pre></details>\n");
}

static void put_sizes(struct page *p)
{
    struct nd_html_bar bar[ND_CLUSTER_STEPS] = {{.value = 0}};
    size_t n = 0;

    for (unsigned i = 0; i < ND_CLUSTER_STEPS; i++)
        if (p->of->clusters[i])
            n = i + 1;
    if (!n)
        return;
    for (unsigned i = 0; i < n; i++) {
        uint64_t from, to;

        nd_cluster_step_ends(i, &from, &to);
        snprintf(bar[i].name, sizeof bar[i].name, from == to ? "%" PRIu64 : "%" PRIu64 "–%" PRIu64,
                 from, to);
        bar[i].value = p->of->clusters[i];
    }
    nd_html_put(&p->text,
                "<section id=\"sizes\"><h2>Sizes of clusters</h2>\n<p>A cluster is a kept "
                "document with all that was removed for it.</p>\n");
    nd_html_bars(&p->text, "documents", "clusters", bar, n);
    nd_html_put(&p->text, "</section>\n");
}

static bool has_measured(const struct nd_run_page *of)
{
    return of->n_measured && of->near && of->near != ND_PAGE_UNKNOWN;
}

static void put_measured(struct page *p)
{
    const struct nd_run_page *s = p->of;
    struct nd_html_bar bar[ND_RUN_STEPS] = {{.value = 0}};

    if (!has_measured(s))
        return;
    for (size_t i = 0; i < s->n_measured; i++) {
        const double to = i ? s->measured[i - 1].from : 1;

        if (i)
            snprintf(bar[i].name, sizeof bar[i].name, "%.4g to %.4g", s->measured[i].from, to);
        else
            snprintf(bar[i].name, sizeof bar[i].name, "%.4g", s->measured[i].from);
        bar[i].value = s->measured[i].documents;
    }
    nd_html_format(&p->text,
                   "<section id=\"measured\"><h2>How near they are</h2>\n<p>The %s of the removed "
                   "documents that are neither equal in bytes nor in words. Each step includes its "
                   "lower end.</p>\n",
                   s->measured_by);
    nd_html_bars(&p->text, s->measured_by, "documents", bar, s->n_measured);
    nd_html_put(&p->text, "</section>\n");
}

/* ---- Two documents ------------------------------------------------------------------------------------ */

/* The name of a document, as text. */
static struct nd_view name_of(struct page *p, struct nd_view name)
{
    p->room.text.len = 0;
    nd_name_value(&p->room, name);
    return (struct nd_view){p->room.text.data, p->room.text.len};
}

static void put_head(struct page *p, const struct nd_example *e, unsigned k)
{
    struct nd_json *head = &p->head[k];
    const struct nd_view name = name_of(p, e->name[k]);

    head->text.len = 0;
    nd_html_put(head, k ? "removed: " : "kept: ");
    nd_html_put(head, "<span class=\"id\">");
    nd_html_text(head, name);
    nd_html_put(head, "</span>");
    if (name.len != e->at[k].len || memcmp(name.data, e->at[k].data, name.len) != 0) {
        nd_html_put(head, "<span class=\"place\">");
        nd_html_text(head, e->at[k]);
        nd_html_put(head, "</span>");
    }
}

static void put_measure(struct page *p, const struct nd_example *e)
{
    const char *by = p->of->measured_by;

    if (e->measure >= 0)
        nd_html_format(&p->text, "%s %.4f", by ? by : "resemblance", e->measure);
    else if (e->distance <= 512)
        nd_html_format(&p->text, "%u bits differ", e->distance);
    else
        nd_html_put(&p->text, "found by the recipe’s signatures");
}

static const char *const differs_words[] = {
    [ND_DIFFERS_NOTHING] = "the same words in the same order",
    [ND_DIFFERS_ORDER] = "only the order or the number of words differs",
    [ND_DIFFERS_DATES] = "only dates differ",
    [ND_DIFFERS_NUMBERS] = "only numbers differ, or dates",
    [ND_DIFFERS_NAMES] = "only names differ, or numbers or dates",
    [ND_DIFFERS_WORDS] = "words differ",
};

static bool has_texts(const struct nd_example *e)
{
    return e->text[0].data && e->text[1].data;
}

/* Say in a few words what to make of the two texts. */
static void put_remark(struct page *p, const struct nd_example *e)
{
    nd_html_put(&p->text, "</h3><p>");
    if (e->has_class)
        nd_html_put(&p->text, differs_words[e->by]);
    if (e->is_cut[0] || e->is_cut[1])
        nd_html_put(&p->text, "; an excerpt is shown");
    if (!has_texts(e))
        nd_html_put(&p->text, e->has_class ? "; the texts are not here" : "the texts are not here");
    if (e->has_changed)
        nd_html_put(&p->text, "; <strong>the texts have changed since</strong>");
    nd_html_put(&p->text, "</p>\n");
}

/* Name two documents whose texts are not there. */
static void put_names(struct page *p, const struct nd_example *e)
{
    nd_html_put(&p->text, "<ul class=\"named\">");
    for (unsigned k = 0; k < 2; k++) {
        put_head(p, e, k);
        nd_html_put(&p->text, "<li>");
        nd_json_bytes(&p->text, p->head[k].text.data, p->head[k].text.len);
        nd_html_put(&p->text, "</li>");
    }
    nd_html_put(&p->text, "</ul>\n");
}

/* Show an example, the removed document on the right. */
static enum nd_status put_case(struct page *p, const struct nd_example *e, struct nd_error *err)
{
    struct nd_side side[2];
    enum nd_status status = ND_OK;

    nd_html_format(&p->text, "<article class=\"case\" id=\"case-%" PRIu64 "\"><h3>%" PRIu64 ". ",
                   p->n_cases + 1, p->n_cases + 1);
    p->n_cases++;
    put_measure(p, e);
    put_remark(p, e);
    for (unsigned k = 0; k < 2 && has_texts(e); k++) {
        put_head(p, e, k);
        side[k] = (struct nd_side){e->text[k], {p->head[k].text.data, p->head[k].text.len}};
    }
    if (has_texts(e))
        status = nd_html_side_by_side(&p->text, side, CONTEXT, err);
    else
        put_names(p, e);
    nd_html_put(&p->text, "</article>\n");
    return status == ND_OK ? pass_on(p, err) : status;
}

/* Show up to `most` examples of the sample that are chosen and have texts. */
static enum nd_status put_cases(struct page *p,
                                bool (*is_chosen)(const struct nd_example *, const void *),
                                const void *by, unsigned most, struct nd_error *err)
{
    const struct nd_example *e;
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && most && (e = nd_examples_sampled(p->of->examples, i));
         i++)
        if (has_texts(e) && is_chosen(e, by)) {
            status = put_case(p, e, err);
            most--;
        }
    return status;
}

static enum nd_status put_closest(struct page *p, struct nd_error *err)
{
    const struct nd_example *e;
    enum nd_status status = ND_OK;

    if (!nd_examples_closest(p->of->examples, 0))
        return ND_OK;
    nd_html_put(&p->text,
                "<section id=\"closest\"><h2>The least certain removals</h2>\n<p>Words that only "
                "one of the two documents has are marked; case and punctuation do not "
                "count.</p>\n");
    for (size_t i = 0; status == ND_OK && (e = nd_examples_closest(p->of->examples, i)); i++)
        status = put_case(p, e, err);
    nd_html_put(&p->text, "</section>\n");
    return status;
}

static bool is_of_cluster(const struct nd_example *e, const void *id)
{
    char shown[sizeof((struct nd_run_cluster *)0)->id];

    nd_name_show(e->name[0], shown, sizeof shown);
    return strcmp(shown, id) == 0;
}

static enum nd_status put_largest(struct page *p, struct nd_error *err)
{
    const struct nd_run_page *s = p->of;
    enum nd_status status = ND_OK;

    if (!s->n_largest)
        return ND_OK;
    nd_html_put(&p->text, "<section id=\"largest\"><h2>The largest clusters</h2>\n");
    for (size_t i = 0; status == ND_OK && i < s->n_largest; i++) {
        const struct nd_run_cluster *c = &s->largest[i];

        nd_html_put(&p->text, "<h3 class=\"id\">");
        nd_html_words(&p->text, c->id);
        nd_html_put(&p->text, "</h3>\n<p>");
        nd_html_count(&p->text, c->documents);
        nd_html_put(&p->text, " documents</p>\n");
        status = put_cases(p, is_of_cluster, c->id, OF_CLUSTER, err);
    }
    nd_html_put(&p->text, "</section>\n");
    return status;
}

static bool is_of_class(const struct nd_example *e, const void *by)
{
    return e->has_class && e->by == *(const enum nd_differs *)by;
}

static enum nd_status put_class(struct page *p, enum nd_differs by, uint64_t n,
                                struct nd_error *err)
{
    static const char *const heads[] = {[ND_DIFFERS_DATES] = "Only dates differ",
                                        [ND_DIFFERS_NUMBERS] = "Only numbers differ",
                                        [ND_DIFFERS_NAMES] = "Only names differ"};

    if (!n)
        return ND_OK;
    nd_html_format(&p->text, "<h3>%s</h3>\n", heads[by]);
    return put_cases(p, is_of_class, &by, OF_CLASS, err);
}

/* Count the documents of the sample by class, and return how many have one. */
static uint64_t count_classes(const struct page *p, struct nd_html_bar bar[ND_DIFFERS_WORDS + 1])
{
    const struct nd_example *e;
    uint64_t n = 0;

    for (size_t i = 0; (e = nd_examples_sampled(p->of->examples, i)); i++)
        if (e->has_class) {
            bar[e->by].value++;
            n++;
        }
    return n;
}

static enum nd_status put_classes(struct page *p, struct nd_error *err)
{
    static const char *const names[] = {"nothing", "order", "dates", "numbers", "names", "words"};
    struct nd_html_bar bar[ND_DIFFERS_WORDS + 1] = {{.value = 0}};
    const uint64_t near = nd_examples_near(p->of->examples);
    const uint64_t n = count_classes(p, bar);
    enum nd_status status = ND_OK;

    if (!n)
        return ND_OK;
    for (unsigned by = 0; by <= ND_DIFFERS_WORDS; by++)
        snprintf(bar[by].name, sizeof bar[by].name, "%s", names[by]);
    nd_html_put(&p->text, "<section id=\"differs\"><h2>What differs</h2>\n<p>");
    if (n < near)
        nd_html_put(&p->text, "Of a random sample of ");
    else
        nd_html_put(&p->text, "Of all ");
    nd_html_count(&p->text, n);
    if (n < near) {
        nd_html_put(&p->text, " of the ");
        nd_html_count(&p->text, near);
    }
    nd_html_put(&p->text,
                " near documents that were removed: the kind of words that only one of "
                "the two documents has. Numbers, dates and names may be what matters.</p>\n");
    nd_html_bars(&p->text, "what differs", "documents", bar, ND_DIFFERS_WORDS + 1);
    for (unsigned by = ND_DIFFERS_DATES; status == ND_OK && by <= ND_DIFFERS_NAMES; by++)
        status = put_class(p, (enum nd_differs)by, bar[by].value, err);
    nd_html_put(&p->text, "</section>\n");
    return status;
}

/* ---- The whole ---------------------------------------------------------------------------------------- */

static void put_jumps(struct page *p)
{
    static const struct {
        const char *id, *words;
    } jumps[] = {{"missing", "What is not here"},     {"sizes", "Sizes of clusters"},
                 {"measured", "How near they are"},   {"differs", "What differs"},
                 {"largest", "The largest clusters"}, {"closest", "The least certain removals"}};
    struct nd_html_bar bar[ND_DIFFERS_WORDS + 1] = {{.value = 0}};
    const bool has[] = {
        p->of->n_notes > 0,   p->of->n_clusters > 0 && p->of->n_clusters != ND_PAGE_UNKNOWN,
        has_measured(p->of),  count_classes(p, bar) > 0,
        p->of->n_largest > 0, nd_examples_closest(p->of->examples, 0) != NULL};

    nd_html_put(&p->text, "<nav aria-label=\"Sections\"><ul class=\"jump\">");
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++)
        if (has[i])
            nd_html_format(&p->text, "<li><a href=\"#%s\">%s</a></li>", jumps[i].id,
                           jumps[i].words);
    nd_html_put(&p->text, "</ul></nav>\n");
    if (has[3] || has[5])
        nd_html_put(&p->text, "<p class=\"soft keys\"><kbd>j</kbd> and <kbd>k</kbd> go to the next "
                              "and the previous pair of documents.</p>\n");
}

static enum nd_status put_all(struct page *p, struct nd_error *err)
{
    enum nd_status status;

    nd_html_begin(&p->text, "What neardup removed", (struct nd_view){NULL, 0});
    nd_html_put(&p->text, "<h1>What neardup removed, and why</h1>\n");
    put_numbers(p);
    put_recipe(p);
    put_jumps(p);
    put_notes(p);
    put_sizes(p);
    put_measured(p);
    status = put_classes(p, err);
    if (status == ND_OK)
        status = put_largest(p, err);
    if (status == ND_OK)
        status = put_closest(p, err);
    nd_html_put(&p->text, "<p class=\"made\">Made by neardup " ND_VERSION ".</p>\n");
    nd_html_end(&p->text, nd_web_report_keys_mjs);
    return status == ND_OK ? pass_on(p, err) : status;
}

struct nd_run_page nd_run_page_of(const struct nd_run_summary *s)
{
    return (struct nd_run_page){.documents = s->documents,
                                .kept = s->kept,
                                .removed = s->removed,
                                .identical_bytes = s->identical_bytes,
                                .identical_tokens = s->identical_tokens,
                                .near = s->near,
                                .n_clusters = s->clusters,
                                .bad_records = s->bad_records,
                                .measured_by = s->measured_by,
                                .measured = s->measured,
                                .n_measured = s->n_measured,
                                .largest = s->largest,
                                .n_largest = s->n_largest};
}

enum nd_status nd_run_page_write(const struct nd_run_page *of, struct nd_output *out,
                                 struct nd_error *err)
{
    struct page p = {.of = of, .out = out};
    enum nd_status status = put_all(&p, err);

    nd_json_release(&p.text);
    nd_json_release(&p.head[0]);
    nd_json_release(&p.head[1]);
    nd_json_release(&p.room);
    return status;
}
