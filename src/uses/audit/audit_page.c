/* audit_page.c - what an audit found, as a page: the removed documents that are least like any kept one */
#include "uses/audit/audit_page.h"

#include "evidence/name.h"
#include "report/html_page.h"
#include "report/side_by_side.h"

#include <math.h>
#include <stdlib.h>

enum { CONTEXT = 12 };

void nd_audit_page_release(struct nd_audit_page *p)
{
    for (size_t i = 0; i < p->n; i++)
        for (unsigned k = 0; k < 2; k++) {
            nd_json_release(&p->item[i].name[k]);
            nd_json_release(&p->item[i].text[k]);
        }
    free(p->item);
}

/* By how near the nearest one is, by integers; equally near ones as they stand in the corpus. */
static int by_nearness(const void *left, const void *right)
{
    const struct nd_audit_case *a = left, *b = right;
    const uint64_t x = (uint64_t)a->nearest.shared * (b->nearest.either ? b->nearest.either : 1),
                   y = (uint64_t)b->nearest.shared * (a->nearest.either ? a->nearest.either : 1);

    if (x != y)
        return x < y ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

void nd_audit_page_choose(struct nd_audit_page *p)
{
    if (p->n)
        qsort(p->item, p->n, sizeof *p->item, by_nearness);
    p->n = p->n < ND_AUDIT_SHOWN ? p->n : ND_AUDIT_SHOWN;
}

bool nd_audit_page_offer(struct nd_audit_page *p, uint64_t order,
                         const struct nd_audit_nearest *nearest, bool is_wrong)
{
    if (p->n >= 2 * ND_AUDIT_SHOWN)
        nd_audit_page_choose(p);
    if (!ND_RESERVE(p->item, &p->capacity, p->n + 1))
        return false;
    p->item[p->n++] =
        (struct nd_audit_case){.order = order, .nearest = *nearest, .is_wrong = is_wrong};
    return true;
}

static bool is_side(const struct nd_audit_case *c, unsigned k, uint64_t order)
{
    return k ? c->order == order : c->nearest.shared && c->nearest.order == order;
}

bool nd_audit_page_wants(const struct nd_audit_page *p, uint64_t order)
{
    for (size_t i = 0; i < p->n; i++)
        if (is_side(&p->item[i], 0, order) || is_side(&p->item[i], 1, order))
            return true;
    return false;
}

static void take(struct nd_audit_case *c, unsigned k, struct nd_view name, struct nd_view text)
{
    size_t len = text.len < ND_AUDIT_TEXT_BYTES ? text.len : ND_AUDIT_TEXT_BYTES;

    while (len < text.len && len && ((unsigned char)text.data[len] & 0xC0) == 0x80)
        len--;
    c->is_cut[k] = len < text.len;
    nd_json_bytes(&c->name[k], name.data, name.len);
    nd_json_bytes(&c->text[k], text.data, len);
}

bool nd_audit_page_take(struct nd_audit_page *p, uint64_t order, struct nd_view name,
                        struct nd_view text)
{
    bool good = true;

    for (size_t i = 0; i < p->n; i++)
        for (unsigned k = 0; k < 2; k++)
            if (is_side(&p->item[i], k, order)) {
                take(&p->item[i], k, name, text);
                good = good && !p->item[i].name[k].failed && !p->item[i].text[k].failed;
            }
    return good;
}

/* ---- Writing -------------------------------------------------------------------------------------- */

static void put_share(struct nd_json *out, const char *name, const struct nd_judged_stratum *s)
{
    const struct nd_rated rated = nd_share_weighted(s, 1);

    nd_html_format(out, "<li><h2>%s</h2><p class=\"tile-value\">", name);
    if (!s->judged) {
        nd_html_put(out, "–</p></li>\n");
        return;
    }
    nd_html_format(out, "%.1f%%</p><p class=\"soft\">%.1f%% to %.1f%%, by ", 100 * rated.value,
                   100 * rated.low, 100 * rated.high);
    nd_html_count(out, s->judged);
    nd_html_put(out, " of ");
    nd_html_count(out, s->size);
    nd_html_put(out, "</p></li>\n");
}

static void put_count(struct nd_json *out, const char *name, uint64_t n)
{
    nd_html_format(out, "<li><h2>%s</h2><p class=\"tile-value\">", name);
    nd_html_count(out, n);
    nd_html_put(out, "</p></li>\n");
}

static void put_head(struct nd_json *out, const struct nd_audit_case *c, unsigned k,
                     struct nd_json *room)
{
    out->text.len = room->text.len = 0;
    nd_name_value(room, (struct nd_view){c->name[k].text.data, c->name[k].text.len});
    nd_html_put(out, k ? "removed: <span class=\"id\">" : "nearest kept: <span class=\"id\">");
    nd_html_text(out, (struct nd_view){room->text.data, room->text.len});
    nd_html_put(out, "</span>");
}

static enum nd_status put_case(struct nd_json *out, struct nd_json head[2], struct nd_json *room,
                               const struct nd_audit_case *c, unsigned number, struct nd_error *err)
{
    struct nd_side side[2];
    enum nd_status status = ND_OK;

    nd_html_format(out, "<article class=\"case\" id=\"case-%u\"><h3>%u. ", number, number);
    if (c->nearest.shared)
        nd_html_format(out, "resemblance %.4f",
                       (double)c->nearest.shared / (double)c->nearest.either);
    else
        nd_html_put(out, "no kept document shares a run");
    nd_html_format(out, "</h3><p>%s%s</p>\n",
                   c->is_wrong ? "below the threshold" : "at the threshold or above",
                   c->is_cut[0] || c->is_cut[1] ? "; only the beginnings are shown" : "");
    for (unsigned k = 0; k < 2; k++) {
        put_head(&head[k], c, k, room);
        side[k] = (struct nd_side){{c->text[k].text.data, c->text[k].text.len},
                                   {head[k].text.data, head[k].text.len}};
    }
    if (c->nearest.shared) {
        status = nd_html_side_by_side(out, side, CONTEXT, err);
    } else {
        nd_html_put(out, "<p>");
        nd_json_bytes(out, side[1].head.data, side[1].head.len);
        nd_html_put(out, "</p><div class=\"text whole\" tabindex=\"0\">");
        nd_html_text(out, side[1].text);
        nd_html_put(out, "</div>");
    }
    nd_html_put(out, "</article>\n");
    return status;
}

static enum nd_status put_all(struct nd_audit_page *p, struct nd_json *out, struct nd_json head[2],
                              struct nd_json *room, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    nd_html_begin(out, "Audit", (struct nd_view){NULL, 0});
    nd_html_put(out, "<h1>Was it right to remove these?</h1>\n<p class=\"id\">");
    nd_html_words(out, p->result);
    nd_html_put(out, "</p>\n<ul class=\"tiles counts\">\n");
    put_count(out, "Removed", p->removed->size);
    put_count(out, "Kept", p->kept->size);
    put_share(out, "Removed without a kept match", p->removed);
    put_share(out, "Kept beside an earlier match", p->kept);
    put_count(out, "Runs of removed documents", p->runs);
    put_count(out, "of them in no kept one", p->runs_lost);
    nd_html_put(
        out, "</ul>\n<p class=\"soft keys\"><kbd>j</kbd> and <kbd>k</kbd> go to the next and the "
             "previous pair of documents.</p>\n<section id=\"farthest\"><h2>The removed documents "
             "that are least like any kept one</h2>\n<p>Of those in the sample. Each was compared "
             "with every kept document.</p>\n");
    for (size_t i = 0; status == ND_OK && i < p->n; i++)
        status = put_case(out, head, room, &p->item[i], (unsigned)i + 1, err);
    nd_html_put(out, "</section>\n");
    nd_html_end(out, nd_web_report_keys_mjs);
    return status;
}

enum nd_status nd_audit_page_write(struct nd_audit_page *p, struct nd_output *out,
                                   struct nd_error *err)
{
    struct nd_json text = {.failed = false}, head[2] = {{.failed = false}, {.failed = false}},
                   room = {.failed = false};
    enum nd_status status = put_all(p, &text, head, &room, err);

    if (status == ND_OK && (text.failed || head[0].failed || head[1].failed || room.failed))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK)
        status = nd_output_write(out, text.text.data, text.text.len, err);
    nd_json_release(&text);
    nd_json_release(&head[0]);
    nd_json_release(&head[1]);
    nd_json_release(&room);
    return status;
}
