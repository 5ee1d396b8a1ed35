/* lookup.c - where documents stand, and how they are read again */

/*
 * Texts are not held in memory, so the outputs read documents again: by offset from the source if
 * it is a regular, uncompressed file, otherwise from a spool file to which the record was copied. A
 * place takes 24 bytes and is stored only for documents that may be needed; a bit vector with ranks
 * maps document numbers to places.
 */
#include "reading/lookup.h"

#include <neardup/input.h>

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- Places ---- */

enum { RANK_BITS = 512, WORD_BITS = 64 };

void nd_places_release(struct nd_places *p)
{
    free(p->item);
    free(p->bit);
    free(p->rank);
    *p = (struct nd_places){0};
}

static bool add_bit(struct nd_places *p, bool is_set)
{
    size_t word = (size_t)(p->documents / WORD_BITS);

    if (p->documents % WORD_BITS == 0) {
        if (!ND_RESERVE(p->bit, &p->bit_capacity, word + 1))
            return false;
        p->bit[word] = 0;
    }
    if (p->documents % RANK_BITS == 0) {
        size_t block = (size_t)(p->documents / RANK_BITS);

        if (!ND_RESERVE(p->rank, &p->rank_capacity, block + 1))
            return false;
        p->rank[block] = p->count;
    }
    p->bit[word] |= (uint64_t)is_set << p->documents % WORD_BITS;
    p->documents++;
    return true;
}

bool nd_places_add(struct nd_places *p, const struct nd_place *place)
{
    if (place && !ND_RESERVE(p->item, &p->capacity, p->count + 1))
        return false;
    if (!add_bit(p, place != NULL))
        return false;
    if (place)
        p->item[p->count++] = *place;
    return true;
}

void nd_places_shrink(struct nd_places *p)
{
    struct nd_place *less = p->count ? realloc(p->item, p->count * sizeof *less) : NULL;

    if (!less)
        return;
    p->item = less;
    p->capacity = p->count;
}

size_t nd_places_rank(const struct nd_places *p, uint64_t document)
{
    size_t word = (size_t)(document / WORD_BITS), from = word / (RANK_BITS / WORD_BITS);
    uint64_t rank = p->rank[from];
    uint64_t below = (UINT64_C(1) << document % WORD_BITS) - 1;

    for (size_t i = from * (RANK_BITS / WORD_BITS); i < word; i++)
        rank += (unsigned)__builtin_popcountll(p->bit[i]);
    return (size_t)rank + (size_t)__builtin_popcountll(p->bit[word] & below);
}

void nd_places_prefetch(const struct nd_places *p, uint64_t document)
{
    __builtin_prefetch(&p->bit[document / WORD_BITS]);
    __builtin_prefetch(&p->rank[document / RANK_BITS]);
}

struct nd_place nd_places_get(const struct nd_places *p, uint64_t document)
{
    return p->item[nd_places_rank(p, document)];
}

/* ---- One document ---- */

struct desk { /* the working memory of one worker */
    struct nd_parser *parser;
    struct nd_buffer bytes, spooled;
    struct nd_arena shingles; /* of a document of a sketch file */
};

struct nd_lookup {
    struct nd_reading *reading;
    const char *tmp;
    struct nd_spool *spool; /* NULL until a record must be stored in it */
    struct desk *desk;
    unsigned n_desks;
    struct nd_json place_room;
    struct nd_name_cache *names;
};

struct nd_lookup *nd_lookup_new(struct nd_reading *reading, const struct nd_input_options *options,
                                unsigned n_workers, const char *tmp, struct nd_error *err)
{
    struct nd_lookup *l = calloc(1, sizeof *l);

    if (l) {
        l->desk = calloc(n_workers, sizeof *l->desk);
        l->names = nd_name_cache_new();
    }
    if (!l || !l->desk || !l->names) {
        nd_lookup_free(l);
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    l->reading = reading;
    l->tmp = tmp;
    l->n_desks = n_workers;
    for (unsigned i = 0; i < n_workers; i++) {
        l->desk[i].parser = nd_parser_new(options, err);
        if (!l->desk[i].parser) {
            nd_lookup_free(l);
            return NULL;
        }
    }
    return l;
}

void nd_lookup_free(struct nd_lookup *l)
{
    if (!l)
        return;
    for (unsigned i = 0; i < l->n_desks; i++) {
        nd_parser_free(l->desk[i].parser);
        nd_buffer_release(&l->desk[i].bytes);
        nd_arena_release(&l->desk[i].shingles);
        nd_buffer_release(&l->desk[i].spooled);
    }
    nd_name_cache_free(l->names);
    nd_json_release(&l->place_room);
    nd_spool_free(l->spool);
    free(l->desk);
    free(l);
}

static struct nd_place place_at(const struct nd_record *record, uint64_t offset)
{
    const uint64_t low_48 = (UINT64_C(1) << 48) - 1;

    return (struct nd_place){.offset = offset,
                             .len = record->bytes.len & low_48,
                             .line = record->line & low_48,
                             .source = record->source};
}

bool nd_lookup_find_place(const struct nd_lookup *l, const struct nd_record *record,
                          struct nd_place *place)
{
    *place = place_at(record, record->offset);
    return nd_reading_source(l->reading, record->source)->is_rereadable;
}

enum nd_status nd_lookup_keep(struct nd_lookup *l, const struct nd_record *record,
                              struct nd_late_write *late, struct nd_place *place,
                              struct nd_error *err)
{
    const struct nd_view bytes = record->bytes;
    uint64_t offset;
    enum nd_status status;

    if (nd_lookup_find_place(l, record, place))
        return ND_OK;
    if (!l->spool && !(l->spool = nd_spool_new(l->tmp, err)))
        return ND_EIO;
    if (late)
        status = nd_spool_append_late(l->spool, bytes.data, bytes.len, late, &offset, err);
    else
        status = nd_spool_append(l->spool, bytes.data, bytes.len, &offset, err);
    if (status == ND_OK)
        *place = place_at(record, offset);
    return status;
}

enum nd_status nd_lookup_write_kept(struct nd_lookup *l, struct nd_late_write *late,
                                    struct nd_error *err)
{
    return late->bytes ? nd_spool_write_late(l->spool, late, err) : ND_OK;
}

enum nd_status nd_lookup_record(struct nd_lookup *l, const struct nd_place *place, unsigned worker,
                                struct nd_view *bytes, struct nd_error *err)
{
    struct desk *desk = &l->desk[worker];
    enum nd_status status;

    if (nd_reading_source(l->reading, place->source)->is_rereadable) {
        status = nd_reading_reread(l->reading, place->source, place->offset, (size_t)place->len,
                                   &desk->bytes, err);
        *bytes = (struct nd_view){desk->bytes.data, (size_t)place->len};
        return status;
    }
    status = nd_spool_read(l->spool, place->offset, (size_t)place->len, &desk->spooled, err);
    *bytes = (struct nd_view){desk->spooled.data, (size_t)place->len};
    return status;
}

/* A document of a sketch file. */
static enum nd_status look_up_row(struct nd_lookup *l, const struct nd_place *place,
                                  unsigned worker, struct nd_sketch_row *row, struct nd_error *err)
{
    struct desk *desk = &l->desk[worker];
    struct nd_view packed;
    enum nd_status status = nd_lookup_record(l, place, worker, &packed, err);

    nd_arena_reset(&desk->shingles);
    return status == ND_OK ? nd_sketches_parse(nd_reading_sketches(l->reading), packed,
                                               &desk->shingles, row, err)
                           : status;
}

enum nd_status nd_lookup_shingles(struct nd_lookup *l, const struct nd_place *place,
                                  unsigned worker, const uint64_t **shingle, size_t *n,
                                  struct nd_error *err)
{
    struct nd_sketch_row row;
    enum nd_status status = look_up_row(l, place, worker, &row, err);

    if (status != ND_OK)
        return status;
    *shingle = row.shingles;
    *n = row.shingles ? row.n_shingles : 0;
    return ND_OK;
}

static enum nd_status look_up_sketched(struct nd_lookup *l, const struct nd_place *place,
                                       unsigned worker, struct nd_document *document,
                                       struct nd_error *err)
{
    struct nd_sketch_row row;
    enum nd_status status = look_up_row(l, place, worker, &row, err);

    if (status == ND_OK)
        *document = nd_sketched_document(&row, NULL, NULL, NULL);
    return status;
}

enum nd_status nd_lookup_document(struct nd_lookup *l, const struct nd_place *place,
                                  unsigned worker, struct nd_document *document,
                                  struct nd_error *err)
{
    const struct nd_source *source = nd_reading_source(l->reading, place->source);
    struct nd_parser *parser = l->desk[worker].parser;
    struct nd_view bytes;
    struct nd_bad_record bad;
    uint64_t repaired = 0;
    enum nd_status status;
    int parsed;

    if (nd_reading_sketches(l->reading))
        return look_up_sketched(l, place, worker, document, err);
    status = nd_lookup_record(l, place, worker, &bytes, err);
    if (status != ND_OK)
        return status;
    nd_parser_reset(parser);
    parsed = nd_parser_parse(parser, source, bytes, document, &repaired, &bad);
    if (parsed < 0)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (parsed == 0)
        return nd_fail(err, ND_ECHANGED, "%s: changed while it was read: %s", source->path,
                       bad.reason);
    return ND_OK;
}

enum nd_status nd_lookup_text(struct nd_lookup *l, const struct nd_place *place, unsigned worker,
                              struct nd_view *text, struct nd_error *err)
{
    struct nd_document document;
    enum nd_status status = nd_lookup_document(l, place, worker, &document, err);

    if (status == ND_OK)
        *text = document.text;
    return status;
}

void nd_lookup_remember(struct nd_lookup *l, uint64_t number, const struct nd_parsed *parsed)
{
    const struct nd_name name =
        nd_name_of(&parsed->document, parsed->source, parsed->record.line, &l->place_room);

    if (!l->place_room.failed)
        nd_name_cache_put(l->names, number, &name);
}

bool nd_lookup_remembered(const struct nd_lookup *l, uint64_t number, struct nd_name *name)
{
    return nd_name_cache_get(l->names, number, name);
}

void nd_lookup_prefetch_remembered(const struct nd_lookup *l, uint64_t number)
{
    nd_name_cache_prefetch(l->names, number);
}

enum nd_status nd_lookup_name_again(struct nd_lookup *l, const struct nd_place *place,
                                    unsigned worker, struct nd_json *room, struct nd_name *name,
                                    struct nd_error *err)
{
    struct nd_document document;
    enum nd_status status = nd_lookup_document(l, place, worker, &document, err);

    if (status != ND_OK)
        return status;
    *name = nd_name_of(&document, nd_reading_source(l->reading, place->source), place->line, room);
    return room->failed ? nd_fail(err, ND_ENOMEM, "out of memory") : ND_OK;
}

enum nd_status nd_lookup_name(struct nd_lookup *l, uint64_t number, const struct nd_place *place,
                              struct nd_name *name, struct nd_error *err)
{
    enum nd_status status;

    if (nd_lookup_remembered(l, number, name))
        return ND_OK;
    status = nd_lookup_name_again(l, place, 0, &l->place_room, name, err);
    if (status == ND_OK)
        nd_name_cache_put(l->names, number, name);
    return status;
}

uint64_t nd_lookup_spooled(const struct nd_lookup *l)
{
    return l->spool ? nd_spool_bytes(l->spool) : 0;
}
