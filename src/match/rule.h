/* rule.h - the `match` rule of a recipe: read, asked of two documents, and what it is looked up by
 */
#ifndef ND_MATCH_RULE_H
#define ND_MATCH_RULE_H

#include <stdbool.h>

#include "match/method.h"

/* The value that one test asks for (the grammar stands in neardup/method.h). */
enum nd_rule_value {
    ND_RULE_DISTANCE,
    ND_RULE_AGREE,
    ND_RULE_EQUAL,
    ND_RULE_SHARED,
    ND_RULE_RESEMBLANCE,
    ND_RULE_CONTAINMENT,
    ND_RULE_OVERLAP,
    ND_RULE_COSINE,
    ND_RULE_SAME,
    ND_RULE_LENGTH,
};

enum nd_rule_kind { ND_RULE_TEST, ND_RULE_ALL, ND_RULE_ANY };

/* The tree: a test, or a list of children, of which all or any must hold. */
struct nd_rule_node {
    enum nd_rule_kind kind;
    enum nd_rule_value value;
    unsigned signature;    /* of a test: which; not for length */
    bool at_most;          /* <=, else >= */
    struct nd_ratio bound; /* p may exceed q */
    unsigned char next;    /* the next child of the same list; 0: none (the root is no child) */
    unsigned char first;   /* of a list: its first child */
};
enum { ND_RULE_NODES = 48 };

struct nd_rule {
    struct nd_rule_node node[ND_RULE_NODES];
    unsigned n; /* node[0] is the root */
};

/*
 * Read method->match.  ND_EINVAL: a syntax error ("match: at character 12: …"), a name that is no
 * signature, a value that its form does not have, a bound that is out of range, or a rule that
 * nothing can be looked up by.
 */
enum nd_status nd_rule_parse(struct nd_rule *rule, const struct nd_method *method,
                             struct nd_error *err);

/* Evidence about two documents. */
struct nd_rule_evidence {
    struct nd_agreement agreement[ND_RECIPE_SIGNATURES];
    bool same[ND_RECIPE_SIGNATURES]; /* the reserved bits are equal */
    uint64_t length[2];              /* tokens */
};

/* Whether the rule holds of two documents; symmetric. */
bool nd_rule_holds(const struct nd_rule *rule, const struct nd_rule_evidence *e);

/* Whether it never stops holding when sets share more: no "at most" of a set's values. */
bool nd_rule_wants_more(const struct nd_rule *rule);

/*
 * How near two documents are of which the rule holds, 0 … 65535: the greatest share of what agrees
 * (bits, coordinates, values) among the signatures.
 */
unsigned nd_rule_score(const struct nd_method *method, const struct nd_rule_evidence *e);

/*
 * Choose the look-ups by which every match is met: for "all of" the child that costs least, for
 * "any of" every child.
 */
struct nd_rule_lookup {
    unsigned signature;
    enum nd_rule_value value; /* DISTANCE: within `most` bits; EQUAL; SHARED … COSINE: values */
    unsigned most;            /* bits that may differ */
    unsigned equal;           /* coordinates that must be equal */
    struct nd_ratio share;    /* of either set's values at least so many are shared; 0: one */
    unsigned least;           /* so many values are shared in any case; 0: one */
    bool of_lesser;           /* of the lesser set's values only */
};
enum { ND_RULE_LOOKUPS = 8 };
enum nd_status nd_rule_lookups(const struct nd_rule *rule, const struct nd_method *method,
                               struct nd_rule_lookup *lookup, unsigned *n, struct nd_error *err);

#endif
