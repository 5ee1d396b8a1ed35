/* backup.h - the checksums of a copy of a store, while nobody has written to it */
#ifndef ND_STORE_UPKEEP_BACKUP_H
#define ND_STORE_UPKEEP_BACKUP_H

#include <stdint.h>

#include <neardup/error.h>

/* A list of the files of a backup with their lengths and hashes (docs/format/store.md). */
#define ND_BACKUP_CHECKSUMS "checksums"

/* Compare the files of a store with the list, if it has one: each difference is reported.  ND_EIO,
 * ND_ENOMEM. */
enum nd_status nd_backup_check(const char *folder,
                               void (*report)(void *context, const char *finding), void *context,
                               uint64_t *n_findings, struct nd_error *err);

/* Remove the list: the store is about to be written to.  ND_EIO, ND_ENOMEM. */
enum nd_status nd_backup_forget(const char *folder, struct nd_error *err);

#endif
