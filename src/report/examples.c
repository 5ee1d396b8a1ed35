/* examples.c - removed documents beside those kept for them: the least certain, and some at random */
#include "report/examples.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/system/threads.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* An example with what orders it, and the bytes that its views point into. */
struct held_example {
    struct nd_example of;
    uint64_t hash; /* of its place */
    bool is_done;  /* its texts are compared, and cut; */
    size_t held;   /* until then, how many bytes they have */
    char bytes[];
};

/* Returns whether a is worse than b: it leaves the heap before b does. */
typedef bool worse(const struct held_example *a, const struct held_example *b);

/* A binary heap of at most `room`, the worst one first. */
struct best_heap {
    struct held_example **item;
    size_t n, room;
    worse *is_worse;
    size_t most;    /* bytes that are shown of a text, */
    bool cuts_last; /* and whether the class is of the whole texts */
    /* The `rank` of the worst one: no other with more is wanted.  It only falls. */
    uint64_t (*rank)(const struct held_example *);
    _Atomic uint64_t bound;
};

struct nd_examples {
    struct best_heap closest, sample;
    struct nd_rwlock *lock; /* of the heaps */
    _Atomic uint64_t near;
    _Atomic size_t held; /* bytes of whole texts */
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

/* Numbers of one sign are ordered as their bits are. */
static uint64_t certainty_rank(const struct held_example *e)
{
    const double value = certainty(&e->of);
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t hash_rank(const struct held_example *e)
{
    return e->hash;
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

/* Take over an example, and return the one that leaves: it, another, or none. */
static struct held_example *heap_put(struct best_heap *h, struct held_example *e)
{
    struct held_example *gone = NULL;

    if (!heap_wants(h, e))
        return e;
    if (h->n < h->room) {
        h->item[h->n++] = e;
        sift_up(h, h->n - 1);
    } else {
        gone = h->item[0];
        h->item[0] = e;
        sift_down(h, 0);
    }
    if (h->n == h->room)
        atomic_store_explicit(&h->bound, h->rank(h->item[0]), memory_order_relaxed);
    return gone;
}

/* Whether the heap could want it: sure only for who holds the lock. */
static bool heap_may_want(const struct best_heap *h, const struct held_example *e)
{
    return h->rank(e) <= atomic_load_explicit(&h->bound, memory_order_relaxed);
}

static void heap_release(struct best_heap *h)
{
    for (size_t i = 0; i < h->n; i++)
        free(h->item[i]);
    free(h->item);
}

/* ---- Adding --------------------------------------------------------------------------------------- */

struct nd_examples *nd_examples_new(void)
{
    struct nd_examples *e = calloc(1, sizeof *e);

    if (!e)
        return NULL;
    e->closest = (struct best_heap){.room = ND_EXAMPLES_CLOSEST,
                                    .is_worse = is_more_certain,
                                    .rank = certainty_rank,
                                    .bound = UINT64_MAX,
                                    .most = ND_EXAMPLE_BYTES};
    e->sample = (struct best_heap){.room = ND_EXAMPLES_SAMPLE,
                                   .is_worse = has_more_hash,
                                   .rank = hash_rank,
                                   .bound = UINT64_MAX,
                                   .most = ND_EXAMPLE_BYTES_SAMPLE,
                                   .cuts_last = true};
    e->closest.item = calloc(e->closest.room, sizeof(void *));
    e->sample.item = calloc(e->sample.room, sizeof(void *));
    e->lock = nd_rwlock_new();
    if (e->closest.item && e->sample.item && e->lock)
        return e;
    nd_examples_free(e);
    return NULL;
}

void nd_examples_free(struct nd_examples *e)
{
    if (!e)
        return;
    heap_release(&e->closest);
    heap_release(&e->sample);
    nd_rwlock_free(e->lock);
    free(e);
}

static struct held_example candidate(const struct nd_example *example)
{
    return (struct held_example){.of = *example,
                                 .hash = nd_hash_bytes(example->at[1].data, example->at[1].len)};
}

bool nd_examples_wants(struct nd_examples *e, const struct nd_example *example)
{
    const struct held_example held = candidate(example);

    atomic_fetch_add_explicit(&e->near, 1, memory_order_relaxed);
    return heap_may_want(&e->closest, &held) || heap_may_want(&e->sample, &held);
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
    struct nd_view moved = {bytes.data ? *to : NULL, bytes.len};

    if (bytes.data)
        memcpy(*to, bytes.data, bytes.len);
    *to += bytes.len;
    return moved;
}

static bool has_texts(const struct nd_example *e)
{
    return e->text[0].data && e->text[1].data;
}

/* A copy with at most so many bytes of each text, if both are there; NULL: out of memory. */
static struct held_example *copy_of(const struct nd_example *from, uint64_t hash, size_t most)
{
    struct held_example *copy;
    struct nd_example e = *from;
    size_t bytes = 0, begin = 0;
    char *to;

    if (has_texts(&e) && (e.text[0].len > most || e.text[1].len > most))
        begin = excerpt_begin(e.text[0], e.text[1]);
    for (unsigned k = 0; k < 2; k++) {
        if (has_texts(&e))
            e.text[k] = excerpt(e.text[k], begin, most, &e.is_cut[k]);
        bytes += e.name[k].len + e.at[k].len + e.text[k].len;
    }
    copy = malloc(sizeof *copy + bytes + 1);
    if (!copy)
        return NULL;
    *copy = (struct held_example){.hash = hash};
    to = copy->bytes;
    for (unsigned k = 0; k < 2; k++) {
        e.name[k] = move(&to, e.name[k]);
        e.at[k] = move(&to, e.at[k]);
        e.text[k] = move(&to, e.text[k]);
    }
    copy->of = e;
    return copy;
}

static enum nd_status find_class(struct nd_example *e, struct nd_error *err)
{
    struct nd_difference difference;
    enum nd_status status = nd_difference_of(e->text[0], e->text[1], &difference, err);

    e->by = difference.by;
    e->has_class = status == ND_OK;
    return status;
}

/* Make the example that the page shows, of both texts.  The class is that of the whole texts in the
 * sample, from which shares are estimated. */
static enum nd_status make_shown(const struct best_heap *h, const struct nd_example *example,
                                 uint64_t hash, struct held_example **out, struct nd_error *err)
{
    struct nd_example e = *example;
    enum nd_status status = h->cuts_last ? find_class(&e, err) : ND_OK;

    if (status == ND_OK && !(*out = copy_of(&e, hash, h->most)))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK && !h->cuts_last)
        status = find_class(&(*out)->of, err);
    if (status == ND_OK)
        (*out)->is_done = true;
    return status;
}

bool nd_examples_needs_both(const struct nd_examples *e, const struct nd_example *example)
{
    const size_t a = example->text[0].len, b = example->text[1].len;

    return a > ND_EXAMPLE_BYTES_HELD || b > ND_EXAMPLE_BYTES_HELD ||
           atomic_load_explicit(&e->held, memory_order_relaxed) + a + b > ND_EXAMPLES_BYTES_HELD;
}

/* Copy what is to be held of an example, or make what is shown, which has the same result. */
static enum nd_status make_held(struct nd_examples *e, const struct best_heap *h,
                                const struct held_example *held, struct held_example **out,
                                struct nd_error *err)
{
    if (has_texts(&held->of) && nd_examples_needs_both(e, &held->of))
        return make_shown(h, &held->of, held->hash, out, err);
    *out = copy_of(&held->of, held->hash, SIZE_MAX);
    if (!*out)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    (*out)->held = held->of.text[0].len + held->of.text[1].len;
    atomic_fetch_add_explicit(&e->held, (*out)->held, memory_order_relaxed);
    return ND_OK;
}

/* Add it to one of the heaps. */
static enum nd_status add_to(struct nd_examples *e, struct best_heap *h,
                             const struct held_example *held, struct nd_error *err)
{
    struct held_example *made = NULL;
    enum nd_status status = ND_OK;

    if (heap_may_want(h, held))
        status = make_held(e, h, held, &made, err);
    if (!made)
        return status;
    nd_rwlock_write(e->lock);
    made = heap_put(h, made);
    nd_rwlock_unlock(e->lock);
    if (made)
        atomic_fetch_sub_explicit(&e->held, made->held, memory_order_relaxed);
    free(made);
    return status;
}

enum nd_status nd_examples_add(struct nd_examples *e, const struct nd_example *example,
                               struct nd_error *err)
{
    const struct held_example held = candidate(example);
    enum nd_status status = add_to(e, &e->closest, &held, err);

    return status == ND_OK ? add_to(e, &e->sample, &held, err) : status;
}

/* ---- The end -------------------------------------------------------------------------------------- */

static int by_certainty(const void *left, const void *right)
{
    const struct held_example *a = *(struct held_example *const *)left,
                              *b = *(struct held_example *const *)right;

    return is_more_certain(a, b) ? 1 : is_more_certain(b, a) ? -1 : 0;
}

/* The tasks: first the examples of one heap, then those of the other. */
struct ending {
    struct nd_examples *e;
    nd_example_texts *texts;
    void *context;
    struct failed_task {
        size_t task; /* the first that failed */
        struct nd_error err;
    } * failed; /* of each worker */
};

static enum nd_status end_example(const struct ending *x, const struct best_heap *h,
                                  struct held_example **held, unsigned worker, struct nd_error *err)
{
    struct nd_example e = (*held)->of;
    struct held_example *made = NULL;
    enum nd_status status = ND_OK;

    if ((*held)->is_done)
        return ND_OK;
    if (!has_texts(&e))
        status = x->texts(x->context, &e, worker, err);
    if (status == ND_OK && has_texts(&e))
        status = make_shown(h, &e, (*held)->hash, &made, err);
    if (status == ND_OK && made) {
        free(*held);
        *held = made;
    } else {
        free(made);
    }
    return status;
}

static void end_task(void *context, size_t task, unsigned worker)
{
    struct ending *x = context;
    const bool is_closest = task < x->e->closest.n;
    struct best_heap *h = is_closest ? &x->e->closest : &x->e->sample;
    struct nd_error err;

    if (end_example(x, h, &h->item[is_closest ? task : task - x->e->closest.n], worker, &err) !=
            ND_OK &&
        task < x->failed[worker].task)
        x->failed[worker] = (struct failed_task){task, err};
}

enum nd_status nd_examples_end(struct nd_examples *e, struct nd_pool *pool, nd_example_texts *texts,
                               void *context, struct nd_error *err)
{
    const unsigned threads = nd_pool_threads(pool);
    struct ending x = {e, texts, context, calloc(threads, sizeof *x.failed)};
    struct failed_task first = {.task = SIZE_MAX};

    if (!x.failed)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (unsigned i = 0; i < threads; i++)
        x.failed[i].task = SIZE_MAX;
    if (e->closest.n)
        qsort(e->closest.item, e->closest.n, sizeof(void *), by_certainty);
    if (e->sample.n)
        qsort(e->sample.item, e->sample.n, sizeof(void *), by_certainty);
    nd_pool_run(pool, e->closest.n + e->sample.n, end_task, &x);
    for (unsigned i = 0; i < threads; i++)
        if (x.failed[i].task < first.task)
            first = x.failed[i];
    free(x.failed);
    if (first.task == SIZE_MAX)
        return ND_OK;
    if (err)
        *err = first.err;
    return first.err.status;
}

uint64_t nd_examples_near(const struct nd_examples *e)
{
    return atomic_load(&e->near);
}

static const struct nd_example *item_of(const struct best_heap *h, size_t i)
{
    return i < h->n ? &h->item[i]->of : NULL;
}

const struct nd_example *nd_examples_closest(const struct nd_examples *e, size_t i)
{
    return item_of(&e->closest, i);
}

const struct nd_example *nd_examples_sampled(const struct nd_examples *e, size_t i)
{
    return item_of(&e->sample, i);
}
