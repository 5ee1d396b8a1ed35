/*
 * web_files.h - what the server gives as it is: the page for people and the description for programs
 *
 * The files of web/, which cmake/web_files.cmake makes part of the program.
 */
#ifndef ND_SERVER_WIRE_WEB_FILES_H
#define ND_SERVER_WIRE_WEB_FILES_H

#include <stddef.h>

#include <neardup/types.h>

struct nd_web_file {
    const char *path; /* "/" is index.html; the others are "/" and their names */
    const char *type; /* the field Content-Type */
    const unsigned char *bytes;
    size_t len;
    const char *etag; /* with its quotes; it changes with the bytes */
};

/* NULL: there is none at this path, which has no query. */
const struct nd_web_file *nd_web_file_find(struct nd_view path);

/* The field Content-Security-Policy: what the page may load, and who may embed it. */
extern const char nd_web_policy[];

/* All of them, in the order of their names. */
extern const struct nd_web_file nd_web_table[];
extern const size_t nd_web_table_count;

#endif
