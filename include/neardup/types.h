/*
 * neardup/types.h - the plain types that the parts of the library exchange (library neardup)
 *
 *     struct nd_document document = {.text = {"some text", 9}};
 *     struct nd_field author = {{"author", 6}, {"Ada", 3}};
 *
 *     document.fields = &author;
 *     document.n_fields = 1;
 */
#ifndef NEARDUP_TYPES_H
#define NEARDUP_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that another object owns.  `data` may be NULL where len is 0; no zero terminates them. */
struct nd_view {
    const char *data;
    size_t len;
};

/* Which part of a text that quotes other mail is compared (docs/format/mail-quotes.md). */
enum nd_quoted_mail {
    /* All of it. */
    ND_QUOTES_KEEP,
    /* The part that its writer wrote. */
    ND_QUOTES_DROP,
};

/* Which part of the text of a page is read (docs/format/boilerplate.md). */
enum nd_boilerplate {
    /* All of it. */
    ND_BOILERPLATE_KEEP,
    /* Its content: blocks that look like navigation and footers are left out. */
    ND_BOILERPLATE_DROP,
};

/* How an id was written in the input, so that the outputs can write it the same way. */
enum nd_id_kind {
    /* The record has no id.  Outputs call it by its place, file:line. */
    ND_ID_NONE,
    /* Text; JSON outputs quote it. */
    ND_ID_STRING,
    /* A JSON number, true or false, byte by byte as it was: 17, 1e3, true. */
    ND_ID_RAW,
};

/*
 * The name of a document: the record's id, or its place where it has none, and its place.  The
 * bytes as they are, with a zero behind them: who shows them escapes what could steer a terminal.
 */
struct nd_document_name {
    char *id, *at;
    size_t id_len, at_len;
    enum nd_id_kind id_kind; /* ND_ID_RAW: in JSON it stands without quotes */
};

/* One named value of a document (author, date, language), as text. */
struct nd_field {
    struct nd_view name;
    struct nd_view value;
};

/* A part of a document's text that its markup emphasises: h1 … h6, title, b, strong, i, em. */
struct nd_markup {
    /* In bytes of the text. */
    uint64_t offset, len;
};

/* A link from a document to another. */
struct nd_link {
    /* Its anchor, in bytes of the text. */
    uint64_t offset, len;
    /* The address, as written. */
    struct nd_view target;
};

/* An element in the tree of an HTML page. */
struct nd_element {
    /* In small letters: "td". */
    struct nd_view name;
    /* The index of its parent among the elements, smaller than its own; or ND_ELEMENT_NONE. */
    uint32_t parent;
};
#define ND_ELEMENT_NONE UINT32_MAX

/*
 * A document.  It points into memory of whoever made it, and is valid for as long as its maker says.
 * `text` is valid UTF-8.
 */
struct nd_document {
    struct nd_view id;
    enum nd_id_kind id_kind;
    struct nd_view text;
    const struct nd_field *fields;
    size_t n_fields;
    /* In order of their offsets and disjoint.  Only inputs with markup have any. */
    const struct nd_markup *markup;
    size_t n_markup;
    /* In order of their offsets. */
    const struct nd_link *links;
    size_t n_links;
    /* The address that a page says its links are relative to, as written.  data NULL: none. */
    struct nd_view base;
    /* In the order of their opening tags; fewer than 2^32 - 1. */
    const struct nd_element *elements;
    size_t n_elements;
    /* A hash of the bytes that were replaced to make the text valid UTF-8 (nd_utf8_replaced); 0 if
     * none were.  If the text of a page contains U+FFFD, this covers all of the page. */
    uint64_t text_replaced;
    /* The hash for the value of each field.  NULL: nothing was replaced in any. */
    const uint64_t *fields_replaced;
    /* 1: the text is the source of a page (nd_input_options.page_source). */
    unsigned char is_page;
};

/* A token of a text, for explanations to people; the fast path carries hashes only. */
struct nd_token {
    /* The token hash of the normalised form (docs/format/text.md). */
    uint64_t hash;
    /* In bytes from the start of the original text. */
    uint64_t offset;
    /* In bytes of the original text. */
    uint32_t len;
};

/* A feature, of which sketches are made (Broder 1997; Manku 2007, §2). */
struct nd_feature {
    uint64_t hash;
    int32_t weight;
};

/* The result of comparing two sets of distinct shingles exactly. */
struct nd_overlap {
    /* How many shingles the first document has. */
    uint64_t a;
    /* How many the second has. */
    uint64_t b;
    /* How many are in both. */
    uint64_t shared;
};

/* A ratio p/q in lowest terms, such as the threshold 4/5: comparisons are exact in integers. */
struct nd_ratio {
    uint32_t p, q;
};

#ifdef __cplusplus
}
#endif
#endif
