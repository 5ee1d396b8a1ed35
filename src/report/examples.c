/* examples.c - removed documents beside those kept for them: the least certain, and some at random */
#include "report/examples.h"

#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* An example with what orders it, and the bytes that its views point into. */
struct held_example {
    struct nd_example of;
    uint64_t hash; /* of its place */
    char bytes[];
};

/* Returns whether a is worse than b: it leaves the heap before b does. */
typedef bool worse(const struct held_example *a, const struct held_example *b);

/* A binary heap of at most `room`, the worst one first. */
struct best_heap {
    struct held_example **item;
    size_t n, room;
    worse *is_worse;
};

struct worker_examples {
    struct best_heap closest, sample;
    uint64_t near;
};

struct nd_examples {
    unsigned n_workers;
    struct worker_examples *worker; /* once they are joined, all is in the first one */
};

static int compare_bytes(struct nd_view a, struct nd_view b)
{
    size_t least = a.len < b.len ? a.len : b.len;
    int order = least ? memcmp(a.data, b.data, least) : 0;

    return order ? order : a.len < b.len ? -1 : a.len > b.len;
}

/* Without a measure, the distance alone decides; without a distance, a removal is in the middle. */
static double certainty(const struct nd_example *e)
{
    return e->measure >= 0 ? e->measure : e->distance <= 512 ? 1 - e->distance / 512.0 : .5;
}

static bool is_more_certain(const struct held_example *a, const struct held_example *b)
{
    const double left = certainty(&a->of), right = certainty(&b->of);

    if (left != right)
        return left > right;
    return a->hash != b->hash ? a->hash > b->hash : compare_bytes(a->of.at[1], b->of.at[1]) > 0;
}

static bool has_more_hash(const struct held_example *a, const struct held_example *b)
{
    return a->hash != b->hash ? a->hash > b->hash : compare_bytes(a->of.at[1], b->of.at[1]) > 0;
}

/* ---- Heaps ---------------------------------------------------------------------------------------- */

static bool heap_wants(const struct best_heap *h, const struct held_example *e)
{
    return h->n < h->room || h->is_worse(h->item[0], e);
}

static void swap(struct best_heap *h, size_t a, size_t b)
{
    struct held_example *was = h->item[a];

    h->item[a] = h->item[b];
    h->item[b] = was;
}

static void sift_up(struct best_heap *h, size_t i)
{
    for (; i && h->is_worse(h->item[i], h->item[(i - 1) / 2]); i = (i - 1) / 2)
        swap(h, i, (i - 1) / 2);
}

static void sift_down(struct best_heap *h, size_t i)
{
    for (;;) {
        size_t worst = i;

        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < h->n; child++)
            if (h->is_worse(h->item[child], h->item[worst]))
                worst = child;
        if (worst == i)
            return;
        swap(h, i, worst);
        i = worst;
    }
}

/* Take over an example that the heap wants; the one that leaves for it is freed. */
static void heap_put(struct best_heap *h, struct held_example *e)
{
    if (h->n < h->room) {
        h->item[h->n++] = e;
        sift_up(h, h->n - 1);
        return;
    }
    free(h->item[0]);
    h->item[0] = e;
    sift_down(h, 0);
}

static bool heap_init(struct best_heap *h, size_t room, worse *is_worse)
{
    *h = (struct best_heap){
        .item = calloc(room, sizeof(void *)), .room = room, .is_worse = is_worse};
    return h->item != NULL;
}

static void heap_release(struct best_heap *h)
{
    for (size_t i = 0; i < h->n; i++)
        free(h->item[i]);
    free(h->item);
}

/* ---- Adding --------------------------------------------------------------------------------------- */

struct nd_examples *nd_examples_new(unsigned n_workers)
{
    struct nd_examples *e = calloc(1, sizeof *e);
    bool good = e && (e->worker = calloc(n_workers, sizeof *e->worker));

    for (unsigned i = 0; good && i < n_workers; i++) {
        e->n_workers = i + 1;
        good = heap_init(&e->worker[i].closest, ND_EXAMPLES_CLOSEST, is_more_certain) &&
               heap_init(&e->worker[i].sample, ND_EXAMPLES_SAMPLE, has_more_hash);
    }
    if (good)
        return e;
    nd_examples_free(e);
    return NULL;
}

void nd_examples_free(struct nd_examples *e)
{
    for (unsigned i = 0; e && i < e->n_workers; i++) {
        heap_release(&e->worker[i].closest);
        heap_release(&e->worker[i].sample);
    }
    if (e)
        free(e->worker);
    free(e);
}

static struct held_example candidate(const struct nd_example *example)
{
    return (struct held_example){.of = *example,
                                 .hash = nd_hash_bytes(example->at[1].data, example->at[1].len)};
}

bool nd_examples_wants(struct nd_examples *e, unsigned worker, const struct nd_example *example)
{
    struct worker_examples *w = &e->worker[worker];
    const struct held_example held = candidate(example);

    w->near++;
    return heap_wants(&w->closest, &held) || heap_wants(&w->sample, &held);
}

/* Bytes of equal text that an excerpt has before the first difference. */
enum { BEFORE_DIFFERENCE = 400 };

static bool is_inside_character(struct nd_view text, size_t at)
{
    return at < text.len && ((unsigned char)text.data[at] & 0xC0) == 0x80;
}

/* Find where excerpts of two texts begin, which is the same place in both: a little before what
 * differs. */
static size_t excerpt_begin(struct nd_view a, struct nd_view b)
{
    size_t at = 0, least = a.len < b.len ? a.len : b.len;

    while (at < least && a.data[at] == b.data[at])
        at++;
    at -= at < BEFORE_DIFFERENCE ? at : BEFORE_DIFFERENCE;
    while (at && is_inside_character(a, at))
        at--;
    return at;
}

static struct nd_view excerpt(struct nd_view text, size_t from, size_t most, bool *is_cut)
{
    size_t len = text.len - from < most ? text.len - from : most;

    while (len && is_inside_character(text, from + len))
        len--;
    *is_cut = len < text.len;
    return (struct nd_view){text.data + from, len};
}

static struct nd_view move(char **to, struct nd_view bytes)
{
    struct nd_view moved = {*to, bytes.len};

    if (bytes.len)
        memcpy(*to, bytes.data, bytes.len);
    *to += bytes.len;
    return moved;
}

/* A copy with at most so many bytes of each text; NULL: out of memory. */
static struct held_example *copy_of(const struct held_example *from, size_t most)
{
    struct held_example *copy;
    struct nd_example e = from->of;
    size_t bytes = 0, begin = 0;
    char *to;

    if (e.text[0].len > most || e.text[1].len > most)
        begin = excerpt_begin(e.text[0], e.text[1]);
    for (unsigned k = 0; k < 2; k++) {
        e.text[k] = excerpt(e.text[k], begin, most, &e.is_cut[k]);
        bytes += e.name[k].len + e.at[k].len + e.text[k].len;
    }
    copy = malloc(sizeof *copy + bytes);
    if (!copy)
        return NULL;
    to = copy->bytes;
    for (unsigned k = 0; k < 2; k++) {
        e.name[k] = move(&to, e.name[k]);
        e.at[k] = move(&to, e.at[k]);
        e.text[k] = move(&to, e.text[k]);
    }
    copy->of = e;
    copy->hash = from->hash;
    return copy;
}

static bool put_copy(struct best_heap *h, const struct held_example *held, size_t most)
{
    struct held_example *copy;

    if (!heap_wants(h, held))
        return true;
    copy = copy_of(held, most);
    if (copy)
        heap_put(h, copy);
    return copy != NULL;
}

/* The class is of the whole texts in the sample, from which shares are estimated.  It takes the time
 * of both texts, so that of the least certain is found at the end, in what is shown. */
enum nd_status nd_examples_add(struct nd_examples *e, unsigned worker,
                               const struct nd_example *example, struct nd_error *err)
{
    struct worker_examples *w = &e->worker[worker];
    struct held_example held = candidate(example);
    struct nd_difference difference;
    enum nd_status status = ND_OK;

    if (!put_copy(&w->closest, &held, ND_EXAMPLE_BYTES))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (!heap_wants(&w->sample, &held))
        return ND_OK;
    status = nd_difference_of(example->text[0], example->text[1], &difference, err);
    held.of.by = difference.by;
    if (status == ND_OK && !put_copy(&w->sample, &held, ND_EXAMPLE_BYTES_SAMPLE))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    return status;
}

/* ---- The end -------------------------------------------------------------------------------------- */

static void join(struct best_heap *to, struct best_heap *from)
{
    for (size_t i = 0; i < from->n; i++)
        if (heap_wants(to, from->item[i]))
            heap_put(to, from->item[i]);
        else
            free(from->item[i]);
    from->n = 0;
}

static int by_certainty(const void *left, const void *right)
{
    const struct held_example *a = *(struct held_example *const *)left,
                              *b = *(struct held_example *const *)right;

    return is_more_certain(a, b) ? 1 : is_more_certain(b, a) ? -1 : 0;
}

/* Find what differs in those of which it is not known. */
static enum nd_status find_classes(struct best_heap *h, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < h->n; i++) {
        struct nd_example *e = &h->item[i]->of;
        struct nd_difference difference;

        status = nd_difference_of(e->text[0], e->text[1], &difference, err);
        e->by = difference.by;
    }
    return status;
}

enum nd_status nd_examples_end(struct nd_examples *e, struct nd_error *err)
{
    struct worker_examples *all = &e->worker[0];

    for (unsigned i = 1; i < e->n_workers; i++) {
        join(&all->closest, &e->worker[i].closest);
        join(&all->sample, &e->worker[i].sample);
        all->near += e->worker[i].near;
        e->worker[i].near = 0;
    }
    if (all->closest.n)
        qsort(all->closest.item, all->closest.n, sizeof(void *), by_certainty);
    if (all->sample.n)
        qsort(all->sample.item, all->sample.n, sizeof(void *), by_certainty);
    return find_classes(&all->closest, err);
}

uint64_t nd_examples_near(const struct nd_examples *e)
{
    return e->worker[0].near;
}

static const struct nd_example *item_of(const struct best_heap *h, size_t i)
{
    return i < h->n ? &h->item[i]->of : NULL;
}

const struct nd_example *nd_examples_closest(const struct nd_examples *e, size_t i)
{
    return item_of(&e->worker[0].closest, i);
}

const struct nd_example *nd_examples_sampled(const struct nd_examples *e, size_t i)
{
    return item_of(&e->worker[0].sample, i);
}
