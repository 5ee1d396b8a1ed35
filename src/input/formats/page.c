/* page.c - what is read of a page: its text, its marks and links, its elements */
#include "input/formats/page.h"

#include <stdlib.h>
#include <string.h>

void nd_page_clear(struct nd_html_page *page, struct nd_page_wanted wants)
{
    page->text.len = page->title.len = 0;
    page->wants = wants;
    nd_page_blocks_clear(&page->blocks);
    page->n_spans = page->n_links = page->n_elements = page->n_open = 0;
    page->depth = 0;
    page->base = (struct nd_view){NULL, 0};
    page->in_span = page->in_link = page->has_anchor = false;
}

void nd_page_release(struct nd_html_page *page)
{
    nd_buffer_release(&page->text);
    nd_buffer_release(&page->title);
    nd_page_blocks_release(&page->blocks);
    nd_page_head_release(&page->head);
    free(page->span);
    free(page->link);
    free(page->element);
    free(page->open);
    *page = (struct nd_html_page){.depth = 0};
}

/* ---- What of a page's text is marked up, and its links ---- */

/* The elements of Seshasai 2009, §5.4 and §6.4.7 and their like; title is dealt with apart. */
static bool is_marked(const char *name)
{
    if (name[0] == 'h')
        return name[1] >= '1' && name[1] <= '6' && !name[2];
    return strcmp(name, "b") == 0 || strcmp(name, "i") == 0 || strcmp(name, "em") == 0 ||
           strcmp(name, "strong") == 0;
}

static bool set_base(struct nd_html_page *page, const char *href, struct nd_arena *arena)
{
    char *copy;

    if (!href || page->base.data)
        return true;
    copy = nd_arena_copy(arena, href, strlen(href));
    page->base = (struct nd_view){copy, strlen(href)};
    return copy != NULL;
}

bool nd_page_marks_begin(struct nd_html_page *page, const char *name, const char *href, size_t at,
                         struct nd_arena *arena)
{
    const char *target;
    size_t len;

    page->depth += is_marked(name);
    if (strcmp(name, "base") == 0)
        return set_base(page, href, arena);
    if (strcmp(name, "a") != 0)
        return true;
    page->in_link = false; /* anchors do not nest: one that is open ends here */
    if (!href)
        return true;
    len = strlen(href);
    target = nd_arena_copy(arena, href, len);
    if (!target || !ND_RESERVE(page->link, &page->link_capacity, page->n_links + 1))
        return false;
    page->link[page->n_links++] = (struct nd_link){at, 0, {target, len}};
    page->in_link = true;
    page->has_anchor = false;
    return true;
}

void nd_page_marks_end(struct nd_html_page *page, const char *name)
{
    if (is_marked(name) && page->depth > 0) {
        page->depth--;
        page->in_span = page->in_span && page->depth > 0;
    } else if (strcmp(name, "a") == 0) {
        page->in_link = false;
    }
}

bool nd_page_marks_add(struct nd_html_page *page, size_t from, size_t to)
{
    if (page->in_link) {
        struct nd_link *link = &page->link[page->n_links - 1];

        if (!page->has_anchor)
            link->offset = from;
        link->len = to - link->offset;
        page->has_anchor = true;
    }
    if (page->depth == 0)
        return true;
    if (page->in_span) {
        page->span[page->n_spans - 1].len = to - page->span[page->n_spans - 1].offset;
        return true;
    }
    if (page->n_spans > 0 &&
        page->span[page->n_spans - 1].offset + page->span[page->n_spans - 1].len == from) {
        page->span[page->n_spans - 1].len += to - from; /* </b><i>: the same stretch */
    } else {
        if (!ND_RESERVE(page->span, &page->span_capacity, page->n_spans + 1))
            return false;
        page->span[page->n_spans++] = (struct nd_markup){from, to - from};
    }
    page->in_span = true;
    return true;
}

static bool take_marks(const struct nd_html_page *page, size_t title, size_t shift,
                       struct nd_arena *arena, struct nd_document *document)
{
    size_t n = page->n_spans + (title > 0), first = title > 0, len = page->text.len;
    struct nd_markup *span = nd_arena_alloc(arena, (n + 1) * sizeof *span);
    struct nd_link *link = nd_arena_alloc(arena, (page->n_links + 1) * sizeof *link);

    if (!span || !link)
        return false;
    if (title)
        span[0] = (struct nd_markup){0, title};
    for (size_t i = 0; i < page->n_spans; i++)
        span[first + i] = (struct nd_markup){page->span[i].offset + shift, page->span[i].len};
    for (size_t i = 0; i < page->n_links; i++) {
        link[i] = page->link[i];
        link[i].offset = (link[i].offset < len ? link[i].offset : len) + shift;
    }
    document->markup = span;
    document->n_markup = n;
    document->links = link;
    document->n_links = page->n_links;
    document->base = page->base;
    return true;
}

/* ---- Without boilerplate ---- */

/* The last block that begins at a place or before it; NULL: none does. */
static const struct nd_page_block *block_at(const struct nd_page_blocks *blocks, size_t place)
{
    size_t low = 0, high = blocks->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (blocks->block[middle].from <= place)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &blocks->block[low - 1] : NULL;
}

/*
 * Put the kept blocks one behind the other.  From here on the members `words` and `linked` of a block
 * are where it begins and ends now; of a block that is left out, where the next one begins, and the
 * one before it ends.
 */
static void move_blocks(struct nd_html_page *page)
{
    char *text = page->text.data;
    size_t end = 0;

    for (size_t i = 0; i < page->blocks.n; i++) {
        struct nd_page_block *b = &page->blocks.block[i];
        size_t begin = end + (end > 0);

        if (b->is_kept) {
            if (end)
                text[end] = '\n';
            memmove(text + begin, text + b->from, b->to - b->from);
            end = begin + (b->to - b->from);
        }
        b->words = begin;
        b->linked = end;
    }
    page->text.len = end;
}

/* Return where a place of the text is now, as the beginning or the end of a stretch. */
static size_t moved(const struct nd_page_block *b, size_t place, bool is_end)
{
    if (!b->is_kept)
        return is_end ? b->linked : b->words;
    place -= b->from;
    return b->words + (place < b->to - b->from ? place : b->to - b->from);
}

/* Move a stretch of the text.  False: nothing of it is left. */
static bool move_stretch(const struct nd_page_blocks *blocks, uint64_t *offset, uint64_t *len)
{
    const struct nd_page_block *first = block_at(blocks, *offset),
                               *last = block_at(blocks, *offset + *len - (*len > 0));
    size_t from, to;

    if (!first || (!*len && !first->is_kept))
        return false;
    from = moved(first, *offset, false);
    to = moved(last, *offset + *len, true);
    if (to < from || (to == from && *len))
        return false;
    *offset = from;
    *len = to - from;
    return true;
}

static void move_marks(struct nd_html_page *page)
{
    size_t n = 0;

    for (size_t i = 0; i < page->n_spans; i++)
        if (move_stretch(&page->blocks, &page->span[i].offset, &page->span[i].len))
            page->span[n++] = page->span[i];
    page->n_spans = n;
    n = 0;
    for (size_t i = 0; i < page->n_links; i++)
        if (move_stretch(&page->blocks, &page->link[i].offset, &page->link[i].len))
            page->link[n++] = page->link[i];
    page->n_links = n;
}

void nd_page_drop_boilerplate(struct nd_html_page *page)
{
    if (!nd_page_blocks_decide(&page->blocks, page->text.data))
        return;
    move_blocks(page);
    move_marks(page);
}

/* ---- The elements of a page's tree ---- */

static bool reserve_element(struct nd_html_page *page)
{
    return ND_RESERVE(page->element, &page->element_capacity, page->n_elements + 1) &&
           ND_RESERVE(page->open, &page->open_capacity, page->n_open + 1);
}

bool nd_page_tree_begin(struct nd_html_page *page, const char *name, size_t depth,
                        struct nd_arena *arena)
{
    size_t len = strlen(name);
    char *copy = nd_arena_alloc(arena, len + 1);

    if (!copy || page->n_elements >= ND_ELEMENT_NONE - 1 || !reserve_element(page))
        return false;
    memcpy(copy, name, len + 1);
    if (depth < page->n_open)
        page->n_open = depth; /* the others have ended */
    page->element[page->n_elements] = (struct nd_element){
        .name = {copy, len},
        .parent = page->n_open ? page->open[page->n_open - 1] : ND_ELEMENT_NONE,
    };
    page->open[page->n_open++] = (uint32_t)page->n_elements++;
    return true;
}

static bool take_tree(const struct nd_html_page *page, struct nd_arena *arena,
                      struct nd_document *document)
{
    struct nd_element *copy = nd_arena_alloc(arena, (page->n_elements + 1) * sizeof *copy);

    if (!copy)
        return false;
    if (page->n_elements)
        memcpy(copy, page->element, page->n_elements * sizeof *copy);
    document->elements = copy;
    document->n_elements = page->n_elements;
    return true;
}

bool nd_page_take(const struct nd_html_page *page, size_t title, size_t shift,
                  struct nd_arena *arena, struct nd_document *document)
{
    return (!page->wants.marks || take_marks(page, title, shift, arena, document)) &&
           (!page->wants.tree || take_tree(page, arena, document));
}
