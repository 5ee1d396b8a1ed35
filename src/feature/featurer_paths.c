/* featurer_paths.c - the paths of a page's elements (000 s. 2.5.3: the bag of tree paths) */
#include "feature/featurer.h"

#include "base/hash.h"

#include <neardup/text.h>

#define KIND_PATH UINT64_C(0x70617468) /* "path" */

/* A path's hash is that of its parent's path and the element's name. */
bool nd_featurer_read_paths(struct nd_featurer *f, const struct nd_document *document)
{
    const uint64_t root = nd_mix64(KIND_PATH);
    size_t n = document->n_elements;

    f->n_words = f->n_terms = n;
    if (n >= ND_ELEMENT_NONE || !nd_featurer_reserve_terms(f, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct nd_element *e = &document->elements[i];
        uint64_t above = e->parent < i ? f->term[e->parent] : root;

        f->term[i] = nd_mix64(above ^ nd_token_hash(e->name.data, e->name.len));
    }
    return true;
}

static void reverse(char *text, size_t len)
{
    for (size_t i = 0; i < len / 2; i++) {
        char c = text[i];

        text[i] = text[len - 1 - i];
        text[len - 1 - i] = c;
    }
}

/* "html/body/p": from the element up, backwards, and then turned round. */
bool nd_path_text(const struct nd_document *document, size_t element, struct nd_buffer *out)
{
    size_t from = out->len, at = element;

    for (;;) {
        const struct nd_element *e = &document->elements[at];

        if (!nd_buffer_append(out, "/", at != element) ||
            !nd_buffer_append(out, e->name.data, e->name.len))
            return false;
        reverse(out->data + out->len - e->name.len, e->name.len);
        if (e->parent >= at)
            break;
        at = e->parent;
    }
    reverse(out->data + from, out->len - from);
    return true;
}
