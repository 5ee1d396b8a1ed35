/* options.c - the table of options, from which parsing, the usage and completion follow */
#include "option_set.h"

#include <neardup/hamming_file.h>
#include <neardup/hamming_stats.h>

/*
 * The kinds of options. Most only store their value in one member of struct settings: FLAG in a
 * bool or an unsigned char, NUMBER and WORD in an unsigned or an enum, TEXT in a const char *,
 * RATIO in a struct nd_ratio, DURATION in a uint64_t of seconds, SIZE in a uint64_t of bytes.
 * Anything else is a function in option_set.c.
 */
#define SET(function) .stage = STAGE_OPTIONS, .set = function
#define TO(function, member) SET(function), .to = offsetof(struct settings, member)
#define FLAG(member) TO(set_flag, member)
#define NUMBER(member, lowest, highest) TO(set_number, member), .min = (lowest), .max = (highest)
#define TEXT(member) TO(set_text, member)
#define ANY_TEXT(member) TO(set_any_text, member) /* the value may be empty */
#define LIST(member) TO(add_text, member)         /* the option may be repeated */
#define RATIO(member, lowest, highest) TO(set_ratio, member), .min = (lowest), .max = (highest)
#define DURATION(member) TO(set_duration, member)
#define SIZE(member, lowest) TO(set_size, member), .min = (lowest)
/* One of several words, stored as its index in the list plus `first`. */
#define WORD_FROM(member, list, first) TO(set_word, member), .words = (list), .min = (first)
#define WORD(member, list) WORD_FROM(member, list, 0)
/* An option of the run, which has the same name in neardup/run.h. */
#define RUN SET(set_in_run)
/* A key of the recipe. */
#define KEY(name) .stage = STAGE_OPTIONS, .set = set_key, .key = name

#define ORDERS "rank longest shortest longest: shortest: newest: max: min:" /* of collapse */
#define METRICS                                                                                    \
    "resemblance resemblance-distance containment-a containment-b cosine cosine-tf "               \
    "cosine-weights inner inner-weights edit hamming conrad-schriber"

/*
 * The subcommands of index that make tables; READING: those that read fingerprints. join has no
 * subcommands.
 */
#define MAKING "plan build merge"

const struct option option_table[] = {
    {"What is a duplicate", "threshold", 't', "RATIO",
     "documents with at least this resemblance are duplicates: 0.8, 4/5 or 80% (default: 0.8)",
     FOR_PAIRWISE | FOR_MIRRORS | FOR_AUDIT, KEY("threshold")},
    {NULL, "shingle", 'w', "N",
     "compare shingles of N words; Nc: of N characters, for texts without spaces (default: 3)",
     FOR_ALL, SET(set_shingle)},
    {NULL, "characters", 0, "N", "the same as --shingle Nc", FOR_ALL, SET(set_characters)},
    {NULL, "method", 'm', "NAME",
     "minhash: duplicates have a high resemblance; simhash: their fingerprints differ in few bits "
     "(see --bits); identical: their bytes or words are equal (default: minhash)",
     FOR_PAIRWISE, SET(set_method)},
    {NULL, "bits", 0, "K", "with simhash, fingerprints may differ in at most K bits (default: 3)",
     FOR_PAIRWISE, KEY("simhash_bits")},
    {NULL, "short", 0, "POLICY",
     "documents shorter than a shingle are duplicates if their bytes are equal (identical), if "
     "their tokens are (tokens), or never (keep) (default: identical)",
     FOR_PAIRWISE, KEY("short")},
    {NULL, "forms", 0, "WORDS",
     "documents that differ in nothing but numbers (numbers), also names (names), also dates alone "
     "(dates) are one form filled in differently, and no duplicates (default: none)",
     FOR_PAIRWISE, KEY("forms")},
    {NULL, "within", 0, "FIELD", "compare only documents with the same value of FIELD",
     FOR_DEDUP | FOR_PLAN | FOR_PAIRS | FOR_SWEEP, RUN},
    {NULL, "security-field", 0, "FIELD",
     "a document is a duplicate only of one that everyone who may see it may see, too: FIELD has "
     "its "
     "security labels, a string or an array; without any, everybody may see it",
     FOR_DEDUP | FOR_PLAN | FOR_PAIRS | FOR_FILTER | FOR_COLLAPSE | FOR_SWEEP, RUN},
    {NULL, "never", 0, "FIELD=A,B,C",
     "documents whose FIELD is A, B or C match no other document, not even an equal one; may be "
     "repeated",
     FOR_DEDUP | FOR_PLAN | FOR_PAIRS | FOR_SWEEP | FOR_FILTER | FOR_COLLAPSE, RUN},
    {NULL, "site", 0, "FIELD",
     "FIELD holds an address; a last column says whether both documents are from the same host or "
     "from another",
     FOR_PAIRS, TEXT(use.pairs.site)},
    {NULL, "columns", 0, "LIST",
     "further columns, and a header: terms (distinct words that only one of the two has, and that "
     "both have), lengths (in words), edit (distance in words); LIST is one or several of them, "
     "with commas",
     FOR_PAIRS, SET(set_pair_columns)},
    {NULL, "recipe", 0, "NAME|FILE",
     "a shipped recipe (see neardup recipe list) or a file; other options override it", FOR_ALL,
     .stage = STAGE_RECIPE, .set = set_recipe},
    {NULL, "set", 0, "KEY=VALUE",
     "change one key of the recipe, or SIGNATURE.KEY=VALUE; may be repeated",
     FOR_ALL & ~(unsigned)FOR_SWEEP, .stage = STAGE_KEYS, .set = set_assignment},
    {NULL, "set", 0, "KEY=A,B,C",
     "try these values of a key of the recipe, or of SIGNATURE.KEY; KEY=A{B,C}D: only what is in "
     "braces varies; recipe=A,B,C: these recipes; may be repeated: all combinations are tried",
     FOR_SWEEP, LIST(use.sets)},
    {NULL, "df", 0, "FILE|auto=FILE",
     "the df table for the signatures that need one (neardup df build); auto: count the input "
     "first, and keep the table in FILE",
     FOR_ALL & ~(unsigned)(FOR_AUDIT | FOR_DF | FOR_MIRRORS | FOR_TEMPLATE | FOR_INDEX | FOR_SWEEP),
     SET(set_df)},
    {NULL, "df", 0, "FILE", "the df table of those recipes that need one (neardup df build)",
     FOR_SWEEP, TEXT(use.sweep.df)},
    {NULL, "df", 0, "FILE|auto=FILE",
     "the df table of the recipe, or of the index; auto: count the documents first, and keep the "
     "table in FILE",
     FOR_INDEX, SET(set_shown_df), .parts = READING},
    {"Recipes", "set", 0, "KEY=VALUE", "change this key of the recipe first; may be repeated",
     FOR_RECIPE, LIST(assignments), .parts = "show check diff"},
    {NULL, "df", 0, "FILE", "use this df table", FOR_RECIPE, SET(set_shown_df),
     .parts = "show check diff"},
    {NULL, "canonical", 0, NULL, "show the canonical form and the fingerprint", FOR_RECIPE,
     FLAG(canonical), .parts = "show"},

    {"Which document is kept", "keep", 'k', "POLICY",
     "first, last, longest, shortest, longest:FIELD, shortest:FIELD, newest:FIELD, max:FIELD, "
     "min:FIELD, or none: all of a cluster is removed (default: first)",
     FOR_DEDUP | FOR_PLAN | FOR_COLLAPSE, KEY("keep")},
    {NULL, "against", 0, "FILE",
     "documents of this sketch file come before all others, and are not written: only new ones are "
     "removed; may be repeated",
     FOR_DEDUP | FOR_PLAN, RUN},
    {NULL, "only-against", 0, NULL,
     "compare new documents with those of --against alone, and not with one another: equal new "
     "ones "
     "stay",
     FOR_DEDUP, RUN},
    {NULL, "append", 0, NULL,
     "when all outputs are written, add the survivors to the last --against file; create it if "
     "needed",
     FOR_DEDUP, RUN},
    {NULL, "checkpoint", 0, "DIR",
     "keep sketches of texts in this folder as they are made; the same command, run again after a "
     "kill, takes them from there",
     FOR_DEDUP, RUN},
    {NULL, "sketches", 0, NULL, "fail unless every input is a sketch file", FOR_DEDUP, RUN},
    {NULL, "known-sketches", 0, "FILE",
     "take the sketches of texts from this sketch file where it has them, in place of making them; "
     "may be repeated",
     FOR_DEDUP, RUN},
    {NULL, "prefer", 0, "FIELD=A,B,C",
     "before --keep counts, prefer documents whose FIELD is A, then B, then C, then all others",
     FOR_DEDUP | FOR_PLAN, RUN},
    {NULL, "cluster", 0, "KIND",
     "star: every removed document is a duplicate of the kept one; components: duplicates of "
     "duplicates are removed too; complete: all documents of a cluster are duplicates of one "
     "another (default: star)",
     FOR_DEDUP | FOR_PLAN, KEY("cluster")},

    {"The store", "recipe", 0, "NAME|FILE",
     "the recipe of a new store: a shipped one (see neardup recipe list) or a file; an existing "
     "store has its own, and refuses another",
     FOR_SERVE, .stage = STAGE_RECIPE, .set = set_recipe},
    {NULL, "set", 0, "KEY=VALUE", "change one key of the recipe; may be repeated", FOR_SERVE,
     .stage = STAGE_KEYS, .set = set_assignment},
    {NULL, "df", 0, "FILE",
     "the df table of a new store whose recipe needs one: the store keeps a copy; an existing one "
     "refuses another table",
     FOR_SERVE, SET(set_store_df)},
    {NULL, "least", 0, "RATIO",
     "of a new store: queries may ask for neighbours below the threshold, down to this "
     "resemblance; the index is larger (default: they may not)",
     FOR_SERVE, RATIO(serve.least, 1, 1)},
    {NULL, "containment", 0, "RATIO",
     "of a new store: answers name documents that have this share of a text in them, and of which "
     "the text has it; every shingle is kept in memory (default: they do not)",
     FOR_SERVE, RATIO(serve.containment, 1, 1)},
    {NULL, "durability", 0, "WHEN",
     "when a write is acknowledged: sync, once it is on disk; interval or interval:MS, at once, "
     "and "
     "it is on disk within so many milliseconds (default: sync; of interval, 100)",
     FOR_SERVE, SET(set_durability), .values = "sync interval"},
    {NULL, "snapshot-every", 0, "TIME",
     "how often a snapshot of the index is written, for a fast start (default: 15m)", FOR_SERVE,
     DURATION(serve.snapshot_s)},
    {NULL, "compact-after", 0, "TIME", "deleted texts are off the disk after this (default: 1d)",
     FOR_SERVE, DURATION(serve.compact_s)},
    {NULL, "read-only", 0, NULL,
     "only answer, and write nothing: of a copy, a backup, or on a file system that cannot be "
     "written",
     FOR_SERVE, FLAG(serve.read_only)},
    {"The network", "listen", 0, "ADDRESS:PORT",
     "where to listen; port 0: any that is free; without --keys on loopback addresses only "
     "(default: 127.0.0.1:8080)",
     FOR_SERVE, TEXT(serve.listen)},
    {NULL, "host", 0, "NAME",
     "a name under which it is called, besides loopback addresses and localhost; may be repeated",
     FOR_SERVE, LIST(serve.hosts)},
    {NULL, "tls-cert", 0, "FILE", "answer https: the chain of certificates, as PEM", FOR_SERVE,
     TEXT(serve.certificate)},
    {NULL, "tls-key", 0, "FILE", "the key of the certificate, as PEM", FOR_SERVE,
     TEXT(serve.certificate_key)},
    {NULL, "max-body", 0, "SIZE",
     "the largest document or request that is taken, such as 16M; a batch may be longer (default: "
     "64M)",
     FOR_SERVE, SIZE(serve.body_bytes, 1024)},
    {NULL, "deadline", 0, "TIME", "the longest that a request may take to arrive (default: 30s)",
     FOR_SERVE, DURATION(serve.deadline_s)},
    {NULL, "threads", 'j', "N", "threads to use (default: all processors)", FOR_SERVE,
     NUMBER(serve.threads, 1, 1024)},
    {NULL, "log-requests", 0, NULL, "write a line for each request", FOR_SERVE,
     FLAG(serve.log_requests)},
    {NULL, "config", 0, "FILE",
     "take options from a file, too: on each line the name of one, without hyphens, and its value; "
     "those of the command line win",
     FOR_SERVE, TEXT(serve.config)},
    {"Keys", "keys", 0, "FILE",
     "who may call: the keys and their security labels, read again on SIGHUP", FOR_SERVE,
     TEXT(serve.keys)},
    {NULL, "new-key", 0, "NAME",
     "make a key and print it, add its line to --keys (without: print that, too), and do nothing "
     "else",
     FOR_SERVE, TEXT(serve.new_key)},
    {NULL, "security", 0, "A,B",
     "the security labels that the owner of the new key sees (default: none)", FOR_SERVE,
     TEXT(service.security)},
    {NULL, "administrator", 0, NULL, "the owner of the new key sees everything", FOR_SERVE,
     FLAG(serve.administrator)},

    {"The store", "recipe", 0, "NAME|FILE",
     "the recipe, if the store is new: a shipped one (see neardup recipe list) or a file",
     FOR_STORE, .stage = STAGE_RECIPE, .set = set_recipe, .parts = "import resketch"},
    {NULL, "set", 0, "KEY=VALUE", "change one key of the recipe; may be repeated", FOR_STORE,
     .stage = STAGE_KEYS, .set = set_assignment, .parts = "import resketch"},
    {NULL, "df", 0, "FILE", "the df table of the recipe, if the store is new", FOR_STORE,
     SET(set_store_df), .parts = "import resketch"},
    {NULL, "least", 0, "RATIO",
     "if the store is new: queries may ask for neighbours below the threshold, down to this "
     "resemblance",
     FOR_STORE, RATIO(serve.least, 1, 1), .parts = "import resketch"},
    {NULL, "containment", 0, "RATIO",
     "if the store is new: answers name documents that have this share of a text in them, and of "
     "which the text has it",
     FOR_STORE, RATIO(serve.containment, 1, 1), .parts = "import resketch"},
    {NULL, "all", 0, NULL, "compact now what would be compacted later", FOR_STORE, FLAG(serve.all),
     .parts = "compact"},
    {NULL, "json", 0, NULL, "write the figures as JSON", FOR_STORE, FLAG(use.json),
     .parts = "stats"},
    {NULL, "output", 'o', "FILE", "write the documents to this file (default: standard output)",
     FOR_STORE, RUN, .parts = "export"},
    {NULL, "sketches", 0, "FILE",
     "write the sketches of all documents to this sketch file, in place of the documents",
     FOR_STORE, TEXT(serve.sketches), .parts = "export"},
    {NULL, "no-shingles", 0, NULL, "keep no shingles in the sketch file", FOR_STORE,
     FLAG(use.no_shingles), .parts = "export"},
    {NULL, "quiet", 'q', NULL, "no progress and no counts; only errors and warnings", FOR_STORE,
     FLAG(quiet), .parts = "export import compact backup resketch"},

    {"Input", "files-from", 0, "FILE",
     "also read the files listed in FILE, one path per line; -: standard input; may be repeated",
     FOR_FILES & ~(unsigned)(FOR_INDEX | FOR_DF), LIST(file_lists)},
    {NULL, "files-from", 0, "FILE",
     "also read the files listed in FILE, one path per line; -: standard input; may be repeated",
     FOR_INDEX, LIST(file_lists), .parts = "pairs build add merge stats"},
    {NULL, "files-from", 0, "FILE",
     "also read the files listed in FILE, one path per line; -: standard input; may be repeated",
     FOR_DF, LIST(file_lists), .parts = "build merge calibrate"},
    {NULL, "null", '0', NULL, "the paths in --files-from end in NUL, as from find -print0",
     FOR_FILES & ~(unsigned)(FOR_DEDUP | FOR_APPLY | FOR_INDEX | FOR_DF), SET(set_null)},
    {NULL, "null", '0', NULL, "the paths in --files-from end in NUL, as from find -print0",
     FOR_INDEX, SET(set_null), .parts = "pairs build add merge stats"},
    {NULL, "null", '0', NULL, "the paths in --files-from end in NUL, as from find -print0", FOR_DF,
     SET(set_null), .parts = "build merge calibrate"},
    {NULL, "format", 'f', "NAME", "{formats} (default: auto, from the name, then from the content)",
     FOR_INPUT, RUN},
    {NULL, "text-field", 0, "FIELD",
     "the field with the text; a.b reaches into objects, a.*.b into arrays; may be repeated, which "
     "joins the texts (default: text)",
     FOR_INPUT, RUN},
    {NULL, "text-format", 0, "NAME",
     "whether the text field of a record is plain text or an html page (default: plain)", FOR_INPUT,
     RUN},
    {NULL, "charset", 0, "NAME",
     "the charset of files that do not name their own, as HTML and mail do, such as windows-1252 "
     "(default: utf-8)",
     FOR_INPUT, RUN},
    {NULL, "id-field", 0, "FIELD", "the field with the id (default: id)", FOR_INPUT, RUN},
    {NULL, "missing-text", 0, "HOW",
     "treat a record without text as bad (skip), or as a document without words (empty) (default: "
     "skip)",
     FOR_INPUT, RUN},
    {NULL, "unit", 0, "WHAT",
     "in plain text, a document is a file, a line or a paragraph (default: file)", FOR_INPUT, RUN},
    {NULL, "binary", 0, "HOW",
     "skip: leave out files that are not text, such as PDF, images and Parquet, and fail if one is "
     "named explicitly; text: read them like any other file (default: skip)",
     FOR_INPUT, RUN},
    {NULL, "filter", 0, "NAME|EXT:COMMAND",
     "read files of another kind through a program: pdf, docx, odt or epub, ready-made; or "
     "COMMAND, "
     "a line of shell that gets a file named .EXT on its standard input and writes its text; may "
     "be "
     "repeated",
     FOR_INPUT, RUN, .values = "pdf docx odt epub"},
    {NULL, "filter-limits", 0, "LIMITS",
     "what one run of a filter may take: seconds, memory of a process, bytes of text (default: "
     "time=60,memory=2G,output=64M)",
     FOR_INPUT, RUN},
    {NULL, "tags", 0, "FILE",
     "tagged text (SGML, XML) of your own: FILE says which elements are documents, and which are "
     "their id, title, body and date",
     FOR_INPUT, RUN},
    {NULL, "no-mail", 0, NULL,
     "do not read mail; GMime, which reads it, ends the program when memory runs out", FOR_INPUT,
     RUN},
    {NULL, "glob", 0, "PATTERN",
     "in folders and archives, read only files whose name matches; may be repeated", FOR_INPUT,
     RUN},
    {NULL, "exclude", 0, "PATTERN",
     "in folders and archives, skip files whose name matches; may be repeated", FOR_INPUT, RUN},
    {NULL, "strict", 0, NULL, "stop at the first bad record or failed input, and write nothing",
     FOR_RUNS | FOR_DF | FOR_INDEX | FOR_EVAL | FOR_CLUSTERS | FOR_SWEEP | FOR_SAMPLE, RUN},
    {NULL, "strict", 0, NULL, "stop at the first document that cannot be read or is refused",
     FOR_CLIENT, RUN, .parts = POSTING},
    {NULL, "max-bad", 0, "SHARE",
     "write nothing if more than this share of the records is bad: 0.01, 1/20 or 5% (default: 5%, "
     "and one is always allowed; in an input that is replaced, 0)",
     FOR_RUNS | FOR_DF | FOR_INDEX | FOR_SWEEP, RUN},
    {NULL, "part", 0, "I/N",
     "read only part I of N of the documents, a share for each of N machines: their sketch files, "
     "merged in order, are that of all",
     FOR_SKETCH, RUN, .parts = "documents"},
    {NULL, "corpus", 0, "FILE",
     "find the documents in this file or folder, by id or place; may be repeated",
     FOR_EXPLAIN | FOR_COMPARE, LIST(corpus)},

    {NULL, "prototypes", 'p', "FILE",
     "compare with the documents in this file or folder; may be repeated", FOR_FILTER,
     LIST(use.prototypes)},
    {NULL, "prototypes-text-field", 0, "FIELD",
     "the field with the text of a prototype; may be repeated (default: --text-field)", FOR_FILTER,
     LIST(use.prototypes_text)},
    {NULL, "prototypes-id-field", 0, "FIELD",
     "the field with the id of a prototype (default: --id-field)", FOR_FILTER,
     TEXT(use.filter.id_field)},
    {NULL, "prototypes-group-field", 0, "FIELD",
     "count in the summary how many documents match prototypes with each value of this field, such "
     "as the name of a benchmark",
     FOR_FILTER, TEXT(use.filter.group_field)},

    {"Versions and visits", "series", 0, "FIELD",
     "versions with the same value of FIELD belong to one document (default: all do)", FOR_TRACK,
     TEXT(use.track.series)},
    {NULL, "time", 0, "FIELD",
     "the time of a version, as RFC 3339, RFC 2822 or seconds since 1970 (default: versions come "
     "in order)",
     FOR_TRACK, TEXT(use.track.time)},
    {NULL, "plan", 0, NULL,
     "one row for each document, the greatest change first (default: one for each version)",
     FOR_TRACK, FLAG(use.track.plan)},
    {NULL, "duplicates", 0, "N",
     "in a plan, lower the priority of a document by N if it is a near duplicate of another "
     "(default: do not look for duplicates)",
     FOR_TRACK, NUMBER(use.track.duplicate_score, 1, 1000000)},
    {NULL, "max-age", 0, "TIME",
     "ignore a duplicate that was visited longer than this before (default: ignore none)",
     FOR_TRACK, DURATION(use.track.max_age)},
    {NULL, "interval", 0, "TIME", "the first interval between visits: 30m, 12h, 2w (default: 1d)",
     FOR_TRACK | FOR_SERVE, DURATION(use.track.visits.interval)},
    {NULL, "shortest", 0, "TIME", "the shortest interval (default: 1h)", FOR_TRACK | FOR_SERVE,
     DURATION(use.track.visits.shortest)},
    {NULL, "longest", 0, "TIME", "the longest interval (default: 90d)", FOR_TRACK | FOR_SERVE,
     DURATION(use.track.visits.longest)},
    {NULL, "equal", 0, "N", "visit less often after N equal fingerprints in a row (default: 3)",
     FOR_TRACK | FOR_SERVE, NUMBER(use.track.visits.equal, 2, 1000000)},
    {NULL, "changes", 0, "N", "visit more often after N changes in a row (default: 3)",
     FOR_TRACK | FOR_SERVE, NUMBER(use.track.visits.changes, 1, 1000000)},
    {NULL, "expect", 0, "N",
     "visit again when a change of N is expected, judging by the size of earlier changes and the "
     "time between them (default: all changes count the same)",
     FOR_TRACK | FOR_SERVE, NUMBER(use.track.visits.expect, 1, 1000000)},
    {NULL, "factor", 0, "N", "the factor by which the interval grows or shrinks (default: 2)",
     FOR_TRACK | FOR_SERVE, NUMBER(use.track.visits.factor, 2, 1000)},

    {"The service", "url", 0, "URL", "where it answers (default: http://127.0.0.1:8080)",
     FOR_CLIENT, TEXT(service.url)},
    {NULL, "key-file", 0, "FILE", "the key to show, in the first line of FILE (default: none)",
     FOR_CLIENT, TEXT(service.key_file)},
    {NULL, "ca-file", 0, "FILE",
     "with https, the certificates that the service's must be signed by (default: the system's)",
     FOR_CLIENT, TEXT(service.ca_file)},
    {NULL, "retry-for", 0, "TIME",
     "while the service is busy or restarts, try again for this long (default: 5m)", FOR_CLIENT,
     DURATION(service.retry_s)},
    {"Documents of the service", "security", 0, "A,B",
     "the security labels of the documents; '': none (default: for post, the array security of a "
     "record, or those of the key; otherwise, any)",
     FOR_CLIENT, ANY_TEXT(service.security),
     .parts = "post get delete near cluster versions compare watch"},
    {NULL, "limit", 0, "N",
     "at most N documents or versions, up to 10000 (default: 100); for post and query, of the "
     "nearest documents, up to 100 (default: 3)",
     FOR_CLIENT, NUMBER(service.limit, 1, 10000),
     .parts = "post query near cluster versions crawl watch"},
    {NULL, "max-age", 0, "TIME",
     "a document is no answer if it was visited longer ago: 30m, 12h, 2w (default: all are)",
     FOR_CLIENT, DURATION(service.max_age_s), .parts = POSTING},
    {NULL, "at", 0, "RATIO",
     "name documents below the threshold, too, down to this resemblance; the service must have "
     "been "
     "started with --least",
     FOR_CLIENT, RATIO(service.at, 1, 1), .parts = POSTING},
    {NULL, "differs", 0, NULL,
     "list with each of the nearest documents the words that only it or only the text has",
     FOR_CLIENT, FLAG(service.differs), .parts = POSTING},
    {NULL, "dry-run", 'n', NULL, "decide, but store nothing", FOR_CLIENT, FLAG(service.dry_run),
     .parts = "post"},
    {NULL, "batch", 0, "N", "send N documents in a request, at most about 1 MiB (default: 100)",
     FOR_CLIENT, NUMBER(service.batch, 1, 10000), .parts = POSTING},
    {NULL, "connections", 0, "N",
     "send N requests at a time; with 1, documents are decided in their order (default: 4)",
     FOR_CLIENT, NUMBER(service.connections, 1, 64), .parts = POSTING},
    {NULL, "with", 0, "FILE", "compare with this text or page, in place of a second document",
     FOR_CLIENT, TEXT(service.with), .parts = "compare"},
    {NULL, "expect", 0, "HEX", "fail with status 1 if the store has another fingerprint",
     FOR_CLIENT, TEXT(service.expect), .parts = "fingerprint"},
    {NULL, "state", 0, "FILE",
     "keep in FILE what has been posted, so that a watch that begins again posts nothing twice",
     FOR_CLIENT, TEXT(service.state), .parts = "watch"},
    {NULL, "delete", 0, NULL, "delete the document of a text or page that was deleted", FOR_CLIENT,
     FLAG(service.deletes), .parts = "watch"},
    {NULL, "settle", 0, "TIME",
     "post a file once it has stayed the same for this long (default: 2s)", FOR_CLIENT,
     DURATION(service.settle_s), .parts = "watch"},
    {NULL, "every", 0, "TIME",
     "look at a folder at least this often, even if the system tells of no change (default: 10s)",
     FOR_CLIENT, DURATION(service.every_s), .parts = "watch"},
    {NULL, "resume", 0, "FILE",
     "keep in FILE how much is done, and if it exists go on from there; it is removed at the end",
     FOR_CLIENT, TEXT(service.resume), .parts = "post"},
    {NULL, "gap", 0, "N",
     "with each document, the time in which a change of N bits comes together, judging by its "
     "changes so far (default: that of the service's --expect)",
     FOR_CLIENT, NUMBER(service.gap, 1, 1000000), .parts = "crawl"},
    {NULL, "follow", 0, "COMMAND",
     "visit what is due: run COMMAND, a line of shell in which $1 is the id, and post what it "
     "prints",
     FOR_CLIENT, TEXT(service.follow), .parts = "crawl"},

    {"The list of results", "order", 0, "ORDER",
     "rank: by the best rank in the cluster; longest, shortest, longest:FIELD, shortest:FIELD, "
     "newest:FIELD, max:FIELD or min:FIELD: by the document that is shown (default: rank)",
     FOR_COLLAPSE, TEXT(use.collapse.order), .values = ORDERS},
    {NULL, "only", 0, "ID",
     "show only the cluster of this document, with all its members, in the order of --order",
     FOR_COLLAPSE, TEXT(use.collapse.only)},
    {NULL, "expand", 0, "ORDER",
     "write a JSON object for each result, with its duplicates in this order, which takes the same "
     "values as --order",
     FOR_COLLAPSE, TEXT(use.collapse.expand), .values = ORDERS},

    {"The sample", "sample-bytes", 0, "SIZE",
     "how much of the files to compare, such as 500M or 4G, chosen from up to ten times as much: "
     "more takes longer and predicts better (default: 64M)",
     FOR_PLAN, SIZE(use.plan.sample_bytes, 1)},
    {NULL, "spark", 0, "JOB",
     "also predict a job on Spark, stage by stage: executors=N,cores=N; with documents=N it is of "
     "so "
     "many documents like those of the files; bytes, matching, buckets, edges, rounds and busy are "
     "those of docs/spark-costs.md",
     FOR_PLAN, SET(set_spark)},
    {NULL, "svg", 0, "FILE",
     "draw the chance that a pair is compared, and the candidates of a document at each threshold",
     FOR_PLAN, TEXT(use.plan_svg)},

    {"Links", "window", 0, "N",
     "also count N words on either side of an anchor, with less weight the farther away they are "
     "(default: 10)",
     FOR_ANCHORS, NUMBER(use.anchors.window, 0, 1000)},
    {NULL, "base", 0, "URL", "the address of the root; without it links have no host", FOR_ANCHORS,
     TEXT(use.anchors.base)},
    {NULL, "root", 0, "DIR",
     "the folder that the addresses of files are relative to (default: the only input, if it is a "
     "folder)",
     FOR_ANCHORS, TEXT(use.anchors.root)},
    {NULL, "url-field", 0, "FIELD", "the field with the address of a record (default: url)",
     FOR_ANCHORS, TEXT(use.anchors.url)},

    {"Edits", "insert", 0, "N|SHARE",
     "insert N words in each document, or as many as a share of its words, such as 2%; the words "
     "are "
     "those of all documents, the more frequent the more often",
     FOR_PERTURB, TO(set_amount, use.perturb.insert)},
    {NULL, "delete", 0, "N|SHARE", "remove N words, or a share of them", FOR_PERTURB,
     TO(set_amount, use.perturb.remove)},
    {NULL, "swap", 0, "N|SHARE", "exchange N words, or a share of them, with the next one",
     FOR_PERTURB, TO(set_amount, use.perturb.swap)},
    {NULL, "replace", 0, "N|SHARE", "put others in place of N words, or of a share of them",
     FOR_PERTURB, TO(set_amount, use.perturb.replace)},
    {NULL, "lexicon", 0, "FILE",
     "edit only the words of this list, one a line or as df top writes them, and insert only "
     "these; "
     "shares are of these words",
     FOR_PERTURB, TEXT(use.perturb.lexicon)},
    {NULL, "least", 0, "N",
     "leave out documents with fewer than N words, with --lexicon of its words (default: 0)",
     FOR_PERTURB, NUMBER(use.perturb.least, 0, 1000000000)},
    {NULL, "beside", 0, NULL,
     "write each document as it is, too, and ~ behind the id of its edited copy; the field cluster "
     "joins the two, so that the output can be the --truth of eval and sweep",
     FOR_PERTURB, FLAG(use.perturb.beside)},

    {"Repeats", "cut", 0, "PARTS",
     "which parts are cut where they repeat: lines, paragraphs, sentences (three in a row), or "
     "passages of so many words (default: lines)",
     FOR_REPEATS, WORD(use.repeats.cut, "lines paragraphs sentences passages")},
    {NULL, "tokens", 0, "N",
     "passages have N words; other parts are cut if they have at least N (default: passages 50, "
     "others 1)",
     FOR_REPEATS, NUMBER(use.repeats.tokens, 1, ND_REPEATS_TOKENS_MAX)},
    {NULL, "occurrences", 0, "N", "cut what stands in at least N places (default: 2)", FOR_REPEATS,
     NUMBER(use.repeats.occurrences, 2, ND_REPEATS_OCCURRENCES_MAX)},
    {NULL, "near", 0, "RATIO",
     "also cut lines, paragraphs and sentences that resemble an earlier one so much (default: only "
     "those with the same words)",
     FOR_REPEATS, RATIO(use.repeats.near, 1, 1)},
    {NULL, "drop-empty", 0, NULL, "leave out records of which no word is left", FOR_REPEATS,
     FLAG(use.repeats.drop_empty)},
    {NULL, "texts", 0, NULL,
     "write JSON Lines of ids and texts, whatever the records are: also of pages, mail, feeds and "
     "web archives",
     FOR_REPEATS, FLAG(use.repeats.texts)},
    {NULL, "domain-field", 0, "FIELD",
     "count what is cut by the values of FIELD, addresses by their hosts (default: url, or the id, "
     "if they are addresses)",
     FOR_REPEATS, TEXT(use.repeats.domain_field)},

    {"Passages", "least", 0, "N", "passages of at least N tokens (default: 8)", FOR_SOURCES,
     NUMBER(use.sources.least, 1, 1000000)},
    {NULL, "texts", 0, "FILE",
     "each document of this file or folder is a text, and all other arguments are the corpus; may "
     "be repeated",
     FOR_SOURCES, LIST(use.source_texts)},
    {NULL, "gap", 0, "N",
     "join passages with at most N other tokens between them in both texts (default: 0)",
     FOR_SOURCES, NUMBER(use.sources.gap, 0, 1000000)},
    {NULL, "top", 0, "N", "list only the N best sources of a text (default: all)", FOR_SOURCES,
     NUMBER(use.sources.top, 1, 1000000000)},

    {"Hosts", "url-field", 0, "FIELD", "the field with the address of a page (default: url)",
     FOR_MIRRORS, TEXT(use.mirrors.url)},
    {NULL, "sample", 0, "N",
     "sample N pages of each host, the same paths on every host; 0: all pages (default: 100)",
     FOR_MIRRORS, NUMBER(use.mirrors.sample, 0, 1000000)},
    {NULL, "least-paths", 0, "N", "compare hosts that share at least N paths (default: 3)",
     FOR_MIRRORS, NUMBER(use.mirrors.least, 1, 1000000)},
    {NULL, "common", 0, "N", "ignore a path that more than N hosts have (default: 100)",
     FOR_MIRRORS, NUMBER(use.mirrors.common, 2, 100000)},
    {NULL, "score", 0, "RATIO", "list pairs with at least this score (default: 0.5)", FOR_MIRRORS,
     RATIO(use.mirrors.score, 0, 1)},

    {"The cluster", "share", 0, "RATIO",
     "a shingle belongs to the template if at least this share of the documents has it (default: "
     "0.8)",
     FOR_TEMPLATE, RATIO(use.template.share, 1, 1)},
    {NULL, "clusters", 0, "FILE",
     "read only the documents of one cluster of this file, which dedup --clusters wrote",
     FOR_TEMPLATE, TEXT(use.template.clusters)},
    {NULL, "cluster", 0, "ID", "the cluster that contains this document", FOR_TEMPLATE,
     TEXT(use.template.cluster)},

    {"The results", "documents", 0, "FILE|DIR",
     "the documents that there are, of which only the ids are read; may be repeated (default: "
     "those "
     "of each result)",
     FOR_CLUSTERS, LIST(use.documents)},
    {NULL, "total", 0, "N", "there are N documents", FOR_CLUSTERS, NUMBER(total, 1, 4294967295)},
    {NULL, "curve", 0, "COLUMN",
     "figures at each value of a column of the pairs, given by its name or number, for the pairs "
     "down "
     "to it; COLUMN:asc where low values come first, as by default for distance, hamming, bits, "
     "terms and edit",
     FOR_CLUSTERS, TEXT(use.clusters.curve)},
    {NULL, "sizes", 0, NULL,
     "a row for each size: how many clusters have it, and how many documents have so many near "
     "duplicates and themselves",
     FOR_CLUSTERS, FLAG(use.clusters.by_size)},

    {"The sample", "strata", 0, "COLUMN:WIDTH",
     "divide the pairs by a column, given by its name or number, at multiples of WIDTH; COLUMN: at "
     "each of its values; COLUMN:A,B,C: at these (default: near misses are apart, the others not)",
     FOR_SAMPLE, TEXT(use.sample.strata)},
    {NULL, "allocation", 0, "HOW",
     "draw equally many pairs of each stratum (equal), or as many as are due to its size, but one "
     "at "
     "least (proportional) (default: proportional)",
     FOR_SAMPLE, WORD(use.sample.equally, "proportional equal")},
    {NULL, "size", 'n', "N", "how many pairs to draw, or documents with --recall (default: 100)",
     FOR_SAMPLE, NUMBER(use.sample.size, 1, 10000000)},
    {NULL, "half-width", 0, "RATIO",
     "draw as many pairs as it takes to know the share of right ones to within this: 0.05 or 5%",
     FOR_SAMPLE, RATIO(use.sample.half_width, 1, 1)},
    {NULL, "expect", 0, "RATIO",
     "the share of right pairs that --half-width reckons with; one half costs most (default: 50%)",
     FOR_SAMPLE, RATIO(use.sample.expected, 1, 1)},
    {NULL, "recall", 0, NULL,
     "draw documents, and write all pairs of each: what is found of those that are the same",
     FOR_SAMPLE, FLAG(use.sample.recalls)},
    {NULL, "documents", 0, "FILE|DIR",
     "the documents of the pairs: for their texts (--html), or to draw from (--recall); may be "
     "repeated",
     FOR_SAMPLE, LIST(use.documents)},
    {NULL, "dry-run", 0, NULL,
     "write only how many pairs each stratum has, and how many would be drawn", FOR_SAMPLE,
     FLAG(use.sample.only_plans)},
    {NULL, "html", 0, "FILE",
     "write a page that shows both texts of each pair, takes judgements by keys, and gives them as "
     "a "
     "file for eval --judged",
     FOR_SAMPLE, TEXT(use.page)},

    {"Truth and results", "truth", 0, "FILE",
     "what is right: labelled or scored pairs, clusters, or a class of each document",
     FOR_EVAL | FOR_SWEEP, TEXT(use.eval.truth)},
    {NULL, "universe", 0, "PAIRS",
     "labelled: only pairs that the truth says something about count; all: every pair of documents "
     "counts, and those that the truth does not have are different; must be given where the truth "
     "is of pairs (default: all)",
     FOR_SWEEP, WORD_FROM(use.eval.universe, "labelled all", 1)},
    {NULL, "universe", 0, "PAIRS",
     "labelled: only pairs that the truth says something about count; all: every pair of documents "
     "counts, and those that the truth does not have are different; must be given where the truth "
     "is of pairs (default: all); sample: the truth has complete clusters of a sample, from which "
     "figures are estimated",
     FOR_EVAL, WORD_FROM(use.eval.universe, "labelled all sample", 1)},
    {NULL, "weights", 0, "HOW",
     "with --universe sample, how clusters were drawn: each was as likely (uniform), or each with "
     "one "
     "of its documents, so that large ones were likelier (size) (default: uniform)",
     FOR_EVAL, WORD(use.eval.weighs_by_size, "uniform size")},
    {NULL, "documents", 0, "FILE|DIR",
     "the documents that there are, of which only the ids are read; may be repeated (default: "
     "those "
     "that the truth names)",
     FOR_EVAL, LIST(use.documents)},
    {NULL, "truth-is", 0, "FORM",
     "read the truth as pairs, clusters, a manifest or classes (default: it is recognised)",
     FOR_EVAL | FOR_SWEEP, WORD_FROM(use.eval.truth_form, "pairs clusters manifest classes", 1)},
    {NULL, "result", 0, "FORM",
     "read the results as pairs, clusters or a manifest (default: each is recognised)",
     FOR_EVAL | FOR_CLUSTERS, WORD_FROM(use.eval.result_form, "pairs clusters manifest", 1)},
    {NULL, "at", 0, "SCORE",
     "the labels of the truth are scores, and pairs with this score or a higher one are the same",
     FOR_EVAL | FOR_SWEEP, SET(set_at)},
    {NULL, "positive", 0, "LABEL",
     "pairs with this label are the same, and those with others different; may be repeated",
     FOR_EVAL | FOR_SWEEP, LIST(use.positive)},
    {NULL, "close", 0, NULL,
     "take the connected components of the pairs of a result for its clusters",
     FOR_EVAL | FOR_SWEEP, FLAG(use.eval.closes)},
    {NULL, "curve", 0, "COLUMN",
     "precision and recall at each value of a column of the pairs, given by its name or number; "
     "COLUMN:asc where low values come first, as by default for distance, hamming, bits, terms and "
     "edit",
     FOR_EVAL, TEXT(use.eval.curve)},
    {NULL, "svg", 0, "FILE", "draw the curve", FOR_EVAL, TEXT(use.eval_svg)},
    {NULL, "svg", 0, "FILE", "draw how many clusters there are of each size, on logarithmic axes",
     FOR_CLUSTERS, TEXT(use.clusters_svg)},
    {NULL, "by", 0, "COLUMN",
     "precision for each value of a column of the pairs, given by its name or number; last: the "
     "last "
     "column; or precision and recall by what is of the --documents: site:FIELD, whether both are "
     "of one host, by the address in FIELD; prefix:FIELD, whether FIELD is the same up to its "
     "first "
     ": or /; length, the words of the shorter one; field:NAME, the value of a field",
     FOR_EVAL, TEXT(use.eval.by)},
    {NULL, "judged", 0, NULL,
     "the files are judgements of samples that neardup sample drew, each of one judge, and no "
     "truth "
     "is needed; with --by stratum a row for each stratum",
     FOR_EVAL, FLAG(use.judged)},
    {NULL, "lost", 0, NULL,
     "read the --documents again for each manifest or clusters, and count the runs of three words "
     "of removed documents that no kept one has",
     FOR_EVAL, FLAG(use.eval.counts_lost)},
    {NULL, "resamplings", 0, "N",
     "draw components N times for the intervals; 0: without intervals (default: 1000)",
     FOR_EVAL | FOR_SWEEP, NUMBER(use.eval.resamplings, 0, 1000000)},
    {NULL, "seed", 0, "N", "draw others (default: 1)",
     FOR_EVAL | FOR_SWEEP | FOR_SAMPLE | FOR_PERTURB, NUMBER(use.eval.seed, 0, 4294967295)},
    {NULL, "removals", 0, NULL,
     "measure what dedup removes with each setting (default: the pairs that pairs lists)",
     FOR_SWEEP, FLAG(use.sweep.removes)},
    {NULL, "time", 0, NULL, "add columns with the processor time of each setting", FOR_SWEEP,
     FLAG(use.sweep.times)},
    {NULL, "svg", 0, "FILE", "draw the precision and the recall of all settings", FOR_SWEEP,
     TEXT(use.sweep_svg)},

    {"Reproductions", "corpora", 0, "DIR",
     "the folder of corpora: NAME/docs.jsonl.zst and what each reproduction names (default: none, "
     "so "
     "that those which need it are skipped)",
     FOR_REPRODUCE, TEXT(use.lab_places.corpora)},
    {NULL, "packages", 0, "DIR",
     "where Debian packages are unpacked, as by dpkg-deb -x FILE DIR (default: those installed)",
     FOR_REPRODUCE, TEXT(use.lab_places.packages)},
    {NULL, "files", 0, "DIR",
     "keep what the steps write, figures among it, in DIR/NAME (default: it is removed)",
     FOR_REPRODUCE, TEXT(use.lab_files)},
    {NULL, "report", 0, "FILE",
     "also write a page for people: tables, and a figure for each series", FOR_REPRODUCE,
     TEXT(use.lab_page)},
    {NULL, "tsv", 0, NULL, "write a line for each number, in place of a report", FOR_REPRODUCE,
     FLAG(use.lab_tsv)},
    {NULL, "output", 'o', "FILE", "where the report goes (default: - for standard output)",
     FOR_REPRODUCE, RUN},
    {NULL, "quiet", 'q', NULL, "no counts; only errors", FOR_REPRODUCE, FLAG(quiet)},

    {"One document, or the hashes of many", "order", 0, "ORDER",
     "list the features of one document by weight, the heaviest first, or by position (default: "
     "weight)",
     FOR_EXPLAIN, WORD(explain.order, "weight position")},
    {NULL, "top", 0, "N", "show N of its features; 0: all (default: 30; with --json all)",
     FOR_EXPLAIN, NUMBER(explain.top, 0, 1000000000)},
    {NULL, "histogram", 0, NULL,
     "show how the hashes of the features of all documents are distributed", FOR_EXPLAIN,
     FLAG(explain.histogram)},
    {NULL, "buckets", 0, "N",
     "in --histogram and --svg, divide the space of hashes into N equal parts, 2 to 1024 (default: "
     "256)",
     FOR_EXPLAIN, NUMBER(explain.buckets, 2, ND_HISTOGRAM_BUCKETS_MAX)},
    {NULL, "svg", 0, "FILE", "draw the features, their weights and their hashes, or the histogram",
     FOR_EXPLAIN, TEXT(explain.svg)},

    {"Rows of a manifest", "rows", 0, "MANIFEST",
     "explain the removed documents in this file, which dedup --manifest wrote, the lowest "
     "resemblance first",
     FOR_EXPLAIN, TEXT(explain.rows)},
    {NULL, "lowest", 0, "N", "how many rows to explain (default: 20)", FOR_EXPLAIN,
     NUMBER(explain.lowest, 1, ND_EXPLAIN_ROWS_MAX)},

    {"What is compared", "metric", 0, "NAME",
     "print only this number: resemblance, resemblance-distance, containment-a, containment-b, "
     "cosine, cosine-tf, cosine-weights, inner, inner-weights, edit, hamming or conrad-schriber; "
     "or, named as in --verify, jaccard, containment, containment-of-kept, containment-either or "
     "cosine-shingles; may be repeated (default: all that need no weights, with their names)",
     FOR_COMPARE, LIST(use.metrics), .values = METRICS},
    {NULL, "show", 0, "WHAT", "show passages, terms, weights or edits; may be repeated",
     FOR_COMPARE, SET(set_show)},
    {NULL, "limit", 0, "N",
     "give up beyond an edit distance of N; none: never give up (default: as far as some seconds "
     "allow)",
     FOR_COMPARE, SET(set_limit)},
    {NULL, "costs", 0, "I,R,S",
     "the costs of inserting, removing and replacing a token (default: 1,1,1)", FOR_COMPARE,
     SET(set_costs)},
    {NULL, "least", 0, "N", "passages of at least N tokens (default: 8)", FOR_COMPARE,
     NUMBER(use.compare.passages.least, 1, 1000000)},
    {NULL, "gap", 0, "N",
     "join passages with at most N other tokens between them in both texts (default: 0)",
     FOR_COMPARE, NUMBER(use.compare.passages.gap, 0, 1000000)},

    {"Output", "output", 'o', "FILE",
     "where the result goes, compressed if the name ends in .gz, .zst, .xz, .bz2 or .lz4 (default: "
     "- for standard output)",
     FOR_RUNS & ~(unsigned)FOR_SKETCH, RUN},
    {NULL, "output-level", 0, "N",
     "how hard outputs are compressed, from 1 (fast) to 9, for .zst to 19 (default: 4 for .gz, 3 "
     "for .zst, 6 for .xz, 9 for .bz2, 1 for .lz4)",
     FOR_RUNS | FOR_REPORT, RUN},
    {NULL, "output", 'o', "FILE", "where the page goes (default: - for standard output)",
     FOR_REPORT, RUN},
    {NULL, "output", 'o', "FILE", "where the table goes (default: - for standard output)",
     FOR_EVAL | FOR_CLUSTERS | FOR_SWEEP | FOR_SAMPLE, RUN},
    {NULL, "output", 'o', "FILE",
     "also write the plan to FILE, as JSON, for dedup --predicted FILE", FOR_PLAN, RUN},
    {NULL, "output", 'o', "FILE", "where the answers go (default: standard output)", FOR_CLIENT,
     RUN},
    {NULL, "output", 'o', "FILE",
     "where the result goes: FILE.sketch becomes a sketch file, others are compressed if the name "
     "ends in .gz, .zst, .xz, .bz2 or .lz4 (default: - for standard output)",
     FOR_SKETCH, RUN, .parts = "documents dump merge subset"},
    {NULL, "record-field", 0, "FIELD",
     "keep the value of FIELD in the records of the sketch file, so that runs which read it can "
     "name "
     "FIELD in --within, --security-field, --never, --prefer or --keep; may be repeated, up to 8 "
     "times",
     FOR_SKETCH, RUN, .parts = "documents"},
    {NULL, "record-field", 0, "FIELD",
     "with --append, keep the value of FIELD in the records of a file that is made; may be "
     "repeated",
     FOR_DEDUP, RUN},
    {NULL, "record-field", 0, "FIELD",
     "send the value of FIELD with each document, for a recipe of the service that reads it; may "
     "be "
     "repeated",
     FOR_CLIENT, RUN, .parts = POSTING},
    {NULL, "record-length", 0, NULL,
     "keep the lengths of texts in the records, for --keep longest and shortest", FOR_SKETCH, RUN,
     .parts = "documents"},
    {NULL, "record-length", 0, NULL,
     "with --append, keep the lengths of texts in the records of a file that is made", FOR_DEDUP,
     RUN},
    {NULL, "no-shingles", 0, NULL,
     "keep no shingles in the sketch file: it is much smaller, and pairs found with it are "
     "estimates",
     FOR_SKETCH, FLAG(use.no_shingles), .parts = "documents"},
    {NULL, "shingle-hashes", 0, NULL, "also print the hashes of all shingles", FOR_SKETCH,
     FLAG(use.shingle_hashes), .parts = "dump"},
    {NULL, "null", '0', NULL,
     "paths end in NUL, as with find -print0 and xargs -0, and not in a line end, both in the "
     "lists of --files-from and in a list that is written",
     FOR_DEDUP | FOR_APPLY, SET(set_null)},
    {NULL, "output-dir", 0, "DIR", "write each input's survivors under its relative path in DIR",
     FOR_DEDUP | FOR_APPLY | FOR_FILTER, RUN},
    {NULL, "output-dir", 0, "DIR", "write each input's records under its relative path in DIR",
     FOR_REPEATS, RUN},
    {NULL, "copy-to", 0, "DIR", "copy the kept files into DIR", FOR_DEDUP | FOR_APPLY, RUN},
    {NULL, "link-to", 0, "DIR",
     "link the kept files into DIR: by hard links, or by symbolic ones where those are impossible",
     FOR_DEDUP | FOR_APPLY, RUN},
    {NULL, "removed", 0, "FILE",
     "the removed and the bad records, unchanged; with them a run that replaced its input can be "
     "undone",
     FOR_DEDUP | FOR_APPLY, RUN},
    {NULL, "revisit", 0, "FILE",
     "a WARC file with a revisit record for each removed record of a web archive: which kept page "
     "stands for it, and how alike they are",
     FOR_DEDUP, RUN},
    {NULL, "removed", 0, "FILE",
     "which documents the tool removed: their ids, one a line; a manifest; clusters, as id and "
     "kept "
     "id; datatrove's .remove; dolma's attributes",
     FOR_AUDIT, TEXT(use.audit.removed)},
    {NULL, "clusters", 0, "FILE",
     "the tool's clusters, where --removed does not name them: id and cluster, or datatrove's "
     ".clusters",
     FOR_AUDIT, TEXT(use.audit.clusters)},
    {NULL, "sample", 0, "N",
     "how many removed documents without a match, and how many kept ones, to compare with every "
     "kept "
     "one (default: 2000)",
     FOR_AUDIT, NUMBER(use.audit.sample, 1, 100000000)},
    {NULL, "report", 0, "FILE",
     "a page for people: the removed documents that are least like any kept one, and the largest "
     "false clusters, side by side",
     FOR_AUDIT, TEXT(use.audit.page)},
    {NULL, "unmatched", 0, "FILE",
     "a row for each removed document without a match: the nearest kept one, if it is known, and "
     "that "
     "of its cluster",
     FOR_AUDIT, TEXT(use.audit.unmatched)},
    {NULL, "false-clusters", 0, "FILE",
     "a row for each cluster that has removed documents far from the kept one: how many, and the "
     "farthest",
     FOR_AUDIT, TEXT(use.audit.false_clusters)},
    {NULL, "annotate", 'a', NULL,
     "write all records, and add to each what it duplicates, its cluster and the resemblance: in "
     "JSON Lines as the field neardup, in CSV and TSV as columns neardup.…, in mail as the field "
     "X-Neardup",
     FOR_DEDUP, RUN},
    {NULL, "copies-field", 0, "FIELD",
     "add to each survivor, as the field FIELD, how many documents its cluster has: in JSON Lines, "
     "CSV "
     "and TSV, where no document has such a field",
     FOR_DEDUP | FOR_APPLY, RUN},
    {NULL, "manifest", 0, "FILE", "what was removed, and why: one JSON object per line", FOR_DEDUP,
     RUN},
    {NULL, "differs", 0, NULL,
     "say in the manifest which words only one of the two documents has, and whether these are "
     "only "
     "numbers, dates or names",
     FOR_DEDUP, RUN},
    {NULL, "manifest", 0, "FILE",
     "which documents match, which prototype, and why: one JSON object per line", FOR_FILTER, RUN},
    {NULL, "manifest", 0, "FILE", "what was cut, and where it stays: one JSON object per line",
     FOR_REPEATS, RUN},
    {NULL, "clusters", 0, "FILE", "the id of every document and of the one kept for it, as TSV",
     FOR_DEDUP, RUN},
    {NULL, "report", 0, "FILE",
     "a page for people, which needs no network: numbers, the largest clusters, the least certain "
     "removals side by side, and what differs in them",
     FOR_DEDUP, RUN},
    {NULL, "summary", 0, "FILE", "the summary as JSON",
     FOR_DEDUP | FOR_PAIRS | FOR_FILTER | FOR_REPEATS, RUN},
    {NULL, "predicted", 0, "FILE",
     "compare the run with what plan predicted: FILE is from neardup plan --output", FOR_DEDUP,
     RUN},
    {NULL, "dry-run", 'n', NULL, "write only the summary", FOR_DEDUP, RUN},
    {NULL, "dry-run", 'n', NULL, "look up all documents and count them, but write nothing",
     FOR_APPLY, RUN},
    {NULL, "partial", 0, NULL,
     "the inputs are only some of those that were decided, such as one shard: entries that name no "
     "document here are no error",
     FOR_APPLY, FLAG(use.apply.partial)},
    {NULL, "force", 0, NULL,
     "replace an input without a question, although no --removed keeps what is taken out of it",
     FOR_DEDUP | FOR_APPLY, RUN},
    {NULL, "force", 0, NULL, "replace an input without a question", FOR_FILTER | FOR_COLLAPSE, RUN},
    {NULL, "quiet", 'q', NULL, "no progress and no summary; only errors and warnings",
     (FOR_RUNS & ~(unsigned)FOR_SKETCH) | FOR_PLAN | FOR_DF | FOR_EVAL | FOR_CLUSTERS | FOR_SWEEP |
         FOR_SAMPLE | FOR_REPORT,
     FLAG(quiet)},
    {NULL, "quiet", 'q', NULL, "no progress and no summary; only errors and warnings", FOR_SKETCH,
     FLAG(quiet), .parts = "documents merge subset"},
    {NULL, "quiet", 'q', NULL, "no progress and no summary; only errors and warnings", FOR_INDEX,
     FLAG(quiet), .parts = "build add merge remove query pairs stats"},
    {NULL, "progress", 0, NULL, "show progress even if standard error is not a terminal",
     FOR_RUNS | FOR_PLAN | FOR_DF | FOR_INDEX | FOR_EVAL | FOR_CLUSTERS | FOR_SWEEP | FOR_SAMPLE,
     FLAG(progress)},

    {NULL, "quiet", 'q', NULL, "no progress and no counts; only errors and warnings", FOR_CLIENT,
     FLAG(quiet)},
    {NULL, "progress", 0, NULL, "show progress even if standard error is not a terminal",
     FOR_CLIENT, FLAG(progress), .parts = "post query"},

    {NULL, "invert", 'v', NULL, "write the records that match no prototype", FOR_FILTER,
     SET(set_filter)},
    {NULL, "annotate", 'a', NULL,
     "write every message of mail with an added field X-Neardup, which says whether it matches, "
     "and which prototype; for other documents a JSON object that says so",
     FOR_FILTER, SET(set_filter)},
    {NULL, "count", 'c', NULL, "print only how many documents match", FOR_FILTER, SET(set_filter)},
    {NULL, "near-misses", 0, "RATIO",
     "also list pairs below the threshold, from this resemblance on; a last column says match or "
     "near-miss",
     FOR_PAIRS, RATIO(use.pairs.near_misses, 0, 0)},
    {NULL, "json", 0, NULL, "write the result as JSON",
     FOR_COMPARE | FOR_PLAN | FOR_PAIRS | FOR_TRACK | FOR_MIRRORS | FOR_TEMPLATE | FOR_EXPLAIN |
         FOR_AUDIT | FOR_EVAL | FOR_CLUSTERS | FOR_SWEEP | FOR_SAMPLE | FOR_SOURCES,
     SET(set_json)},
    {NULL, "json", 0, NULL, "with --annotate, write a JSON object for messages too", FOR_FILTER,
     SET(set_json)},
    {NULL, "color", 0, "WHEN",
     "auto: on a terminal, unless NO_COLOR is set; always, or never (default: auto)",
     FOR_COMPARE | FOR_EXPLAIN | FOR_DEDUP | FOR_PAIRS | FOR_FILTER,
     WORD(use.color, "auto always never")},

    {"Resources", "threads", 'j', "N", "threads to use (default: all processors)",
     FOR_RUNS | FOR_PLAN | FOR_INDEX | FOR_DF | FOR_EVAL | FOR_CLUSTERS | FOR_SWEEP | FOR_SAMPLE |
         FOR_REPORT,
     RUN},
    {NULL, "tmp", 0, "DIR",
     "where to keep texts that cannot be read again (default: $TMPDIR, or /tmp)",
     FOR_PLAN | FOR_SKETCH | FOR_INDEX | FOR_AUDIT, RUN},
    {NULL, "tmp", 0, "DIR",
     "where to keep sketches and results meanwhile (default: $TMPDIR, or /tmp)", FOR_SWEEP, RUN},
    {NULL, "tmp", 0, "DIR",
     "where to keep what is known of the parts, and exceeds memory (default: $TMPDIR, or /tmp)",
     FOR_REPEATS, RUN},
    {NULL, "tmp", 0, "DIR",
     "where to keep texts that cannot be read again, and what exceeds --memory (default: $TMPDIR, "
     "or /tmp)",
     FOR_DEDUP | FOR_PAIRS, RUN},
    {NULL, "memory", 0, "SIZE",
     "use at most this much memory, such as 500M or 4G, 64M at least; what does not fit goes to "
     "--tmp (default: as much as needed)",
     FOR_DEDUP | FOR_PAIRS | FOR_PLAN | FOR_REPEATS, RUN},
    {NULL, "memory", 0, "SIZE",
     "use at most this much memory, such as 500M or 4G, 64M at least; end where more must be held "
     "(default: as much as needed)",
     FOR_RUNS & ~(FOR_DEDUP | FOR_PAIRS | FOR_REPEATS), RUN},
    {NULL, "memory", 0, "SIZE",
     "use at most this much memory, such as 500M or 4G, 64M at least; what does not fit goes to "
     "--tmp (default: as much as needed)",
     FOR_INDEX, SET(set_hamming_memory), .parts = "build query"},
    {NULL, "tmp", 0, "DIR",
     "where to keep texts that cannot be read again, and what exceeds --memory (default: $TMPDIR, "
     "or /tmp)",
     FOR_DF, RUN, .parts = "build merge calibrate"},

    {"For experts", "recall", 0, "P",
     "the share of the pairs at the threshold that must be found (default: 0.995)", FOR_PAIRWISE,
     KEY("recall")},
    {NULL, "bands", 0, "BxR", "B bands of R rows, instead of those chosen for --recall",
     FOR_PAIRWISE, SET(set_bands)},
    {NULL, "max-checks", 0, "N", "compare a document with at most N others (default: 256)",
     FOR_DEDUP | FOR_PLAN | FOR_COLLAPSE, KEY("max_checks")},
    {NULL, "candidates", 0, "BY",
     "how documents to compare are found: by minhash, simhash or identity, or all (default: "
     "minhash)",
     FOR_PAIRWISE, KEY("candidates")},
    {NULL, "verify", 0, "MEASURE",
     "what must reach the threshold: jaccard, containment (of the document in the kept one), "
     "containment-of-kept, containment-either (of the smaller), cosine, or none (default: jaccard)",
     FOR_PAIRWISE, KEY("verify")},

    {"Fingerprints", "bits", 0, "F", "bits of a fingerprint, 32 to 512 (default: 64)", FOR_HAMMING,
     NUMBER(hamming.bits, ND_HAMMING_BITS_MIN, ND_HAMMING_BITS_MAX),
     .parts = "plan " READING " merge"},
    {NULL, "distance", 'k', "K",
     "find fingerprints that differ in at most K bits, 0 to 16 (default: 3; for query, the "
     "distance that the index was built for)",
     FOR_HAMMING, NUMBER(hamming.distance, 0, ND_HAMMING_DISTANCE_MAX),
     .parts = "plan pairs build query merge"},
    {NULL, "raw", 0, NULL,
     "files hold little-endian 64-bit words, as many as a fingerprint needs, instead of lines",
     FOR_HAMMING, FLAG(hamming.raw), .parts = READING},
    {NULL, "any-digits", 0, NULL,
     "accept lines with fewer or more digits than the first; otherwise such a line is an error, "
     "because a list that was cut off ends in such a line",
     FOR_HAMMING, FLAG(hamming.any_digits), .parts = READING},
    {NULL, "records", 0, NULL,
     "make the index of the records of documents, in which all that the recipe compares is looked "
     "up, also where one fingerprint would do",
     FOR_INDEX, FLAG(hamming.records), .parts = "build"},
    {NULL, "fingerprints", 0, NULL,
     "the files hold fingerprints, although the index holds documents", FOR_INDEX,
     FLAG(hamming.fingerprints), .parts = "add query"},
    {NULL, "merge", 0, NULL, "the files are results of join: sort them, and drop repeated lines",
     FOR_JOIN, FLAG(hamming.merge)},

    {NULL, "output", 'o', "FILE",
     "where index build and merge write the index, and the others their results (default: standard "
     "output)",
     FOR_HAMMING, TEXT(hamming.output), .parts = "plan pairs build query merge info stats"},
    {NULL, "codec", 0, "NAME",
     "how tables are compressed: ef (Elias-Fano) or manku (XOR, Huffman, blocks; up to 64 bits) "
     "(default: ef)",
     FOR_INDEX, WORD_FROM(hamming.codec, "ef manku", ND_HAMMING_EF), .parts = MAKING},
    {NULL, "layout", 0, "NAME",
     "how an index file is laid out: compact (few bytes) or fast (the tables of an index in "
     "memory, "
     "for 64 bits within 3: several times as fast and as large) (default: compact)",
     FOR_INDEX, WORD_FROM(hamming.layout, "compact fast", ND_HAMMING_COMPACT), .parts = MAKING},
    {NULL, "buckets", 0, "N", "divide the space into N equal parts, 2 to 1024 (default: 128)",
     FOR_INDEX, NUMBER(hamming.buckets, 2, ND_HAMMING_BUCKETS_MAX), .parts = "stats"},
    {NULL, "svg", 0, "FILE", "also draw the figures", FOR_INDEX, TEXT(hamming.svg),
     .parts = "stats"},

    {"Planning", "count", 0, "N", "how many fingerprints there will be", FOR_INDEX,
     SET(set_hamming_count), .parts = "plan"},
    {NULL, "index-memory", 0, "SIZE",
     "the greatest size of the index file, such as 500M or 1T (default: no limit)", FOR_INDEX,
     SET(set_index_memory), .parts = MAKING},
    {NULL, "design", 0, "NAME",
     "plan, build or merge only with this family: tables of blocks (as published) or covering "
     "(fewer tables for the same keys), or popcount (shards by number of ones, of which a query "
     "reads 2k + 1) (default: covering; plan shows all)",
     FOR_INDEX, TO(set_design, hamming.family), .words = "blocks covering popcount",
     .parts = MAKING},
    {NULL, "tables", 0, "T", "use the longest keys that are possible with at most T tables",
     FOR_INDEX, NUMBER(hamming.tables, 1, ND_HAMMING_TABLES_MAX), .parts = MAKING},
    {NULL, "part-fingerprints", 0, "N",
     "divide the index file into parts of at most N fingerprints, which are built one after the "
     "other and queried together (default: 2^32 - 1)",
     FOR_INDEX, NUMBER(hamming.part_fingerprints, 1, UINT32_MAX), .parts = MAKING},
    {NULL, "key-bits", 0, "P", "use the fewest tables whose keys have at least P bits", FOR_INDEX,
     NUMBER(hamming.key_bits, 1, 64), .parts = MAKING},
    {NULL, "calibrate", 0, NULL, "predict for this machine, after measuring it for a second",
     FOR_INDEX, FLAG(hamming.calibrate), .parts = "plan"},
    {NULL, "calibration", 0, "FILE",
     "predict for the machine in FILE; if there is no such file, measure this machine and write it",
     FOR_INDEX, TEXT(hamming.calibration), .parts = "plan"},
    {"Tables", "output", 'o', "FILE", "where to write the table", FOR_DF, RUN,
     .parts = "build merge"},
    {NULL, "features", 0, "WHAT",
     "what to count: terms, sketch (the shingles of [sketch]) or the name of a signature of the "
     "recipe (default: its first signature, or terms if it has none)",
     FOR_DF, ANY_TEXT(df_table.build.features), .values = "terms sketch",
     .parts = "build calibrate"},
    {NULL, "memory", 0, "SIZE",
     "how much memory to use, such as 500M or 4G; counts that do not fit go to --tmp (default: "
     "256M)",
     FOR_DF, SET(set_df_memory), .parts = "build merge"},
    {NULL, "texts", 0, NULL, "keep the text of each feature, for top; slower, and a larger table",
     FOR_DF, FLAG(df_table.build.keep_texts), .parts = "build"},
    {NULL, "count", 0, "N", "how many features to show (default: 20)", FOR_DF,
     NUMBER(df_table.count, 1, 1 << 20), .parts = "top"},
    {NULL, "rarest", 0, NULL, "show those in the fewest documents instead", FOR_DF,
     FLAG(df_table.rarest), .parts = "top"},
    {NULL, "least", 0, "N", "only features in at least N documents", FOR_DF,
     NUMBER(df_table.least, 0, 4294967295), .parts = "top"},
    {NULL, "most", 0, "N", "only features in at most N documents", FOR_DF,
     NUMBER(df_table.most, 1, 4294967295), .parts = "top"},
    {NULL, "drop", 0, "SHARE", "the share of a document's features to drop (default: 0.5)", FOR_DF,
     SET(set_df_drop), .parts = "calibrate"},
    {NULL, "sample", 0, "N", "how many documents to sample (default: 500)", FOR_DF,
     NUMBER(df_table.sample, 1, 1 << 20), .parts = "calibrate"},
    {"Help", "help", 'h', NULL, "show this text; -h: in one screen, without explanations",
     ~0u, /* every command */
     FLAG(help)},
};
const size_t n_options = sizeof option_table / sizeof *option_table;
