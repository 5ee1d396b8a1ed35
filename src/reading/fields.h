/* fields.h - the fields that options and recipes name: read of every document, and watched */
#ifndef ND_READING_FIELDS_H
#define ND_READING_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include <neardup/input.h>

#include "reading/reporter.h"
#include "recipe/keep.h"
#include "recipe/recipe_struct.h"
#include "sketches/sketched_fields.h"

/*
 * A field that an option or a key of the recipe names. If no document has it, the name is probably
 * mistyped, so the caller is warned.
 */
struct nd_watched_field {
    const char *signature; /* whose key it is; NULL: an option, or the recipe's own key */
    const char *key;       /* its name in the message */
    const char *field;     /* NULL: no field is named */
    const char *otherwise; /* what happens without it, for the message; or NULL */
    const struct nd_keep
        *keep;   /* the value must be of the kind that this policy needs; NULL: any */
    bool is_id;  /* the field that ids are read from */
    int index;   /* set by nd_field_set_watch */
    bool is_met; /* some document has the field */
};

/*
 * The reader returns the values of the fields that were requested before it was opened, in the
 * order of the requests (struct nd_document: fields). Starts from zeroes.
 */
struct nd_field_set {
    const char *name[ND_FIELDS_MAX]; /* each is borrowed, or is in: */
    char *recipe_names;
    size_t count;
    struct nd_watched_field *watched;
    size_t n_watched, n_unmet, capacity;
};
void nd_field_set_release(struct nd_field_set *f);

/*
 * Request a field. Returns its index among the values; -1 for NULL; ND_FIELDS_MAX: there are too
 * many.
 */
int nd_field_set_want(struct nd_field_set *f, const char *name);
/* Request the fields that the signatures read. ND_EINVAL: there are too many; ND_ENOMEM. */
enum nd_status nd_field_set_want_method(struct nd_field_set *f, const struct nd_method *method,
                                        struct nd_error *err);

/* The value at an index; data is NULL if the document has none or the index is -1. */
struct nd_view nd_document_field(const struct nd_document *document, int index);
/* A hash of the bytes of the value that were repaired; 0: none. */
uint64_t nd_document_field_replaced(const struct nd_document *document, int index);

/* Watch for a field; does nothing if watch->field is NULL. ND_ENOMEM. */
enum nd_status nd_field_set_watch(struct nd_field_set *f, const struct nd_watched_field *watch,
                                  struct nd_error *err);
/*
 * Watch for the fields of a method, which were requested before, each under its signature and key.
 */
enum nd_status nd_field_set_watch_method(struct nd_field_set *f, const struct nd_method *method,
                                         struct nd_error *err);
/* Watch for the field of ids, unless it is the default. */
enum nd_status nd_field_set_watch_id(struct nd_field_set *f, const char *id_field,
                                     struct nd_error *err);
/* Watch for the fields of the options `within` and `security-field`, and for that of the keep
 * policy. */
enum nd_status nd_field_set_watch_within(struct nd_field_set *f, const char *within,
                                         const char *security, struct nd_error *err);
enum nd_status nd_field_set_watch_keep(struct nd_field_set *f, const struct nd_keep *keep,
                                       struct nd_error *err);

/* The slow part of nd_field_set_meet; most calls find that every field has been met. */
void nd_field_set_meet_some(struct nd_field_set *f, const struct nd_document *document);
/* Called for each document that is read, by one thread at a time. */
static inline void nd_field_set_meet(struct nd_field_set *f, const struct nd_document *document)
{
    if (f->n_unmet)
        nd_field_set_meet_some(f, document);
}
/*
 * All documents have been read, at least one; `what` names them, as "document", and `names` are the
 * fields of the first one ("": not known). Warn of the fields that none has, and start over for other
 * documents.
 */
void nd_field_set_warn(struct nd_field_set *f, struct nd_reporter *reporter, const char *what,
                       const char *names);

#endif
