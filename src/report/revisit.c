/* revisit.c - WARC records that say of removed pages which kept page stands for them */

/*
 * The fields are those of the two records, and evidence of the comparison.  A record's id must be
 * unique and yet the same in every run: it is a UUID of version 8 (RFC 9562) from hashes of the two
 * records and of the removed one's place.
 */
#include "report/revisit.h"

#include <neardup/version.h>

#include "base/hash.h"
#include "base/view.h"
#include "evidence/rows.h"
#include "input/formats/web_body.h"
#include "reading/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_text(struct nd_json *out, const char *text)
{
    nd_json_bytes(out, text, strlen(text));
}

/* ---- Fields ---- */

/* A value that would end its line, or is empty, is none. */
static void put_field(struct nd_json *out, const char *name, struct nd_view value)
{
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.data[i] < ' ' && value.data[i] != '\t')
            return;
    if (!value.len)
        return;
    put_text(out, name);
    put_text(out, ": ");
    nd_json_bytes(out, value.data, value.len);
    put_text(out, "\r\n");
}

static void put_word(struct nd_json *out, const char *name, const char *value)
{
    put_field(out, name, (struct nd_view){value, strlen(value)});
}

static void put_number(struct nd_json *out, const char *name, double value)
{
    put_text(out, name);
    put_text(out, ": ");
    out->after_value = false;
    nd_json_double(out, value);
    out->after_value = false;
    put_text(out, "\r\n");
}

static void put_id(struct nd_json *out, uint64_t high, uint64_t low)
{
    char id[64];

    high = (high & ~UINT64_C(0xf000)) | UINT64_C(0x8000);
    low = (low & (UINT64_MAX >> 2)) | UINT64_C(1) << 63;
    (void)snprintf(id, sizeof id, "<urn:uuid:%08x-%04x-%04x-%04x-%012" PRIx64 ">",
                   (unsigned)(high >> 32), (unsigned)(high >> 16 & 0xffff),
                   (unsigned)(high & 0xffff), (unsigned)(low >> 48), low & (UINT64_MAX >> 16));
    put_word(out, "WARC-Record-ID", id);
}

static void put_fingerprint(struct nd_json *out, const char *name, uint64_t fingerprint)
{
    char hex[20];

    (void)snprintf(hex, sizeof hex, "%016" PRIx64, fingerprint);
    put_word(out, name, hex);
}

/* ---- The two records ---- */

struct capture {
    struct nd_web_record record;
    struct nd_web_body body;
    char date[ND_WEB_DATE_BYTES];
    struct nd_view digest;
};

static bool is_archive(const struct nd_source *source)
{
    return source->format == ND_FORMAT_WARC || source->format == ND_FORMAT_ARC;
}

static bool find_capture(const struct nd_revisit_record *r, struct capture *to)
{
    if (!r->bytes.data || !is_archive(r->source) ||
        !nd_web_find_main(r->source->format == ND_FORMAT_ARC ? ND_WEB_ARC : ND_WEB_WARC, r->bytes,
                          &to->record, &to->body))
        return false;
    to->digest = nd_web_field(to->record.head, "WARC-Payload-Digest", 19);
    return true;
}

static struct nd_view date_of(const struct nd_revisit_record *r, struct capture *c)
{
    return nd_web_date(r->source->format == ND_FORMAT_ARC ? ND_WEB_ARC : ND_WEB_WARC, &c->record,
                       c->date);
}

/* Whether the bodies are the same as they are stored, and are encoded in the same way. */
static bool is_same_payload(const struct capture *a, const struct capture *b)
{
    return nd_view_equal(a->body.bytes, b->body.bytes) &&
           a->body.is_chunked == b->body.is_chunked &&
           nd_view_equal(a->body.encoding, b->body.encoding);
}

static void put_record_id(struct nd_json *out, const struct nd_revisit *r)
{
    const struct nd_source *source = r->removed.source;
    struct nd_view kept = r->kept.bytes.data ? r->kept.bytes : r->kept_id;
    uint64_t low, high, place = nd_mix64(r->removed.line);

    nd_hash_bytes_128(r->removed.bytes.data, r->removed.bytes.len, &low, &high);
    place = nd_hash_bytes_seeded(source->path, strlen(source->path), place);
    if (source->entry)
        place = nd_hash_bytes_seeded(source->entry, strlen(source->entry), place);
    put_id(out, nd_mix64(high ^ place),
           nd_mix64(low ^ nd_hash_bytes_seeded(kept.data, kept.len, place)));
}

/* An id that begins with a scheme. */
static bool is_address(struct nd_view id)
{
    const char *colon = id.len ? memchr(id.data, ':', id.len) : NULL;

    return colon && colon - id.data > 1 && (size_t)(colon - id.data) + 2 < id.len &&
           memcmp(colon, "://", 3) == 0;
}

static void put_reference(struct nd_json *out, const struct nd_revisit *r, struct capture *kept)
{
    if (kept) {
        put_field(out, "WARC-Refers-To", kept->record.id);
        put_field(out, "WARC-Refers-To-Target-URI", kept->record.uri);
        put_field(out, "WARC-Refers-To-Date", date_of(&r->kept, kept));
    } else if (is_address(r->kept_id))
        put_field(out, "WARC-Refers-To-Target-URI", r->kept_id);
}

static void put_evidence(struct nd_json *out, const struct nd_revisit *r)
{
    static const char *const identical[] = {"no", "bytes", "tokens"};
    static const char *const name[] = {"", "Neardup-Containment-Of-Removed",
                                       "Neardup-Containment-Of-Kept"};
    const struct nd_decision *d = r->decision;
    enum nd_containment deciding = nd_deciding_containment(&r->recipe->dedup, d);

    put_word(out, "Neardup-Method", nd_method_name(r->recipe, d));
    put_word(out, "Neardup-Identical", identical[d->identical]);
    if (d->verified) {
        put_number(out, "Neardup-Resemblance", nd_overlap_resemblance(&d->overlap));
        if (deciding != ND_CONTAINMENT_NONE)
            put_number(out, name[deciding],
                       nd_fraction(d->overlap.shared, deciding == ND_CONTAINMENT_OF_REMOVED
                                                          ? d->overlap.a
                                                          : d->overlap.b));
    }
    put_fingerprint(out, "Neardup-Recipe", r->fingerprint);
}

/* The facts on the capture itself, by the head of the removed record. */
static void put_capture(struct nd_json *out, const struct nd_revisit *r, struct capture *c)
{
    static const char *const names[] = {"WARC-IP-Address", "WARC-Truncated",
                                        "WARC-Identified-Payload-Type",
                                        "WARC-Identified-Content-Language"};

    put_field(out, "WARC-Target-URI", c->record.uri);
    put_field(out, "WARC-Date", date_of(&r->removed, c));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        put_field(out, names[i], nd_web_field(c->record.head, names[i], strlen(names[i])));
}

static enum nd_status refuse(const struct nd_revisit_record *r, struct nd_error *err)
{
    struct nd_json at = {.failed = false};
    enum nd_status status;

    nd_place_append(&at, r->source, r->line);
    nd_json_bytes(&at, "", 1);
    status = at.failed ? nd_fail(err, ND_ENOMEM, "out of memory")
                       : nd_fail(err, ND_EINPUT,
                                 "%s: is removed, and is no record of a web archive: revisit "
                                 "writes records of such archives only; use removed or manifest",
                                 at.text.data);
    nd_json_release(&at);
    return status;
}

enum nd_status nd_revisit_put(struct nd_json *out, const struct nd_revisit *r, struct nd_error *err)
{
    struct capture removed, kept;
    bool has_kept = find_capture(&r->kept, &kept), is_same;
    char length[24];

    if (!find_capture(&r->removed, &removed))
        return refuse(&r->removed, err);
    is_same =
        has_kept && is_same_payload(&removed, &kept) && (removed.digest.len || kept.digest.len);
    if (is_same && !removed.digest.len)
        removed.digest = kept.digest;
    put_text(out, "WARC/1.1\r\nWARC-Type: revisit\r\n");
    put_record_id(out, r);
    put_capture(out, r, &removed);
    put_field(out, "WARC-Payload-Digest", removed.digest);
    put_word(out, "WARC-Profile", is_same ? ND_REVISIT_IDENTICAL : ND_REVISIT_NEAR);
    put_reference(out, r, has_kept ? &kept : NULL);
    put_field(out, "Neardup-Removed", removed.record.id);
    put_evidence(out, r);
    if (removed.body.http.len)
        put_word(out, "Content-Type", "application/http; msgtype=response");
    (void)snprintf(length, sizeof length, "%zu", removed.body.http.len);
    put_word(out, "Content-Length", length);
    put_text(out, "\r\n");
    nd_json_bytes(out, removed.body.http.data, removed.body.http.len);
    put_text(out, "\r\n\r\n");
    return out->failed ? nd_fail(err, ND_ENOMEM, "out of memory") : ND_OK;
}

void nd_revisit_info(struct nd_json *out, struct nd_view first, uint64_t fingerprint)
{
    static const char content[] =
        "software: neardup " ND_VERSION "\r\n"
        "format: WARC File Format 1.1\r\n"
        "conformsTo: "
        "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n"
        "description: a revisit record for each capture that was removed as a near duplicate\r\n";
    struct nd_web_record r;
    char length[24];
    uint64_t low, high;

    nd_web_read(ND_WEB_WARC, first.data, first.len, &r);
    nd_hash_bytes_128(first.data, r.len, &low, &high);
    put_text(out, "WARC/1.1\r\nWARC-Type: warcinfo\r\n");
    put_id(out, nd_mix64(high), nd_mix64(low));
    put_field(out, "WARC-Date", r.date);
    put_word(out, "Content-Type", "application/warc-fields");
    put_fingerprint(out, "Neardup-Recipe", fingerprint);
    (void)snprintf(length, sizeof length, "%zu", sizeof content - 1);
    put_word(out, "Content-Length", length);
    put_text(out, "\r\n");
    put_text(out, content);
    put_text(out, "\r\n\r\n");
}
