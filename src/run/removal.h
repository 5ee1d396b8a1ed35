/* removal.h - why a document is removed; records written once all are decided */
#ifndef ND_RUN_REMOVAL_H
#define ND_RUN_REMOVAL_H

#include <stdbool.h>
#include <stdint.h>

#include <neardup/dedup.h>

#include "evidence/rows.h"
#include "reading/lookup.h"
#include "reading/reading.h"

/* Why a document was removed.  Documents are named by their record numbers, in input order. */
struct nd_removal {
    /* kept: ND_NO_RECORD where it stands for its cluster; via: the neighbour of its component, or
     * ND_NO_RECORD. */
    uint32_t kept, via;
    /* Hamming distance between the simhashes; UINT16_MAX: the recipe makes none. */
    uint16_t distance;
    uint8_t identical, verified, was_cut, via_verified;
    struct nd_overlap overlap;
    double via_resemblance;
};
#define ND_NO_RECORD UINT32_MAX

/* The removal of a document that stands for its cluster, for which none is kept (keep = none). */
extern const struct nd_removal nd_removal_of_leader;
struct nd_run;
struct nd_staged_removed;
/* Make a removal of what the driver reports, and count how near the two documents are. */
struct nd_removal nd_removal_of(struct nd_run *run, const struct nd_staged_removed *removed);

/* Writes records in input order: to the survivors or the removed ones, and their rows.  Starts from
 * zeroes and the first three members. */
struct nd_emitter {
    struct nd_run *run;
    /* Function that finds the place of the record of a number. */
    enum nd_status (*place_of)(void *context, uint32_t number, struct nd_place *place,
                               struct nd_error *err);
    void *context;

    /* Documents that are no records of the inputs, with numbers from n_records on: what outputs call
     * them; the name's bytes are in *room.  NULL: there are none. */
    enum nd_status (*party_of)(void *context, uint32_t number, struct nd_json *room,
                               struct nd_party *party, struct nd_error *err);
    uint32_t n_records;
    /* Function that finds the passage that a document of the inputs copied of one that is no record
     * of them.  passage->text is a piece of `text`, the copying document; of length 0: none. */
    enum nd_status (*passage_of)(void *context, uint32_t number, struct nd_view text,
                                 struct nd_row_passage *passage, struct nd_error *err);

    struct nd_rows rows;                 /* of the current batch */
    struct nd_json name[3], place, made; /* scratch */
};
void nd_emitter_release(struct nd_emitter *e);

/* Whether some output needs the record of a document that is kept, or of any other record. */
bool nd_emitter_needs(const struct nd_run *run, bool is_kept);

/* A record that was loaded.  removal NULL: it is a bad record, or is kept; agreement: of a removal,
 * one for each signature; members: documents in the cluster of a kept one, or 0 where the run makes no
 * clusters. */
enum nd_status nd_emitter_put(struct nd_emitter *e, const struct nd_parsed *loaded, bool is_bad,
                              const struct nd_removal *removal,
                              const struct nd_agreement *agreement, uint32_t members,
                              struct nd_error *err);
/* Write out the rows of the batch. */
enum nd_status nd_emitter_end_batch(struct nd_emitter *e, struct nd_error *err);

#endif
