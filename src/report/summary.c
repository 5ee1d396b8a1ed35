/* summary.c - what a run over files did, in numbers */
#include "report/summary.h"

#include "evidence/counts.h"
#include "evidence/figures.h"
#include "reading/names.h"

#include <stdio.h>
#include <string.h>

enum nd_status nd_summary_name_cluster(struct nd_run_cluster *cluster, uint64_t documents,
                                       const struct nd_place *place, struct nd_lookup *lookup,
                                       const struct nd_reading *reading, struct nd_error *err)
{
    struct nd_document document;
    struct nd_json room = {0};
    struct nd_name name;
    enum nd_status status = nd_lookup_document(lookup, place, 0, &document, err);

    if (status != ND_OK)
        return status;
    name = nd_name_of(&document, nd_reading_source(reading, place->source), place->line, &room);
    if (room.failed)
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    else
        nd_name_show(name.text, cluster->id, sizeof cluster->id);
    cluster->documents = documents;
    nd_json_release(&room);
    return status;
}

enum nd_status nd_cluster_sizes_summarise(const struct nd_cluster_sizes *s, size_t n,
                                          struct nd_lookup *lookup, const struct nd_places *places,
                                          const struct nd_reading *reading,
                                          struct nd_run_summary *summary, struct nd_error *err)
{
    size_t largest[ND_RUN_LARGEST];
    size_t n_largest = nd_cluster_sizes_largest(s, n, largest, &summary->clusters);
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < n_largest; i++) {
        struct nd_place place = places->item[largest[i]];

        status = nd_summary_name_cluster(&summary->largest[i], s->members[largest[i]], &place,
                                         lookup, reading, err);
    }
    summary->n_largest = status == ND_OK ? n_largest : 0;
    return status;
}

static bool is_kind(const struct nd_run_kind *kind, const struct nd_source *source)
{
    return kind->format == source->format && strcmp(kind->compression, source->compression) == 0 &&
           strcmp(kind->archive, source->archive ? source->archive : "") == 0 &&
           kind->is_container == source->is_container && kind->is_sketched == source->is_sketched;
}

void nd_summary_count_source(struct nd_run_summary *summary, const struct nd_source *source)
{
    size_t i = 0;

    if (source->archive && !source->entry) /* its entries are counted */
        return;
    while (i < summary->n_kinds && !is_kind(&summary->kinds[i], source))
        i++;
    summary->bytes += source->bytes;
    if (i == ND_RUN_KINDS) {
        summary->other_sources++;
        return;
    }
    if (i == summary->n_kinds) {
        struct nd_run_kind *kind = &summary->kinds[summary->n_kinds++];

        kind->format = source->format;
        kind->is_container = source->is_container;
        kind->is_sketched = source->is_sketched;
        snprintf(kind->compression, sizeof kind->compression, "%s", source->compression);
        snprintf(kind->archive, sizeof kind->archive, "%s", source->archive ? source->archive : "");
        snprintf(kind->first, sizeof kind->first, "%s", source->path);
    }
    summary->kinds[i].sources++;
    summary->kinds[i].records += source->records;
    summary->kinds[i].bytes += source->bytes;
}

const char *nd_figure_name(enum nd_figure figure)
{
    return nd_figure_word(figure);
}

double nd_run_figure(const struct nd_run_summary *s, enum nd_figure figure)
{
    return nd_figure_of(s, figure);
}

double nd_run_recall(const struct nd_run_summary *s, double x)
{
    return nd_summary_recall(s, x);
}

enum nd_status nd_summary_write(const struct nd_run_summary *summary, bool is_published,
                                struct nd_output *to, struct nd_error *err)
{
    struct nd_summary_input input[ND_RUN_KINDS];
    struct nd_json out = {0};
    enum nd_status status;

    for (size_t i = 0; i < summary->n_kinds; i++) {
        const struct nd_run_kind *kind = &summary->kinds[i];

        input[i] = (struct nd_summary_input){
            .format = kind->is_sketched ? "sketch" : nd_format_word(kind->format),
            .compression = kind->compression,
            .archive = kind->archive[0] ? kind->archive : NULL,
            .first = kind->first,
            .files = kind->sources,
            .records = kind->records,
            .bytes = kind->bytes};
    }
    nd_summary_json(&out, summary, is_published, input, summary->n_kinds);
    if (out.failed)
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    else
        status = nd_output_write(to, out.text.data, out.text.len, err);
    nd_json_release(&out);
    return status;
}
