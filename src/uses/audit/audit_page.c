/* audit_page.c - what an audit found, as a page: removed documents and clusters that look wrong */
#include "uses/audit/audit_page.h"

#include "evidence/name.h"
#include "report/html_page.h"
#include "report/side_by_side.h"

#include <stdlib.h>

enum { CONTEXT = 12 };

/* A page that is made, and scratch. */
struct audit_writing {
    struct nd_json page, head[2], text[2], name;
    const struct nd_audit_join *join;
    bool is_cut;
};

/* ---- What is shown -------------------------------------------------------------------------------- */

void nd_audit_page_release(struct nd_audit_page *p)
{
    free(p->item);
    free(p->cluster);
}

/* Put the documents in order by how near the nearest one is, in integers, then as they stand in the
 * corpus: insertion, as they are few. */
static void sort(struct nd_audit_page *p)
{
    for (size_t i = 1; i < p->n; i++)
        for (size_t k = i; k; k--) {
            const struct nd_audit_nearest *a = &p->join->removed[p->item[k - 1]].best,
                                          *b = &p->join->removed[p->item[k]].best;
            const uint64_t left = (uint64_t)a->shared * (b->either ? b->either : 1),
                           right = (uint64_t)b->shared * (a->either ? a->either : 1);
            const uint32_t first = p->item[k - 1];

            if (left < right || (left == right && first < p->item[k]))
                break;
            p->item[k - 1] = p->item[k];
            p->item[k] = first;
        }
    p->n = p->n < ND_AUDIT_SHOWN ? p->n : ND_AUDIT_SHOWN;
}

bool nd_audit_page_offer(struct nd_audit_page *p, uint32_t removed)
{
    if (!ND_RESERVE(p->item, &p->capacity, p->n + 1))
        return false;
    p->item[p->n++] = removed;
    if (p->n > ND_AUDIT_SHOWN)
        sort(p);
    return true;
}

bool nd_audit_page_choose(struct nd_audit_page *p)
{
    sort(p);
    p->cluster = nd_audit_far_clusters(p->join, &p->n_clusters);
    if (p->n_clusters > ND_AUDIT_CLUSTERS)
        p->n_clusters = ND_AUDIT_CLUSTERS;
    return p->cluster != NULL;
}

bool nd_audit_page_wants(const struct nd_audit_page *p, uint32_t removed)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->item[i] == removed)
            return true;
    return false;
}

/* ---- Figures -------------------------------------------------------------------------------------- */

static void put_share(struct nd_json *out, const char *name, const struct nd_rated *rated,
                      const char *by, uint64_t judged, uint64_t size)
{
    nd_html_format(out, "<li><h2>%s</h2><p class=\"tile-value\">", name);
    if (rated->value < 0) {
        nd_html_put(out, "–</p></li>\n");
        return;
    }
    nd_html_format(out, "%.1f%%</p><p class=\"soft\">", 100 * rated->value);
    if (judged < size)
        nd_html_format(out, "%.1f%% to %.1f%%; ", 100 * rated->low, 100 * rated->high);
    nd_html_count(out, judged);
    nd_html_put(out, " of ");
    nd_html_count(out, size);
    nd_html_format(out, " %s</p></li>\n", by);
}

static void put_count(struct nd_json *out, const char *name, uint64_t n)
{
    nd_html_format(out, "<li><h2>%s</h2><p class=\"tile-value\">", name);
    nd_html_count(out, n);
    nd_html_put(out, "</p></li>\n");
}

static void put_part(struct nd_json *out, const char *name, uint64_t part, uint64_t whole)
{
    nd_html_format(out, "<li><h2>%s</h2><p class=\"tile-value\">", name);
    nd_html_share(out, part, whole);
    nd_html_put(out, "</p><p class=\"soft\">");
    nd_html_count(out, part);
    nd_html_put(out, " of ");
    nd_html_count(out, whole);
    nd_html_put(out, "</p></li>\n");
}

static void put_figures(struct nd_json *out, const struct nd_audit_result *r)
{
    const struct nd_rated unmatched = nd_audit_unmatched(r), missed = nd_audit_missed(r);

    nd_html_put(out, "<ul class=\"tiles counts\">\n");
    put_count(out, "Removed", r->removed);
    put_count(out, "Kept", r->kept);
    put_share(out, "Removed without a kept match", &unmatched, "doubtful ones were searched",
              r->searched, r->doubtful);
    put_share(out, "Kept beside an earlier match", &missed, "were searched", r->kept_sampled,
              r->kept);
    put_part(out, "Runs of removed documents in no kept one", r->runs_lost, r->runs);
    if (r->clustered) {
        put_part(out, "Removed, far from the kept one of their cluster", r->far, r->clustered);
        put_count(out, "Clusters in which all are", r->false_clusters);
    }
    nd_html_put(out, "</ul>\n");
}

/* ---- Documents ------------------------------------------------------------------------------------ */

/* Read a document again: its beginning, and markup for its head. */
static enum nd_status read_side(struct audit_writing *w, unsigned k, const struct nd_place *place,
                                const char *what, struct nd_side *side, struct nd_error *err)
{
    const struct nd_source *source =
        nd_reading_source(w->join->run->reading, (uint32_t)place->source);
    struct nd_document document;
    struct nd_view text;
    struct nd_name name;
    size_t len;
    enum nd_status status = nd_lookup_document(w->join->run->lookup, place, 0, &document, err);

    if (status != ND_OK)
        return status;
    text = document.text;
    len = text.len < ND_AUDIT_TEXT_BYTES ? text.len : ND_AUDIT_TEXT_BYTES;
    while (len < text.len && len && ((unsigned char)text.data[len] & 0xC0) == 0x80)
        len--;
    w->is_cut |= len < text.len;
    w->head[k].text.len = w->text[k].text.len = 0;
    name = nd_name_of(&document, source, place->line, &w->name);
    nd_html_format(&w->head[k], "%s: <span class=\"id\">", what);
    w->text[k].text.len = 0;
    nd_name_value(&w->text[k], name.text);
    nd_html_text(&w->head[k], (struct nd_view){w->text[k].text.data, w->text[k].text.len});
    nd_html_put(&w->head[k], "</span>");
    w->text[k].text.len = 0;
    nd_json_bytes(&w->text[k], text.data, len);
    side->head = (struct nd_view){w->head[k].text.data, w->head[k].text.len};
    side->text = (struct nd_view){w->text[k].text.data, w->text[k].text.len};
    return ND_OK;
}

static void put_cut(struct audit_writing *w)
{
    if (w->is_cut)
        nd_html_put(&w->page, "<p class=\"soft\">Only the beginnings are shown.</p>\n");
    w->is_cut = false;
}

static void put_whole(struct nd_json *out, const struct nd_side *side)
{
    nd_html_put(out, "<p>");
    nd_json_bytes(out, side->head.data, side->head.len);
    nd_html_put(out, "</p><div class=\"text whole\" tabindex=\"0\">");
    nd_html_text(out, side->text);
    nd_html_put(out, "</div>");
}

static enum nd_status put_case(struct audit_writing *w, uint32_t removed, unsigned number,
                               struct nd_error *err)
{
    const struct nd_audit_join *j = w->join;
    const struct nd_audit_nearest *nearest = &j->removed[removed].best;
    struct nd_side side[2];
    enum nd_status status = ND_OK;

    if (nearest->shared)
        status = read_side(w, 0, &j->run->places.item[nd_audit_find_kept(j, nearest->order)],
                           "nearest kept", &side[0], err);
    if (status == ND_OK)
        status = read_side(w, 1, &j->at.item[removed], "removed", &side[1], err);
    if (status != ND_OK)
        return status;
    nd_html_format(&w->page, "<article class=\"case\" id=\"case-%u\"><h3>%u. ", number, number);
    if (nearest->shared)
        nd_html_format(&w->page, "resemblance %.4f",
                       (double)nearest->shared / (double)nearest->either);
    else
        nd_html_put(&w->page, "no kept document shares a run");
    nd_html_format(&w->page, "</h3><p>%s</p>\n",
                   nd_audit_nearest_reaches(nearest, j->threshold) ? "at the threshold or above"
                                                                   : "below the threshold");
    put_cut(w);
    if (nearest->shared)
        status = nd_html_side_by_side(&w->page, side, CONTEXT, err);
    else
        put_whole(&w->page, &side[1]);
    nd_html_put(&w->page, "</article>\n");
    return status;
}

static enum nd_status put_cases(struct nd_audit_page *p, struct audit_writing *w,
                                struct nd_error *err)
{
    enum nd_status status = ND_OK;

    nd_html_put(&w->page,
                "<section id=\"farthest\"><h2>The removed documents that are least like any kept "
                "one</h2>\n");
    if (p->n)
        nd_html_put(&w->page, "<p>Of those that were searched. Each was compared with every kept "
                              "document.</p>\n");
    else
        nd_html_put(&w->page, "<p>All removed documents have a kept match.</p>\n");
    for (size_t i = 0; status == ND_OK && i < p->n; i++)
        status = put_case(w, p->item[i], (unsigned)i + 1, err);
    nd_html_put(&w->page, "</section>\n");
    return status;
}

static enum nd_status put_cluster(struct audit_writing *w, const struct nd_audit_cluster *c,
                                  unsigned number, struct nd_error *err)
{
    const struct nd_audit_join *j = w->join;
    const struct nd_audit_removed *farthest = &j->removed[c->farthest];
    struct nd_side side[2];
    enum nd_status status = read_side(
        w, 0, &j->run->places.item[j->removals->cluster[c->number].kept], "kept", &side[0], err);

    if (status == ND_OK)
        status = read_side(w, 1, &j->at.item[c->farthest], "the farthest removed", &side[1], err);
    if (status != ND_OK)
        return status;
    nd_html_format(&w->page, "<article class=\"case\" id=\"cluster-%u\"><h3>%u. ", number, number);
    nd_html_count(&w->page, c->far);
    nd_html_put(&w->page, " of ");
    nd_html_count(&w->page, c->removed);
    nd_html_format(&w->page,
                   " removed documents are far from the kept one</h3><p>the farthest: resemblance "
                   "%.4f</p>\n",
                   (double)farthest->shared / (double)farthest->either);
    put_cut(w);
    status = nd_html_side_by_side(&w->page, side, CONTEXT, err);
    nd_html_put(&w->page, "</article>\n");
    return status;
}

static enum nd_status put_clusters(struct nd_audit_page *p, struct audit_writing *w,
                                   struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (!p->result->clustered)
        return ND_OK;
    nd_html_put(&w->page, "<section id=\"clusters\"><h2>The largest false clusters</h2>\n");
    if (p->n_clusters)
        nd_html_put(&w->page,
                    "<p>Those with the most removed documents that are below the threshold "
                    "to the kept one. They may be like another one.</p>\n");
    else
        nd_html_put(&w->page,
                    "<p>All removed documents are like the kept one of their cluster.</p>\n");
    for (size_t i = 0; status == ND_OK && i < p->n_clusters; i++)
        status = put_cluster(w, &p->cluster[i], (unsigned)i + 1, err);
    nd_html_put(&w->page, "</section>\n");
    return status;
}

static enum nd_status put_all(struct nd_audit_page *p, struct audit_writing *w,
                              struct nd_error *err)
{
    enum nd_status status;

    nd_html_begin(&w->page, "Audit", (struct nd_view){NULL, 0});
    nd_html_put(&w->page, "<h1>Was it right to remove these?</h1>\n<p class=\"id\">");
    nd_html_words(&w->page, p->join->removals->path);
    nd_html_put(&w->page, "</p>\n");
    put_figures(&w->page, p->result);
    nd_html_put(&w->page, "<p class=\"soft keys\"><kbd>j</kbd> and <kbd>k</kbd> go to the next and "
                          "the previous pair of documents.</p>\n");
    status = put_cases(p, w, err);
    if (status == ND_OK)
        status = put_clusters(p, w, err);
    nd_html_end(&w->page, nd_web_report_keys_mjs);
    return status;
}

enum nd_status nd_audit_page_write(struct nd_audit_page *p, struct nd_output *out,
                                   struct nd_error *err)
{
    struct audit_writing w = {.join = p->join};
    enum nd_status status;

    sort(p);
    status = put_all(p, &w, err);
    if (status == ND_OK && (w.page.failed || w.head[0].failed || w.head[1].failed ||
                            w.text[0].failed || w.text[1].failed || w.name.failed))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK)
        status = nd_output_write(out, w.page.text.data, w.page.text.len, err);
    nd_json_release(&w.page);
    nd_json_release(&w.name);
    for (unsigned k = 0; k < 2; k++) {
        nd_json_release(&w.head[k]);
        nd_json_release(&w.text[k]);
    }
    return status;
}
