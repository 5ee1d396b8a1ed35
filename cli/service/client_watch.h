/* client_watch.h - what the parts of neardup client watch share */
#ifndef CLI_SERVICE_CLIENT_WATCH_H
#define CLI_SERVICE_CLIENT_WATCH_H

#include <stdbool.h>

#include <neardup/error.h>

#include "service/client.h"
#include "service/post.h"
#include "service/watch_state.h"

struct watch {
    struct client *client;
    struct post *post;
    struct watch_state state;
};

/*
 * Watch folders, and files of feeds (RSS, Atom, JSON Feed), whose items are posted once, until a signal
 * says to end, or, of a pipe, until it ends.  What was answered until then is in the state.  An error
 * while watch_is_stopping() is no failure.
 */
enum nd_status watch_folders(struct watch *watch, const char *const *path, size_t n,
                             struct nd_error *err);
/* Watch the lines of one file, or of a pipe, in the same way. */
enum nd_status watch_feed(struct watch *watch, const char *path, struct nd_error *err);
/* Post the items of a feed that comes in a pipe, those in the state left out. */
enum nd_status watch_feed_once(struct watch *watch, struct nd_error *err);

#endif
