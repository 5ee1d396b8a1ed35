/* hamming_file_update.c - index files: build, add, merge; the old file or the new one, never
 * between
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/temporary.h"
#include "index/hamming_collect.h"
#include "index/hamming_plan.h"
#include "index/hamming_target.h"

enum { HEAD_BYTES = ND_HAMMING_HEADERS * ND_HAMMING_PAGE };

static struct nd_hamming_header header_of(const struct nd_hamming_plan *plan,
                                          enum nd_hamming_codec codec, unsigned wish)
{
    return (struct nd_hamming_header){
        .bits = plan->problem.bits,
        .distance = plan->problem.distance,
        .family = (uint32_t)plan->family,
        .tables = plan->tables,
        .key_bits = plan->key_bits,
        .codec = codec,
        .wish = wish,
        .generation = 1,
    };
}

/* What is to be written: segments of an old file first, then one of the source. */
struct change {
    struct nd_hamming_header header; /* its segments: those that are kept */
    const struct nd_hamming_file *old;
    struct nd_hamming_source source; /* of 0 entries: none */
};

static enum nd_status write_source(struct change *c, int fd, const char *name, struct nd_error *err)
{
    struct nd_hamming_header *h = &c->header;
    struct nd_hamming_place *place = &h->segment[h->segments];
    struct nd_hamming_order *order;
    struct nd_hamming_plan plan;
    struct nd_hamming_scheme scheme;
    enum nd_status status = nd_hamming_header_plan(h, &plan, err);

    if (status == ND_OK)
        status = nd_hamming_orders_new(&order, &plan, err);
    if (status != ND_OK)
        return status;
    scheme = (struct nd_hamming_scheme){
        .bits = h->bits,
        .tables = h->tables,
        .words = nd_hamming_words(h->bits),
        .codec = h->codec == ND_HAMMING_EF ? ND_HAMMING_EF : ND_HAMMING_MANKU,
        .order = order,
    };
    *place = (struct nd_hamming_place){.offset = nd_hamming_page_up(h->file_bytes)};
    status = nd_hamming_segment_write(&scheme, &c->source, fd, name, place, err);
    if (status == ND_OK) {
        h->segments++;
        h->file_bytes = place->offset + place->bytes;
    }
    free(order);
    return status;
}

/* Segments that stay, one after the other, without what was between them. */
static enum nd_status copy_kept(struct change *c, int fd, const char *name, struct nd_error *err)
{
    struct nd_hamming_header *h = &c->header;
    enum nd_status status = ND_OK;

    h->file_bytes = HEAD_BYTES;
    for (uint32_t i = 0; i < h->segments && status == ND_OK; i++) {
        const unsigned char *data = c->old->data + h->segment[i].offset;

        status = nd_hamming_segment_check_sums(&h->segment[i], h->tables, data, err);
        h->segment[i].offset = nd_hamming_page_up(h->file_bytes);
        h->file_bytes = h->segment[i].offset + h->segment[i].bytes;
        if (status == ND_OK)
            status = nd_hamming_write_at(fd, name, data, (size_t)h->segment[i].bytes,
                                         h->segment[i].offset, err);
    }
    return status;
}

/* All of it, with two headers. */
static enum nd_status write_whole(struct change *c, const struct nd_hamming_target *t, int fd,
                                  struct nd_error *err)
{
    unsigned char page[ND_HAMMING_PAGE];
    enum nd_status status = copy_kept(c, fd, t->path, err);

    if (status == ND_OK && c->source.n)
        status = write_source(c, fd, t->path, err);
    nd_hamming_header_write(&c->header, page);
    for (unsigned i = 0; i < ND_HAMMING_HEADERS && status == ND_OK; i++)
        status = nd_hamming_write_at(fd, t->path, page, sizeof page, i * sizeof page, err);
    return status;
}

/* Write the file anew, and let it take the name, which belongs to the locked file or to none. */
static enum nd_status replace(struct change *c, const struct nd_hamming_target *t,
                              struct nd_error *err)
{
    struct nd_temporary *temporary = NULL;
    int fd, folder = -1;
    struct nd_error why;
    enum nd_status status = nd_hamming_target_folder(t, &folder, err);

    if (status != ND_OK)
        return status;
    temporary = nd_temporary_create(t->name, &fd, &why);
    if (!temporary) {
        close(folder);
        return nd_fail(err, why.status, "%s", why.message);
    }
    status = write_whole(c, t, fd, err);
    if (status == ND_OK)
        status = nd_temporary_finish(temporary, true, err);
    if (status == ND_OK)
        status = nd_hamming_target_check(t, err);
    if (status != ND_OK)
        nd_temporary_discard(temporary);
    else if (t->fd >= 0)
        status = nd_temporary_publish(temporary, err);
    else
        status = nd_temporary_publish_new(temporary, err);
    if (status == ND_OK) /* the name is there, whether the folder can be synced or not */
        (void)fsync(folder);
    close(folder);
    return status;
}

/*
 * Write and sync a header in place of the older one, and what was added is there.  Where that
 * fails, what stood there is put back, so that it is not; if even that fails, what readers find
 * decides.  Nothing is cut off then: a reader may have seen the new header, or the disk may have
 * it.
 */
static enum nd_status write_newer(const struct nd_hamming_target *t, const unsigned char *page,
                                  uint64_t offset, struct nd_error *err)
{
    unsigned char older[ND_HAMMING_PAGE], now[ND_HAMMING_PAGE];
    enum nd_status status = ND_OK;

    if (pread(t->fd, older, sizeof older, (off_t)offset) != (ssize_t)sizeof older)
        return nd_hamming_target_failed(t, err);
    status = nd_hamming_write_at(t->fd, t->path, page, ND_HAMMING_PAGE, offset, err);
    if (status == ND_OK && fdatasync(t->fd) != 0)
        status = nd_hamming_target_failed(t, err);
    if (status == ND_OK)
        return ND_OK;
    if (nd_hamming_write_at(t->fd, t->path, older, sizeof older, offset, NULL) == ND_OK) {
        (void)fdatasync(t->fd);
        return status;
    }
    return pread(t->fd, now, sizeof now, (off_t)offset) == (ssize_t)sizeof now &&
                   memcmp(now, page, sizeof now) == 0
               ? ND_OK
               : status;
}

/*
 * A segment behind the others, synced, then one header after the other: whenever this ends, one of
 * them is whole, and what it names is there.  The one that is read now goes last; that it cannot be
 * written is no failure, since the other one serves.
 */
static enum nd_status append(struct change *c, const struct nd_hamming_target *t,
                             struct nd_error *err)
{
    uint64_t before = c->header.file_bytes;
    unsigned char page[ND_HAMMING_PAGE];
    enum nd_status status = ND_OK;
    unsigned current = c->old->copies.current;

    if (ftruncate(t->fd, (off_t)before) != 0) /* what a killed writer left behind the end */
        return nd_hamming_target_failed(t, err);
    status = write_source(c, t->fd, t->path, err);
    if (status == ND_OK && fdatasync(t->fd) != 0)
        status = nd_hamming_target_failed(t, err);
    c->header.generation++;
    nd_hamming_header_write(&c->header, page);
    if (status == ND_OK)
        status = nd_hamming_target_check(t, err);
    if (status != ND_OK) {
        (void)!ftruncate(t->fd, (off_t)before);
        return status;
    }
    status = write_newer(t, page, !current * sizeof page, err);
    if (status != ND_OK)
        return status;
    if (nd_hamming_write_at(t->fd, t->path, page, sizeof page, current * sizeof page, NULL) ==
        ND_OK)
        (void)fdatasync(t->fd);
    return ND_OK;
}

static enum nd_status check_count(uint64_t count, size_t more, struct nd_error *err)
{
    return more <= UINT32_MAX && count + more <= UINT32_MAX
               ? ND_OK
               : nd_fail(err, ND_EINVAL, "%llu fingerprints: a file holds 2^32 - 1 at most",
                         (unsigned long long)(count + more));
}

static enum nd_status check_codec(enum nd_hamming_codec codec, unsigned bits, struct nd_error *err)
{
    if (!nd_hamming_codec_name(codec))
        return nd_fail(err, ND_EINVAL, "there is no codec %d", (int)codec);
    if (codec == ND_HAMMING_MANKU && nd_hamming_is_wide(bits))
        return nd_fail(err, ND_EUNSUPPORTED,
                       "the codec manku is for up to 64 bits, not for %u: take ef", bits);
    return ND_OK;
}

/* The only place where a shape comes in: check it, and plan so many fingerprints for it. */
static enum nd_status plan_shape(const struct nd_hamming_shape *shape, uint64_t count,
                                 struct nd_hamming_plan *plan, struct nd_error *err)
{
    struct nd_hamming_problem problem = {.count = count};
    enum nd_status status;

    if (!shape)
        return nd_fail(err, ND_EINVAL, "there is no shape for the index");
    problem.bits = shape->bits;
    problem.distance = shape->distance;
    status = nd_hamming_problem_check(&problem, err);
    if (status == ND_OK)
        status = check_codec(shape->codec, shape->bits, err);
    return status == ND_OK ? nd_hamming_file_plan(&problem, shape->tables, plan, err) : status;
}

/* Entries as they come in, for an index that holds some already. */
static enum nd_status check_entries(const struct nd_hamming_entries *entries, unsigned bits,
                                    uint64_t before, struct nd_error *err)
{
    enum nd_status status;

    if (!entries)
        return nd_fail(err, ND_EINVAL, "there are no entries");
    status = check_count(before, entries->count, err);
    return status == ND_OK ? nd_hamming_check_bits(entries->fingerprints, entries->count, bits, err)
                           : status;
}

/* A new file after a plan. */
static enum nd_status build(const char *path, const struct nd_hamming_plan *plan,
                            enum nd_hamming_codec codec, unsigned wish,
                            const struct nd_hamming_entries *entries, struct nd_error *err)
{
    struct change change = {.header = header_of(plan, codec, wish)};
    struct nd_hamming_collection c = {.n = 0};
    size_t words = nd_hamming_words(plan->problem.bits);
    enum nd_status status = check_entries(entries, plan->problem.bits, 0, err);
    struct nd_hamming_target target;

    if (status == ND_OK)
        status = nd_hamming_target_open(&target, path, false, err);
    if (status != ND_OK)
        return status;
    if (entries->count)
        status = nd_hamming_collect_begin(&c, entries->count, words, entries->fingerprints, err);
    if (status == ND_OK)
        status = nd_hamming_collect_entries(&c, entries, 0, err);
    if (status == ND_OK)
        status = nd_hamming_collect_finish(&c, &change.source, err);
    if (status == ND_OK)
        status = replace(&change, &target, err);
    nd_hamming_collect_release(&c);
    nd_hamming_target_release(&target);
    return status;
}

enum nd_status nd_hamming_file_build(const char *path, const struct nd_hamming_shape *shape,
                                     const struct nd_hamming_entries *entries, struct nd_error *err)
{
    struct nd_hamming_plan plan;
    enum nd_status status = plan_shape(shape, entries ? entries->count : 0, &plan, err);

    if (status == ND_OK)
        status = build(path, &plan, shape->codec, shape->tables, entries, err);
    return status;
}

enum nd_status nd_hamming_file_write(const char *path, const struct nd_hamming_plan *plan,
                                     const uint64_t *fingerprints, const uint32_t *ids, size_t n,
                                     struct nd_error *err)
{
    const struct nd_hamming_entries entries = {fingerprints, n, ids, NULL};
    enum nd_status status = nd_hamming_plan_check(plan, err);

    if (status == ND_OK && plan->family != ND_HAMMING_BLOCKS && plan->family != ND_HAMMING_COVERING)
        status = nd_fail(err, ND_EINVAL, "a file holds tables of blocks or coverings");
    return status == ND_OK ? build(path, plan, ND_HAMMING_EF, plan->tables, &entries, err) : status;
}

/* The first segment that is to be merged with `more` new entries. */
static unsigned merge_from(const struct nd_hamming_header *h, uint64_t more)
{
    unsigned first = h->segments;

    while (first > 0 &&
           (h->segment[first - 1].count <= 2 * more || first >= ND_HAMMING_SEGMENTS_MAX)) {
        more += h->segment[first - 1].count;
        first--;
    }
    return first;
}

/* Where nothing is kept, the tables are planned for what there is now. */
static enum nd_status change_header(struct change *c, const struct nd_hamming_file *file,
                                    unsigned kept, uint64_t count, struct nd_error *err)
{
    const struct nd_hamming_problem problem = {file->header.bits, file->header.distance, count};
    struct nd_hamming_plan plan;
    enum nd_status status = ND_OK;

    c->old = file;
    c->header = file->header;
    if (kept == 0) {
        status = nd_hamming_file_plan(&problem, file->header.wish, &plan, err);
        if (status == ND_OK)
            c->header = header_of(&plan, file->scheme.codec, file->header.wish);
    }
    c->header.segments = kept;
    return status;
}

/* Whether what would lie unused is more than half of what would stay. */
static bool is_better_anew(const struct nd_hamming_header *h, unsigned kept)
{
    struct nd_hamming_header after = *h;
    uint64_t live = 0;

    after.segments = kept;
    if (kept == 0)
        return true;
    for (unsigned i = 0; i < kept; i++)
        live += nd_hamming_page_up(h->segment[i].bytes);
    return 2 * nd_hamming_header_dead(&after) > live;
}

/* To a file that is locked and mapped. */
static enum nd_status add(struct nd_hamming_file *file, const struct nd_hamming_target *t,
                          const struct nd_hamming_entries *entries, struct nd_error *err)
{
    uint64_t count = nd_hamming_header_count(&file->header), merged = entries->count;
    unsigned kept = merge_from(&file->header, entries->count);
    struct nd_hamming_collection c = {.n = 0};
    struct change change = {.old = file};
    enum nd_status status = nd_hamming_file_open_from(file, kept, t->path, err);

    for (unsigned i = kept; i < file->n; i++)
        merged += file->header.segment[i].count;
    if (status == ND_OK)
        status = change_header(&change, file, kept, count + entries->count, err);
    if (status == ND_OK)
        status = nd_hamming_collect_begin(&c, (size_t)merged, file->scheme.words,
                                          kept == file->n ? entries->fingerprints : NULL, err);
    if (status == ND_OK)
        status = nd_hamming_collect_file(&c, file, err);
    if (status == ND_OK)
        status = nd_hamming_collect_entries(&c, entries, count, err);
    if (status == ND_OK)
        status = nd_hamming_collect_finish(&c, &change.source, err);
    if (status == ND_OK)
        status = is_better_anew(&file->header, kept) ? replace(&change, t, err)
                                                     : append(&change, t, err);
    nd_hamming_collect_release(&c);
    return status;
}

enum nd_status nd_hamming_file_add(const char *path, const struct nd_hamming_entries *entries,
                                   struct nd_error *err)
{
    struct nd_hamming_file *file = NULL;
    struct nd_hamming_target target;
    enum nd_status status = nd_hamming_target_open(&target, path, true, err);

    if (status != ND_OK)
        return status;
    status = nd_hamming_file_map(&file, target.fd, path, err);
    if (status == ND_OK)
        status =
            check_entries(entries, file->header.bits, nd_hamming_header_count(&file->header), err);
    if (status == ND_OK && entries->count)
        status = add(file, &target, entries, err);
    nd_hamming_file_close(file);
    nd_hamming_target_release(&target);
    return status;
}

/* All segments of all files as one; files are open. */
static enum nd_status merge(struct nd_hamming_file *const *file, size_t n,
                            const struct nd_hamming_target *t, const struct nd_hamming_shape *shape,
                            struct nd_error *err)
{
    struct nd_hamming_collection c = {.n = 0};
    struct nd_hamming_plan plan;
    enum nd_status status = ND_OK;
    struct change change;
    uint64_t total = 0;

    for (size_t i = 0; i < n && status == ND_OK; i++) {
        uint64_t count = nd_hamming_header_count(&file[i]->header);

        if (file[i]->header.bits != shape->bits)
            status = nd_fail(err, ND_EINVAL, "fingerprints of %u bits and of %u in one index",
                             shape->bits, file[i]->header.bits);
        else
            status = check_count(total, (size_t)count, err);
        total += count;
    }
    if (status == ND_OK)
        status = plan_shape(shape, total, &plan, err);
    if (status != ND_OK)
        return status;
    change = (struct change){.header = header_of(&plan, shape->codec, shape->tables)};
    status = nd_hamming_collect_begin(&c, (size_t)total, nd_hamming_words(shape->bits), NULL, err);
    for (size_t i = 0; i < n && status == ND_OK; i++)
        status = nd_hamming_collect_file(&c, file[i], err);
    if (status == ND_OK)
        status = nd_hamming_collect_finish(&c, &change.source, err);
    if (status == ND_OK)
        status = replace(&change, t, err);
    nd_hamming_collect_release(&c);
    return status;
}

enum nd_status nd_hamming_file_merge(const char *const *paths, size_t n, const char *output,
                                     const struct nd_hamming_shape *shape, struct nd_error *err)
{
    struct nd_hamming_file **file = calloc(n + 1, sizeof *file);
    struct nd_hamming_shape same;
    struct nd_hamming_target target = {.fd = -1};
    enum nd_status status;

    if (!file)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = n ? nd_hamming_target_open(&target, output, false, err)
               : nd_fail(err, ND_EINVAL, "there is no index to merge");
    if (status != ND_OK) {
        free(file);
        return status;
    }
    for (size_t i = 0; i < n && status == ND_OK; i++)
        status = nd_hamming_file_open(&file[i], paths[i], err);
    if (status == ND_OK) {
        same = nd_hamming_file_shape(file[0]);
        status = merge(file, n, &target, shape ? shape : &same, err);
    }
    for (size_t i = 0; i < n; i++)
        nd_hamming_file_close(file[i]);
    free(file);
    nd_hamming_target_release(&target);
    return status;
}
