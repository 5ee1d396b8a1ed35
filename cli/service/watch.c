/* watch.c - neardup client watch: what is new in folders, or in a file that grows, is posted */
#define _GNU_SOURCE
#include "service/client_watch.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* ---- Signals --------------------------------------------------------------------------------- */

static volatile sig_atomic_t is_stopping;

bool watch_is_stopping(void)
{
    return is_stopping != 0;
}

/*
 * The first signal ends the watch once the answers on their way are there; one that comes a second
 * later, or more, ends the process. Some programs, such as timeout(1), send each signal twice.
 */
static void stop(int number)
{
    static volatile sig_atomic_t since;
    struct timespec now;
    int kept = errno;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!is_stopping)
        since = (sig_atomic_t)now.tv_sec;
    is_stopping = 1;
    if ((sig_atomic_t)now.tv_sec - since > 1) {
        signal(number, SIG_DFL);
        raise(number); /* when the handler returns */
    }
    errno = kept;
}

/* SIGIO would tell that somebody opens a file that is being looked at. */
static void heed_signals(void)
{
    struct sigaction action = {.sa_handler = stop};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGIO, SIG_IGN);
}

/* ---- The command ----------------------------------------------------------------------------- */

enum watched_kind { FOLDERS, FEED, NEITHER };

/* Folders, or one feed, which need not be there yet. */
static enum watched_kind kind_of(const char *const *path, size_t n)
{
    struct stat st;
    size_t folders = 0;

    for (size_t i = 0; i < n; i++)
        folders += strcmp(path[i], "-") != 0 && stat(path[i], &st) == 0 && S_ISDIR(st.st_mode);
    return folders == n ? FOLDERS : n == 1 && !folders ? FEED : NEITHER;
}

static bool fits(const struct client *c, enum watched_kind kind)
{
    const struct settings *s = c->settings;

    if (kind == NEITHER)
        say("client watch takes folders that exist, or one file or - with JSON Lines; see neardup "
            "help client watch");
    else if (kind == FEED &&
             (is_given(s, "delete") || is_given(s, "settle") || is_given(s, "every")))
        say("--delete, --settle and --every are for folders");
    else if (kind == FEED && c->options->state && strcmp(s->paths.at[1], "-") == 0)
        say("--state is for folders and files: a pipe cannot be read again");
    else if (kind == FEED && is_given(s, "format") && strcmp(run_option(s, "format"), "jsonl") != 0)
        say("a file that is watched has JSON Lines: --format has no meaning");
    else
        return true;
    return false;
}

static enum nd_status run(struct watch *w, enum watched_kind kind, struct nd_error *err)
{
    const struct words *paths = &w->client->settings->paths; /* the first is the part's name */
    enum nd_status status =
        watch_state_open(&w->state, w->client->options->state, w->client->options->url, err);

    if (status != ND_OK)
        return status;
    heed_signals();
    status = kind == FOLDERS ? watch_folders(w, paths->at + 1, paths->count - 1, err)
                             : watch_feed(w, paths->at[1], err);
    return watch_is_stopping() && status == ND_EIO ? ND_OK : status;
}

int client_watch(struct client *c)
{
    const struct words *paths = &c->settings->paths;
    struct watch w = {.client = c};
    enum watched_kind kind = kind_of(paths->at + 1, paths->count - 1);
    struct nd_error err = {.status = ND_OK};
    int status;

    if (paths->count < 2)
        kind = NEITHER;
    if (!fits(c, kind))
        return 2;
    w.post = post_new(c, true, &err);
    if (!w.post)
        return client_failed(&err);
    status = post_finish(w.post, run(&w, kind, &err), &err);
    watch_state_close(&w.state);
    post_free(w.post);
    return status;
}
