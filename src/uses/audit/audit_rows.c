/* audit_rows.c - rows of an audit: removed documents without a match, and clusters that are false */
#include "uses/audit/audit_rows.h"

#include <stdlib.h>

#include "uses/use.h"

/* A file of rows: of the use, only the cells and the output are used. */
struct audit_rows {
    const struct nd_audit_join *join;
    struct nd_use cells;
};

static enum nd_status open_rows(struct audit_rows *rows, const char *path, struct nd_error *err)
{
    rows->cells.out =
        nd_output_open(&rows->join->run->outputs.publisher, path, ND_PUBLISH_EVIDENCE, err);
    return rows->cells.out ? ND_OK : err->status;
}

static enum nd_status close_rows(struct audit_rows *rows, enum nd_status status,
                                 struct nd_error *err)
{
    if (status == ND_OK)
        status = nd_output_finish(rows->cells.out, err);
    else
        nd_output_discard(rows->cells.out);
    nd_json_release(&rows->cells.name);
    nd_json_release(&rows->cells.row);
    nd_json_release(&rows->cells.head);
    return status;
}

/* A cell with the name of the document at this place. */
static enum nd_status put_name(struct audit_rows *rows, const char *key,
                               const struct nd_place *place, struct nd_error *err)
{
    struct nd_run *run = rows->join->run;
    struct nd_document document;
    struct nd_name name;
    enum nd_status status = nd_lookup_document(run->lookup, place, 0, &document, err);

    if (status != ND_OK)
        return status;
    name = nd_name_of(&document, nd_reading_source(run->reading, place->source), place->line,
                      &rows->cells.name);
    nd_cell_name(&rows->cells, key, &name);
    return rows->cells.name.failed ? nd_fail(err, ND_ENOMEM, "out of memory") : ND_OK;
}

/* Two cells: the kept document of this place, and the resemblance to it; empty ones if it is not known. */
static enum nd_status put_kept(struct audit_rows *rows, const char *const key[2], bool is_known,
                               uint32_t kept, const struct nd_audit_nearest *nearest,
                               struct nd_error *err)
{
    enum nd_status status;

    if (!is_known) {
        nd_cell_none(&rows->cells, key[0]);
        nd_cell_none(&rows->cells, key[1]);
        return ND_OK;
    }
    status = put_name(rows, key[0], &rows->join->run->places.item[kept], err);
    nd_cell_double(&rows->cells, key[1], (double)nearest->shared / (double)nearest->either);
    return status;
}

static enum nd_status put_unmatched(struct audit_rows *rows, uint32_t number, struct nd_error *err)
{
    static const char *const nearest[] = {"nearest", "resemblance"}, *const own[] = {
                                                                         "cluster_kept",
                                                                         "cluster_resemblance"};
    const struct nd_audit_join *j = rows->join;
    const struct nd_audit_removed *r = &j->removed[number];
    const struct nd_audit_nearest shared = {0, r->shared, r->either};
    enum nd_status status = put_name(rows, "removed", &j->at.item[number], err);

    if (status == ND_OK)
        status = put_kept(rows, nearest, r->best.shared > 0,
                          r->best.shared ? nd_audit_find_kept(j, r->best.order) : 0, &r->best, err);
    if (status == ND_OK)
        status = put_kept(rows, own, r->either > 0,
                          r->either ? j->removals->cluster[r->cluster].kept : 0, &shared, err);
    nd_cell_text(&rows->cells, "searched",
                 r->is_searched ? (struct nd_view){"yes", 3} : (struct nd_view){"no", 2});
    return status == ND_OK ? nd_row_end(&rows->cells, err) : status;
}

enum nd_status nd_audit_rows_unmatched(const struct nd_audit_join *j, const char *path,
                                       bool is_json, struct nd_error *err)
{
    struct audit_rows rows = {.join = j, .cells.is_json = is_json};
    enum nd_status status = open_rows(&rows, path, err);

    if (status != ND_OK)
        return status;
    for (size_t i = 0; status == ND_OK && i < j->n_removed; i++)
        if (!nd_audit_nearest_reaches(&j->removed[i].best, j->threshold))
            status = put_unmatched(&rows, (uint32_t)i, err);
    return close_rows(&rows, status, err);
}

static enum nd_status put_cluster(struct audit_rows *rows, const struct nd_audit_cluster *c,
                                  struct nd_error *err)
{
    const struct nd_audit_join *j = rows->join;
    const struct nd_audit_removed *farthest = &j->removed[c->farthest];
    enum nd_status status =
        put_name(rows, "kept", &j->run->places.item[j->removals->cluster[c->number].kept], err);

    nd_cell_uint(&rows->cells, "removed", c->removed);
    nd_cell_uint(&rows->cells, "far", c->far);
    if (status == ND_OK)
        status = put_name(rows, "farthest", &j->at.item[c->farthest], err);
    nd_cell_double(&rows->cells, "resemblance",
                   (double)farthest->shared / (double)farthest->either);
    return status == ND_OK ? nd_row_end(&rows->cells, err) : status;
}

enum nd_status nd_audit_rows_clusters(const struct nd_audit_join *j, const char *path, bool is_json,
                                      struct nd_error *err)
{
    struct audit_rows rows = {.join = j, .cells.is_json = is_json};
    struct nd_audit_cluster *cluster;
    enum nd_status status = open_rows(&rows, path, err);
    size_t n = 0;

    if (status != ND_OK)
        return status;
    cluster = nd_audit_far_clusters(j, &n);
    if (!cluster)
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; status == ND_OK && cluster && i < n; i++)
        status = put_cluster(&rows, &cluster[i], err);
    free(cluster);
    return close_rows(&rows, status, err);
}
