/* memory.c - allocation with checked sizes, growing buffers, arenas, tables on huge pages */
#include "base/memory.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/descriptor.h"
#include "base/system/pages.h"

void *nd_alloc_array(size_t n, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, size, &bytes))
        return NULL;
    return malloc(bytes ? bytes : 1);
}

/* Read and replace the pointer at this address, whatever its type. */
static void *pointer_at(const void *address)
{
    void *p;

    memcpy(&p, address, sizeof p);
    return p;
}

static void set_pointer_at(void *address, void *p)
{
    memcpy(address, &p, sizeof p);
}

bool nd_array_reserve(void *array, size_t *capacity, size_t need, size_t size)
{
    size_t bytes, n = *capacity + *capacity / 2;
    void *grown;

    if (need <= *capacity)
        return true;
    if (n < need)
        n = need;
    if (n < 16)
        n = 16;
    if (__builtin_mul_overflow(n, size, &bytes))
        return false;
    grown = realloc(pointer_at(array), bytes);
    if (!grown)
        return false;
    set_pointer_at(array, grown);
    *capacity = n;
    return true;
}

bool nd_buffer_reserve(struct nd_buffer *b, size_t len)
{
    size_t need;

    if (__builtin_add_overflow(len, (size_t)ND_BUFFER_PADDING, &need))
        return false;
    if (need <= b->capacity)
        return true;
    if (!ND_RESERVE(b->data, &b->capacity, need))
        return false;
    memset(b->data + b->len, 0, b->capacity - b->len);
    return true;
}

bool nd_buffer_append(struct nd_buffer *b, const void *data, size_t len)
{
    size_t sum;

    if (__builtin_add_overflow(b->len, len, &sum) || !nd_buffer_reserve(b, sum))
        return false;
    if (len)
        memcpy(b->data + b->len, data, len);
    b->len = sum;
    return true;
}

void nd_buffer_release(struct nd_buffer *b)
{
    free(b->data);
    *b = (struct nd_buffer){0};
}

/*
 * Blocks in a list. The first ones are kept for the next round; a block has at least ARENA_BLOCK
 * bytes.
 */
struct nd_arena_block {
    struct nd_arena_block *next;
    size_t capacity;
    alignas(max_align_t) char data[];
};
enum { ARENA_BLOCK = 1 << 18 };

static struct nd_arena_block *arena_grow(struct nd_arena *a, size_t bytes)
{
    struct nd_arena_block *block, **link = a->current ? &a->current->next : &a->first;
    size_t capacity = bytes > ARENA_BLOCK ? bytes : ARENA_BLOCK, total;

    if (__builtin_add_overflow(capacity, sizeof *block, &total))
        return NULL;
    block = malloc(total);
    if (!block)
        return NULL;
    block->capacity = capacity;
    block->next = *link;
    *link = block;
    return block;
}

void *nd_arena_alloc(struct nd_arena *a, size_t bytes)
{
    const size_t align = alignof(max_align_t);
    struct nd_arena_block *block = a->current;
    void *p;

    if (bytes > SIZE_MAX - align)
        return NULL;
    bytes = (bytes + align - 1) / align * align;
    if (!block || bytes > block->capacity - a->used) {
        block = block ? block->next : a->first;
        if (!block || bytes > block->capacity)
            block = arena_grow(a, bytes);
        if (!block)
            return NULL;
        a->current = block;
        a->used = 0;
    }
    p = block->data + a->used;
    a->used += bytes;
    return p;
}

char *nd_arena_copy(struct nd_arena *a, const void *data, size_t len)
{
    char *copy =
        len > SIZE_MAX - ND_BUFFER_PADDING ? NULL : nd_arena_alloc(a, len + ND_BUFFER_PADDING);

    if (!copy)
        return NULL;
    if (len)
        memcpy(copy, data, len);
    memset(copy + len, 0, ND_BUFFER_PADDING);
    return copy;
}

/* Blocks larger than usual are freed, so that one huge document does not keep its memory. */
void nd_arena_reset(struct nd_arena *a)
{
    struct nd_arena_block **link = &a->first;

    while (*link) {
        struct nd_arena_block *block = *link;

        if (block->capacity > ARENA_BLOCK) {
            *link = block->next;
            free(block);
        } else {
            link = &block->next;
        }
    }
    a->current = a->first;
    a->used = 0;
}

void nd_arena_release(struct nd_arena *a)
{
    while (a->first) {
        struct nd_arena_block *next = a->first->next;

        free(a->first);
        a->first = next;
    }
    *a = (struct nd_arena){0};
}

/*
 * Tables with random access.  A lookup in a table of gigabytes misses the processor's cache of
 * address translations, and each miss costs as much as a miss of data.  Huge pages of 2 MiB need
 * 512 times fewer translations.  Linux makes a huge page only of 2 MiB that begin at a multiple of
 * 2 MiB inside one mapping, so that a table has to begin there: map_aligned() maps a huge page more
 * than it needs and cut_aligned() gives both ends back:
 *
 *      p          begin = multiple of 2 MiB        end = begin + bytes
 *      |--unmap--|=================================|--unmap--|
 *
 * On a system that moves pages (mremap of Linux), such a table grows without a copy: the kernel moves
 * entries of the page table, and the old and the new table never hold memory at once.  It keeps a huge
 * page whole only where both the old and the new address are multiples of 2 MiB, so that move_pages()
 * first reserves a place of that kind (address space without memory) and has the pages moved onto it.
 */
#define HUGE_PAGE ((size_t)2 << 20)
#define HUGE_MIN ((size_t)4 << 20)   /* smaller tables use normal pages */
#define SMALL_PAGE ((size_t)1 << 16) /* a multiple of the page size of any machine */
#define LARGE ((size_t)1 << 20)      /* columns from here on grow by less than double */
#define OWN_MIN ((size_t)64 << 20)   /* larger columns do not share a huge page with others */

enum { WASTE = 16 }; /* the fraction of a request that rounding up to a whole huge page may add */

static size_t round_up(size_t bytes, size_t page)
{
    return (bytes + page - 1) / page * page;
}

static void advise_huge(void *table, size_t bytes)
{
    if (bytes >= HUGE_MIN)
        nd_pages_hint(table, bytes, ND_PAGES_HUGE);
}

/*
 * Cut a mapping of `bytes` (whole pages) plus a huge page to `bytes` that begin on a huge-page
 * boundary; unmap the rest.
 */
static void *cut_aligned(char *p, size_t bytes)
{
    char *begin = p + (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE, *end = begin + bytes;

    if (begin != p)
        nd_pages_free(p, (size_t)(begin - p));
    if (end != p + bytes + HUGE_PAGE)
        nd_pages_free(end, (size_t)(p + bytes + HUGE_PAGE - end));
    return begin;
}

/* Get whole pages, by one of two functions, that begin on a huge-page boundary; NULL: none left. */
static void *aligned(void *(*get)(size_t bytes), size_t bytes)
{
    void *p;

    if (bytes > SIZE_MAX - 2 * HUGE_PAGE)
        return NULL;
    bytes = round_up(bytes, nd_page_bytes());
    p = get(bytes + HUGE_PAGE);
    return p ? cut_aligned(p, bytes) : NULL;
}

void *nd_address_reserve(size_t bytes)
{
    return aligned(nd_pages_reserve, bytes);
}

void *nd_table_alloc(size_t bytes)
{
    void *p =
        bytes >= HUGE_MIN ? aligned(nd_pages_alloc, bytes) : nd_pages_alloc(bytes ? bytes : 1);

    if (p)
        advise_huge(p, bytes);
    return p;
}

void nd_table_begin_small(void *table, size_t bytes)
{
    nd_pages_hint(table, bytes < HUGE_PAGE ? bytes : HUGE_PAGE, ND_PAGES_SMALL);
}

void nd_table_touch(void *table, size_t bytes)
{
    nd_pages_hint(table, bytes, ND_PAGES_TOUCH);
}

void nd_table_free(void *table, size_t bytes)
{
    if (table)
        nd_pages_free(table, bytes ? bytes : 1);
}

void nd_table_forget(void *part, size_t bytes)
{
    uintptr_t from = round_up((uintptr_t)part, HUGE_PAGE),
              to = ((uintptr_t)part + bytes) / HUGE_PAGE * HUGE_PAGE;

    if (from < to)
        nd_pages_hint((char *)part + (from - (uintptr_t)part), to - from, ND_PAGES_FORGET);
}

/*
 * Move the pages to an address where huge pages stay whole; at any other address the kernel splits
 * them. But splitting is better than failing if there is not enough address space for both places.
 */
static void *move_pages(void *table, size_t bytes, size_t new_bytes)
{
    void *p, *place = NULL;

    if (new_bytes >= HUGE_MIN && new_bytes % SMALL_PAGE == 0)
        place = nd_address_reserve(new_bytes);
    p = nd_pages_move(table, bytes, place, new_bytes);
    if (!p && place)
        nd_pages_free(place, new_bytes);
    return p;
}

/*
 * Three ways, cheapest first: extend the mapping in place; copy, if moved pages could not become
 * huge; move the pages. Copying needs memory for both tables, so if it fails the pages are moved
 * after all, and the table is merely slower.
 */
static bool grow_table(void **table, size_t bytes, size_t new_bytes)
{
    const bool is_huge = bytes >= HUGE_MIN, moves_pages = nd_pages_move_is_possible();
    void *p = NULL;

    if (!*table) {
        *table = nd_table_alloc(new_bytes);
        return *table != NULL;
    }
    if (is_huge && moves_pages && nd_pages_extend(*table, bytes, new_bytes))
        p = *table;
    if (!p &&
        (!moves_pages || (new_bytes >= HUGE_MIN && (!is_huge || (uintptr_t)*table % HUGE_PAGE)))) {
        /* moving keeps small pages small, and turns shared huge pages into small ones */
        void *copy = nd_table_alloc(new_bytes);

        if (copy) {
            memcpy(copy, *table, bytes);
            nd_table_free(*table, bytes);
            *table = copy;
            return true;
        }
    }
    if (!p)
        p = move_pages(*table, bytes, new_bytes);
    if (!p)
        return false;
    *table = p;
    advise_huge(p, new_bytes);
    return true;
}

bool nd_table_grow(void *table, size_t bytes, size_t new_bytes)
{
    void *p = pointer_at(table);
    bool is_grown = grow_table(&p, bytes, new_bytes);

    if (is_grown)
        set_pointer_at(table, p);
    return is_grown;
}

/*
 * Moving the pages of a large table and then dropping them (which read as zero afterwards)
 * needs no second address range while the first still exists, as allocating and freeing would.
 */
static bool renew_table(void **table, size_t bytes, size_t new_bytes)
{
    void *p;

    if (!nd_pages_move_is_possible() || !*table || bytes < HUGE_MIN || new_bytes < bytes ||
        new_bytes > SIZE_MAX - 2 * HUGE_PAGE) {
        p = nd_table_alloc(new_bytes);
        if (!p)
            return false;
        nd_table_free(*table, bytes);
    } else {
        new_bytes = round_up(new_bytes, nd_page_bytes());
        p = nd_pages_move(*table, bytes, NULL, new_bytes + HUGE_PAGE);
        if (!p)
            return false;
        nd_pages_hint(p, new_bytes + HUGE_PAGE, ND_PAGES_FORGET);
        p = cut_aligned(p, new_bytes);
        advise_huge(p, new_bytes);
    }
    *table = p;
    return true;
}

bool nd_table_renew(void *table, size_t bytes, size_t new_bytes)
{
    void *p = pointer_at(table);
    bool is_renewed = renew_table(&p, bytes, new_bytes);

    if (is_renewed)
        set_pointer_at(table, p);
    return is_renewed;
}

bool nd_column_reserve(struct nd_column *column, size_t n, size_t size)
{
    size_t need, page,
        bytes = column->bytes + (column->bytes < LARGE ? column->bytes : column->bytes / 8);

    if (__builtin_mul_overflow(n, size, &need) || need > SIZE_MAX - HUGE_PAGE)
        return false;
    if (need <= column->bytes)
        return true;
    if (bytes < need)
        bytes = need;
    /* The part added to a column uses huge pages only if it is whole huge pages. */
    page = column->bytes && bytes >= HUGE_MIN ? HUGE_PAGE : SMALL_PAGE;
    bytes = round_up(bytes, page);
    if (column->file)
        return nd_column_grow_file(column, need);
    if (column->mapped)
        return nd_column_move(column, bytes);
    if (!nd_table_grow(&column->data, column->bytes, bytes))
        return false;
    if (bytes < HUGE_MIN) /* small pages, each of which would cause a fault of its own */
        nd_table_touch((char *)column->data + column->bytes, bytes - column->bytes);
    column->bytes = bytes;
    return true;
}

void nd_column_shrink(struct nd_column *column, size_t n, size_t size)
{
    size_t bytes = round_up(n * size, SMALL_PAGE);

    if (bytes >= column->bytes)
        return;
    nd_pages_free((char *)column->data + bytes, column->bytes - bytes);
    column->bytes = bytes;
    if (column->mapped > bytes)
        column->mapped = bytes;
    if (bytes == 0)
        column->data = NULL;
}

void nd_column_release(struct nd_column *column)
{
    nd_table_free(column->data, column->bytes);
    if (column->file)
        (void)nd_descriptor_close(column->file - 1);
    *column = (struct nd_column){0};
}

/* The bytes of a request, and where it may begin after `offset`; false: too many. */
static bool place_request(const struct nd_column_request *request, size_t *offset, size_t *bytes)
{
    if (request->bytes > SIZE_MAX / 4 || *offset > SIZE_MAX / 4)
        return false;
    *bytes = round_up(request->bytes, request->bytes < OWN_MIN ? SMALL_PAGE : HUGE_PAGE);
    if (*bytes >= OWN_MIN)
        *offset = round_up(*offset, HUGE_PAGE);
    return true;
}

bool nd_columns_make(const struct nd_column_request *request, size_t n)
{
    size_t total = 0, offset = 0, bytes;
    struct nd_column *last = NULL;
    char *data;

    for (size_t i = 0; i < n; i++, total += bytes)
        if (!place_request(&request[i], &total, &bytes))
            return false;
    if (total == 0)
        return true;
    if (round_up(total, HUGE_PAGE) - total <= total / WASTE)
        total = round_up(total, HUGE_PAGE);
    data = nd_table_alloc(total);
    if (!data)
        return false;
    for (size_t i = 0; i < n; i++, offset += bytes) {
        (void)place_request(&request[i], &offset, &bytes);
        if (bytes == 0)
            continue;
        if (last) /* up to where the next column begins */
            last->bytes = (size_t)(data + offset - (char *)last->data);
        last = request[i].column;
        last->data = data + offset;
    }
    last->bytes = (size_t)(data + total - (char *)last->data);
    return true;
}
