/* generate_documents.c - JSON Lines of any number of documents, the same every time */

/*
 * usage: generate_documents [--words FILE] COUNT [LEAST MOST] > documents.jsonl
 *
 * Document i is made from a seed alone, so an earlier one can be made again without being kept.
 * Nearly 2 of 100 documents repeat an earlier one byte for byte, and nearly 3 repeat one with a word
 * more at the end (of n shingles n are shared: resemblance n / (n + 1) >= .8, n being 8 at least).
 * The others are unique: LEAST to MOST words (10 to 24) out of 60,000 at random.  With --words, they
 * are words of a text file, each as often as it is there: lower-case ASCII letters, up to 15 of them.
 * Standard error gets the numbers of what was made.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VOCABULARY = 60000,
    MOST_WORDS = 10000,
    WORD_BYTES = 16, /* at most, a blank included */
    EXACT_PERCENT = 2,
    NEAR_PERCENT = 3
};

/* How many words a document has. */
struct lengths {
    uint64_t least, most;
};

/* splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

/* Words of one to three syllables; different numbers give different words. */
static size_t put_word(char *out, uint64_t number)
{
    static const char consonant[] = "bdfgklmnprstvz", vowel[] = "aeiou";
    const uint64_t syllables = (sizeof consonant - 1) * (sizeof vowel - 1);
    size_t len = 0;

    do {
        out[len++] = consonant[number % syllables / (sizeof vowel - 1)];
        out[len++] = vowel[number % (sizeof vowel - 1)];
        number /= syllables;
    } while (number > 0);
    return len;
}

/* The words of a text, one behind the other, each as often as it is there. */
struct word {
    char letter[WORD_BYTES - 1];
    uint8_t len;
};
struct words {
    struct word *item;
    size_t n;
};

/* False: the file cannot be read, has no words, or is too large. */
static bool read_words(const char *path, struct words *words)
{
    FILE *file = fopen(path, "r");
    size_t capacity = 0;
    struct word at = {.len = 0};
    int c;

    while (file && (c = getc(file)) != EOF) {
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (is_letter && at.len < sizeof at.letter) {
            at.letter[at.len++] = (char)(c | 0x20);
        } else if (!is_letter && at.len) {
            if (words->n == capacity) {
                struct word *more;

                capacity = capacity ? capacity * 2 : 1024;
                more = realloc(words->item, capacity * sizeof *more);
                if (!more)
                    break;
                words->item = more;
            }
            words->item[words->n++] = at;
            at.len = 0;
        }
    }
    return file && !ferror(file) && feof(file) && fclose(file) == 0 && words->n > 0;
}

static size_t put_any(char *out, const struct words *words, uint64_t random)
{
    const struct word *word;

    if (!words->n)
        return put_word(out, random % VOCABULARY);
    word = &words->item[random % words->n];
    memcpy(out, word->letter, word->len);
    return word->len;
}

static size_t put_text(char *out, const struct lengths *lengths, const struct words *from,
                       uint64_t seed)
{
    uint64_t state = seed;
    uint64_t words = lengths->least + next(&state) % (lengths->most - lengths->least + 1);
    size_t len = 0;

    for (uint64_t i = 0; i < words; i++) {
        if (i)
            out[len++] = ' ';
        len += put_any(out + len, from, next(&state));
    }
    return len;
}

/* The kind of document i: its own text, or a repetition of `*which`, which is not itself one. */
enum kind { UNIQUE, EXACT, NEAR };

static enum kind kind_of(uint64_t i, uint64_t *which)
{
    uint64_t state = ~i, percent = next(&state) % 100, chosen;

    if (i == 0 || percent >= EXACT_PERCENT + NEAR_PERCENT)
        return UNIQUE;
    chosen = next(&state) % i;
    if (which && kind_of(chosen, NULL) != UNIQUE)
        return UNIQUE;
    if (which)
        *which = chosen;
    return percent < EXACT_PERCENT ? EXACT : NEAR;
}

static int usage(void)
{
    fputs("usage: generate_documents [--words FILE] COUNT [LEAST MOST] > documents.jsonl\n",
          stderr);
    return 2;
}

/* False: they make no sense. */
static bool take_arguments(int argc, char **argv, uint64_t *count, struct lengths *lengths)
{
    if (argc == 1 || argc == 3)
        *count = strtoull(argv[0], NULL, 10);
    if (argc == 3)
        *lengths = (struct lengths){strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10)};
    return *count > 0 && lengths->least >= 10 && lengths->most >= lengths->least &&
           lengths->most <= MOST_WORDS;
}

int main(int argc, char **argv)
{
    static char text[(MOST_WORDS + 1) * WORD_BYTES];
    struct lengths lengths = {10, 24};
    struct words words = {.n = 0};
    uint64_t made[3] = {0}, bytes = 0, count = 0;
    int first = 1;

    if (argc > 2 && strcmp(argv[1], "--words") == 0) {
        if (!read_words(argv[2], &words)) {
            fprintf(stderr, "generate_documents: %s: no words can be read from it\n", argv[2]);
            return 2;
        }
        first = 3;
    }
    if (!take_arguments(argc - first, argv + first, &count, &lengths))
        return usage();
    for (uint64_t i = 0; i < count; i++) {
        uint64_t which = i;
        enum kind kind = kind_of(i, &which);
        size_t len = put_text(text, &lengths, &words, which);

        if (kind == NEAR) {
            text[len++] = ' ';
            len += put_word(text + len, VOCABULARY + i % VOCABULARY);
        }
        made[kind]++;
        bytes += len;
        printf("{\"id\":\"%" PRIu64 "\",\"text\":\"%.*s\"}\n", i, (int)len, text);
    }
    fprintf(stderr,
            "{\"documents\":%" PRIu64 ",\"exact\":%" PRIu64 ",\"near\":%" PRIu64
            ",\"text_bytes\":%" PRIu64 "}\n",
            count, made[EXACT], made[NEAR], bytes);
    free(words.item);
    return fflush(stdout) || ferror(stdout) ? 2 : 0;
}
