/* fuzz_repeats.c - any bytes are records whose texts can be cut: what is left is the text without its
 * cuts, and the record says just that */
#include "fuzz_input.h"

#include "base/memory.h"
#include "uses/repeats/cut_record.h"
#include "uses/repeats/text_units.h"

struct cutting {
    struct nd_repeats_params params;
    struct nd_parser *parser;
    struct nd_text_units *units;
    struct nd_record_cutter *cutter;
    struct nd_window_list list;
    struct nd_text_ranges ranges;
    struct nd_buffer record, left;
    uint64_t state;
};

static bool begins_character(struct nd_view text, size_t at)
{
    return at == text.len || ((unsigned char)text.data[at] & 0xC0) != 0x80;
}

/* Make the union of some windows, as the cuts of a text are. */
static void choose_ranges(struct cutting *c, struct nd_view text)
{
    uint32_t before = 0;

    c->ranges.n = 0;
    for (size_t i = 0; i < c->list.n; i++) {
        const struct nd_text_window *w = &c->list.item[i];

        require(w->from < w->to && w->to <= text.len && w->from >= before);
        require(begins_character(text, w->from) && begins_character(text, w->to));
        before = w->from;
        c->state = nd_mix64(c->state + 1);
        if (c->state % 3 == 0)
            continue;
        require(nd_text_ranges_add(&c->ranges, w->from, w->to));
    }
}

/* The rest is the text without the ranges, with one space at most in the place of each. */
static void check_left(const struct cutting *c, struct nd_view text)
{
    size_t at = 0, from = 0;

    for (size_t i = 0; i <= c->ranges.n; i++) {
        const size_t to = i < c->ranges.n ? c->ranges.item[i].from : text.len;

        require(c->left.len - at >= to - from &&
                memcmp(c->left.data + at, text.data + from, to - from) == 0);
        at += to - from;
        if (i == c->ranges.n)
            break;
        from = c->ranges.item[i].to;
        if (c->ranges.item[i].from > 0 && from < text.len && at < c->left.len &&
            c->left.data[at] == ' ' && text.data[from] != ' ')
            at++;
    }
    require(at == c->left.len && nd_utf8_valid(c->left.data, c->left.len));
}

/* No word is lost beside those of the cuts.  Passages may divide runs of ideographs. */
static void check_tokens(const struct cutting *c, struct nd_view text)
{
    int64_t tokens = nd_text_units_count(c->units, text);

    if (c->params.cut == ND_REPEATS_PASSAGES)
        return;
    for (size_t i = 0; i < c->ranges.n; i++)
        tokens -= nd_text_units_count(
            c->units, (struct nd_view){text.data + c->ranges.item[i].from,
                                       c->ranges.item[i].to - c->ranges.item[i].from});
    require(tokens == nd_text_units_count(c->units, (struct nd_view){c->left.data, c->left.len}));
}

static void cut(struct cutting *c, const struct nd_source *source, const struct nd_record *record)
{
    struct nd_parsed parsed = {.record = *record, .source = source};
    struct nd_bad_record bad = {{0}};
    struct nd_document again;
    struct nd_view text;

    if (nd_parser_parse(c->parser, source, record->bytes, &parsed.document, NULL, &bad) != 1)
        return;
    text = parsed.document.text;
    require(nd_text_units_list(c->units, text, NULL, &c->list));
    choose_ranges(c, text);
    if (!c->ranges.n)
        return;
    require(nd_text_cut(text, &c->ranges, &c->left));
    require(nd_record_cut(c->cutter, &parsed, &c->ranges, &c->record, NULL) == ND_OK);
    check_left(c, text);
    check_tokens(c, text);
    if (source->format == ND_FORMAT_TEXT)
        return;
    require(nd_parser_parse(c->parser, source, (struct nd_view){c->record.data, c->record.len},
                            &again, NULL, &bad) == 1);
    /* A row of TSV whose only cell is empty has a space. */
    if (source->format == ND_FORMAT_TSV && !c->left.len)
        return;
    require(again.text.len == c->left.len &&
            memcmp(again.text.data, c->left.data, c->left.len) == 0);
}

static void cut_all(struct cutting *c, const char *path, const struct nd_input_options *o)
{
    struct nd_input *input = nd_input_open(&path, 1, o, NULL, NULL, NULL);
    struct nd_batch batch = {0};

    c->parser = nd_parser_new(o, NULL);
    c->units = nd_text_units_new(&c->params);
    c->cutter = nd_record_cutter_new(o);
    require(input && c->parser && c->units && c->cutter);
    while (nd_input_read(input, 1 << 13, 1 << 13, &batch, NULL) > 0) {
        for (size_t i = 0; i < batch.count; i++)
            cut(c, nd_input_source(input, batch.records[i].source), &batch.records[i]);
        nd_parser_reset(c->parser);
    }
    nd_batch_release(&batch);
    nd_parser_free(c->parser);
    nd_text_units_free(c->units);
    nd_record_cutter_free(c->cutter);
    nd_input_close(input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_input_options o = nd_input_options_default();
    struct cutting c = {.params = {.occurrences = 2}};
    int fd;
    char path[40];

    if (size < 2 || size > 1 << 14)
        return 0;
    c.params.cut = (enum nd_repeats_cut)(data[0] & 3);
    c.params.tokens = 1 + data[1] % 8;
    c.state = data[1];
    o.format = data[0] & 4    ? ND_FORMAT_TEXT
               : data[0] & 32 ? ND_FORMAT_CSV
               : data[0] & 64 ? ND_FORMAT_TSV
                              : ND_FORMAT_JSONL;
    o.unit = data[0] & 8 ? ND_UNIT_LINE : data[0] & 16 ? ND_UNIT_PARAGRAPH : ND_UNIT_FILE;
    fd = memfd_create("input", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data + 2, size - 2) == (ssize_t)(size - 2));
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    cut_all(&c, path, &o);
    (void)close(fd);
    free(c.list.item);
    free(c.ranges.item);
    nd_buffer_release(&c.record);
    nd_buffer_release(&c.left);
    return 0;
}
