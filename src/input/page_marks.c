/* page_marks.c - what of a page's text is marked up, and its links, while the page is read */
#include <stdlib.h>
#include <string.h>

#include "input/page_marks.h"

void nd_page_marks_clear(struct nd_page_marks *m)
{
    m->n_spans = m->n_links = 0;
    m->depth = 0;
    m->base = (struct nd_view){NULL, 0};
    m->in_span = m->in_link = m->has_anchor = false;
}

void nd_page_marks_release(struct nd_page_marks *m)
{
    free(m->span);
    free(m->link);
    *m = (struct nd_page_marks){.depth = 0};
}

/* The elements of 000 s. 5.4 and 6.4.7 and their like; title is dealt with apart. */
static bool is_marked(const char *name)
{
    if (name[0] == 'h')
        return name[1] >= '1' && name[1] <= '6' && !name[2];
    return strcmp(name, "b") == 0 || strcmp(name, "i") == 0 || strcmp(name, "em") == 0 ||
           strcmp(name, "strong") == 0;
}

static bool set_base(struct nd_page_marks *m, const char *href, struct nd_arena *arena)
{
    char *copy;

    if (!href || m->base.data)
        return true;
    copy = nd_arena_copy(arena, href, strlen(href));
    m->base = (struct nd_view){copy, strlen(href)};
    return copy != NULL;
}

bool nd_page_marks_begin(struct nd_page_marks *m, const char *name, const char *href, size_t at,
                         struct nd_arena *arena)
{
    const char *target;
    size_t len;

    m->depth += is_marked(name);
    if (strcmp(name, "base") == 0)
        return set_base(m, href, arena);
    if (strcmp(name, "a") != 0)
        return true;
    m->in_link = false; /* anchors do not nest: one that is open ends here */
    if (!href)
        return true;
    len = strlen(href);
    target = nd_arena_copy(arena, href, len);
    if (!target ||
        !nd_array_reserve((void **)&m->link, &m->link_capacity, m->n_links + 1, sizeof *m->link))
        return false;
    m->link[m->n_links++] = (struct nd_link){at, 0, {target, len}};
    m->in_link = true;
    m->has_anchor = false;
    return true;
}

void nd_page_marks_end(struct nd_page_marks *m, const char *name)
{
    if (is_marked(name) && m->depth > 0) {
        m->depth--;
        m->in_span = m->in_span && m->depth > 0;
    } else if (strcmp(name, "a") == 0) {
        m->in_link = false;
    }
}

bool nd_page_marks_add(struct nd_page_marks *m, size_t from, size_t to)
{
    if (m->in_link) {
        struct nd_link *link = &m->link[m->n_links - 1];

        if (!m->has_anchor)
            link->offset = from;
        link->len = to - link->offset;
        m->has_anchor = true;
    }
    if (m->depth == 0)
        return true;
    if (m->in_span) {
        m->span[m->n_spans - 1].len = to - m->span[m->n_spans - 1].offset;
        return true;
    }
    if (m->n_spans > 0 && m->span[m->n_spans - 1].offset + m->span[m->n_spans - 1].len == from) {
        m->span[m->n_spans - 1].len += to - from; /* </b><i>: the same stretch */
    } else {
        if (!nd_array_reserve((void **)&m->span, &m->span_capacity, m->n_spans + 1,
                              sizeof *m->span))
            return false;
        m->span[m->n_spans++] = (struct nd_markup){from, to - from};
    }
    m->in_span = true;
    return true;
}

bool nd_page_marks_take(const struct nd_page_marks *m, size_t title, size_t shift, size_t len,
                        struct nd_arena *arena, struct nd_document *document)
{
    size_t n = m->n_spans + (title > 0), first = title > 0;
    struct nd_markup *span = nd_arena_alloc(arena, (n + 1) * sizeof *span);
    struct nd_link *link = nd_arena_alloc(arena, (m->n_links + 1) * sizeof *link);

    if (!span || !link)
        return false;
    if (title)
        span[0] = (struct nd_markup){0, title};
    for (size_t i = 0; i < m->n_spans; i++)
        span[first + i] = (struct nd_markup){m->span[i].offset + shift, m->span[i].len};
    for (size_t i = 0; i < m->n_links; i++) {
        link[i] = m->link[i];
        link[i].offset = (link[i].offset < len ? link[i].offset : len) + shift;
    }
    document->markup = span;
    document->n_markup = n;
    document->links = link;
    document->n_links = m->n_links;
    document->base = m->base;
    return true;
}
