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

/* A stretch of a document's text that its markup boosts: h1 … h6, title, b, strong, i, em. */
struct nd_markup {
    uint64_t offset, len; /* bytes of the text */
};

/* A link out of a document. */
struct nd_link {
    uint64_t offset, len;  /* its anchor: bytes of the text */
    struct nd_view target; /* as written */
};

/* An element of a page's tree. */
struct nd_element {
    struct nd_view name; /* in small letters: "td" */
    uint32_t parent;     /* its number among the elements, less than this one's; or none */
};
#define ND_ELEMENT_NONE UINT32_MAX

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
    const struct nd_markup *markup; /* in order, disjoint; only where the input has any */
    size_t n_markup;
    const struct nd_link *links; /* in order */
    size_t n_links;
    struct nd_view
        base; /* what a page says that its links start from, as written; data NULL: none */
    const struct nd_element *elements; /* in the order of their tags, fewer than 2^32 - 1 */
    size_t n_elements;
};

/* A token of a text, as explained to people; the fast path carries only hashes. */
struct nd_token {
    uint64_t hash;   /* the token hash of the normalised form (docs/format/text.md) */
    uint64_t offset; /* bytes from the start of the original text */
    uint32_t len;    /* bytes in the original text */
};

/* What sketches are made of (001; 002 section 2). */
struct nd_feature {
    uint64_t hash;
    int32_t weight;
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
