/*
 * handle_sketches.c - the sketches of all documents, for the administrator
 *
 * Fingerprints tell of texts, so nobody else gets those of documents that they may not see.  The head
 * of a sketch file is written last, so the answer is a nameless file that is whole before it is sent.
 */
#define _POSIX_C_SOURCE 200809L
#include "server/handlers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file/temporary.h"

/* A nameless file in the folder of such, as a stream with a descriptor of its own.  NULL: *err. */
static FILE *open_answer(struct nd_exchange *x, struct nd_error *err)
{
    int fd = nd_temporary_spool(x->server->options.temporary_folder);
    int own = fd >= 0 ? dup(fd) : -1;
    FILE *stream = own >= 0 ? fdopen(own, "wb") : NULL;

    if (!stream) {
        nd_fail(err, ND_EIO, "%s: cannot create a temporary file in it: %s",
                x->server->options.temporary_folder, strerror(errno));
        if (own >= 0)
            (void)close(own);
        if (fd >= 0)
            (void)close(fd);
        return NULL;
    }
    x->answer = (struct nd_answer_file){.fd = fd, .is_open = true};
    return stream;
}

static enum nd_refusal write_sketches(struct nd_exchange *x, struct nd_workspace *w, FILE *stream,
                                      struct nd_error *err)
{
    uint64_t documents;
    enum nd_store_result result = nd_session_write_sketches(
        w->session, x->key->caller, stream, true, &x->server->is_ending, &documents, err);

    if (atomic_load(&x->server->is_ending))
        return nd_refuse(err, ND_REFUSAL_ENDING, "the service is ending");
    if (ferror(stream) || fflush(stream) != 0)
        return nd_refuse(err, ND_REFUSAL_NO_SPACE, "%s: the answer cannot be written in it",
                         x->server->options.temporary_folder);
    x->answer.bytes = (uint64_t)ftello(stream);
    return nd_refusal_of_store(result);
}

enum nd_refusal nd_handle_sketches(struct nd_exchange *x, struct nd_workspace *w,
                                   struct nd_error *err)
{
    enum nd_refusal refusal;
    FILE *stream;

    if (!x->key->is_administrator)
        return nd_refuse(err, ND_REFUSAL_ADMINISTRATOR,
                         "the sketches tell of documents that you may not see");
    if (atomic_exchange(&x->server->is_exporting, true))
        return nd_refuse(err, ND_REFUSAL_BUSY, "another request gets the sketches");
    stream = open_answer(x, err);
    refusal = stream ? write_sketches(x, w, stream, err) : ND_REFUSAL_NO_SPACE;
    if (stream)
        (void)fclose(stream);
    atomic_store(&x->server->is_exporting, false);
    x->type = "application/octet-stream";
    return refusal;
}
