/* store_commands.c - neardup store: check, compact, stats, backup, resketch */
#define _GNU_SOURCE
#include "service/store_commands.h"
#include "service/apart.h"

#include "base/json_out.h"
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int store_failed(const struct nd_error *err)
{
    say("%s", err->message);
    return 2;
}

enum nd_status opened_open(struct opened *o, struct settings *s,
                           const struct nd_store_options *options, struct nd_error *err)
{
    enum nd_status status;
    char *text;
    size_t len;

    *o = (struct opened){.store = nd_store_open(s->paths.at[1], options, err)};
    if (!o->store)
        return err->status;
    o->caller = nd_caller_new(o->store, NULL, 0, true, err);
    o->session = o->caller ? nd_session_new(o->store, err) : NULL;
    if (!o->session)
        return opened_close(o, err->status, err);
    status = nd_recipe_canonical(nd_store_recipe(o->store), &text, &len, &o->recipe, err);
    if (status != ND_OK)
        return opened_close(o, status, err);
    free(text);
    return ND_OK;
}

enum nd_status opened_close(struct opened *o, enum nd_status status, struct nd_error *err)
{
    struct nd_error other;
    enum nd_status closed;

    nd_session_free(o->session);
    nd_caller_free(o->caller);
    closed = nd_store_close(o->store, &other);
    if (status != ND_OK || closed == ND_OK)
        return status;
    return nd_fail(err, closed, "%s", other.message);
}

/* A store that exists, and that a service may have open. */
static struct nd_store_options reading(void)
{
    struct nd_store_options options = nd_store_options_default();

    options.read_only = true;
    return options;
}

/* ---- check ----------------------------------------------------------------------------------- */

static void print_finding(void *context, const char *finding)
{
    uint64_t *n = context;

    ++*n;
    say("%s", finding);
}

static int say_damaged(const struct settings *s)
{
    say("%s: is damaged; restore a backup, or import what neardup store export still reads",
        s->paths.at[1]);
    return 1;
}

static int check_here(struct settings *s)
{
    const struct nd_store_options options = reading();
    struct opened o;
    struct nd_error err;
    uint64_t found = 0;
    enum nd_status status = opened_open(&o, s, &options, &err);

    if (status != ND_OK)
        return store_failed(&err);
    status = nd_store_check(o.store, print_finding, &found, &err);
    if (status == ND_EINPUT && found)
        status = ND_OK;
    if (opened_close(&o, status, &err) != ND_OK)
        return store_failed(&err);
    return found ? 1 : 0;
}

static int store_check(struct settings *s)
{
    int status = run_apart(check_here, s, "the check", s->paths.at[1]);

    return status == 1 ? say_damaged(s) : status;
}

/* ---- compact, backup, resketch ------------------------------------------------------------------------- */

static int store_compact(struct settings *s)
{
    const struct nd_store_options options = nd_store_options_default();
    struct opened o;
    struct nd_error err;
    uint64_t bytes = 0;
    char size[32];
    enum nd_status status = opened_open(&o, s, &options, &err);

    if (status != ND_OK)
        return store_failed(&err);
    status = nd_store_compact(o.store, s->serve.all, &bytes, &err);
    if (opened_close(&o, status, &err) != ND_OK)
        return store_failed(&err);
    if (!s->quiet)
        inform("%s: %s freed", s->paths.at[1], bytes_text((double)bytes, size));
    return 0;
}

static int store_backup(struct settings *s)
{
    const struct nd_store_options options = reading();
    struct opened o;
    struct nd_error err;
    enum nd_status status = opened_open(&o, s, &options, &err);

    if (status != ND_OK)
        return store_failed(&err);
    status = nd_store_backup(o.store, s->paths.at[2], &err);
    if (opened_close(&o, status, &err) != ND_OK)
        return store_failed(&err);
    if (!s->quiet)
        inform("%s: copied to %s", s->paths.at[1], s->paths.at[2]);
    return 0;
}

static int store_resketch(struct settings *s)
{
    const struct nd_store_options options = reading();
    struct opened o;
    struct nd_error err;
    uint64_t documents = 0;
    enum nd_status status;

    if (!is_given(s, "recipe") && !is_given(s, "set")) {
        say("store resketch needs the recipe of the new store: --recipe");
        return 2;
    }
    status = opened_open(&o, s, &options, &err);
    if (status != ND_OK)
        return store_failed(&err);
    status = nd_store_resketch(o.store, s->paths.at[2], s->recipe, s->serve.least,
                               s->serve.containment, &documents, &err);
    if (opened_close(&o, status, &err) != ND_OK)
        return store_failed(&err);
    if (!s->quiet)
        inform("%s: %llu documents sketched again into %s", s->paths.at[1],
               (unsigned long long)documents, s->paths.at[2]);
    return 0;
}

/* ---- stats ----------------------------------------------------------------------------------- */

static void print_stats(const struct nd_store_stats *f, bool json)
{
    const struct {
        const char *name;
        uint64_t value;
    } row[] = {
        {"documents", f->documents},         {"versions", f->versions},
        {"contents", f->contents},           {"pairs", f->pairs},
        {"security_sets", f->label_sets},    {"text_bytes", f->text_bytes},
        {"segment_bytes", f->segment_bytes}, {"garbage_bytes", f->garbage_bytes},
        {"segments", f->segments},           {"database_bytes", f->database_bytes},
        {"last_snapshot", f->last_snapshot}, {"oldest_garbage", f->oldest_garbage},
    };

    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (json)
            printf("%s\"%s\":%" PRIu64, i ? "," : "{", row[i].name, row[i].value);
        else
            printf("%-16s %" PRIu64 "\n", row[i].name, row[i].value);
    if (json)
        puts("}");
}

static int store_stats(struct settings *s)
{
    const struct nd_store_options options = reading();
    struct nd_store_stats figures;
    struct opened o;
    struct nd_error err;

    if (opened_open(&o, s, &options, &err) != ND_OK)
        return store_failed(&err);
    nd_store_stats(o.store, &figures);
    if (opened_close(&o, ND_OK, &err) != ND_OK)
        return store_failed(&err);
    print_stats(&figures, s->use.json);
    return close_output();
}

/* ---- The command ----------------------------------------------------------------------------- */

static const struct part {
    const char *name;
    int (*run)(struct settings *s);
    size_t least, most; /* arguments */
} parts[] = {
    {"check", store_check, 1, 1},          {"export", store_export, 1, 1},
    {"import", store_import, 1, SIZE_MAX}, {"compact", store_compact, 1, 1},
    {"stats", store_stats, 1, 1},          {"backup", store_backup, 2, 2},
    {"resketch", store_resketch, 2, 2},
};

int cmd_store(struct settings *s)
{
    size_t n = s->paths.count ? s->paths.count - 1 : 0;

    for (size_t i = 0; s->paths.count && i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(parts[i].name, s->paths.at[0]) != 0)
            continue;
        if (n >= parts[i].least && n <= parts[i].most)
            return parts[i].run(s);
        say("store %s takes %s; see neardup help store", parts[i].name,
            parts[i].most == 1   ? "the folder of a store"
            : parts[i].most == 2 ? "the folder of a store and one for the new one"
                                 : "the folder of a store and files of an export");
        return 2;
    }
    say("store takes check, export, import, compact, stats, backup or resketch; see neardup help "
        "store");
    return 2;
}
