/* live_fields.c - the fields of the texts in a live index, which stand behind each text */
#include "objects/live_texts.h"

#include "recipe/recipe_struct.h"

#include <neardup/feature.h>
#include <stdlib.h>
#include <string.h>

/* ---- Names ---- */

static bool is_named(const struct nd_py_live *live, const char *name)
{
    for (size_t i = 0; i < live->n_fields; i++)
        if (strcmp(live->field_name[i], name) == 0)
            return true;
    return false;
}

enum nd_status nd_py_live_name_fields(struct nd_py_live *live, struct nd_error *err)
{
    const struct nd_method *method = &live->recipe->method;
    enum nd_status status = ND_OK;

    live->names = malloc((size_t)method->n_signatures * ND_FEATURE_NAMES_MAX + 1);
    if (!live->names)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (unsigned i = 0; i < method->n_signatures && status == ND_OK; i++) {
        const char *name = live->names + (size_t)i * ND_FEATURE_NAMES_MAX;
        size_t n = 0;

        status = nd_feature_field_names(&method->signature[i].feature,
                                        live->names + (size_t)i * ND_FEATURE_NAMES_MAX, &n, err);
        for (; status == ND_OK && n > 0; n--, name += strlen(name) + 1) {
            if (is_named(live, name))
                continue;
            if (live->n_fields == ND_PY_LIVE_FIELDS)
                return nd_fail(err, ND_EINVAL, "the recipe names more than %d fields",
                               ND_PY_LIVE_FIELDS);
            live->field_name[live->n_fields++] = name;
        }
    }
    return status;
}

bool nd_py_live_fits(const struct nd_py_live *live, const struct nd_py_frame *f)
{
    for (size_t k = 0; k < live->n_fields; k++)
        if (f->n_columns <= k + 1 || !f->name[k + 1] ||
            strcmp(f->name[k + 1], live->field_name[k]) != 0) {
            PyErr_Format(PyExc_ValueError, "column %zu of the frame is not the field '%s'", k + 1,
                         live->field_name[k]);
            return false;
        }
    return true;
}

/* ---- Values ---- */

static struct nd_field field_at(const struct nd_py_live *live, size_t k, struct nd_view value)
{
    return (struct nd_field){{live->field_name[k], strlen(live->field_name[k])}, value};
}

void nd_py_live_row_fields(const struct nd_py_live *live, const struct nd_py_frame *f, size_t row,
                           struct nd_field *field)
{
    for (size_t k = 0; k < live->n_fields; k++)
        field[k] = field_at(live, k, f->column[k + 1].value[row]);
}

bool nd_py_live_copy(const struct nd_py_live *live, const struct nd_py_frame *f, size_t row,
                     struct nd_py_text *to)
{
    struct nd_view text = f->column[0].value[row], value[ND_PY_LIVE_FIELDS];

    for (size_t k = 0; k < live->n_fields; k++)
        value[k] = f->column[k + 1].value[row];
    to->len = text.len;
    to->bytes = nd_saved_values_bytes(text, value, live->n_fields);
    to->data = malloc(to->bytes ? to->bytes : 1);
    if (to->data)
        nd_saved_put_values(to->data, text, value, live->n_fields);
    return to->data != NULL;
}

size_t nd_py_live_take_fields(const struct nd_py_live *live, const char *data, size_t bytes,
                              struct nd_field *field)
{
    struct nd_view value[ND_PY_LIVE_FIELDS];
    size_t len = nd_saved_take_values(data, bytes, value, live->n_fields);

    for (size_t k = 0; len != SIZE_MAX && k < live->n_fields; k++)
        field[k] = field_at(live, k, value[k]);
    return len;
}
