/* page_blocks.h - the blocks of a page's text, and which of them are boilerplate */
#ifndef ND_INPUT_FORMATS_PAGE_BLOCKS_H
#define ND_INPUT_FORMATS_PAGE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/memory.h"

/* Text between two edges of block elements: the bytes from `from` to `to` of the page's text. */
struct nd_page_block {
    size_t from, to;
    size_t words, linked;     /* words; words within links */
    size_t full_words, lines; /* words in the full lines of 80 columns, and how many these are; of a
                                 text of one line: its words, 1 */
    bool is_pre, is_kept;
};

/* A stretch of the text within links. */
struct nd_page_linked {
    size_t from, to;
};

/* The memory is kept from page to page.  Starts from zeroes. */
struct nd_page_blocks {
    struct nd_page_block *block;
    struct nd_page_linked *linked;
    size_t n, capacity, n_linked, linked_capacity;
    bool is_open; /* the next text goes on in the last block */
    bool is_in_link;
};

void nd_page_blocks_clear(struct nd_page_blocks *blocks);
void nd_page_blocks_release(struct nd_page_blocks *blocks);

/* A block element begins or ends: the next text begins a block. */
void nd_page_blocks_edge(struct nd_page_blocks *blocks);
/* The next text is within a link or outside. */
void nd_page_blocks_link(struct nd_page_blocks *blocks, bool is_in_link);
/* Characters have been added to the text, from place `from` to place `to`.  False: out of memory. */
bool nd_page_blocks_add(struct nd_page_blocks *blocks, size_t from, size_t to, bool is_pre);

/*
 * Decide for each block of a text in UTF-8 whether it is kept (Kohlschütter 2010, algorithm 1, with
 * what docs/format/boilerplate.md adds).  False: all are kept, as too little would be left.
 */
bool nd_page_blocks_decide(struct nd_page_blocks *blocks, const char *text);

#endif
