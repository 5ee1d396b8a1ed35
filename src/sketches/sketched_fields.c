/* sketched_fields.c - the fields of documents that come as rows of sketch files */
#include "sketches/sketched_fields.h"

#include <string.h>

static int find(const struct nd_sketch_file_info *file, const char *name)
{
    for (unsigned i = 0; i < file->n_fields; i++)
        if (strcmp(file->field[i], name) == 0)
            return (int)i;
    return -1;
}

static enum nd_status is_missing(const char *path, const char *name, struct nd_error *err)
{
    if (!*name)
        return nd_fail(err, ND_EINVAL,
                       "keep: %s does not keep the lengths of texts: make it anew with neardup "
                       "sketch --record-length",
                       path);
    return nd_fail(err, ND_EINVAL,
                   "%s keeps no field '%.100s': make it anew with neardup sketch --record-field "
                   "%.100s",
                   path, name, name);
}

enum nd_status nd_sketched_fields_find(struct nd_sketched_fields *fields,
                                       const struct nd_sketch_file_info *file, const char *path,
                                       const char *const *name, size_t n, size_t n_needed,
                                       struct nd_error *err)
{
    fields->n = n;
    fields->name = name;
    for (size_t i = 0; i < fields->n; i++)
        fields->stored[i] = find(file, fields->name[i]);
    for (size_t i = 0; i < n_needed; i++)
        if (fields->stored[i] < 0)
            return is_missing(path, fields->name[i], err);
    return ND_OK;
}

enum nd_status nd_sketched_fields_check(const struct nd_sketched_fields *fields, const char *path,
                                        int i, struct nd_error *err)
{
    return i < 0 || fields->stored[i] >= 0 ? ND_OK : is_missing(path, fields->name[i], err);
}

void nd_sketched_fields_get(const struct nd_sketched_fields *fields,
                            const struct nd_sketch_row *row, struct nd_field *field,
                            uint64_t *replaced)
{
    for (size_t i = 0; i < fields->n; i++) {
        field[i].name = (struct nd_view){fields->name[i], strlen(fields->name[i])};
        field[i].value = (struct nd_view){NULL, 0};
        replaced[i] = 0;
        if (fields->stored[i] >= 0)
            field[i].value = nd_sketch_row_field(row, (unsigned)fields->stored[i], &replaced[i]);
    }
}
