/* record_fields.c - which fields of documents the records of a sketch file keep that a run makes */
#include "reading/record_fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/system/c_functions.h"
#include "base/system/naming.h"
#include "reading/run_options.h"

void nd_record_fields_release(struct nd_record_fields *fields)
{
    for (size_t i = 0; i < fields->n; i++)
        free(fields->name[i]);
    fields->n = 0;
}

/* Each once; NULL: nothing. */
static enum nd_status add(struct nd_record_fields *fields, const char *name, struct nd_error *err)
{
    if (!name)
        return ND_OK;
    for (size_t i = 0; i < fields->n; i++)
        if (strcmp(fields->name[i], name) == 0)
            return ND_OK;
    if (fields->n == ND_SKETCH_FIELDS_MAX)
        return nd_fail(err, ND_EINVAL, "record-field: records keep at most %d fields",
                       ND_SKETCH_FIELDS_MAX);
    fields->name[fields->n] = nd_text_copy(name);
    if (!fields->name[fields->n])
        return nd_fail(err, ND_ENOMEM, "out of memory");
    fields->n++;
    return ND_OK;
}

static enum nd_status add_named(struct nd_record_fields *fields, const struct nd_run_options *o,
                                struct nd_error *err)
{
    enum nd_status status = add(fields, o->record_length ? ND_SKETCH_LENGTH_FIELD : NULL, err);

    for (size_t i = 0; status == ND_OK && i < o->n_record_field; i++)
        status = add(fields, o->record_field[i], err);
    return status;
}

/* Add the fields that this run asks of documents: the next one will ask for them, too. */
static enum nd_status add_used(struct nd_record_fields *fields, const struct nd_run_options *o,
                               const char *keep, struct nd_error *err)
{
    enum nd_status status = add(fields, o->within, err);

    if (status == ND_OK)
        status = add(fields, o->security_field, err);
    for (size_t i = 0; status == ND_OK && i < o->n_never; i++)
        status = add(fields, o->never[i].field, err);
    if (status == ND_OK)
        status = add(fields, o->prefer_field, err);
    return status == ND_OK ? add(fields, keep, err) : status;
}

/* The file that is added to has its fields already. */
static enum nd_status take_those_of(struct nd_record_fields *fields, const char *path,
                                    const struct nd_run_options *o, struct nd_error *err)
{
    struct nd_sketch_file *file = nd_sketch_file_open(path, err);
    enum nd_status status = file ? ND_OK : err->status;

    for (unsigned i = 0; status == ND_OK && i < nd_sketch_file_info(file)->n_fields; i++)
        status = add(fields, nd_sketch_file_info(file)->field[i], err);
    for (size_t i = 0, n = fields->n; status == ND_OK && i < o->n_record_field; i++) {
        status = add(fields, o->record_field[i], err);
        if (status == ND_OK && fields->n > n)
            status =
                nd_fail(err, ND_EINVAL, "record-field: %s was begun without '%.100s': make it anew",
                        path, o->record_field[i]);
    }
    nd_sketch_file_close(file);
    return status;
}

enum nd_status nd_record_fields_choose(struct nd_record_fields *fields,
                                       const struct nd_run_options *o, const char *keep,
                                       bool makes_file, struct nd_error *err)
{
    const char *added = o->append && o->n_against ? o->against[o->n_against - 1] : NULL;
    enum nd_status status;

    if ((o->n_record_field || o->record_length) && !added && !makes_file)
        return nd_fail(
            err, ND_EINVAL,
            "%s: no sketch file is made that could keep it: neardup sketch -o FILE.sketch "
            "makes one, and dedup --append",
            o->n_record_field ? "record-field" : "record-length");
    if (added && nd_path_exists(added))
        return take_those_of(fields, added, o, err);
    status = add_named(fields, o, err);
    return status == ND_OK && added ? add_used(fields, o, keep, err) : status;
}
