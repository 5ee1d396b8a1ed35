/* neardup/types.h - the plain types that the layers hand to one another */
#ifndef NEARDUP_TYPES_H
#define NEARDUP_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that somebody else owns.  `data` may be NULL where len is 0; no terminating zero. */
struct nd_view {
    const char *data;
    size_t len;
};

/* How an id was written in the input, so that the outputs can write it the same way. */
enum nd_id_kind {
    ND_ID_NONE,   /* the record has none: it is called by its place, file:line */
    ND_ID_STRING, /* text; in JSON output it is quoted */
    ND_ID_RAW,    /* a JSON number, true or false, as its own bytes: 17, 1e3, true */
};

/* One named value of a document (author, date, language), as text. */
struct nd_field {
    struct nd_view name;
    struct nd_view value;
};

/*
 * A document: views into memory of whoever made it, valid as long as its maker says.  `text` is
 * valid UTF-8.
 */
struct nd_document {
    struct nd_view id;
    enum nd_id_kind id_kind;
    struct nd_view text;
    const struct nd_field *fields;
    size_t n_fields;
};

/* A token of a text, as explained to people; the fast path carries only hashes. */
struct nd_token {
    uint64_t hash;   /* the token hash of the normalised form (docs/format/text.md) */
    uint64_t offset; /* bytes from the start of the original text */
    uint32_t len;    /* bytes in the original text */
};

/* What the exact comparison of two sets of distinct shingles found. */
struct nd_overlap {
    uint64_t a;      /* distinct shingles of the first document */
    uint64_t b;      /* and of the second */
    uint64_t shared; /* in both */
};

/* A ratio p/q in lowest terms, such as the threshold 4/5: comparisons are exact in integers. */
struct nd_ratio {
    uint32_t p, q;
};

#ifdef __cplusplus
}
#endif
#endif
