/* jsonl_simdjson.cpp - the first stage of simdjson: the index of tokens, with UTF-8 checked */

/*
 * Only this stage is used, and json_walk.c is in the place of the second: it checks all of a
 * record, takes long integers and lone surrogates, and needs a third of the memory
 * (docs/decisions/json.md).
 */
#include "input/formats/jsonl_simdjson.h"

#include <memory>
#include <new>
#include <simdjson.h>

using simdjson::internal::dom_parser_implementation;

struct nd_json_indexer {
    std::unique_ptr<dom_parser_implementation> stage;
};

/* Room for `len` bytes; a text much shorter than the last long one gives its memory back. */
static bool reserve(nd_json_indexer *indexer, size_t len)
{
    const size_t usual = size_t(1) << 22;
    size_t want = len < 4096 ? 4096 : len;

    if (indexer->stage && indexer->stage->capacity() > usual && want <= usual)
        indexer->stage.reset();
    if (indexer->stage && indexer->stage->capacity() >= want)
        return true;
    if (want <= usual / 2)
        want *= 2;
    indexer->stage.reset();
    return simdjson::get_active_implementation()->create_dom_parser_implementation(
               want, 1, indexer->stage) == simdjson::SUCCESS;
}

/*
 * The first use of simdjson makes its list of processors, with strings that need memory, in
 * functions that may not throw: where memory ends just then, it ends the program.  So it is used
 * here, once what it needs has been seen to be there; after the first time this costs nothing.
 */
static bool start_simdjson()
{
    const size_t enough = size_t(1) << 16;
    std::unique_ptr<dom_parser_implementation> first;
    void *volatile scratch = ::operator new(enough, std::nothrow); /* so that it is not left out */

    ::operator delete(scratch);
    return scratch && simdjson::get_active_implementation()->create_dom_parser_implementation(
                          64, 1, first) == simdjson::SUCCESS;
}

/* Nothing may be thrown through C; where simdjson is carried, nothing can be (simdjson_runtime.cpp). */
#ifdef __cpp_exceptions
#define TRY try
#define IF_THROWN(value)                                                                           \
    catch (...)                                                                                    \
    {                                                                                              \
        return value;                                                                              \
    }
#else
#define TRY
#define IF_THROWN(value)
#endif

extern "C" nd_json_indexer *nd_json_indexer_new(void)
{
    TRY
    {
        return start_simdjson() ? new (std::nothrow) nd_json_indexer : nullptr;
    }
    IF_THROWN(nullptr)
}

extern "C" void nd_json_indexer_free(nd_json_indexer *indexer)
{
    delete indexer;
}

static nd_json_found index_text(nd_json_indexer *indexer, const char *text, size_t len,
                                const uint32_t **at, size_t *count)
{
    if (len >= simdjson::SIMDJSON_MAXSIZE_BYTES)
        return ND_JSON_TOO_LONG;
    if (!reserve(indexer, len))
        return ND_JSON_NO_MEMORY;
    switch (indexer->stage->stage1(reinterpret_cast<const uint8_t *>(text), len,
                                   simdjson::stage1_mode::regular)) {
    case simdjson::SUCCESS: break;
    case simdjson::UTF8_ERROR: return ND_JSON_BAD_UTF8;
    case simdjson::UNCLOSED_STRING: return ND_JSON_OPEN_STRING;
    case simdjson::UNESCAPED_CHARS: return ND_JSON_RAW_CONTROL;
    case simdjson::EMPTY: return ND_JSON_NOTHING;
    default: return ND_JSON_NO_MEMORY;
    }
    *at = indexer->stage->structural_indexes.get();
    *count = indexer->stage->n_structural_indexes;
    return ND_JSON_INDEXED;
}

extern "C" nd_json_found nd_json_index(nd_json_indexer *indexer, const char *text, size_t len,
                                       const uint32_t **at, size_t *count)
{
    TRY
    {
        return index_text(indexer, text, len, at, count);
    }
    IF_THROWN(ND_JSON_NO_MEMORY)
}
