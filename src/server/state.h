/* state.h - the server as its parts see it, and a request on its way to an answer */
#ifndef ND_SERVER_STATE_H
#define ND_SERVER_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/json_out.h"
#include "base/memory.h"
#include "base/thread/thread.h"
#include "server/access_keys.h"
#include "server/connections/peers.h"
#include "server/connections/tls.h"
#include "server/jobs.h"
#include "server/metrics.h"
#include "server/posted.h"
#include "server/server.h"
#include "server/wire/head.h"
#include "server/wire/target.h"
#include "server/workspace.h"

struct MHD_Daemon;
struct MHD_Connection;
struct nd_listener;
struct nd_ndjson;
struct nd_web_file;

struct nd_server {
    struct nd_server_options options; /* its texts are copies, below */
    struct nd_arena texts;
    struct nd_store *store;
    bool has_simhash; /* the recipe makes one */
    bool has_tls;

    struct nd_workspaces *workspaces;
    struct nd_jobs *jobs;
    struct nd_peers *peers;
    struct nd_listener *listener;
    struct MHD_Daemon *daemon;
    struct nd_metrics metrics;

    struct nd_monitor monitor; /* of what a reload changes */
    struct nd_keys *keys;
    struct nd_certificate *certificate; /* the newest */

    atomic_bool is_ending;
    atomic_bool is_exporting;         /* a job makes the sketches of all documents */
    atomic_size_t n_active;           /* requests */
    atomic_uint_least64_t n_requests; /* that have begun */
    uint64_t secret[2];               /* what ids of requests are made with */
    atomic_size_t n_buffered;         /* bytes of bodies */
};

enum nd_stage {
    ND_STAGE_LINE,    /* the request line is there */
    ND_STAGE_BODY,    /* the body is being received */
    ND_STAGE_DISCARD, /* the same, but it will be refused */
    ND_STAGE_WORK,    /* the connection is held while a thread or the store works */
    ND_STAGE_READY,   /* the answer is there */
    ND_STAGE_SENT     /* it was handed over */
};

/* An answer that is a file without a name. */
struct nd_answer_file {
    int fd;
    uint64_t bytes;
    bool is_open;
};

/* A request, and its answer. */
struct nd_exchange {
    struct nd_server *server;
    struct nd_peer *peer;
    struct MHD_Connection *connection;
    enum nd_stage stage;
    uint64_t begun_us;

    char id[65]; /* of the request in the log and in the answer: the caller's or one of ours */
    char *shown; /* the target for the log; NULL: there is none */
    char *uri;   /* a copy of it, which `target` points into and has decoded */
    size_t uri_len;
    uint64_t number; /* of the connection's requests, from 1 on */
    enum nd_verb method;
    struct nd_head head;
    struct nd_target target;
    enum nd_media media;
    struct nd_view charset;
    struct nd_keys *keys;
    const struct nd_service_key *key; /* whose request it is */

    struct nd_buffer body;
    size_t n_buffered; /* of it, what the server counts */
    uint64_t received, discarded, held_ms;
    uint64_t held_since_ms;   /* 0: the connection is not held in the middle of a body */
    struct nd_ndjson *stream; /* NDJSON: in place of `body` */
    struct nd_write *write;   /* what is being stored */
    uint64_t replaced;        /* in its text */
    struct nd_job job;

    /* The answer. */
    enum nd_refusal refusal;
    struct nd_error err; /* its detail */
    struct nd_json out;
    unsigned status;  /* 200, 201, 204 */
    uint64_t bytes;   /* of the body */
    unsigned retry_s; /* after which a caller may try again; 0: any time */
    const char *type;
    const struct nd_web_file *file;
    struct nd_answer_file answer;
    bool closes; /* the connection */
};

/* Microseconds of a clock that never goes back. */
uint64_t nd_now_us(void);
/* Seconds since 1970, as answers have them. */
uint64_t nd_server_now(const struct nd_server *server);
/* The detail of a refusal for this caller.  What a store that fails says may name files and places,
 * which tell of hidden documents: it goes to whoever runs the server, and to the administrator. */
const char *nd_detail_for(const struct nd_exchange *x, enum nd_refusal refusal, const char *detail);
/* Tell whoever runs the server. */
void nd_server_note(const struct nd_server *server, const char *format, ...) ND_PRINTF(2, 3);

/* Whether it may take so many more bytes into memory; counted until they are given back. */
bool nd_server_buffer(struct nd_server *server, size_t bytes);
void nd_server_unbuffer(struct nd_server *server, size_t bytes);

#endif
