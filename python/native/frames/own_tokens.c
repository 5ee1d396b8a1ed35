/*
 * own_tokens.c - documents that are given as tokens: the text whose tokens they are
 *
 * All that neardup computes of a document begins with its text, which is read again wherever documents
 * are compared.  So a list of tokens becomes the text whose tokens are these, one word for each
 * (docs/format/own-tokens.md), and nothing behind the reader knows of it.
 */
#include "frames/own_tokens.h"

#include <neardup/text.h>

#include <stdlib.h>
#include <string.h>

/* Letters of Vai: byte b is U+A500 + b, and U+A600 stands for a token without bytes. */
#define LETTERS_FIRST 0xA500u
#define EMPTY_TOKEN 0xA600u

static bool is_plain(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Check whether any letter is one that stands for bytes.  They all begin with EA 94, 95, 96, 97 or 98. */
static bool has_escape(const char *token, size_t len)
{
    for (size_t i = 0; i + 2 < len; i++)
        if ((unsigned char)token[i] == 0xEA && (unsigned char)token[i + 1] >= 0x94 &&
            (unsigned char)token[i + 1] <= 0x98)
            return true;
    return false;
}

/* Check whether a text of other than plain letters is in normalised form, and one token.  0, 1; -1:
 * out of memory. */
static int is_whole_word(const char *token, size_t len)
{
    struct nd_token *place = NULL;
    char *normalised = NULL;
    size_t n_places = 0, normalised_len = 0;
    struct nd_error err;
    int is_whole;

    if (!nd_utf8_valid(token, len) || has_escape(token, len))
        return 0;
    if (nd_text_normalise(token, len, &normalised, &normalised_len, &err) != ND_OK)
        return -1;
    is_whole = normalised_len == len && !memcmp(normalised, token, len);
    free(normalised);
    if (!is_whole)
        return 0;
    if (nd_text_tokens(token, len, &place, &n_places, &err) != ND_OK)
        return -1;
    /* Places do not tell: a separator and a mark behind it are one piece. */
    is_whole = n_places == 1 && place[0].hash == nd_token_hash(token, len);
    free(place);
    return is_whole;
}

static int is_word(const char *token, size_t len)
{
    bool is_ascii = true, is_all_plain = len > 0;

    for (size_t i = 0; i < len; i++) {
        is_ascii = is_ascii && (unsigned char)token[i] < 0x80;
        is_all_plain = is_all_plain && is_plain((unsigned char)token[i]);
    }
    return is_all_plain || (!is_ascii && is_whole_word(token, len));
}

static bool put_letter(struct nd_buffer *text, unsigned code)
{
    const char letter[3] = {(char)(0xE0 | code >> 12), (char)(0x80 | (code >> 6 & 0x3F)),
                            (char)(0x80 | (code & 0x3F))};

    return nd_buffer_append(text, letter, sizeof letter);
}

bool nd_py_put_token(struct nd_buffer *text, const char *token, size_t len, bool is_first)
{
    int is_itself = is_word(token, len);
    bool is_put = is_itself >= 0 && (is_first || nd_buffer_append(text, " ", 1));

    if (is_itself)
        return is_put && nd_buffer_append(text, token, len);
    if (!len)
        return is_put && put_letter(text, EMPTY_TOKEN);
    for (size_t i = 0; is_put && i < len; i++)
        is_put = put_letter(text, LETTERS_FIRST + (unsigned char)token[i]);
    return is_put;
}

/* Append an int, as its decimal digits.  False: an exception is set. */
static bool put_integer(struct nd_buffer *text, PyObject *token, bool is_first)
{
    PyObject *number = PyNumber_Index(token), *digits = number ? PyObject_Str(number) : NULL;
    Py_ssize_t len = 0;
    const char *data = digits ? PyUnicode_AsUTF8AndSize(digits, &len) : NULL;
    bool is_put = data && nd_py_put_token(text, data, (size_t)len, is_first);

    if (data && !is_put)
        PyErr_NoMemory();
    Py_XDECREF(digits);
    Py_XDECREF(number);
    return is_put;
}

static bool refuse_token(PyObject *token, size_t row, Py_ssize_t i)
{
    PyObject *type = PyType_GetName(Py_TYPE(token));

    if (type)
        PyErr_Format(PyExc_TypeError, "row %zu: token %zd is a %U, not a str or an int", row, i,
                     type);
    Py_XDECREF(type);
    return false;
}

static bool put_object(struct nd_buffer *text, PyObject *token, size_t row, Py_ssize_t i)
{
    const char *data;
    Py_ssize_t len;
    char *bytes;

    if (PyBytes_Check(token)) {
        if (PyBytes_AsStringAndSize(token, &bytes, &len) < 0)
            return false;
        data = bytes;
    } else if (PyUnicode_Check(token)) {
        data = PyUnicode_AsUTF8AndSize(token, &len);
        if (!data)
            return false;
    } else {
        return PyIndex_Check(token) && !PyBool_Check(token) ? put_integer(text, token, i == 0)
                                                            : refuse_token(token, row, i);
    }
    if (!nd_py_put_token(text, data, (size_t)len, i == 0)) {
        PyErr_NoMemory();
        return false;
    }
    return true;
}

bool nd_py_put_tokens(struct nd_buffer *text, PyObject *tokens, size_t row)
{
    text->len = 0;
    /* The size is asked for each time: converting an int may run Python, which may shorten a list. */
    for (Py_ssize_t i = 0; i < PySequence_Size(tokens); i++) {
        PyObject *token = PySequence_GetItem(tokens, i);
        bool is_put = token && put_object(text, token, row, i);

        Py_XDECREF(token);
        if (!is_put)
            return false;
    }
    return true;
}
