/* rows.c - the rows of the manifest and of the list of clusters */
#include "pipeline/run_state.h"

static const char *method_name(const struct nd_run_options *options,
                               const struct nd_decision *decision)
{
    static const char *const names[] = {"minhash", "simhash", "identity", "all", "match"};

    if (decision->identical != ND_IDENTICAL_NO)
        return "identity";
    return names[options->recipe.dedup.candidates];
}

/* Of a whole; where there is none the two are alike. */
static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 1.0;
}

double nd_overlap_resemblance(const struct nd_overlap *overlap)
{
    return share(overlap->shared, overlap->a + overlap->b - overlap->shared);
}

static void put_place(struct nd_json *out, struct nd_json *room, const struct nd_source *source,
                      uint64_t line)
{
    room->text.len = 0;
    nd_place_append(room, source, line);
    out->failed |= room->failed;
    nd_json_string(out, (struct nd_view){room->text.data, room->text.len});
}

/* What the comparison of the two texts gave; null where there was none. */
static void put_evidence(struct nd_json *out, const struct nd_decision *d)
{
    const struct nd_overlap *o = &d->overlap;

    nd_json_key(out, "resemblance");
    d->verified ? nd_json_double(out, nd_overlap_resemblance(o)) : nd_json_null(out);
    nd_json_key(out, "shared");
    d->verified ? nd_json_uint(out, o->shared) : nd_json_null(out);
    nd_json_key(out, "shingles_removed");
    nd_json_uint(out, o->a);
    nd_json_key(out, "shingles_kept");
    nd_json_uint(out, o->b);
    nd_json_key(out, "containment_of_removed");
    d->verified ? nd_json_double(out, share(o->shared, o->a)) : nd_json_null(out);
    nd_json_key(out, "containment_of_kept");
    d->verified ? nd_json_double(out, share(o->shared, o->b)) : nd_json_null(out);
    nd_json_key(out, "distance");
    d->distance <= ND_DISTANCE_MAX ? nd_json_uint(out, d->distance) : nd_json_null(out);
}

/* By name, what the signatures have in common: "B":{"shared":4,"removed":6,"kept":6}. */
static void put_agreements(struct nd_json *out, const struct nd_method *method,
                           const struct nd_agreement *agreement)
{
    nd_json_key(out, "signatures");
    nd_json_open(out, '{');
    for (unsigned i = 0; i < method->n_signatures; i++) {
        nd_json_key(out, method->signature[i].name);
        nd_json_open(out, '{');
        nd_json_key(out, "shared");
        nd_json_uint(out, agreement[i].shared);
        nd_json_key(out, "removed");
        nd_json_uint(out, agreement[i].a);
        nd_json_key(out, "kept");
        nd_json_uint(out, agreement[i].b);
        nd_json_close(out, '}');
    }
    nd_json_close(out, '}');
}

void nd_row_removed(struct nd_json *out, struct nd_json *room, const struct nd_party *removed,
                    const struct nd_party *kept, const struct nd_decision *decision,
                    const struct nd_run_options *options, const struct nd_row_via *via)
{
    static const char *const identical[] = {"no", "bytes", "tokens"};

    nd_json_open(out, '{');
    nd_json_key(out, "removed");
    nd_name_json(out, &removed->name);
    nd_json_key(out, "kept");
    nd_name_json(out, &kept->name);
    nd_json_key(out, "removed_at");
    put_place(out, room, removed->source, removed->line);
    nd_json_key(out, "kept_at");
    put_place(out, room, kept->source, kept->line);
    nd_json_key(out, "method");
    nd_json_text(out, method_name(options, decision));
    nd_json_key(out, "identical");
    nd_json_text(out, identical[decision->identical]);
    nd_json_key(out, "verified");
    nd_json_bool(out, decision->verified);
    put_evidence(out, decision);
    if (options->recipe.dedup.candidates == ND_CANDIDATES_MATCH &&
        decision->identical == ND_IDENTICAL_NO)
        put_agreements(out, &options->recipe.method, decision->agreement);
    if (via) {
        nd_json_key(out, "via");
        nd_name_json(out, &via->name);
        nd_json_key(out, "via_resemblance");
        nd_json_double(out, via->resemblance);
    }
    if (decision->was_cut) {
        nd_json_key(out, "cut");
        nd_json_bool(out, true);
    }
    nd_json_close(out, '}');
    nd_json_line(out);
}

void nd_row_skipped(struct nd_json *out, struct nd_json *room, const struct nd_source *source,
                    uint64_t line, const char *reason)
{
    nd_json_open(out, '{');
    nd_json_key(out, "skipped");
    put_place(out, room, source, line);
    nd_json_key(out, "reason");
    nd_json_text(out, reason);
    nd_json_close(out, '}');
    nd_json_line(out);
}

void nd_row_cluster(struct nd_json *out, const struct nd_name *name, const struct nd_name *kept)
{
    nd_name_tsv(out, name);
    nd_json_bytes(out, "\t", 1);
    nd_name_tsv(out, kept);
    nd_json_bytes(out, "\n", 1);
}
