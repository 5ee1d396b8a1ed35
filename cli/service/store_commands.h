/* store_commands.h - what the parts of neardup store share */
#ifndef CLI_SERVICE_STORE_COMMANDS_H
#define CLI_SERVICE_STORE_COMMANDS_H

#include "settings.h"
#include "store/store.h"

/* A store with one who reads it, or writes to it, and sees everything. */
struct opened {
    struct nd_store *store;
    struct nd_caller *caller;
    struct nd_session *session;
    uint64_t recipe; /* the fingerprint of its recipe */
};
/* Open the store of the command line.  ND_EINVAL: a running service has it, and it is to be written
 * to. */
enum nd_status opened_open(struct opened *o, struct settings *s,
                           const struct nd_store_options *options, struct nd_error *err);
/* The first of the two failures: `status`, or of closing. */
enum nd_status opened_close(struct opened *o, enum nd_status status, struct nd_error *err);

/* Each returns the exit status. */
int store_export(struct settings *s);
int store_import(struct settings *s);

/* Report an error: 2. */
int store_failed(const struct nd_error *err);

#endif
