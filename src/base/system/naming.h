/* naming.h - names of files and folders: given, taken away, listed, compared with patterns */
#ifndef ND_BASE_SYSTEM_NAMING_H
#define ND_BASE_SYSTEM_NAMING_H

#include <stdbool.h>
#include <stddef.h>

/* Functions that return an int: 0, or -1 with the reason in errno. */

/* Rename a file, which replaces another of that name in one step.  Windows: in one step unless the
 * replaced file is open elsewhere; then it fails. */
int nd_path_rename(const char *from, const char *to);
/* Rename without replacing: EEXIST.  Where the system has no such call, by a link and its removal. */
int nd_path_rename_new(const char *from, const char *to);
int nd_path_remove(const char *path);
/* Give an existing file another name: a hard link, or a symbolic one where that is impossible. */
int nd_path_link(const char *existing, const char *name);
bool nd_path_exists(const char *path); /* links followed; false: errno says why */
bool nd_path_is_readable(const char *path);
bool nd_path_is_writable(const char *path);
bool nd_path_is_program(const char *path);
/* The name from the root on, without links, which the caller frees; NULL with errno, ENOENT among
 * others. */
char *nd_path_whole(const char *path);
/* The part of a path behind its folders.  Windows: '\\' and a drive's ':' end folders too. */
const char *nd_path_name(const char *path);
/* Measure the first part of a path: what stands before the next end of a folder.  *is_name: it names a
 * file or folder; false of "", "." and "..".  Windows: also of other dots and spaces, which it passes
 * over at the end of a name. */
size_t nd_path_part_len(const char *path, bool *is_name);
/* The descriptor that a name stands for, as "/dev/stdout" and "/dev/fd/5" do; -1: none.  Windows:
 * -1 always. */
int nd_path_descriptor(const char *path);
bool nd_path_is_absolute(const char *path);

int nd_folder_make(const char *path);
int nd_folder_remove(const char *path);
/* Lock a folder that exists, as nd_descriptor_lock does; close the descriptor to unlock it.  -1:
 * EWOULDBLOCK among others. */
int nd_folder_lock(const char *path);
/* The names in a folder, "." and ".." left out, in whatever order; NULL with errno.  A name is valid
 * until the next; NULL: no more, or errno is not 0. */
struct nd_folder_list;
struct nd_folder_list *nd_folder_list_open(const char *path);
const char *nd_folder_list_next(struct nd_folder_list *list);
/* The kind of the last one, by the folder alone: 1: a folder; 0: none; -1: ask nd_path_about. */
int nd_folder_list_is_folder(const struct nd_folder_list *list);
void nd_folder_list_close(struct nd_folder_list *list);
/* The folder for files that nobody names: "/tmp"; Windows: that of the user. */
const char *nd_folder_for_temporary(void);

/* Compare a name with a pattern of *, ? and [ ], as shells do.  is_path: * and ? do not match '/'. */
bool nd_pattern_matches(const char *pattern, const char *name, bool is_path);

#endif
