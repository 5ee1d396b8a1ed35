/* mail_gmime_load.h - GMime, opened when the first mail is met: the functions that are used of it
 */
#ifndef ND_INPUT_LIBRARY_MAIL_GMIME_LOAD_H
#define ND_INPUT_LIBRARY_MAIL_GMIME_LOAD_H

#include <gmime/gmime.h>

/*
 * The functions used of GLib and GMime, without their g_. Macros that call others (casts that are
 * checked, g_string_append) must not be used: what they call is not here, and the link fails.
 */
#define ND_GMIME_FUNCTIONS(X)                                                                      \
    X(byte_array_append)                                                                           \
    X(byte_array_free)                                                                             \
    X(byte_array_new)                                                                              \
    X(free)                                                                                        \
    X(mime_content_type_get_parameter)                                                             \
    X(mime_content_type_is_type)                                                                   \
    X(mime_data_wrapper_write_to_stream)                                                           \
    X(mime_header_get_raw_value)                                                                   \
    X(mime_header_list_get_header)                                                                 \
    X(mime_init)                                                                                   \
    X(mime_message_get_mime_part)                                                                  \
    X(mime_message_part_get_message)                                                               \
    X(mime_message_part_get_type)                                                                  \
    X(mime_multipart_get_count)                                                                    \
    X(mime_multipart_get_part)                                                                     \
    X(mime_multipart_get_prologue)                                                                 \
    X(mime_multipart_get_type)                                                                     \
    X(mime_object_get_content_type)                                                                \
    X(mime_object_get_header_list)                                                                 \
    X(mime_parser_construct_message)                                                               \
    X(mime_parser_new_with_stream)                                                                 \
    X(mime_parser_options_free)                                                                    \
    X(mime_parser_options_new)                                                                     \
    X(mime_parser_options_set_fallback_charsets)                                                   \
    X(mime_parser_set_format)                                                                      \
    X(mime_parser_set_persist_stream)                                                              \
    X(mime_part_get_content)                                                                       \
    X(mime_part_get_type)                                                                          \
    X(mime_stream_mem_get_byte_array)                                                              \
    X(mime_stream_mem_new)                                                                         \
    X(mime_stream_mem_set_byte_array)                                                              \
    X(mime_utils_header_decode_text)                                                               \
    X(mime_utils_header_unfold)                                                                    \
    X(object_unref)                                                                                \
    X(slist_free_full)                                                                             \
    X(slist_prepend)                                                                               \
    X(type_check_instance_is_a)

/* Each has the type that the headers give it. */
struct nd_gmime {
#define ND_GMIME_MEMBER(name) __typeof__(g_##name) *(name);
    ND_GMIME_FUNCTIONS(ND_GMIME_MEMBER)
#undef ND_GMIME_MEMBER
    const guint *version[3]; /* of the library that was opened: major, minor, micro */
};

/* Filled and ready once nd_gmime_load() has answered NULL; never written after that. */
extern struct nd_gmime nd_gmime;

/* Open GMime the first time, from any thread.  NULL: it is open; else why it is not, for ever. */
const char *nd_gmime_load(void);

#endif
