/* fields.c - the fields that options and recipes name: read of every document, and watched */

/*
 * Options and the recipe name fields of documents. Each field is requested from the reader once,
 * however many names refer to it. Fields that no document has are reported at the end, because they
 * are probably mistyped.
 */
#include "reading/fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void nd_field_set_release(struct nd_field_set *f)
{
    free(f->recipe_names);
    free(f->watched);
    *f = (struct nd_field_set){.count = 0};
}

int nd_field_set_want(struct nd_field_set *f, const char *name)
{
    if (!name)
        return -1;
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->name[i], name) == 0)
            return (int)i;
    if (f->count == ND_FIELDS_MAX)
        return ND_FIELDS_MAX;
    f->name[f->count] = name;
    return (int)f->count++;
}

enum nd_status nd_field_set_want_method(struct nd_field_set *f, const struct nd_method *method,
                                        struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (!method->n_signatures)
        return ND_OK;
    f->recipe_names = malloc((size_t)method->n_signatures * ND_FEATURE_NAMES_MAX);
    if (!f->recipe_names)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (unsigned i = 0; i < method->n_signatures && status == ND_OK; i++) {
        char *name = f->recipe_names + (size_t)i * ND_FEATURE_NAMES_MAX;
        size_t n = 0;

        status = nd_feature_field_names(&method->signature[i].feature, name, &n, err);
        for (; n > 0 && status == ND_OK; n--, name += strlen(name) + 1)
            if (nd_field_set_want(f, name) == ND_FIELDS_MAX)
                status =
                    nd_fail(err, ND_EINVAL, "the recipe names more than %d fields", ND_FIELDS_MAX);
    }
    return status;
}

struct nd_view nd_document_field(const struct nd_document *document, int index)
{
    if (index < 0 || (size_t)index >= document->n_fields)
        return (struct nd_view){NULL, 0};
    return document->fields[index].value;
}

uint64_t nd_document_field_replaced(const struct nd_document *document, int index)
{
    if (index < 0 || (size_t)index >= document->n_fields || !document->fields_replaced)
        return 0;
    return document->fields_replaced[index];
}

/* ---- Fields that no document has ---- */

enum nd_status nd_field_set_watch(struct nd_field_set *f, const struct nd_watched_field *watch,
                                  struct nd_error *err)
{
    if (!watch->field)
        return ND_OK;
    if (!ND_RESERVE(f->watched, &f->capacity, f->n_watched + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    f->watched[f->n_watched] = *watch;
    f->watched[f->n_watched++].index =
        watch->is_id ? ND_FIELDS_MAX : nd_field_set_want(f, watch->field);
    f->n_unmet++;
    return ND_OK;
}

/* Watch the names in one list of a signature. `only` has this list alone. */
static enum nd_status watch_list(struct nd_field_set *f, const struct nd_recipe_signature *s,
                                 const char *key, const struct nd_feature_params *only,
                                 struct nd_error *err)
{
    char names[ND_FEATURE_NAMES_MAX], *name = names;
    size_t n = 0;
    enum nd_status status = nd_feature_field_names(only, names, &n, err);

    for (; n > 0 && status == ND_OK; n--, name += strlen(name) + 1) {
        /* The field is read already, under a name that outlives this one. */
        const struct nd_watched_field watch = {
            .signature = s->name, .key = key, .field = f->name[nd_field_set_want(f, name)]};

        status = nd_field_set_watch(f, &watch, err);
    }
    return status;
}

static enum nd_status watch_signature(struct nd_field_set *f, const struct nd_recipe_signature *s,
                                      struct nd_error *err)
{
    struct nd_feature_params fields = s->feature, force = s->feature, reserved = s->feature;
    enum nd_status status;

    fields.force[0] = fields.reserved_field[0] = '\0';
    force.fields[0] = force.reserved_field[0] = '\0';
    reserved.fields[0] = reserved.force[0] = '\0';
    status = watch_list(f, s, "fields", &fields, err);
    if (status == ND_OK)
        status = watch_list(f, s, "force", &force, err);
    if (status == ND_OK)
        status = watch_list(f, s, "reserved_field", &reserved, err);
    return status;
}

enum nd_status nd_field_set_watch_method(struct nd_field_set *f, const struct nd_method *method,
                                         struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (unsigned i = 0; i < method->n_signatures && status == ND_OK; i++)
        status = watch_signature(f, &method->signature[i], err);
    return status;
}

enum nd_status nd_field_set_watch_id(struct nd_field_set *f, const char *id_field,
                                     struct nd_error *err)
{
    const struct nd_watched_field watch = {.key = "id field",
                                           .field = id_field,
                                           .is_id = true,
                                           .otherwise = "they are named by their place"};

    if (strcmp(id_field, nd_input_options_default().id_field) == 0)
        return ND_OK;
    return nd_field_set_watch(f, &watch, err);
}

enum nd_status nd_field_set_watch_within(struct nd_field_set *f, const char *within,
                                         const char *security, struct nd_error *err)
{
    const struct nd_watched_field labels = {
        .key = "security-field", .field = security, .otherwise = "everybody may see all documents"};
    const struct nd_watched_field watch = {.key = "within",
                                           .field = within,
                                           .otherwise =
                                               "all documents are compared with one another"};
    enum nd_status status = nd_field_set_watch(f, &watch, err);

    return status == ND_OK ? nd_field_set_watch(f, &labels, err) : status;
}

enum nd_status nd_field_set_watch_keep(struct nd_field_set *f, const struct nd_keep *keep,
                                       struct nd_error *err)
{
    const struct nd_watched_field watch = {.key = "keep",
                                           .field = keep->field,
                                           .keep = keep,
                                           .otherwise = "the first of a cluster is kept"};

    return nd_field_set_watch(f, &watch, err);
}

static bool has_field(const struct nd_watched_field *w, const struct nd_document *document)
{
    const struct nd_view value = nd_document_field(document, w->index);
    uint64_t key;

    if (w->is_id)
        return document->id_kind != ND_ID_NONE;
    if (!w->keep)
        return value.data != NULL;
    return nd_keep_key(w->keep, document->text, value, &key) && key != ND_KEEP_WITHOUT;
}

void nd_field_set_meet_some(struct nd_field_set *f, const struct nd_document *document)
{
    for (size_t i = 0; f->n_unmet && i < f->n_watched; i++) {
        struct nd_watched_field *w = &f->watched[i];

        if (!w->is_met && has_field(w, document)) {
            w->is_met = true;
            f->n_unmet--;
        }
    }
}

/* The words for what no document has, in the message: "a field", "a date in a field". */
static const char *lacking(const struct nd_watched_field *w)
{
    if (w->is_id)
        return "an id in a field";
    if (!w->keep)
        return "a field";
    switch (w->keep->by) {
    case ND_KEEP_NEWEST: return "a date in a field";
    case ND_KEEP_LONGEST:
    case ND_KEEP_SHORTEST: return "a text in a field";
    default: return "a number in a field";
    }
}

void nd_field_set_warn(struct nd_field_set *f, struct nd_reporter *reporter, const char *what,
                       const char *names)
{
    for (size_t i = 0; i < f->n_watched; i++) {
        struct nd_watched_field *w = &f->watched[i];

        if (!w->is_met)
            nd_reporter_warn(reporter, "%s%s%s: no %s has %s '%s'%s%s%s%s",
                             w->signature ? w->signature : "", w->signature ? "." : "", w->key,
                             what, lacking(w), w->field, w->otherwise ? ": " : "",
                             w->otherwise ? w->otherwise : "", *names ? "; the first has " : "",
                             names);
        w->is_met = false;
    }
    f->n_unmet = f->n_watched;
}
