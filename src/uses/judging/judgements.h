/* judgements.h - files of judgements: what people said of pairs that were drawn */
#ifndef ND_USES_JUDGING_JUDGEMENTS_H
#define ND_USES_JUDGING_JUDGEMENTS_H

#include "uses/eval/relation.h"

/* One judge's answer about a pair. */
struct nd_judgement {
    uint64_t ids;     /* as in struct nd_related */
    uint32_t drawn;   /* the document that was drawn; 0: pairs were */
    uint32_t stratum; /* its number in the file's strata, from 1; 0: documents were drawn */
    uint64_t size;    /* pairs of the stratum, or documents there are */
    uint64_t line;
    enum nd_label label;
    bool is_judged, is_listed;
};

/* The judgements of a file, sorted by ids and drawn, each once.  Starts from zeroes. */
struct nd_judgements {
    struct nd_judgement *at;
    size_t n, capacity;
    struct nd_groups strata; /* their names, which tell listed ones from near misses */
    bool draws_documents;
};
void nd_judgements_release(struct nd_judgements *j);

/* Read a file of docs/format/judgements.md: TSV or CSV with a header, or JSON Lines.  ND_EINPUT. */
enum nd_status nd_judgements_read(struct nd_judgements *j, const char *path,
                                  struct nd_eval_ids *ids, struct nd_error *err);

/* The judgement of the same pair in another file; NULL: it has none. */
const struct nd_judgement *nd_judgements_find(const struct nd_judgements *j,
                                              const struct nd_judgement *wanted);

#endif
