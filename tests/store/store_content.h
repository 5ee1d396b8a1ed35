/* store_content.h - documents for a store: near and equal ones, versions, labels, deletions */
#ifndef STORE_CONTENT_H
#define STORE_CONTENT_H

#include "base/hash.h"
#include "store_fixture.h"

/* Text i: of every five, the second is near the first, and the third its equal; the fifth is short. */
static inline const char *content_text(unsigned i)
{
    static char text[4096];
    unsigned seed = i % 5 == 1 || i % 5 == 2 ? i - i % 5 : i;
    size_t len = 0;
    int n = i % 5 == 4 ? 2 : 60;

    for (int w = 0; w < n; w++)
        len += (size_t)snprintf(text + len, sizeof text - len, "w%u ",
                                (unsigned)(nd_mix64((uint64_t)seed << 8 | (unsigned)w) % 5000));
    if (i % 5 == 1)
        (void)snprintf(text + len, sizeof text - len, "changed");
    return text;
}

/* Writes that are handed over together. */
struct content {
    struct fixture *f;
    struct nd_write *write[32];
    size_t n;
};

static inline void content_submit(struct content *c)
{
    struct nd_error err;

    if (c->n && submit_and_wait(c->f->store, c->write, c->n, &err) != ND_STORE_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < c->n; i++)
        nd_write_free(c->write[i]);
    c->n = 0;
    c->f->now += 10;
}

static inline void content_write(struct content *c, const struct nd_write_request *request)
{
    struct nd_error err;

    if (nd_write_new(c->f->session, c->f->admin, request, &c->write[c->n++], &err) != ND_STORE_OK)
        fail_msg("%s", err.message);
    if (c->n == sizeof c->write / sizeof *c->write)
        content_submit(c);
}

static inline void content_post(struct content *c, unsigned id, unsigned text, unsigned labels)
{
    static const char *const name[] = {"press", "secret"};
    struct nd_view label[2];
    char long_id[400];
    struct nd_write_request request = {.text = view(content_text(text)), .labels = label};
    char title[32];

    if (id % 4) {
        (void)snprintf(title, sizeof title, "Story %u of %u", text, id);
        request.title = view(title);
    }
    (void)snprintf(long_id, sizeof long_id, "https://example.org/%u/%0*u", id,
                   id % 7 == 3 ? 300 : 1, 0u);
    request.id = view(long_id);
    for (unsigned i = 0; i < 2; i++)
        if (labels >> i & 1)
            label[request.n_labels++] = view(name[i]);
    content_write(c, &request);
}

static inline void content_delete(struct content *c, unsigned id)
{
    struct nd_write_request request = {.is_deletion = true, .any_labels = true};
    char name[64];

    (void)snprintf(name, sizeof name, "https://example.org/%u/0", id);
    request.id = view(name);
    content_write(c, &request);
}

/* n documents, every third with two versions; every tenth is deleted. */
static inline void content_fill(struct fixture *f, unsigned n)
{
    struct content c = {.f = f, .n = 0};

    for (unsigned i = 0; i < n; i++)
        content_post(&c, i, i % 3 ? i : i + 1000, i / 5 % 3);
    content_submit(&c);
    for (unsigned i = 0; i < n; i += 3)
        content_post(&c, i, i, i / 5 % 3);
    for (unsigned i = 1; i < n; i += 10)
        if (i % 7 != 3)
            content_delete(&c, i);
    content_submit(&c);
}

#endif
