/* write.c - a document made ready for the store: checked, sketched, compressed */
#include "store/write/write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/read/session_state.h"
#include "store/read/store_state.h"

enum { HASH_DIGITS = 32 };

/* The labels of canonical bytes. */
static bool list_labels(struct nd_write *write)
{
    size_t n = 0;

    for (size_t i = 0; i < write->set.len; i++)
        n += write->set.data[i] == '\0';
    write->labels = nd_alloc_array(n + 1, sizeof *write->labels);
    if (!write->labels)
        return false;
    for (size_t at = 0; at < write->set.len; at += write->labels[write->n_labels++].len + 1)
        write->labels[write->n_labels] =
            (struct nd_view){write->set.data + at, strlen(write->set.data + at)};
    return true;
}

static char *put(char *at, struct nd_view view, struct nd_view *copy)
{
    if (view.len)
        memcpy(at, view.data, view.len);
    at[view.len] = '\0';
    *copy = (struct nd_view){at, view.len};
    return at + view.len + 1;
}

/* Id, label set and text in one piece of memory. */
static enum nd_status copy_request(struct nd_write *write, const struct nd_write_request *request,
                                   struct nd_view set, struct nd_error *err)
{
    size_t id_len = request->id.len ? request->id.len : HASH_DIGITS;
    size_t len = id_len + set.len + request->text.len;
    char *at = write->memory = nd_alloc_array(len + ND_BUFFER_PADDING + 3, 1);

    if (!at)
        return nd_fail(err, ND_ENOMEM, "out of memory for a document of %zu bytes", len);
    at = put(at, set, &write->set);
    if (request->id.len) {
        at = put(at, request->id, &write->id);
    } else {
        write->id = (struct nd_view){at, HASH_DIGITS};
        at += HASH_DIGITS + 1;
    }
    at = put(at, request->text, &write->sketched.text);
    memset(at - 1, 0, ND_BUFFER_PADDING);
    return list_labels(write) ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory for a document");
}

static void id_of_hash(struct nd_write *write)
{
    const struct nd_text_hash *hash = &write->sketched.hash;

    snprintf((char *)write->id.data, HASH_DIGITS + 1, "%016" PRIx64 "%016" PRIx64, hash->high,
             hash->low);
}

/* The shingles stay beyond the session's next text. */
static enum nd_status copy_shingles(struct nd_write *write, struct nd_error *err)
{
    size_t n = (size_t)write->sketched.n_shingles;

    if (!write->sketched.shingle)
        return ND_OK;
    write->shingle = nd_alloc_array(n + 1, sizeof *write->shingle);
    if (!write->shingle)
        return nd_fail(err, ND_ENOMEM, "out of memory for the shingles of a document");
    if (n)
        memcpy(write->shingle, write->sketched.shingle, n * sizeof *write->shingle);
    write->sketched.shingle = write->shingle;
    return ND_OK;
}

/* The signatures stay, too. */
static enum nd_status copy_signatures(struct nd_session *session, struct nd_write *write,
                                      struct nd_error *err)
{
    const struct nd_sketching *sketching = session->maker.sketching;
    const struct nd_matching *matching = sketching->rows.plan.matching;
    enum nd_status status;

    if (!nd_sketching_signs(sketching))
        return ND_OK;
    status = nd_signatures_pack(matching, write->sketched.signatures, &write->signatures, err);
    if (status != ND_OK || !write->sketched.signatures)
        return status;
    (void)nd_signatures_unpack(matching,
                               (struct nd_view){write->signatures.data, write->signatures.len},
                               &write->unpacked);
    write->sketched.signatures = &write->unpacked;
    return ND_OK;
}

static enum nd_status prepare(struct nd_session *session, struct nd_write *write,
                              const struct nd_write_request *request, struct nd_view set,
                              struct nd_error *err)
{
    enum nd_status status = copy_request(write, request, set, err);

    if (status != ND_OK || request->is_deletion)
        return status;
    status = nd_sketch_text(&session->maker, write->sketched.text, &write->sketched, err);
    if (status == ND_OK)
        status = copy_shingles(write, err);
    if (status == ND_OK)
        status = copy_signatures(session, write, err);
    if (status == ND_OK && request->id.len == 0)
        id_of_hash(write);
    if (status == ND_OK)
        status =
            nd_text_compress(session->reader.compressor, write->sketched.text, &write->record, err);
    return status;
}

static enum nd_store_result check_request(const struct nd_write_request *request,
                                          struct nd_error *err)
{
    if (request->id.len > ND_STORE_ID_MAX)
        return nd_store_fail(err, ND_STORE_INVALID, "an id has at most %d bytes, not %zu",
                             (int)ND_STORE_ID_MAX, request->id.len);
    if (!nd_utf8_valid(request->id.data, request->id.len))
        return nd_store_fail(err, ND_STORE_INVALID, "the id is not valid UTF-8");
    if (!nd_utf8_valid(request->title.data, request->title.len))
        return nd_store_fail(err, ND_STORE_INVALID, "the title is not valid UTF-8");
    if (request->is_deletion && request->id.len == 0)
        return nd_store_fail(err, ND_STORE_INVALID, "a document is deleted by its id");
    if (request->text.len > UINT32_MAX)
        return nd_store_fail(err, ND_STORE_INVALID, "a text has less than 2^32 bytes");
    return ND_STORE_OK;
}

static enum nd_store_result make_write(struct nd_session *session, const struct nd_caller *caller,
                                       const struct nd_write_request *request, struct nd_view set,
                                       struct nd_write **out, struct nd_error *err)
{
    struct nd_write *write;
    enum nd_status status;

    if (request->asked.at.q &&
        nd_sketching_check_at(&session->store->sketching, request->asked.at, err) != ND_OK)
        return ND_STORE_INVALID;
    if (!request->any_labels && !nd_caller_sees(caller, set))
        return nd_store_fail(err, ND_STORE_FORBIDDEN,
                             "the document has a security label that the caller does not have");
    write = calloc(1, sizeof *write);
    if (!write)
        return nd_store_fail(err, ND_STORE_NO_MEMORY, "out of memory for a document");
    write->caller = nd_caller_hold(caller);
    write->is_deletion = request->is_deletion;
    write->any_labels = request->is_deletion && request->any_labels;
    write->asked = request->asked;
    nd_title_make(request->title, &write->title);
    status = prepare(session, write, request, set, err);
    if (status != ND_OK) {
        nd_write_free(write);
        return nd_store_result_of(status);
    }
    *out = write;
    return ND_STORE_OK;
}

enum nd_store_result nd_write_new(struct nd_session *session, const struct nd_caller *caller,
                                  const struct nd_write_request *request, struct nd_write **out,
                                  struct nd_error *err)
{
    enum nd_store_result result = check_request(request, err);
    char *set;
    size_t set_len;
    enum nd_status status;

    if (result != ND_STORE_OK)
        return result;
    status = nd_label_set_bytes(request->labels, request->n_labels, &set, &set_len, err);
    if (status != ND_OK)
        return nd_store_result_of(status);
    result = make_write(session, caller, request, (struct nd_view){set, set_len}, out, err);
    free(set);
    return result;
}

void nd_write_free(struct nd_write *write)
{
    if (!write)
        return;
    nd_caller_free(write->caller);
    nd_buffer_release(&write->record);
    nd_buffer_release(&write->signatures);
    free(write->memory);
    free(write->labels);
    free(write->shingle);
    free(write->kept);
    free(write);
}

const struct nd_written *nd_write_result(const struct nd_write *write)
{
    return &write->result;
}

void nd_write_fail(struct nd_write *write, enum nd_store_result result, const struct nd_error *why)
{
    write->error = *why;
    write->result = (struct nd_written){
        .result = result, .message = write->error.message, .key = write->result.key};
}

size_t nd_write_bytes(const struct nd_write *write)
{
    return sizeof *write + write->sketched.text.len + write->record.len + write->signatures.len +
           (size_t)write->sketched.n_shingles * sizeof *write->shingle;
}
