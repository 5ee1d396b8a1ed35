/* segments_files.h - the files of segments: opened when needed, closed when nobody reads in them */
#ifndef ND_STORE_SEGMENTS_SEGMENTS_FILES_H
#define ND_STORE_SEGMENTS_SEGMENTS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>

/* The beginning of a file (docs/format/store.md). */
struct nd_segment_header {
    char magic[8];
    uint32_t version;
    uint32_t number;
    uint64_t zero;
    uint64_t checksum; /* XXH3 of what is before it */
};
enum { ND_SEGMENT_HEADER = sizeof(struct nd_segment_header), ND_SEGMENT_VERSION = 1 };
_Static_assert(sizeof(struct nd_segment_header) == 32, "the header is that of the file");
void nd_segment_header_make(struct nd_segment_header *header, uint32_t number);

/*
 * All functions may be called by any thread.  At most ND_SEGMENT_FILES_OPEN files stay open that
 * nobody holds.
 */
enum { ND_SEGMENT_FILES_OPEN = 64 };
struct nd_segment_files;
struct nd_segment_file;

/* Take the files of a folder, which exists. NULL: ND_EIO, ND_ENOMEM. */
struct nd_segment_files *nd_segment_files_new(const char *folder, bool read_only,
                                              struct nd_error *err);
void nd_segment_files_free(struct nd_segment_files *files); /* NULL: nothing; nobody holds one */

/* Hold a file that exists: its header has been checked.  ND_EINPUT: it is missing, or is no segment
 * of this number; ND_EIO, ND_ENOMEM. */
enum nd_status nd_segment_files_hold(struct nd_segment_files *files, uint32_t number,
                                     struct nd_segment_file **file, struct nd_error *err);
/* Make an empty file, and hold it; one that had the name loses what it had.  ND_EIO (*no_space: the
 * disk is full), ND_ENOMEM. */
enum nd_status nd_segment_files_create(struct nd_segment_files *files, uint32_t number,
                                       struct nd_segment_file **file, bool *no_space,
                                       struct nd_error *err);
void nd_segment_files_let_go(struct nd_segment_files *files, struct nd_segment_file *file);
int nd_segment_file_descriptor(const struct nd_segment_file *file);

/* Remove a file; it is closed once nobody holds it.  One that is not there is no failure.  ND_EIO */
enum nd_status nd_segment_files_remove(struct nd_segment_files *files, uint32_t number,
                                       struct nd_error *err);
/* The numbers of all files, ascending; the caller frees *numbers.  ND_EIO, ND_ENOMEM */
enum nd_status nd_segment_files_list(struct nd_segment_files *files, uint32_t **numbers, size_t *n,
                                     struct nd_error *err);
/* Its length; 0: there is none. */
uint64_t nd_segment_files_bytes(struct nd_segment_files *files, uint32_t number);
/* Sync the folder: which files there are.  ND_EIO */
enum nd_status nd_segment_files_sync(struct nd_segment_files *files, struct nd_error *err);

/* The path of a segment: FOLDER/00000001.seg. */
struct nd_segment_path {
    char name[4096];
};
const char *nd_segment_files_path(const struct nd_segment_files *files, uint32_t number,
                                  struct nd_segment_path *path);

#endif
