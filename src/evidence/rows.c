/* rows.c - the rows of the manifest and of the list of clusters */
#include "evidence/rows.h"

#include "evidence/difference.h"

#include <string.h>

void nd_rows_release(struct nd_rows *rows)
{
    nd_json_release(&rows->manifest);
    nd_json_release(&rows->clusters);
    nd_json_release(&rows->revisits);
}

const char *nd_method_name(const struct nd_recipe *recipe, const struct nd_decision *decision)
{
    static const char *const names[] = {"minhash", "simhash", "identity", "all", "match"};

    if (decision->identical != ND_IDENTICAL_NO)
        return "identity";
    if (nd_dedup_takes_samples(&recipe->dedup))
        return "shingles";
    return names[recipe->dedup.candidates];
}

/* The fraction part / whole; 1 if whole is 0, because two empty sets are equal. */
double nd_fraction(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 1.0;
}

double nd_overlap_resemblance(const struct nd_overlap *overlap)
{
    return nd_fraction(overlap->shared, overlap->a + overlap->b - overlap->shared);
}

static void put_at(struct nd_json *out, struct nd_json *scratch, const struct nd_at *at)
{
    scratch->text.len = 0;
    nd_at_append(scratch, at);
    out->failed |= scratch->failed;
    nd_json_string(out, (struct nd_view){scratch->text.data, scratch->text.len});
}

/* Write what comparing the two texts gave; null if they were not compared. */
static void put_evidence(struct nd_json *out, const struct nd_decision *d)
{
    const struct nd_overlap *o = &d->overlap;

    nd_json_key(out, "resemblance");
    d->verified ? nd_json_double(out, nd_overlap_resemblance(o)) : nd_json_null(out);
    nd_json_key(out, "shared");
    d->verified ? nd_json_uint(out, o->shared) : nd_json_null(out);
    nd_json_put_uint(out, "shingles_removed", o->a);
    nd_json_put_uint(out, "shingles_kept", o->b);
    nd_json_key(out, "containment_of_removed");
    d->verified ? nd_json_double(out, nd_fraction(o->shared, o->a)) : nd_json_null(out);
    nd_json_key(out, "containment_of_kept");
    d->verified ? nd_json_double(out, nd_fraction(o->shared, o->b)) : nd_json_null(out);
    nd_json_key(out, "distance");
    d->distance <= ND_DISTANCE_MAX ? nd_json_uint(out, d->distance) : nd_json_null(out);
}

enum nd_containment nd_deciding_containment(const struct nd_dedup_params *params,
                                            const struct nd_decision *d)
{
    bool of_kept = params->verify == ND_VERIFY_CONTAINMENT_OF_KEPT ||
                   (params->verify == ND_VERIFY_CONTAINMENT_EITHER && d->overlap.b < d->overlap.a);

    if (d->identical != ND_IDENTICAL_NO || params->cluster == ND_CLUSTER_COMPONENTS ||
        !nd_dedup_measures_containment(params))
        return ND_CONTAINMENT_NONE;
    return of_kept ? ND_CONTAINMENT_OF_KEPT : ND_CONTAINMENT_OF_REMOVED;
}

void nd_agreements_json(struct nd_json *out, const struct nd_method *method,
                        const struct nd_agreement *agreement, const char *a, const char *b)
{
    nd_json_key(out, "signatures");
    nd_json_open(out, '{');
    for (unsigned i = 0; i < method->n_signatures; i++) {
        nd_json_key(out, method->signature[i].name);
        nd_json_open(out, '{');
        nd_json_put_uint(out, "shared", agreement[i].shared);
        nd_json_put_uint(out, a, agreement[i].a);
        nd_json_put_uint(out, b, agreement[i].b);
        nd_json_close(out, '}');
    }
    nd_json_close(out, '}');
}

/* true: the texts were compared; "sketch": what sketches keep of one or both of them was. */
static void put_verified(struct nd_json *out, const struct nd_decision *decision)
{
    if (decision->verified == ND_VERIFIED_SKETCH)
        nd_json_put_text(out, "verified", "sketch");
    else
        nd_json_put_bool(out, "verified", decision->verified);
}

static void put_passage(struct nd_json *out, const struct nd_row_passage *passage)
{
    nd_json_key(out, "passage");
    nd_json_open(out, '{');
    nd_json_put_uint(out, "tokens", passage->tokens);
    nd_json_key(out, "bytes");
    nd_json_open(out, '[');
    nd_json_uint(out, passage->offset);
    nd_json_uint(out, passage->offset + passage->text.len);
    nd_json_close(out, ']');
    nd_json_put_string(out, "text", passage->text);
    nd_json_close(out, '}');
}

static void put_via(struct nd_json *out, const struct nd_row_via *via)
{
    nd_json_key(out, "via");
    nd_name_json(out, &via->name);
    nd_json_key(out, "via_resemblance");
    via->is_verified ? nd_json_double(out, via->resemblance) : nd_json_null(out);
}

void nd_row_removed(struct nd_json *out, struct nd_json *scratch, const struct nd_party *removed,
                    const struct nd_party *kept, const struct nd_decision *decision,
                    const struct nd_recipe *recipe, struct nd_row_parts parts)
{
    static const char *const identical[] = {"no", "bytes", "tokens"};
    static const char *const containments[] = {NULL, "containment_of_removed",
                                               "containment_of_kept"};
    enum nd_containment deciding = nd_deciding_containment(&recipe->dedup, decision);

    nd_json_open(out, '{');
    nd_json_key(out, "removed");
    nd_name_json(out, &removed->name);
    nd_json_key(out, "kept");
    nd_name_json(out, &kept->name);
    nd_json_key(out, "removed_at");
    put_at(out, scratch, &removed->at);
    nd_json_key(out, "kept_at");
    put_at(out, scratch, &kept->at);
    nd_json_put_text(out, "method", nd_method_name(recipe, decision));
    nd_json_put_text(out, "identical", identical[decision->identical]);
    put_verified(out, decision);
    put_evidence(out, decision);
    if (deciding != ND_CONTAINMENT_NONE) {
        nd_json_put_text(out, "decided_by", containments[deciding]);
    }
    if (recipe->dedup.candidates == ND_CANDIDATES_MATCH && decision->identical == ND_IDENTICAL_NO)
        nd_agreements_json(out, &recipe->method, decision->agreement, "removed", "kept");
    if (parts.via)
        put_via(out, parts.via);
    if (decision->was_cut) {
        nd_json_put_bool(out, "cut", true);
    }
    if (parts.passage)
        put_passage(out, parts.passage);
    if (parts.differs)
        nd_difference_json(out, parts.differs, "removed", "kept");
    nd_json_close(out, '}');
    nd_json_line(out);
}

void nd_row_leader(struct nd_json *out, struct nd_json *scratch, const struct nd_party *removed)
{
    nd_json_open(out, '{');
    nd_json_key(out, "removed");
    nd_name_json(out, &removed->name);
    nd_json_key(out, "kept");
    nd_json_null(out);
    nd_json_key(out, "removed_at");
    put_at(out, scratch, &removed->at);
    nd_json_key(out, "kept_at");
    nd_json_null(out);
    nd_json_close(out, '}');
    nd_json_line(out);
}

void nd_row_skipped(struct nd_json *out, struct nd_json *scratch, const struct nd_at *at,
                    const char *reason)
{
    nd_json_open(out, '{');
    nd_json_key(out, "skipped");
    put_at(out, scratch, at);
    nd_json_put_text(out, "reason", reason);
    nd_json_close(out, '}');
    nd_json_line(out);
}

void nd_row_cluster(struct nd_json *out, const struct nd_name *name, const struct nd_name *kept,
                    const char *fate)
{
    nd_name_tsv(out, name);
    nd_json_bytes(out, "\t", 1);
    nd_name_tsv(out, kept);
    if (fate) {
        nd_json_bytes(out, "\t", 1);
        nd_json_bytes(out, fate, strlen(fate));
    }
    nd_json_bytes(out, "\n", 1);
}
