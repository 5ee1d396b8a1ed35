/* parsed.h - a record, and what the parser made of it */
#ifndef ND_READING_PARSED_H
#define ND_READING_PARSED_H

#include <stdbool.h>

#include <neardup/dedup.h>
#include <neardup/input.h>
#include <neardup/sketch_file.h>
#include <neardup/types.h>

/* Hashes of a document, of which a slice is chosen (slice.h): its key; of all of its text; of what
 * near ones are likely to share. */
struct nd_slice_mark {
    uint64_t key, text, near;
};

/* A record and what the parser made of it. */
struct nd_parsed {
    struct nd_record record;
    const struct nd_source *source;
    struct nd_document document;
    struct nd_bad_record *bad; /* NULL: a document */
    /*
     * the packed record of a document that is read from a sketch file, and has no text; NULL: it is
     * read itself
     */
    const struct nd_sketch_row *sketched;
    uint64_t key;              /* for the `parsed` hook to fill */
    struct nd_slice_mark mark; /* where a sample is read */
};

/* The item of it that the engine is given. */
static inline struct nd_dedup_item nd_parsed_item(const struct nd_parsed *parsed)
{
    return (struct nd_dedup_item){
        .text = parsed->document.text, .document = &parsed->document, .sketched = parsed->sketched};
}

#endif
