/* spool.h - a nameless file that holds what cannot be read again from the input */
#ifndef ND_BASE_FILE_SPOOL_H
#define ND_BASE_FILE_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>

#include "base/file/late_write.h"
#include "base/memory.h"

/* It has no name in any folder, so it goes when the process does. */
struct nd_spool;

/* In folder `dir`.  ND_EIO, ND_ENOMEM. */
struct nd_spool *nd_spool_new(const char *dir, struct nd_error *err);
void nd_spool_free(struct nd_spool *s);

/* Append bytes; *offset (NULL allowed) is where they stand.  Not while others read. */
enum nd_status nd_spool_append(struct nd_spool *s, const void *data, size_t len, uint64_t *offset,
                               struct nd_error *err);

/*
 * Append bytes that are written later, behind those that *late has.  They must stay until
 * nd_spool_write_late, which any thread may call; until then they are read from where they are.
 * Nothing else is appended between two calls with one *late.  *offset (NULL allowed) is where the
 * bytes will stand.  Not while others read.
 */
enum nd_status nd_spool_append_late(struct nd_spool *s, const void *data, size_t len,
                                    struct nd_late_write *late, uint64_t *offset,
                                    struct nd_error *err);
enum nd_status nd_spool_write_late(struct nd_spool *s, struct nd_late_write *late,
                                   struct nd_error *err);

/* Bytes appended so far. */
uint64_t nd_spool_bytes(const struct nd_spool *s);

/* Read bytes into *to, which they replace; where some of them wait to be written late, those of one
 * call that appended.  Any number of threads may. */
enum nd_status nd_spool_read(const struct nd_spool *s, uint64_t offset, size_t len,
                             struct nd_buffer *to, struct nd_error *err);

/* Forget all that was appended. */
enum nd_status nd_spool_clear(struct nd_spool *s, struct nd_error *err);

#endif
