/* store_tables.c - the df tables of a store's recipe: copied into its folder, and never changed
 *
 * The entry of a document follows from its text and the table, so a store keeps the very table by
 * which its documents were sketched.  It is never counted from the store's own documents: those that
 * a caller does not see would change what they are told.
 */
#define _POSIX_C_SOURCE 200809L
#include "store/upkeep/store_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recipe/recipe_struct.h"
#include "store/segments/folder.h"

enum { COPY_BYTES = 1 << 16 };

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory for the df tables of a store");
}

/* The path of a table that a recipe names. */
static char *path_of(const char *name, const char *folder, struct nd_error *err)
{
    char *path = folder && *name != '/' ? nd_folder_path(folder, name, err) : strdup(name);

    if (!path)
        (void)no_memory(err);
    return path;
}

/* NULL: it cannot be opened. */
static const struct nd_df *open_table(struct nd_store_tables *tables, const char *name,
                                      const char *folder, struct nd_error *err)
{
    struct nd_store_table *table;
    char *path = path_of(name, folder, err);

    for (unsigned i = 0; path && i < tables->n; i++)
        if (strcmp(tables->table[i].path, path) == 0) {
            free(path);
            return tables->table[i].df;
        }
    if (!path)
        return NULL;
    table = &tables->table[tables->n];
    table->df = nd_df_open(path, err);
    if (!table->df) {
        free(path);
        return NULL;
    }
    table->path = path;
    (void)snprintf(table->name, sizeof table->name, ND_STORE_TABLES "/%016" PRIx64 ".df",
                   nd_df_fingerprint(table->df));
    tables->n++;
    return table->df;
}

static enum nd_status need_path(const struct nd_recipe_signature *s, const char *path,
                                bool is_template, struct nd_error *err)
{
    if (*path)
        return ND_OK;
    if (is_template)
        return nd_fail(err, ND_EINVAL,
                       "signature %s: template_count needs a df table of shingles: make one with "
                       "neardup df build --features sketch, and name it with --set "
                       "%s.template_df=FILE",
                       s->name, s->name);
    return nd_fail(err, ND_EINVAL,
                   "signature %s: the recipe needs a df table: make one with neardup df build, and "
                   "name it with --df FILE; the store keeps a copy",
                   s->name);
}

static enum nd_status open_of(struct nd_store_tables *tables, struct nd_recipe_signature *s,
                              const char *folder, struct nd_error *err)
{
    const struct nd_df *df;
    enum nd_status status = ND_OK;

    if (nd_signature_needs_df(s)) {
        status = need_path(s, s->df, false, err);
        df = status == ND_OK ? open_table(tables, s->df, folder, err) : NULL;
        if (status == ND_OK)
            status = df ? nd_signature_use_df(s, df, err) : err->status;
    }
    if (status == ND_OK && nd_signature_needs_template(s)) {
        status = need_path(s, s->template_df, true, err);
        df = status == ND_OK ? open_table(tables, s->template_df, folder, err) : NULL;
        if (status == ND_OK)
            status = df ? nd_signature_use_template(s, df, err) : err->status;
    }
    return status;
}

enum nd_status nd_store_tables_open(struct nd_store_tables *tables, struct nd_recipe *recipe,
                                    const char *folder, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    struct nd_error why = {.status = ND_ENOMEM};

    for (unsigned i = 0; status == ND_OK && i < recipe->method.n_signatures; i++)
        status = open_of(tables, &recipe->method.signature[i], folder, &why);
    return status == ND_OK ? ND_OK : nd_fail(err, status, "%s", why.message);
}

void nd_store_tables_close(struct nd_store_tables *tables)
{
    for (unsigned i = 0; i < tables->n; i++) {
        nd_df_close(tables->table[i].df);
        free(tables->table[i].path);
    }
    tables->n = 0;
}

/* ---- Copies ---- */

static enum nd_status failed(const char *path, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
}

/* Write all of it.  False: errno says why. */
static bool write_all(int to, const char *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t more = write(to, bytes + done, n - done);

        if (more < 0 && errno != EINTR)
            return false;
        done += more > 0 ? (size_t)more : 0;
    }
    return true;
}

static enum nd_status copy_bytes(int from, const char *from_path, int to, const char *to_path,
                                 struct nd_error *err)
{
    char bytes[COPY_BYTES];
    ssize_t n;

    while ((n = read(from, bytes, sizeof bytes)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failed(from_path, err);
        if (!write_all(to, bytes, (size_t)n))
            return failed(to_path, err);
    }
    return fsync(to) == 0 ? ND_OK : failed(to_path, err);
}

static enum nd_status copy_file(const char *from_path, const char *to_path, struct nd_error *err)
{
    int from = open(from_path, O_RDONLY | O_CLOEXEC), to;
    enum nd_status status;

    if (from < 0)
        return failed(from_path, err);
    to = open(to_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    status = to < 0 ? failed(to_path, err) : copy_bytes(from, from_path, to, to_path, err);
    (void)close(from);
    if (to >= 0 && close(to) != 0 && status == ND_OK)
        status = failed(to_path, err);
    return status;
}

/* The copy is what was opened, and not what the file has become since. */
static enum nd_status check_copy(const struct nd_store_table *table, const char *path,
                                 struct nd_error *err)
{
    struct nd_df *df = nd_df_open(path, err);
    bool is_same = df && nd_df_fingerprint(df) == nd_df_fingerprint(table->df);

    if (!df)
        return ND_EINPUT;
    nd_df_close(df);
    return is_same ? ND_OK
                   : nd_fail(err, ND_EINPUT, "%s: changed while it was copied", table->path);
}

static enum nd_status copy_table(const struct nd_store_table *table, const char *folder,
                                 struct nd_error *err)
{
    char *path = nd_folder_path(folder, table->name, err);
    enum nd_status status = ND_ENOMEM;

    /* Two paths may lead to the same table. */
    if (path && access(path, F_OK) == 0)
        status = ND_OK;
    else if (path)
        status = copy_file(table->path, path, err);
    if (status == ND_OK)
        status = check_copy(table, path, err);
    free(path);
    return status;
}

/* Give the copy's name to whoever names the table. */
static void rename_in(const struct nd_store_tables *tables, const struct nd_df *df, char *path,
                      size_t room)
{
    for (unsigned i = 0; df && i < tables->n; i++)
        if (tables->table[i].df == df)
            (void)snprintf(path, room, "%s", tables->table[i].name);
}

enum nd_status nd_store_tables_copy(struct nd_store_tables *tables, struct nd_recipe *recipe,
                                    const char *folder, struct nd_error *err)
{
    char *path;
    enum nd_status status = ND_OK;

    if (tables->n == 0)
        return ND_OK;
    path = nd_folder_path(folder, ND_STORE_TABLES, err);
    if (!path)
        return ND_ENOMEM;
    if (mkdir(path, 0700) != 0)
        status = failed(path, err);
    for (unsigned i = 0; status == ND_OK && i < tables->n; i++)
        status = copy_table(&tables->table[i], folder, err);
    if (status == ND_OK)
        status = nd_folder_sync(path, err);
    free(path);
    for (unsigned i = 0; i < recipe->method.n_signatures; i++) {
        struct nd_recipe_signature *s = &recipe->method.signature[i];

        rename_in(tables, s->table, s->df, sizeof s->df);
        rename_in(tables, s->feature.template_table, s->template_df, sizeof s->template_df);
    }
    return status;
}

void nd_store_tables_remove(const struct nd_store_tables *tables, const char *folder)
{
    for (unsigned i = 0; i <= tables->n; i++) {
        char *path =
            nd_folder_path(folder, i < tables->n ? tables->table[i].name : ND_STORE_TABLES, NULL);

        if (path && i < tables->n)
            (void)unlink(path);
        else if (path)
            (void)rmdir(path);
        free(path);
    }
}

/* ---- A recipe that was asked for ---- */

/* Compare a table that was named with the store's, and name the store's. */
static enum nd_status match_table(const struct nd_recipe_signature *asked, char *path, size_t room,
                                  uint64_t *version, const char *own_path, uint64_t own,
                                  const char *folder, struct nd_error *err)
{
    if (*path) {
        struct nd_df *df = nd_df_open(path, err);
        uint64_t found = df ? nd_df_fingerprint(df) : 0;

        if (!df)
            return err->status;
        nd_df_close(df);
        if (found != own)
            return nd_fail(err, ND_EINVAL,
                           "%s: signature %s: the store has the df table 0x%016" PRIx64
                           ", and %s is another one, 0x%016" PRIx64
                           ": neardup store resketch makes a store with another table",
                           folder, asked->name, own, path, found);
    }
    if (!*version)
        *version = own;
    (void)snprintf(path, room, "%s", own_path);
    return ND_OK;
}

enum nd_status nd_store_tables_match(struct nd_recipe *asked, const struct nd_recipe *own,
                                     const char *folder, struct nd_error *err)
{
    struct nd_error why = {.status = ND_ENOMEM};
    enum nd_status status = ND_OK;

    for (unsigned i = 0; status == ND_OK && i < asked->method.n_signatures; i++) {
        struct nd_recipe_signature *s = &asked->method.signature[i];
        const struct nd_recipe_signature *x = nd_recipe_df_signature(own, s->name);

        if (x && nd_signature_needs_df(s) && *x->df)
            status = match_table(s, s->df, sizeof s->df, &s->df_version, x->df, x->df_version,
                                 folder, &why);
        if (status == ND_OK && x && nd_signature_needs_template(s) && *x->template_df)
            status = match_table(s, s->template_df, sizeof s->template_df, &s->template_df_version,
                                 x->template_df, x->template_df_version, folder, &why);
    }
    return status == ND_OK ? ND_OK : nd_fail(err, status, "%s", why.message);
}
