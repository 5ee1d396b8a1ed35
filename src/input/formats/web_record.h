/* web_record.h - records of web archives (WARC, ARC): their heads, and where they end */
#ifndef ND_INPUT_FORMATS_WEB_RECORD_H
#define ND_INPUT_FORMATS_WEB_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/types.h>

#include "input/formats/cut.h"

/* WARC 0.17 to 1.1 (ISO 28500) and ARC 1 and 2 (Burner and Kahle 1996). */
enum nd_web_dialect { ND_WEB_WARC, ND_WEB_ARC };

enum nd_web_kind {
    ND_WEB_DAMAGE, /* no record begins here: the bytes before the next one, or before the end */
    ND_WEB_INFO,   /* warcinfo; the first record of an ARC file */
    ND_WEB_REQUEST,
    ND_WEB_METADATA,
    ND_WEB_RESPONSE, /* also each further record of an ARC file */
    ND_WEB_RESOURCE,
    ND_WEB_CONVERSION,
    ND_WEB_REVISIT,
    ND_WEB_OTHER /* continuation, and types of later versions */
};

/* A record.  The views point into its bytes; a field that it does not have is empty. */
struct nd_web_record {
    enum nd_web_kind kind;
    struct nd_view head;    /* the head, up to the blank line below it; in an ARC one line */
    struct nd_view content; /* the block */
    size_t len;             /* length of the record, with the line ends behind its content */
    uint64_t stated;        /* the length of the content that the head states; UINT64_MAX: none */
    bool is_cut;            /* the bytes end before the content does */
    struct nd_view uri, date, type, id, concurrent;
};

enum {
    ND_WEB_HEAD_MAX = 1 << 16, /* a longer head is damage */
    ND_WEB_LOOK_AHEAD = 1 << 16
};

/*
 * Read the head of the record that the bytes begin with.  ND_CUT_RECORD: all but content, len and
 * is_cut are set; kind ND_WEB_DAMAGE: none begins here.  ND_CUT_MORE: bytes are missing.
 */
enum nd_cut_answer nd_web_head(enum nd_web_dialect dialect, const char *bytes, size_t len,
                               bool at_end, struct nd_web_record *r);

/*
 * Find the end of that record, whose head has been read.  The content has the stated length if
 * nothing but line ends stands between its end and the next record, or the end of the bytes.
 * Otherwise the length is wrong, and the record ends where the first record behind its head
 * begins, or with the bytes.
 *
 * ND_CUT_RECORD, ND_CUT_MORE.  *scanned, which starts from 0, is kept from call to call while there
 * are more bytes of the same record, so that none is searched twice.
 */
enum nd_cut_answer nd_web_end(enum nd_web_dialect dialect, const char *bytes, size_t len,
                              bool at_end, size_t *scanned, struct nd_web_record *r);

/* Both, for bytes that begin with a record and are all there are. */
void nd_web_read(enum nd_web_dialect dialect, const char *bytes, size_t len,
                 struct nd_web_record *r);

/* Return the date as WARC writes it; that of ARC, of 14 digits, is put into `room`. */
enum { ND_WEB_DATE_BYTES = 24 };
struct nd_view nd_web_date(enum nd_web_dialect dialect, const struct nd_web_record *r,
                           char room[ND_WEB_DATE_BYTES]);

/* Return the value of the first field of this name (in any case) in a head of lines `name: value`,
 * without the white space around it.  data NULL: it has none. */
struct nd_view nd_web_field(struct nd_view head, const char *name, size_t name_len);

/* Whether the first bytes of a file are those of an archive. */
bool nd_web_looks_like(enum nd_web_dialect dialect, const char *head, size_t len);

#endif
