/* neardup_extension.c - functions of SQL: DuckDB loads this file as the extension neardup */

/*
 * By the C API for extensions of DuckDB 1.2, which every later 1.x and 2.x takes. It has no table
 * functions that read another table, so near_duplicates is an aggregate: it collects the documents
 * of a group and compares them where the group ends (docs/decisions/duckdb.md).
 */
#include "documents.h"

#include <neardup/sketch.h>

#include <stdlib.h>
#include <string.h>

#define DUCKDB_EXTENSION_NAME neardup
#define DUCKDB_EXTENSION_API_VERSION_MAJOR 1
#define DUCKDB_EXTENSION_API_VERSION_MINOR 2
#define DUCKDB_EXTENSION_API_VERSION_PATCH 0
#include "duckdb_extension.h"

DUCKDB_EXTENSION_EXTERN

/* ---- Vectors ---------------------------------------------------------------------------------- */

static bool is_valid(duckdb_vector vector, idx_t row)
{
    uint64_t *validity = duckdb_vector_get_validity(vector);

    return !validity || duckdb_validity_row_is_valid(validity, row);
}

static void set_null(duckdb_vector vector, idx_t row)
{
    duckdb_vector_ensure_validity_writable(vector);
    duckdb_validity_set_row_invalid(duckdb_vector_get_validity(vector), row);
}

/* The text in a row; it stays while the vector does. */
static struct nd_view text_at(duckdb_vector vector, idx_t row)
{
    duckdb_string_t *text = (duckdb_string_t *)duckdb_vector_get_data(vector) + row;

    return (struct nd_view){duckdb_string_t_data(text), duckdb_string_t_length(*text)};
}

/* ---- Functions of one row --------------------------------------------------------------------- */

/* Sketch a text, by the default recipe.  False: the call ends with the error. */
static bool sketch_text(struct nd_sketcher *sketcher, duckdb_function_info info,
                        struct nd_view text, unsigned parts, struct nd_sketch *out)
{
    if (nd_sketcher_run(sketcher, text.data, text.len, parts, out) == ND_OK)
        return true;
    duckdb_scalar_function_set_error(info, "neardup: a text cannot be sketched");
    return false;
}

static struct nd_sketcher *new_sketcher(duckdb_function_info info)
{
    struct nd_sketch_params params = nd_sketch_params_default();
    struct nd_error err;
    struct nd_sketcher *sketcher = nd_sketcher_new(&params, &err);

    if (!sketcher)
        duckdb_scalar_function_set_error(info, err.message);
    return sketcher;
}

static void run_simhash(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    duckdb_vector text = duckdb_data_chunk_get_vector(input, 0);
    const idx_t n = duckdb_data_chunk_get_size(input);
    uint64_t *out = duckdb_vector_get_data(output);
    struct nd_sketcher *sketcher = new_sketcher(info);
    struct nd_sketch sketch;

    for (idx_t i = 0; sketcher && i < n; i++) {
        if (!is_valid(text, i))
            set_null(output, i);
        else if (sketch_text(sketcher, info, text_at(text, i), ND_SKETCH_SIMHASH, &sketch))
            out[i] = sketch.simhash;
        else
            break;
    }
    nd_sketcher_free(sketcher);
}

static void run_minhash(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    duckdb_vector text = duckdb_data_chunk_get_vector(input, 0);
    const idx_t n = duckdb_data_chunk_get_size(input);
    uint32_t *out = duckdb_vector_get_data(duckdb_array_vector_get_child(output));
    struct nd_sketcher *sketcher = new_sketcher(info);
    struct nd_sketch sketch;

    for (idx_t i = 0; sketcher && i < n; i++) {
        if (!is_valid(text, i))
            set_null(output, i);
        else if (sketch_text(sketcher, info, text_at(text, i), ND_SKETCH_MINHASH, &sketch))
            memcpy(out + i * ND_MINHASH_COUNT, sketch.minhash, sizeof sketch.minhash);
        else
            break;
    }
    nd_sketcher_free(sketcher);
}

static void run_hamming(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    duckdb_vector a = duckdb_data_chunk_get_vector(input, 0);
    duckdb_vector b = duckdb_data_chunk_get_vector(input, 1);
    const uint64_t *of_a = duckdb_vector_get_data(a), *of_b = duckdb_vector_get_data(b);
    const idx_t n = duckdb_data_chunk_get_size(input);
    int32_t *out = duckdb_vector_get_data(output);

    (void)info;
    for (idx_t i = 0; i < n; i++) {
        if (!is_valid(a, i) || !is_valid(b, i))
            set_null(output, i);
        else
            out[i] = __builtin_popcountll(of_a[i] ^ of_b[i]);
    }
}

/* The resemblance of two texts, exactly; of two without shingles 1. */
static void run_resemblance(duckdb_function_info info, duckdb_data_chunk input,
                            duckdb_vector output)
{
    duckdb_vector a = duckdb_data_chunk_get_vector(input, 0);
    duckdb_vector b = duckdb_data_chunk_get_vector(input, 1);
    const idx_t n = duckdb_data_chunk_get_size(input);
    double *out = duckdb_vector_get_data(output);
    struct nd_sketcher *of_a = new_sketcher(info), *of_b = new_sketcher(info);

    for (idx_t i = 0; of_a && of_b && i < n; i++) {
        struct nd_sketch x, y;
        struct nd_overlap overlap;

        if (!is_valid(a, i) || !is_valid(b, i)) {
            set_null(output, i);
            continue;
        }
        if (!sketch_text(of_a, info, text_at(a, i), 0, &x) ||
            !sketch_text(of_b, info, text_at(b, i), 0, &y))
            break;
        if (nd_shingles_overlap(x.shingle, x.n_shingles, y.shingle, y.n_shingles, &overlap) !=
            ND_OK) {
            duckdb_scalar_function_set_error(info, "neardup: out of memory");
            break;
        }
        out[i] = overlap_resemblance(&overlap);
    }
    nd_sketcher_free(of_a);
    nd_sketcher_free(of_b);
}

/* The share of equal minima, which estimates the resemblance. */
static void run_estimate(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    duckdb_vector a = duckdb_data_chunk_get_vector(input, 0);
    duckdb_vector b = duckdb_data_chunk_get_vector(input, 1);
    const uint32_t *of_a = duckdb_vector_get_data(duckdb_array_vector_get_child(a));
    const uint32_t *of_b = duckdb_vector_get_data(duckdb_array_vector_get_child(b));
    const idx_t n = duckdb_data_chunk_get_size(input);
    double *out = duckdb_vector_get_data(output);

    (void)info;
    for (idx_t i = 0; i < n; i++) {
        if (!is_valid(a, i) || !is_valid(b, i))
            set_null(output, i);
        else
            out[i] = nd_minhash_equal(of_a + i * ND_MINHASH_COUNT, of_b + i * ND_MINHASH_COUNT) /
                     (double)ND_MINHASH_COUNT;
    }
}

/* ---- near_duplicates(id, text [, threshold or recipe]) ---------------------------------------- */

/* The state of a group, which DuckDB keeps. */
struct group {
    struct documents *documents;
};

static struct group *group_of(duckdb_aggregate_state state)
{
    return (struct group *)state;
}

static idx_t group_size(duckdb_function_info info)
{
    (void)info;
    return sizeof(struct group);
}

static void begin_group(duckdb_function_info info, duckdb_aggregate_state state)
{
    (void)info;
    group_of(state)->documents = NULL;
}

static void end_groups(duckdb_aggregate_state *states, idx_t n)
{
    for (idx_t i = 0; i < n; i++)
        documents_free(group_of(states[i])->documents);
}

static void fail_group(duckdb_function_info info, const char *message)
{
    duckdb_aggregate_function_set_error(info, message);
}

/* Whether the ids of a function are texts: its extra information says so. */
static bool has_text_ids(duckdb_function_info info)
{
    return duckdb_aggregate_function_get_extra_info(info) != NULL;
}

static enum nd_status set_rule(struct documents *documents, duckdb_data_chunk input, idx_t row,
                               struct nd_error *err)
{
    duckdb_vector rule = duckdb_data_chunk_get_vector(input, 2);
    duckdb_logical_type type = duckdb_vector_get_column_type(rule);
    const duckdb_type kind = duckdb_get_type_id(type);

    duckdb_destroy_logical_type(&type);
    if (!is_valid(rule, row))
        return ND_OK;
    if (kind == DUCKDB_TYPE_DOUBLE)
        return documents_set_threshold(documents, ((double *)duckdb_vector_get_data(rule))[row],
                                       err);
    return documents_set_recipe(documents, text_at(rule, row), err);
}

static void add_rows(duckdb_function_info info, duckdb_data_chunk input,
                     duckdb_aggregate_state *states)
{
    duckdb_vector id = duckdb_data_chunk_get_vector(input, 0);
    duckdb_vector text = duckdb_data_chunk_get_vector(input, 1);
    const bool has_rule = duckdb_data_chunk_get_column_count(input) > 2;
    const idx_t n = duckdb_data_chunk_get_size(input);

    for (idx_t i = 0; i < n; i++) {
        struct group *group = group_of(states[i]);
        struct document_id name = {0};
        struct nd_error err;
        enum nd_status status = ND_OK;

        if (!is_valid(id, i) || !is_valid(text, i))
            continue;
        if (!group->documents) {
            group->documents = documents_new(&err);
            if (!group->documents) {
                fail_group(info, err.message);
                return;
            }
            status = has_rule ? set_rule(group->documents, input, i, &err) : ND_OK;
        }
        if (has_text_ids(info))
            name.text = text_at(id, i);
        else
            name.number = ((int64_t *)duckdb_vector_get_data(id))[i];
        if (status == ND_OK)
            status = documents_add(group->documents, &name, text_at(text, i), &err);
        if (status != ND_OK) {
            fail_group(info, err.message);
            return;
        }
    }
}

static void join_groups(duckdb_function_info info, duckdb_aggregate_state *source,
                        duckdb_aggregate_state *target, idx_t n)
{
    for (idx_t i = 0; i < n; i++) {
        struct group *from = group_of(source[i]), *to = group_of(target[i]);
        struct nd_error err;

        if (!to->documents) { /* it takes them over */
            to->documents = from->documents;
            from->documents = NULL;
        } else if (from->documents &&
                   documents_append(to->documents, from->documents, &err) != ND_OK) {
            fail_group(info, err.message);
            return;
        }
    }
}

/* Write rows of (id, kept, resemblance) at the end of the list. */
static void write_removed(duckdb_vector list, idx_t at, bool is_text,
                          const struct removed_document *removed, size_t n)
{
    duckdb_vector row = duckdb_list_vector_get_child(list);
    duckdb_vector id = duckdb_struct_vector_get_child(row, 0);
    duckdb_vector kept = duckdb_struct_vector_get_child(row, 1);
    double *resemblance = duckdb_vector_get_data(duckdb_struct_vector_get_child(row, 2));

    for (size_t i = 0; i < n; i++) {
        const struct document_id *names[] = {&removed[i].id, &removed[i].kept};
        duckdb_vector to[] = {id, kept};

        for (int k = 0; k < 2; k++) {
            if (is_text)
                duckdb_vector_assign_string_element_len(to[k], at + i, names[k]->text.data,
                                                        names[k]->text.len);
            else
                ((int64_t *)duckdb_vector_get_data(to[k]))[at + i] = names[k]->number;
        }
        resemblance[at + i] = removed[i].resemblance;
    }
}

static void finish_groups(duckdb_function_info info, duckdb_aggregate_state *source,
                          duckdb_vector result, idx_t n, idx_t offset)
{
    const bool is_text = has_text_ids(info);

    for (idx_t i = 0; i < n; i++) {
        struct documents *documents = group_of(source[i])->documents;
        const idx_t at = duckdb_list_vector_get_size(result);
        duckdb_list_entry *entry = (duckdb_list_entry *)duckdb_vector_get_data(result) + offset + i;
        struct removed_document *removed = NULL;
        size_t n_removed = 0;
        struct nd_error err;

        if (documents &&
            documents_decide(documents, is_text, &removed, &n_removed, &err) != ND_OK) {
            fail_group(info, err.message);
            return;
        }
        if (duckdb_list_vector_reserve(result, at + n_removed) == DuckDBError ||
            duckdb_list_vector_set_size(result, at + n_removed) == DuckDBError)
            fail_group(info, "neardup: out of memory");
        else
            write_removed(result, at, is_text, removed, n_removed);
        *entry = (duckdb_list_entry){.offset = at, .length = n_removed};
        free(removed);
    }
}

/* ---- Registration ----------------------------------------------------------------------------- */

struct scalar {
    const char *name;
    duckdb_scalar_function_t run;
    duckdb_type parameter[2], result; /* DUCKDB_TYPE_ARRAY: 128 minima; DUCKDB_TYPE_INVALID: none */
};

static const struct scalar SCALARS[] = {
    {"simhash", run_simhash, {DUCKDB_TYPE_VARCHAR, DUCKDB_TYPE_INVALID}, DUCKDB_TYPE_UBIGINT},
    {"minhash", run_minhash, {DUCKDB_TYPE_VARCHAR, DUCKDB_TYPE_INVALID}, DUCKDB_TYPE_ARRAY},
    {"hamming", run_hamming, {DUCKDB_TYPE_UBIGINT, DUCKDB_TYPE_UBIGINT}, DUCKDB_TYPE_INTEGER},
    {"resemblance",
     run_resemblance,
     {DUCKDB_TYPE_VARCHAR, DUCKDB_TYPE_VARCHAR},
     DUCKDB_TYPE_DOUBLE},
    {"resemblance", run_estimate, {DUCKDB_TYPE_ARRAY, DUCKDB_TYPE_ARRAY}, DUCKDB_TYPE_DOUBLE},
};
enum { N_SCALARS = sizeof SCALARS / sizeof *SCALARS };

static duckdb_logical_type make_type(duckdb_type kind)
{
    duckdb_logical_type element, array;

    if (kind != DUCKDB_TYPE_ARRAY)
        return duckdb_create_logical_type(kind);
    element = duckdb_create_logical_type(DUCKDB_TYPE_UINTEGER);
    array = duckdb_create_array_type(element, ND_MINHASH_COUNT);
    duckdb_destroy_logical_type(&element);
    return array;
}

static duckdb_scalar_function make_scalar(const struct scalar *scalar)
{
    duckdb_scalar_function function = duckdb_create_scalar_function();
    duckdb_logical_type type;

    duckdb_scalar_function_set_name(function, scalar->name);
    for (int i = 0; i < 2 && scalar->parameter[i] != DUCKDB_TYPE_INVALID; i++) {
        type = make_type(scalar->parameter[i]);
        duckdb_scalar_function_add_parameter(function, type);
        duckdb_destroy_logical_type(&type);
    }
    type = make_type(scalar->result);
    duckdb_scalar_function_set_return_type(function, type);
    duckdb_destroy_logical_type(&type);
    duckdb_scalar_function_set_function(function, scalar->run);
    return function;
}

/* Register all functions of one name, which stand one after the other. */
static bool register_scalars(duckdb_connection connection, int first, int n)
{
    duckdb_scalar_function_set set = duckdb_create_scalar_function_set(SCALARS[first].name);
    bool is_done = true;

    for (int i = first; i < first + n; i++) {
        duckdb_scalar_function function = make_scalar(&SCALARS[i]);

        is_done = is_done && duckdb_add_scalar_function_to_set(set, function) == DuckDBSuccess;
        duckdb_destroy_scalar_function(&function);
    }
    is_done = is_done && duckdb_register_scalar_function_set(connection, set) == DuckDBSuccess;
    duckdb_destroy_scalar_function_set(&set);
    return is_done;
}

/* LIST(STRUCT(id, kept, resemblance DOUBLE)) */
static duckdb_logical_type make_result_type(duckdb_type id)
{
    const char *names[] = {"id", "kept", "resemblance"};
    duckdb_logical_type types[] = {make_type(id), make_type(id), make_type(DUCKDB_TYPE_DOUBLE)};
    duckdb_logical_type row = duckdb_create_struct_type(types, names, 3);
    duckdb_logical_type list = duckdb_create_list_type(row);

    duckdb_destroy_logical_type(&row);
    for (int i = 0; i < 3; i++)
        duckdb_destroy_logical_type(&types[i]);
    return list;
}

/* rule: the type of the third parameter, or DUCKDB_TYPE_INVALID. */
static duckdb_aggregate_function make_near_duplicates(duckdb_type id, duckdb_type rule)
{
    static char text_ids[] = "text";
    const duckdb_type parameter[] = {id, DUCKDB_TYPE_VARCHAR, rule};
    duckdb_aggregate_function function = duckdb_create_aggregate_function();
    duckdb_logical_type type;

    duckdb_aggregate_function_set_name(function, "near_duplicates");
    for (int i = 0; i < 3 && parameter[i] != DUCKDB_TYPE_INVALID; i++) {
        type = make_type(parameter[i]);
        duckdb_aggregate_function_add_parameter(function, type);
        duckdb_destroy_logical_type(&type);
    }
    type = make_result_type(id);
    duckdb_aggregate_function_set_return_type(function, type);
    duckdb_destroy_logical_type(&type);
    duckdb_aggregate_function_set_functions(function, group_size, begin_group, add_rows,
                                            join_groups, finish_groups);
    duckdb_aggregate_function_set_destructor(function, end_groups);
    duckdb_aggregate_function_set_special_handling(function); /* rows with null are seen, too */
    duckdb_aggregate_function_set_extra_info(function, id == DUCKDB_TYPE_VARCHAR ? text_ids : NULL,
                                             NULL);
    return function;
}

static bool register_near_duplicates(duckdb_connection connection)
{
    static const duckdb_type ids[] = {DUCKDB_TYPE_BIGINT, DUCKDB_TYPE_VARCHAR};
    static const duckdb_type rules[] = {DUCKDB_TYPE_INVALID, DUCKDB_TYPE_DOUBLE,
                                        DUCKDB_TYPE_VARCHAR};
    duckdb_aggregate_function_set set = duckdb_create_aggregate_function_set("near_duplicates");
    bool is_done = true;

    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) {
            duckdb_aggregate_function function = make_near_duplicates(ids[i], rules[k]);

            is_done =
                is_done && duckdb_add_aggregate_function_to_set(set, function) == DuckDBSuccess;
            duckdb_destroy_aggregate_function(&function);
        }
    is_done = is_done && duckdb_register_aggregate_function_set(connection, set) == DuckDBSuccess;
    duckdb_destroy_aggregate_function_set(&set);
    return is_done;
}

DUCKDB_EXTENSION_ENTRYPOINT(duckdb_connection connection, duckdb_extension_info info,
                            struct duckdb_extension_access *access)
{
    bool is_done = register_near_duplicates(connection);

    for (int i = 0, n; is_done && i < N_SCALARS; i += n) {
        for (n = 1; i + n < N_SCALARS && strcmp(SCALARS[i].name, SCALARS[i + n].name) == 0; n++)
            ;
        is_done = register_scalars(connection, i, n);
    }
    if (!is_done)
        access->set_error(info, "neardup: a function cannot be registered");
    return is_done;
}
