/* relation.h - which documents a file calls the same: by pairs, by clusters, or by removing them */
#ifndef ND_USES_EVAL_RELATION_H
#define ND_USES_EVAL_RELATION_H

#include <stdbool.h>

#include <neardup/eval.h>

#include "base/groups.h"
#include "base/json_out.h"
#include "uses/eval/labels.h"
#include "uses/read_manifest.h"

/*
 * The names of documents, numbered from 1. Names are compared as nd_cell_value makes them of TSV;
 * those of JSON, of CSV and of documents are brought to that form. Starts from zeroes.
 */
struct nd_eval_ids {
    struct nd_groups names;
    size_t n_known;        /* the first names, which documents or the truth have */
    struct nd_json room;   /* scratch */
    struct nd_arena arena; /* scratch */
};
void nd_eval_ids_release(struct nd_eval_ids *ids);
/* Bring a name that is not from TSV to the form of TSV; valid until the next call.  False: out of
 * memory. */
bool nd_eval_ids_plain(struct nd_eval_ids *ids, struct nd_view name, struct nd_view *plain);

/* A pair of documents, their label, and a value of the row. */
struct nd_related {
    uint64_t ids; /* lower number << 32 | higher number */
    uint64_t line : 62;
    uint64_t label : 2; /* of enum nd_label */
    double value;       /* of the column that was asked for: a number, or that of its text */
};

/*
 * The pairs, sets and fates of one file: 24 bytes a pair, 13 a document. A manifest has the pairs
 * of its rows, and their connected components as sets. Starts from zeroes.
 */
struct nd_relation {
    enum nd_eval_form form;
    struct nd_related *pair; /* sorted by ids, each once */
    size_t n_pairs, pairs_capacity;
    uint64_t n_labelled[ND_LABELS];
    uint32_t *set;       /* by the number of a document - 1, the number of its set; 0: none */
    uint64_t *set_line;  /* and the line that says so */
    unsigned char *fate; /* and what became of it: of ND_FATE_ */
    size_t n_ids, set_capacity, line_capacity, fate_capacity;
    struct nd_groups sets; /* their names, where they have any */
    uint32_t n_sets;
    struct nd_groups texts; /* of the column that was asked for */
    bool has_sets, has_fates;
};
void nd_relation_release(struct nd_relation *r);

/* How a file is read. */
struct nd_relation_request {
    enum nd_eval_form form; /* ND_EVAL_ANY: it is recognised */
    bool is_truth;
    bool refuses_strangers; /* a name that is not known is an error */
    bool closes;            /* pairs are closed: their connected components are sets */
    struct nd_label_rule labels;
    const char *value;  /* name or number of a column with a value; NULL: none is read.  Pairs
                         * without a number there are left out. */
    bool value_is_text; /* the value is the number of its text in `texts` */
    /* The pairs are to be sampled: near misses are read too, as different, and a manifest has values;
     * a value that is not there is NAN. */
    bool samples;
};

/* ND_EINPUT: file, line and reason. */
enum nd_status nd_relation_read(struct nd_relation *r, const char *path,
                                const struct nd_relation_request *request, struct nd_eval_ids *ids,
                                struct nd_error *err);

/* The label of a pair; false: the relation has no such pair. */
bool nd_relation_find(const struct nd_relation *r, uint64_t ids, enum nd_label *label);

static inline uint64_t nd_pair_of(uint32_t a, uint32_t b)
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

/* The set of a document; 0: it is a set of its own. */
static inline uint32_t nd_relation_set(const struct nd_relation *r, uint32_t id)
{
    return id <= r->n_ids ? r->set[id - 1] : 0;
}

static inline unsigned char nd_relation_fate(const struct nd_relation *r, uint32_t id)
{
    return id <= r->n_ids ? r->fate[id - 1] : (unsigned char)ND_FATE_UNSAID;
}

#endif
