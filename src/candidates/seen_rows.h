/* seen_rows.h - which rows of sketch files matter to new documents */
#ifndef ND_CANDIDATES_SEEN_ROWS_H
#define ND_CANDIDATES_SEEN_ROWS_H

#include <stdbool.h>

#include <neardup/sketch_file.h>

struct nd_pool;
struct nd_recipe;

/* A row: in which file, where among its documents, and where in its bytes. */
struct nd_seen_row {
    uint64_t number;
    struct nd_sketch_row_place place;
    uint32_t file;
};

/* Starts from zeroes. */
struct nd_seen_rows {
    struct nd_seen_row *item;
    size_t n, capacity;
};
ND_API void nd_seen_rows_release(struct nd_seen_rows *rows);

struct nd_seen_search {
    struct nd_pool *pool;
    const struct nd_recipe *recipe;
    /* The new documents: their number, and the row of one, whose bytes may be in *room. */
    uint32_t n_fresh;
    enum nd_status (*fresh)(void *context, uint32_t document, struct nd_sketch_room *room,
                            struct nd_sketch_row *row, struct nd_error *err);
    /* Called between blocks of the files; what it returns, and is not ND_OK, ends the search.  NULL:
     * the search goes on. */
    enum nd_status (*go_on)(void *context, struct nd_error *err);
    void *context;
    const struct nd_sketch_file *const *file;
    bool takes_all; /* all old documents matter */
    /* For the keys of new documents, which are looked for in parts where all take more; 0: any. */
    size_t memory_bytes;
    size_t n_files; /* of old ones, which come before the new ones, in this order */
};

/*
 * List in *old those old documents without which some new one could be decided otherwise, in their
 * order.  What a file says when it is damaged; ND_ENOMEM; what the callbacks return.
 */
ND_API enum nd_status nd_seen_rows_find(const struct nd_seen_search *search,
                                        struct nd_seen_rows *old, struct nd_error *err);

#endif
