/* folder.h - folders that get their names once they are whole and on disk */
#ifndef ND_STORE_SEGMENTS_FOLDER_H
#define ND_STORE_SEGMENTS_FOLDER_H

#include <stdbool.h>

#include <neardup/error.h>

/* FOLDER/NAME, which the caller frees.  NULL: ND_ENOMEM. */
char *nd_folder_path(const char *folder, const char *name, struct nd_error *err);

/* Fail with the reason why a file of a folder cannot be used; where it is a permission, with the owner
 * of the file, or of the folder that hides it.  ND_EIO. */
enum nd_status nd_folder_fail(const char *folder, const char *path, int reason,
                              struct nd_error *err);
/* Return whether a folder has no files, or does not exist. */
bool nd_folder_is_empty(const char *folder);

/* Sync a file, or the list of files of a folder: it is on disk when this returns. ND_EIO. */
enum nd_status nd_folder_sync(const char *path, struct nd_error *err);

/* Make an empty folder beside the one of this name: *made is its name, which the caller frees.
 * ND_EIO, ND_ENOMEM. */
enum nd_status nd_folder_make_beside(const char *name, char **made, struct nd_error *err);

/* Sync a folder that is whole, and give it its name; no folder has it, or an empty one.  ND_EIO,
 * ND_ENOMEM. */
enum nd_status nd_folder_publish(const char *made, const char *name, struct nd_error *err);

#endif
