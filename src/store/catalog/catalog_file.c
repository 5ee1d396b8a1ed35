/* catalog_file.c - the database as a whole: made, opened, copied; its transactions (LMDB) */
#define _GNU_SOURCE
#include "store/catalog/catalog_tables.h"
#include "store/segments/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_READERS = 2048,
    COMMITS_BETWEEN_CHECKS = 4096 /* for readers whose process was killed */
};
/* As much as is there: a map takes address space, not memory. */
static const size_t map_bytes_wanted = (size_t)1 << 40, map_bytes_least = (size_t)1 << 30;

/* ---- Opening ---- */

/* Open the file with the greatest map that the process may have. */
static int open_environment(struct nd_catalog *c, unsigned flags, size_t map_bytes)
{
    int code = ENOMEM;

    for (; code == ENOMEM && map_bytes;
         map_bytes = map_bytes > map_bytes_least ? map_bytes / 2 : 0) {
        code = mdb_env_create(&c->env);
        if (code)
            return code;
        code = mdb_env_set_mapsize(c->env, map_bytes);
        if (code == 0)
            code = mdb_env_set_maxdbs(c->env, ND_CATALOG_TABLES);
        if (code == 0)
            code = mdb_env_set_maxreaders(c->env, MAX_READERS);
        if (code == 0)
            code = mdb_env_open(c->env, c->path, flags | MDB_NOSUBDIR | MDB_NOTLS, 0600);
        if (code) {
            mdb_env_close(c->env);
            c->env = NULL;
        }
    }
    return code;
}

/* The handles of all tables are valid once the transaction has ended. */
static enum nd_status open_tables(struct nd_txn *txn, bool create, struct nd_error *err)
{
    for (int i = 0; i < ND_CATALOG_TABLES; i++) {
        enum nd_catalog_table table = (enum nd_catalog_table)i;
        int code = mdb_dbi_open(txn->txn, nd_catalog_table_name(table), create ? MDB_CREATE : 0,
                                &txn->catalog->table[i]);

        if (code)
            return nd_catalog_fail(txn, table, NULL, code, err);
    }
    return ND_OK;
}

static struct nd_key format_key(void)
{
    return (struct nd_key){6, "format"};
}

static enum nd_status put_format(struct nd_txn *txn, struct nd_error *err)
{
    struct nd_key key = format_key();
    struct nd_catalog_state state = {0};
    uint8_t row[4];
    enum nd_status status;

    nd_row_put_32(row, ND_STORE_FORMAT);
    status = nd_catalog_put(txn, ND_TABLE_META, &key, (struct nd_view){(char *)row, 4}, err);
    return status ? status : nd_catalog_put_state(txn, &state, err);
}

static enum nd_status check_format(struct nd_txn *txn, struct nd_error *err)
{
    struct nd_key key = format_key();
    struct nd_view row;
    uint32_t format;
    int found = nd_catalog_get(txn, ND_TABLE_META, &key, &row, err);

    if (found < 0)
        return (enum nd_status)found;
    if (!found || !nd_row_get_32(row, &format))
        return nd_catalog_fail_row(txn, ND_TABLE_META, &key, "it has no version of the format",
                                   err);
    if (format != ND_STORE_FORMAT)
        return nd_fail(err, ND_EINPUT,
                       "%s: the store has version %u of the format, and this program reads %u",
                       txn->catalog->path, (unsigned)format, (unsigned)ND_STORE_FORMAT);
    return ND_OK;
}

static enum nd_status use_tables(struct nd_catalog *c, bool create, struct nd_error *err)
{
    struct nd_txn *txn;
    enum nd_status status = nd_catalog_begin(c, create, &txn, err);

    if (status)
        return status;
    status = open_tables(txn, create, err);
    if (status == ND_OK)
        status = create ? put_format(txn, err) : check_format(txn, err);
    if (status) {
        nd_catalog_abort(txn);
        return status;
    }
    return nd_catalog_commit(txn, NULL, err);
}

/* ---- A file that was cut short ---- */

struct file_shape {
    uint64_t page_bytes, pages; /* as the database has them */
    uint64_t there;             /* pages that the file has */
};

/* Whether all pages that are missing are free: LMDB does not write new pages that it freed in the
 * same transaction.  A row of its first table lists pages: how many there are, and their numbers. */
static int count_free_behind(struct nd_txn *txn, const struct file_shape *shape, uint64_t *n_free)
{
    MDB_cursor *cursor;
    MDB_val key, list;
    int code = mdb_cursor_open(txn->txn, 0, &cursor);

    if (code)
        return code;
    *n_free = 0;
    while ((code = mdb_cursor_get(cursor, &key, &list, MDB_NEXT)) == 0) {
        size_t n = list.mv_size / sizeof(size_t), page;

        for (size_t i = 1; i < n; i++) {
            memcpy(&page, (char *)list.mv_data + i * sizeof page, sizeof page);
            *n_free += page >= shape->there;
        }
    }
    mdb_cursor_close(cursor);
    return code == MDB_NOTFOUND ? 0 : code;
}

/* Reading behind the end of a mapped file would kill the process.  fallocate() never shortens the
 * file, which a running server may be making longer. */
static enum nd_status make_whole(struct nd_catalog *c, const struct file_shape *shape,
                                 struct nd_error *err)
{
    int fd = open(c->path, O_RDWR | O_CLOEXEC), code;
    bool is_long =
        fd >= 0 && fallocate(fd, 0, (off_t)(shape->there * shape->page_bytes),
                             (off_t)((shape->pages - shape->there) * shape->page_bytes)) == 0;
    struct nd_txn *txn;
    uint64_t n_free = 0;
    enum nd_status status;

    if (fd >= 0)
        (void)close(fd);
    if (!is_long)
        return nd_fail(err, ND_EINPUT, "%s: the file ends too early, and cannot be extended: %s",
                       c->path, strerror(errno));
    status = nd_catalog_begin(c, false, &txn, err);
    if (status)
        return status;
    code = count_free_behind(txn, shape, &n_free);
    nd_catalog_abort(txn);
    if (code || n_free != shape->pages - shape->there)
        return nd_fail(err, ND_EINPUT,
                       "%s: the file was cut short: of its %llu pages %llu are there", c->path,
                       (unsigned long long)shape->pages, (unsigned long long)shape->there);
    return ND_OK;
}

static enum nd_status check_length(struct nd_catalog *c, struct nd_error *err)
{
    MDB_envinfo info;
    MDB_stat stat;
    struct stat about;
    struct file_shape shape;
    int fd;

    (void)mdb_env_info(c->env, &info);
    (void)mdb_env_stat(c->env, &stat);
    if (mdb_env_get_fd(c->env, &fd) || fstat(fd, &about))
        return nd_fail(err, ND_EIO, "%s: %s", c->path, strerror(errno));
    shape.page_bytes = stat.ms_psize;
    shape.pages = info.me_last_pgno + 1;
    shape.there = (uint64_t)about.st_size / stat.ms_psize;
    return shape.there >= shape.pages ? ND_OK : make_whole(c, &shape, err);
}

/* ---- The handle ---- */

/* flags: those of mdb_env_open. */
static struct nd_catalog *open_file(const char *path, bool create, unsigned flags, size_t map_bytes,
                                    struct nd_error *err)
{
    struct nd_catalog *c = calloc(1, sizeof *c);
    enum nd_status status;
    int code, dead;

    if (c)
        c->path = strdup(path);
    if (!c || !c->path) {
        free(c);
        nd_fail(err, ND_ENOMEM, "%s: out of memory", path);
        return NULL;
    }
    c->is_read_only = flags & MDB_RDONLY;
    code = open_environment(c, flags, map_bytes);
    if (code == EACCES || code == EPERM) {
        (void)nd_folder_fail(path, path, code, err);
        nd_catalog_close(c);
        return NULL;
    }
    if (code) {
        bool is_other = code == MDB_INVALID || code == MDB_VERSION_MISMATCH;

        nd_fail(err,
                code == ENOMEM ? ND_ENOMEM
                : is_other     ? ND_EINPUT
                               : ND_EIO,
                "%s: %s", path, mdb_strerror(code));
        nd_catalog_close(c);
        return NULL;
    }
    (void)mdb_reader_check(c->env, &dead);
    status = create ? ND_OK : check_length(c, err);
    if (status == ND_OK)
        status = use_tables(c, create, err);
    if (status) {
        nd_catalog_close(c);
        return NULL;
    }
    return c;
}

static void remove_file(const char *path)
{
    char *lock = malloc(strlen(path) + sizeof "-lock");

    (void)unlink(path);
    if (lock) {
        (void)sprintf(lock, "%s-lock", path);
        (void)unlink(lock);
    }
    free(lock);
}

/* Make the file under another name, and then give it its own: LMDB can lose what it is making if
 * the power fails. */
static enum nd_status make_file(const char *folder, const char *path, size_t map_bytes,
                                struct nd_error *err)
{
    char *new_path = nd_folder_path(folder, ND_CATALOG_FILE ".new", err);
    struct nd_catalog *c;
    enum nd_status status;

    if (!new_path)
        return ND_ENOMEM;
    remove_file(new_path);
    c = open_file(new_path, true, 0, map_bytes, err);
    status = c ? nd_folder_sync(new_path, err) : err ? err->status : ND_EIO;
    nd_catalog_close(c);
    if (status == ND_OK && rename(new_path, path) != 0)
        status = nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
    if (status == ND_OK)
        status = nd_folder_sync(folder, err);
    remove_file(new_path);
    free(new_path);
    return status;
}

/* LMDB would take an empty file for one that it should begin. */
static enum nd_status check_file(const char *path, bool create, struct nd_error *err)
{
    struct stat about;
    bool is_there = stat(path, &about) == 0;

    if (!is_there && errno != ENOENT)
        return nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
    if (create)
        return is_there ? nd_fail(err, ND_EIO, "%s: it is there already", path) : ND_OK;
    if (!is_there)
        return nd_fail(err, ND_EINPUT, "%s: there is no such file", path);
    if (!S_ISREG(about.st_mode) || about.st_size == 0)
        return nd_fail(err, ND_EINPUT, "%s: it is no database", path);
    return ND_OK;
}

struct nd_catalog *nd_catalog_open_sized(const char *folder, bool create, bool read_only,
                                         size_t map_bytes, struct nd_error *err)
{
    char *path = nd_folder_path(folder, ND_CATALOG_FILE, err);
    struct nd_catalog *c = NULL;
    enum nd_status status;

    if (!path)
        return NULL;
    status = check_file(path, create, err);
    if (status == ND_OK && create)
        status = make_file(folder, path, map_bytes, err);
    if (status == ND_OK)
        c = open_file(path, false, read_only ? MDB_RDONLY : 0, map_bytes, err);
    free(path);
    return c;
}

struct nd_catalog *nd_catalog_open_alone(const char *folder, struct nd_error *err)
{
    char *path = nd_folder_path(folder, ND_CATALOG_FILE, err);
    struct nd_catalog *c = NULL;

    if (path && check_file(path, false, err) == ND_OK)
        c = open_file(path, false, MDB_RDONLY | MDB_NOLOCK, map_bytes_wanted, err);
    free(path);
    return c;
}

struct nd_catalog *nd_catalog_open(const char *folder, bool create, bool read_only,
                                   struct nd_error *err)
{
    return nd_catalog_open_sized(folder, create, read_only, map_bytes_wanted, err);
}

void nd_catalog_close(struct nd_catalog *catalog)
{
    if (!catalog)
        return;
    if (catalog->env)
        mdb_env_close(catalog->env);
    free(catalog->path);
    free(catalog);
}

/* ---- Transactions ---- */

enum nd_status nd_catalog_begin(struct nd_catalog *catalog, bool writes, struct nd_txn **txn,
                                struct nd_error *err)
{
    struct nd_txn *t;
    int code, dead;

    if (writes && catalog->is_read_only)
        return nd_fail(err, ND_EINVAL, "%s: it was opened to be read only", catalog->path);
    t = calloc(1, sizeof *t);
    if (!t)
        return nd_fail(err, ND_ENOMEM, "%s: out of memory", catalog->path);
    t->catalog = catalog;
    code = mdb_txn_begin(catalog->env, NULL, writes ? 0 : MDB_RDONLY, &t->txn);
    if (code) {
        enum nd_status status = nd_catalog_fail(t, ND_CATALOG_TABLES, NULL, code, err);

        free(t);
        return status;
    }
    t->writes = writes;
    if (writes && ++catalog->begun % COMMITS_BETWEEN_CHECKS == 0)
        (void)mdb_reader_check(catalog->env, &dead);
    *txn = t;
    return ND_OK;
}

void nd_catalog_pause(struct nd_txn *txn)
{
    mdb_txn_reset(txn->txn);
    for (int i = 0; i < ND_CATALOG_TABLES; i++) {
        txn->is_stale[i] = true;
        txn->is_found[i] = false;
    }
}

enum nd_status nd_catalog_renew(struct nd_txn *txn, struct nd_error *err)
{
    int code = mdb_txn_renew(txn->txn);

    return code ? nd_catalog_fail(txn, ND_CATALOG_TABLES, NULL, code, err) : ND_OK;
}

enum nd_status nd_catalog_commit(struct nd_txn *txn, bool *no_space, struct nd_error *err)
{
    enum nd_status status = txn->failed;
    int code;

    nd_catalog_close_cursors(txn);
    if (status) {
        mdb_txn_abort(txn->txn);
        nd_fail(err, status, "%s: a call of the transaction failed before%s", txn->catalog->path,
                txn->no_space ? ": the disk is full" : "");
    } else {
        code = mdb_txn_commit(txn->txn);
        if (code)
            status = nd_catalog_fail(txn, ND_CATALOG_TABLES, NULL, code, err);
    }
    if (no_space)
        *no_space = txn->no_space;
    free(txn);
    return status;
}

void nd_catalog_abort(struct nd_txn *txn)
{
    if (!txn)
        return;
    nd_catalog_close_cursors(txn);
    mdb_txn_abort(txn->txn);
    free(txn);
}

/* ---- Who reads ---- */

uint64_t nd_catalog_moment(const struct nd_txn *txn)
{
    return mdb_txn_id(txn->txn);
}

struct oldest {
    uint64_t before;
    bool is_found;
};

/* LMDB gives its table of readers as text: a heading, and lines "pid thread moment", in which a
 * reader that is paused has a dash for its moment. */
static int see_reader(const char *line, void *context)
{
    struct oldest *oldest = context;
    const char *last = strrchr(line, ' ');
    unsigned long long moment;

    if (last && sscanf(last, " %llu", &moment) == 1 && moment < oldest->before)
        oldest->is_found = true;
    return 0;
}

bool nd_catalog_is_read_before(struct nd_catalog *catalog, uint64_t moment)
{
    struct oldest oldest = {.before = moment};
    int dead;

    (void)mdb_reader_check(catalog->env, &dead);
    (void)mdb_reader_list(catalog->env, see_reader, &oldest);
    return oldest.is_found;
}

/* ---- All of it ---- */

enum nd_status nd_catalog_copy(struct nd_catalog *catalog, const char *folder, struct nd_error *err)
{
    char *path = nd_folder_path(folder, ND_CATALOG_FILE, err);
    enum nd_status status = ND_OK;
    int fd, code;

    if (!path)
        return ND_ENOMEM;
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        status = nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
        free(path);
        return status;
    }
    code = mdb_env_copyfd2(catalog->env, fd, MDB_CP_COMPACT);
    if (code == 0 && fsync(fd) != 0)
        code = errno;
    if (close(fd) != 0 && code == 0)
        code = errno;
    if (code)
        status =
            nd_fail(err, code == ENOMEM ? ND_ENOMEM : ND_EIO, "%s: %s", path, mdb_strerror(code));
    else
        status = nd_folder_sync(folder, err);
    if (status)
        (void)unlink(path);
    free(path);
    return status;
}

uint64_t nd_catalog_bytes(struct nd_catalog *catalog)
{
    struct stat about;
    int fd;

    if (mdb_env_get_fd(catalog->env, &fd) || fstat(fd, &about))
        return 0;
    return (uint64_t)about.st_size;
}
