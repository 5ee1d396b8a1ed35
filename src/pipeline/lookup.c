/* lookup.c - documents read again by their place */
#include "pipeline/lookup.h"

#include <neardup/input.h>

#include "pipeline/name_cache.h"

#include <stdlib.h>
#include <string.h>

struct desk { /* of one worker */
    struct nd_parser *parser;
    char *bytes;
    size_t capacity;
    struct nd_buffer spooled;
};

struct nd_lookup {
    struct nd_reading *reading;
    const char *tmp;
    struct nd_spool *spool; /* NULL until something must be kept in it */
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
        free(l->desk[i].bytes);
        nd_buffer_release(&l->desk[i].spooled);
    }
    nd_name_cache_free(l->names);
    nd_json_release(&l->place_room);
    nd_spool_free(l->spool);
    free(l->desk);
    free(l);
}

enum nd_status nd_lookup_keep(struct nd_lookup *l, const struct nd_record *record,
                              struct nd_place *place, struct nd_error *err)
{
    *place = (struct nd_place){
        .offset = record->offset,
        .len = record->bytes.len,
        .line = record->line,
        .source = record->source,
    };
    if (nd_reading_source(l->reading, record->source)->is_rereadable)
        return ND_OK;
    if (!l->spool && !(l->spool = nd_spool_new(l->tmp, err)))
        return ND_EIO;
    return nd_spool_append(l->spool, record->bytes.data, record->bytes.len, &place->offset, err);
}

enum nd_status nd_lookup_record(struct nd_lookup *l, const struct nd_place *place, unsigned worker,
                                struct nd_view *bytes, struct nd_error *err)
{
    struct desk *desk = &l->desk[worker];
    enum nd_status status;

    if (nd_reading_source(l->reading, place->source)->is_rereadable) {
        status = nd_input_reread(nd_reading_input(l->reading), place->source, place->offset,
                                 (size_t)place->len, &desk->bytes, &desk->capacity, err);
        *bytes = (struct nd_view){desk->bytes, (size_t)place->len};
        return status;
    }
    status = nd_spool_read(l->spool, place->offset, (size_t)place->len, &desk->spooled, err);
    *bytes = (struct nd_view){desk->spooled.data, (size_t)place->len};
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
    enum nd_status status = nd_lookup_record(l, place, worker, &bytes, err);
    int parsed;

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

void nd_lookup_remember(struct nd_lookup *l, uint64_t number, const struct nd_document *document,
                        const struct nd_source *source, uint64_t line)
{
    const struct nd_name name = nd_name_of(document, source, line, &l->place_room);

    if (!l->place_room.failed)
        nd_name_cache_put(l->names, number, &name);
}

enum nd_status nd_lookup_name(struct nd_lookup *l, uint64_t number, const struct nd_place *place,
                              struct nd_name *name, struct nd_error *err)
{
    struct nd_document document;
    enum nd_status status;

    if (nd_name_cache_get(l->names, number, name))
        return ND_OK;
    status = nd_lookup_document(l, place, 0, &document, err);
    if (status != ND_OK)
        return status;
    *name = nd_name_of(&document, nd_reading_source(l->reading, place->source), place->line,
                       &l->place_room);
    if (l->place_room.failed)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    nd_name_cache_put(l->names, number, name);
    return ND_OK;
}

uint64_t nd_lookup_spooled(const struct nd_lookup *l)
{
    return l->spool ? nd_spool_bytes(l->spool) : 0;
}
