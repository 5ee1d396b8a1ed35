/* objects.h - objects of JSON that came from elsewhere: answers, rows of an export */
#ifndef CLI_SERVICE_OBJECTS_H
#define CLI_SERVICE_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>
#include <neardup/types.h>

/*
 * Reads the members of objects that are named, by the parser of JSON Lines.  "a.b" reaches into an
 * object.  The text is a member, or, as "security.*", the elements of an array, one a line.
 */
struct object_reader;
struct object_reader *object_reader_new(const char *const *names, size_t n, const char *const *text,
                                        struct nd_error *err);
void object_reader_free(struct object_reader *reader);

/* Forget all objects that were read, into which `object_read` points. */
void object_reader_reset(struct object_reader *reader);

/* Read an object, behind which 64 bytes are readable: value has an element for each name, whose
 * data is NULL where there is no such member; arrays and objects are JSON.  ND_EINPUT, ND_ENOMEM. */
enum nd_status object_read(struct object_reader *reader, struct nd_view json, struct nd_view *value,
                           struct nd_view *text, struct nd_error *err);

/* The next element of an array of objects, at *at, which starts as the whole array.  False: none is
 * left. */
bool object_element(struct nd_view *at, struct nd_view *element);

/* A number without a sign; or the 16 digits of a hash.  False: it is none. */
bool object_uint(struct nd_view value, uint64_t *out);
bool object_hex(struct nd_view value, uint64_t *out);

#endif
