/* revisit.h - WARC records that say of removed pages which kept page stands for them */
#ifndef ND_REPORT_REVISIT_H
#define ND_REPORT_REVISIT_H

#include <neardup/dedup.h>
#include <neardup/error.h>
#include <neardup/input.h>

#include "base/json_out.h"
#include "recipe/recipe_struct.h"

/*
 * A `revisit` record (ISO 28500, 6.7.2 in version 1.1) stands in place of a capture whose payload is
 * stored elsewhere.  One whose payload has the same bytes has the standard's profile; any other has
 * ours, ND_REVISIT_NEAR (docs/format/warc.md).
 */
#define ND_REVISIT_IDENTICAL "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
#define ND_REVISIT_NEAR "urn:neardup:revisit:near-duplicate"

/* A record of the input: its source, its bytes and its place there. */
struct nd_revisit_record {
    const struct nd_source *source;
    struct nd_view bytes;
    uint64_t line;
};

struct nd_revisit {
    struct nd_revisit_record removed, kept;
    struct nd_view kept_id; /* where kept.bytes.data is NULL: an earlier document's */
    const struct nd_decision *decision;
    const struct nd_recipe *recipe;
    uint64_t fingerprint; /* of the recipe */
};

/* Append the record.  ND_EINPUT: what is removed is no record of a web archive; ND_ENOMEM. */
enum nd_status nd_revisit_put(struct nd_json *out, const struct nd_revisit *r,
                              struct nd_error *err);

/* Append the `warcinfo` that stands before such records, with the first of which `first` begins. */
void nd_revisit_info(struct nd_json *out, struct nd_view first, uint64_t fingerprint);

#endif
