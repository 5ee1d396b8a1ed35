/* watch.c - neardup client watch: what is new in folders, or in a file that grows, is posted */
#define _GNU_SOURCE
#include "service/client_watch.h"
#include "service/watch_items.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
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

enum watched_kind { FOLDERS, PIPED_FEED, LINES, NEITHER };

/* Whether --format, or the name of a file, says that it is a feed. */
static bool is_named_feed(const struct settings *s, const char *path)
{
    static const char *const endings[] = {".rss", ".atom", ".jsonfeed"};
    const char *format = run_option(s, "format"), *dot = strrchr(path, '.');

    if (is_given(s, "format"))
        return strcmp(format, "feed") == 0 || strcmp(format, "jsonfeed") == 0;
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot, endings[i]) == 0)
            return true;
    return false;
}

/* Whether a file is a feed by its first bytes. */
static bool begins_as_feed(const struct settings *s, const char *path)
{
    struct nd_input *input =
        nd_input_open(&path, 1, nd_run_options_input(s->run), NULL, NULL, NULL);
    struct nd_batch batch = {.count = 0};
    const struct nd_source *source = NULL;
    bool is_feed = false;

    if (input && nd_input_read(input, 1, 1, &batch, NULL) >= 0)
        source = nd_input_source(input, 0);
    if (source)
        is_feed = watch_items_are_in(source);
    nd_batch_release(&batch);
    nd_input_close(input);
    return is_feed;
}

/* Folders and feeds; or one file or pipe with lines, which need not be there yet. */
static enum watched_kind kind_of(const struct settings *s)
{
    const char *const *path = s->paths.at + 1; /* the first is the part's name */
    size_t n = s->paths.count - 1, watched = 0;
    struct stat st;

    if (n == 1 && strcmp(path[0], "-") == 0)
        return is_named_feed(s, "-") ? PIPED_FEED : LINES;
    for (size_t i = 0; i < n && strcmp(path[i], "-") != 0; i++) {
        bool is_there = stat(path[i], &st) == 0;

        if (is_there && S_ISDIR(st.st_mode))
            watched++;
        else if (is_named_feed(s, path[i]) ||
                 (is_there && S_ISREG(st.st_mode) && begins_as_feed(s, path[i])))
            watched++;
    }
    return n && watched == n ? FOLDERS : n == 1 && !watched ? LINES : NEITHER;
}

static bool fits(const struct client *c, enum watched_kind kind)
{
    const struct settings *s = c->settings;

    if (kind == NEITHER)
        say("client watch takes folders that exist and feeds, or one file or - with JSON Lines; "
            "see "
            "neardup help client watch");
    else if ((kind == LINES || kind == PIPED_FEED) &&
             (is_given(s, "delete") || is_given(s, "settle") || is_given(s, "every")))
        say("--delete, --settle and --every are for folders and files of feeds");
    else if (kind == LINES && c->options->state && strcmp(s->paths.at[1], "-") == 0)
        say("--state is for folders, files and feeds: a pipe of lines cannot be read again");
    else if (kind == LINES && is_given(s, "format") &&
             strcmp(run_option(s, "format"), "jsonl") != 0)
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
    if (kind == FOLDERS)
        status = watch_folders(w, paths->at + 1, paths->count - 1, err);
    else
        status = kind == PIPED_FEED ? watch_feed_once(w, err) : watch_feed(w, paths->at[1], err);
    return watch_is_stopping() && status == ND_EIO ? ND_OK : status;
}

int client_watch(struct client *c)
{
    const struct words *paths = &c->settings->paths;
    struct watch w = {.client = c};
    enum watched_kind kind = paths->count < 2 ? NEITHER : kind_of(c->settings);
    struct nd_error err = {.status = ND_OK};
    int status;

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
