/* removal.c - why a document is removed; records written once all are decided */
#include "run/removal.h"

#include "base/memory.h"
#include "evidence/difference.h"
#include "loads/staged.h"
#include "report/annotation.h"
#include "report/copies.h"
#include "report/revisit.h"
#include "run/run_parts.h"

#include <string.h>

const struct nd_removal nd_removal_of_leader = {.kept = ND_NO_RECORD, .via = ND_NO_RECORD};

struct nd_removal nd_removal_of(struct nd_run *run, const struct nd_staged_removed *removed)
{
    const struct nd_decision *decision = removed->decision;
    const struct nd_component_via *via = removed->component;

    if (decision->identical == ND_IDENTICAL_NO)
        nd_measured_count(run->measured, &run->recipe->dedup,
                          via ? &via->overlap : &decision->overlap, &decision->overlap);
    return (struct nd_removal){
        .kept = removed->kept,
        .via = via ? removed->via : ND_NO_RECORD,
        .distance =
            decision->distance <= ND_DISTANCE_MAX ? (uint16_t)decision->distance : UINT16_MAX,
        .identical = (uint8_t)decision->identical,
        .verified = decision->verified,
        .was_cut = decision->was_cut,
        .via_verified = via ? via->verified : 0,
        .overlap = decision->overlap,
        .via_resemblance = via ? nd_overlap_resemblance(&via->overlap) : 0,
    };
}

void nd_emitter_release(struct nd_emitter *e)
{
    nd_rows_release(&e->rows);
    nd_json_release(&e->name[0]);
    nd_json_release(&e->name[1]);
    nd_json_release(&e->name[2]);
    nd_json_release(&e->place);
    nd_json_release(&e->made);
}

bool nd_emitter_needs(const struct nd_run *run, bool is_kept)
{
    return nd_outputs_has_names(&run->outputs) || run->outputs.removed ||
           (run->outputs.survivors && is_kept);
}

static enum nd_status name_by_number(struct nd_emitter *e, uint32_t number, struct nd_party *party,
                                     unsigned room, struct nd_error *err)
{
    struct nd_run *run = e->run;
    struct nd_json *copy = &e->name[room];
    struct nd_place place;
    enum nd_status status;

    if (e->party_of && number >= e->n_records)
        return e->party_of(e->context, number, copy, party, err);
    status = e->place_of(e->context, number, &place, err);
    if (status != ND_OK)
        return status;
    party->at = nd_at_of(nd_reading_source(run->reading, place.source), place.line);
    status = nd_lookup_name(run->lookup, number, &place, &party->name, err);
    if (status != ND_OK)
        return status;
    /* Several names are needed at the same time, but the lookup holds only one. */
    copy->text.len = 0;
    nd_json_bytes(copy, party->name.text.data, party->name.text.len);
    party->name.text.data = copy->text.data;
    return copy->failed ? nd_fail(err, ND_ENOMEM, "out of memory") : ND_OK;
}

/* Append the line of a document to the clusters, if they are asked for. Where documents that stand
 * for others are removed too, or others are old ones, equal names do not say that it is kept. */
static void put_cluster(struct nd_emitter *e, const struct nd_name *name,
                        const struct nd_name *kept, const char *fate)
{
    const struct nd_run *run = e->run;
    const bool is_needed = run->keep.by == ND_KEEP_NONE || run->against;

    if (run->outputs.clusters)
        nd_row_cluster(&e->rows.clusters, name, kept, is_needed ? fate : NULL);
}

/* Add what was made of a record to the survivors. */
static enum nd_status put_made(struct nd_emitter *e, const struct nd_parsed *loaded,
                               struct nd_error *err)
{
    const struct nd_json *made = &e->made;

    if (made->failed)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return nd_outputs_survive(&e->run->outputs, &loaded->record,
                              (struct nd_view){made->text.data, made->text.len}, err);
}

static enum nd_status put_annotated(struct nd_emitter *e, const struct nd_parsed *loaded,
                                    const struct nd_annotation *annotation, struct nd_error *err)
{
    e->made.text.len = 0;
    nd_annotation_put(&e->made, loaded->source->format, loaded->record.bytes, annotation);
    return put_made(e, loaded, err);
}

static enum nd_status put_counted(struct nd_emitter *e, const struct nd_parsed *loaded,
                                  uint32_t members, struct nd_error *err)
{
    e->made.text.len = 0;
    nd_copies_put(&e->made, loaded->source->format, loaded->record.bytes,
                  e->run->outputs.copies_field, members);
    return put_made(e, loaded, err);
}

static enum nd_status put_bad(struct nd_emitter *e, const struct nd_parsed *loaded,
                              struct nd_error *err)
{
    struct nd_run *run = e->run;
    static const struct nd_bad_record unreadable = {"unreadable"};
    const struct nd_bad_record *bad = loaded->bad ? loaded->bad : &unreadable;
    const struct nd_annotation annotation = nd_annotation_of_bad(bad);
    const struct nd_at at = nd_at_of(loaded->source, loaded->record.line);

    if (run->outputs.rows)
        nd_row_skipped(&e->rows.manifest, &e->place, &at, bad->reason);
    if (run->outputs.annotates && loaded->record.bytes.data &&
        nd_annotation_fits_bad(loaded->source->format))
        return put_annotated(e, loaded, &annotation, err);
    return nd_outputs_remove(&run->outputs, &loaded->record, err);
}

/* Compare the text of a removed record with that of the kept one, which is read again; *out is valid
 * until something else is. */
static enum nd_status find_difference(struct nd_emitter *e, const struct nd_parsed *removed,
                                      const struct nd_removal *removal, struct nd_difference *out,
                                      struct nd_error *err)
{
    struct nd_view kept;
    struct nd_place place;
    enum nd_status status;

    *out = (struct nd_difference){.by = ND_DIFFERS_NOTHING};
    if (removal->identical == ND_IDENTICAL_BYTES)
        return ND_OK;
    status = e->place_of(e->context, removal->kept, &place, err);
    if (status == ND_OK)
        status = nd_lookup_text(e->run->lookup, &place, 0, &kept, err);
    return status == ND_OK ? nd_difference_of(removed->document.text, kept, out, err) : status;
}

static enum nd_status put_row(struct nd_emitter *e, const struct nd_parsed *loaded,
                              const struct nd_removal *removal, const struct nd_party *removed,
                              const struct nd_party *kept, const struct nd_decision *decision,
                              const struct nd_row_via *via, struct nd_error *err)
{
    const struct nd_recipe *recipe = e->run->recipe;
    const bool is_old = e->party_of && removal->kept >= e->n_records;
    struct nd_row_passage passage = {.tokens = 0};
    struct nd_difference differs;
    struct nd_row_parts parts = {.via = via};
    enum nd_status status = ND_OK;

    if (e->passage_of && is_old &&
        nd_deciding_containment(&recipe->dedup, decision) == ND_CONTAINMENT_OF_KEPT)
        status = e->passage_of(e->context, removal->kept, loaded->document.text, &passage, err);
    if (passage.text.len)
        parts.passage = &passage;
    if (status == ND_OK && e->run->options->differs && !is_old) {
        status = find_difference(e, loaded, removal, &differs, err);
        parts.differs = &differs;
    }
    if (status == ND_OK)
        nd_row_removed(&e->rows.manifest, &e->place, removed, kept, decision, recipe, parts);
    return status;
}

/* Remember a removal for the page, if it is one that the page shows. */
static enum nd_status note_example(struct nd_emitter *e, const struct nd_parsed *loaded,
                                   const struct nd_removal *removal, const struct nd_party *removed,
                                   const struct nd_party *kept, const struct nd_decision *decision,
                                   struct nd_error *err)
{
    const struct nd_noted_removal noted = {removed, kept, decision, &e->place, &e->made};
    struct nd_example example;
    enum nd_status status;

    if (e->party_of && removal->kept >= e->n_records) /* the text of an old document is not kept */
        return ND_OK;
    if (!nd_run_wants_example(e->run, &noted, &example))
        return ND_OK;
    status = e->place_of(e->context, removal->kept, &example.kept, err);
    example.text[1] = nd_text_there(loaded->document.text);
    if (status == ND_OK && nd_examples_needs_both(e->run->examples, &example))
        status = nd_lookup_text(e->run->lookup, &example.kept, 0, &example.text[0], err);
    return status == ND_OK ? nd_examples_add(e->run->examples, &example, err) : status;
}

/* Make the revisit record of a removed one, of the records as they stand in the archives. */
static enum nd_status put_revisit(struct nd_emitter *e, const struct nd_parsed *loaded,
                                  const struct nd_removal *removal, const struct nd_party *kept,
                                  const struct nd_decision *decision, struct nd_error *err)
{
    const struct nd_run *run = e->run;
    struct nd_revisit revisit = {
        .removed = {loaded->source, loaded->record.bytes, loaded->record.line},
        .kept_id = kept->name.text,
        .decision = decision,
        .recipe = run->recipe,
        .fingerprint = run->outputs.fingerprint};
    struct nd_place place;
    enum nd_status status;

    if (e->party_of && removal->kept >= e->n_records)
        return nd_revisit_put(&e->rows.revisits, &revisit, err);
    status = e->place_of(e->context, removal->kept, &place, err);
    if (status == ND_OK)
        status = nd_lookup_record(run->lookup, &place, 0, &revisit.kept.bytes, err);
    if (status != ND_OK)
        return status;
    revisit.kept.source = nd_reading_source(run->reading, place.source);
    revisit.kept.line = place.line;
    return nd_revisit_put(&e->rows.revisits, &revisit, err);
}

static enum nd_status put_removed(struct nd_emitter *e, const struct nd_party *removed,
                                  const struct nd_parsed *loaded, const struct nd_removal *removal,
                                  const struct nd_agreement *agreement, struct nd_error *err)
{
    struct nd_run *run = e->run;
    struct nd_decision decision = {
        .identical = (enum nd_identical)removal->identical,
        .verified = removal->verified,
        .was_cut = removal->was_cut,
        .distance = removal->distance,
        .overlap = removal->overlap,
    };
    struct nd_party kept = {0}, near = {0};
    size_t n = run->recipe->method.n_signatures;
    bool has_via = removal->via != ND_NO_RECORD;
    struct nd_row_via via;
    enum nd_status status;

    if (n)
        memcpy(decision.agreement, agreement, n * sizeof *decision.agreement);
    status = name_by_number(e, removal->kept, &kept, 1, err);
    if (status == ND_OK)
        put_cluster(e, &removed->name, &kept.name, "removed");
    if (status == ND_OK && run->examples)
        status = note_example(e, loaded, removal, removed, &kept, &decision, err);
    if (status == ND_OK && run->outputs.revisits)
        status = put_revisit(e, loaded, removal, &kept, &decision, err);
    if (status != ND_OK || (!run->outputs.rows && !run->outputs.annotates))
        return status;
    if (has_via) {
        status = name_by_number(e, removal->via, &near, 2, err);
        if (status != ND_OK)
            return status;
        via = (struct nd_row_via){near.name, removal->via_resemblance, removal->via_verified};
    }
    if (run->outputs.rows)
        status = put_row(e, loaded, removal, removed, &kept, &decision, has_via ? &via : NULL, err);
    if (status != ND_OK)
        return status;
    if (run->outputs.annotates) {
        const struct nd_annotation annotation =
            nd_annotation_of(run->recipe, &decision, &kept.name, has_via ? &via : NULL);

        return put_annotated(e, loaded, &annotation, err);
    }
    return ND_OK;
}

static enum nd_status put_kept(struct nd_emitter *e, const struct nd_party *party,
                               const struct nd_parsed *loaded, uint32_t members,
                               struct nd_error *err)
{
    struct nd_run *run = e->run;

    put_cluster(e, &party->name, &party->name, "kept");
    if (run->outputs.survivors && run->outputs.copies_field)
        return put_counted(e, loaded, members, err);
    if (run->outputs.annotates) {
        const struct nd_annotation annotation =
            nd_annotation_of_kept(run->recipe, &party->name, members);

        return put_annotated(e, loaded, &annotation, err);
    }
    if (run->outputs.survivors)
        return nd_outputs_survive(&run->outputs, &loaded->record, loaded->record.bytes, err);
    return ND_OK;
}

static void put_leader(struct nd_emitter *e, const struct nd_party *party)
{
    const struct nd_run *run = e->run;

    put_cluster(e, &party->name, &party->name, "removed");
    if (run->outputs.rows)
        nd_row_leader(&e->rows.manifest, &e->place, party);
}

enum nd_status nd_emitter_put(struct nd_emitter *e, const struct nd_parsed *loaded, bool is_bad,
                              const struct nd_removal *removal,
                              const struct nd_agreement *agreement, uint32_t members,
                              struct nd_error *err)
{
    struct nd_run *run = e->run;
    struct nd_party party = {.at = nd_at_of(loaded->source, loaded->record.line)};
    enum nd_status status = ND_OK;

    if (is_bad)
        return put_bad(e, loaded, err);
    if (nd_outputs_has_names(&run->outputs))
        party.name =
            nd_name_of(&loaded->document, loaded->source, loaded->record.line, &e->name[0]);
    if (!removal)
        return put_kept(e, &party, loaded, members, err);
    if (!run->outputs.annotates)
        status = nd_outputs_remove(&run->outputs, &loaded->record, err);
    if (status != ND_OK || !nd_outputs_has_names(&run->outputs))
        return status;
    if (removal->kept != ND_NO_RECORD)
        return put_removed(e, &party, loaded, removal, agreement, err);
    put_leader(e, &party);
    return ND_OK;
}

enum nd_status nd_emitter_end_batch(struct nd_emitter *e, struct nd_error *err)
{
    /* A name for which there was no memory would be truncated in rows. */
    if (e->name[0].failed || e->name[1].failed || e->name[2].failed || e->place.failed)
        e->rows.manifest.failed = true;
    return nd_outputs_put_rows(&e->run->outputs, &e->rows, err);
}
