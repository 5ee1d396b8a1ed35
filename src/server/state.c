/* state.c - what all parts of the server call */
#define _POSIX_C_SOURCE 200809L
#include "server/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

uint64_t nd_now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

uint64_t nd_server_now(const struct nd_server *server)
{
    return server->options.now ? server->options.now(server->options.now_context)
                               : (uint64_t)time(NULL);
}

void nd_server_note(const struct nd_server *server, const char *format, ...)
{
    char line[512];
    va_list args;

    if (!server->options.log)
        return;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    server->options.log(server->options.log_context, ND_SERVER_NOTE, line);
}

const char *nd_detail_for(const struct nd_exchange *x, enum nd_refusal refusal, const char *detail)
{
    if (refusal != ND_REFUSAL_FAILED && refusal != ND_REFUSAL_NO_SPACE)
        return detail;
    nd_server_note(x->server, "%s: %s", nd_route_name(x->target.route), detail ? detail : "");
    return x->key && x->key->is_administrator ? detail : NULL;
}

bool nd_server_buffer(struct nd_server *server, size_t bytes)
{
    size_t before = atomic_fetch_add(&server->n_buffered, bytes);

    if (before + bytes <= server->options.buffered_bytes)
        return true;
    atomic_fetch_sub(&server->n_buffered, bytes);
    return false;
}

void nd_server_unbuffer(struct nd_server *server, size_t bytes)
{
    atomic_fetch_sub(&server->n_buffered, bytes);
}
