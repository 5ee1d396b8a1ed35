/* cmd_sketch.c - neardup sketch info, verify, dump, merge and subset: files of sketches */
#include "id_list.h"
#include "report.h"
#include "results.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/result_file.h>
#include <neardup/sketch_file.h>

static int failed(const struct nd_error *err)
{
    say("%s", err->message);
    return 2;
}

static const char *output_of(const struct settings *s)
{
    return run_option(s, "output");
}

/* A sketch file cannot go to a pipe. */
static bool has_output(const struct settings *s, const char *part)
{
    const char *name = output_of(s);

    if (name && strcmp(name, "-") != 0)
        return true;
    say("sketch %s needs --output FILE", part);
    return false;
}

static struct nd_sketch_file *open_only(const char *part, const char *const *path, size_t n)
{
    struct nd_sketch_file *file;
    struct nd_error err;

    if (n != 1) {
        say("sketch %s takes one sketch file", part);
        return NULL;
    }
    file = nd_sketch_file_open(path[0], &err);
    if (!file)
        (void)failed(&err);
    return file;
}

static void print_signature(const struct nd_sketch_signature *x)
{
    if (x->form == ND_FORM_BITS)
        printf("fingerprint: %u bits\n", x->bits);
    else if (x->form == ND_FORM_COORDINATES)
        printf("signature: %u hashes by position\n", x->words);
    else
        printf("signature: a set of hashes of %u bits\n", x->bits);
}

static void print_info(const struct nd_sketch_file *file)
{
    const struct nd_sketch_file_info *info = nd_sketch_file_info(file);
    char bytes[32];

    printf("documents: %" PRIu64 "\n", info->documents);
    printf("sources: %" PRIu32 "\n", info->sources);
    printf("blocks: %" PRIu32 "\n", info->blocks);
    if (info->parts)
        printf("part: %" PRIu32 "/%" PRIu32 "\n", info->part, info->parts);
    printf("size: %s\n", bytes_text((double)info->bytes, bytes));
    printf("shingles: %s\n", info->keeps.shingles ? "kept" : "not kept");
    printf("minima: %s\n", info->keeps.minima ? "kept" : "not kept");
    for (unsigned i = 0; i < info->n_signatures; i++)
        print_signature(&info->signature[i]);
    for (unsigned i = 0; i < info->n_fields; i++)
        printf("field: %s\n", *info->field[i] ? info->field[i] : "(the length of the text)");
    printf("recipe: %016" PRIx64 "\n\n", info->recipe_fingerprint);
    fwrite(info->recipe.data, 1, info->recipe.len, stdout);
}

static int info(struct settings *s, const char *const *path, size_t n)
{
    struct nd_sketch_file *file = open_only("info", path, n);

    (void)s;
    if (!file)
        return 2;
    print_info(file);
    nd_sketch_file_close(file);
    return close_output();
}

static int verify(struct settings *s, const char *const *path, size_t n)
{
    struct nd_sketch_file *file = open_only("verify", path, n);
    struct nd_error err;
    enum nd_status status;

    (void)s;
    if (!file)
        return 2;
    status = nd_sketch_file_verify(file, &err);
    nd_sketch_file_close(file);
    return status == ND_OK ? 0 : failed(&err);
}

static int dump(struct settings *s, const char *const *path, size_t n)
{
    struct nd_sketch_file *file = open_only("dump", path, n);
    struct results results;
    struct nd_error err;
    int status = 2;

    if (!file)
        return 2;
    if (results_open(&results, output_of(s), path, n)) {
        status = nd_sketch_file_dump(file, s->use.shingle_hashes, results.file, &err) == ND_OK ? 0
                 : results_failed(&results)                                                    ? 2
                                            : failed(&err);
        status = results_close(&results, status);
    }
    nd_sketch_file_close(file);
    return status;
}

static int write_merged(struct settings *s, struct nd_sketch_merge *merge)
{
    struct nd_error err;
    uint64_t documents;

    merge->output = output_of(s);
    if (nd_run_sketch_merge(merge, &documents, &err) != ND_OK)
        return failed(&err);
    return 0;
}

static int merge(struct settings *s, const char *const *path, size_t n)
{
    struct nd_sketch_merge merge = {.paths = path, .n_paths = n};

    if (n == 0) {
        say("sketch merge takes sketch files");
        return 2;
    }
    return has_output(s, "merge") ? write_merged(s, &merge) : 2;
}

static int subset(struct settings *s, const char *const *path, size_t n)
{
    struct nd_sketch_merge merge = {.paths = path, .n_paths = 1, .chooses = 1};
    struct nd_view *ids = NULL;
    struct id_list list = {.id = NULL};
    int status = 2;

    if (n != 2) {
        say("sketch subset takes a sketch file, and a file with an id on each line");
        return 2;
    }
    if (!has_output(s, "subset"))
        return 2;
    if (id_list_read(&list, path[1]))
        ids = calloc(list.n + 1, sizeof *ids);
    if (ids) {
        for (size_t i = 0; i < list.n; i++)
            ids[i] = (struct nd_view){list.id[i], strlen(list.id[i])};
        merge.ids = ids;
        merge.n_ids = list.n;
        status = write_merged(s, &merge);
    }
    free(ids);
    id_list_release(&list);
    return status;
}

int cmd_sketch_file(struct settings *s, const char *part)
{
    static const struct {
        const char *name;
        int (*run)(struct settings *s, const char *const *path, size_t n);
    } parts[] = {
        {"info", info}, {"verify", verify}, {"dump", dump}, {"merge", merge}, {"subset", subset}};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(part, parts[i].name) == 0)
            return parts[i].run(s, s->paths.at + 1, s->paths.count - 1);
    return 2;
}
