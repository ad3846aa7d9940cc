/* What an element's class, id, role and itemprop say. */
#include <stdlib.h>
#include <string.h>

#include "native.h"

enum { MOST_CHARACTERS = 400 }; /* of one attribute that are looked at */

/* Words of at least five letters are looked for in longer ones ("sidebarleft"): by their first five letters,
 * which takes a thirtieth of looking for every word at every place. */
enum { BEGINNING = 5, LONGER_THAN = 6, HEADS = 1 << 12 };

struct LongWords {
    uint32_t head[HEADS]; /* a key of Tables.markup + 1, or 0 */
    uint32_t next[];      /* of the same beginning's hash */
};

/* The last five letters as one number. */
static uint32_t rolled(uint32_t letters, uint8_t letter) {
    return (letters << 5 | (letter & 0x1F)) & 0x1FFFFFF;
}

static uint32_t head_of(uint32_t letters) { return letters * UINT32_C(0x9E3779B1) >> 20; }

int build_long_words(Tables *tables) {
    const Dictionary *markup = &tables->markup;
    struct LongWords *words = calloc(1, sizeof *words + markup->count * sizeof *words->next);
    if (words == NULL)
        return NO_MEMORY;
    for (size_t key = 0; key < markup->count; key++) {
        const uint8_t *word = markup->keys + markup->start[key];
        if (markup->start[key + 1] - markup->start[key] < BEGINNING)
            continue;
        uint32_t letters = 0;
        for (int i = 0; i < BEGINNING; i++)
            letters = rolled(letters, word[i]);
        uint32_t *head = words->head + head_of(letters);
        words->next[key] = *head;
        *head = (uint32_t)(key + 1);
    }
    tables->long_words = words;
    return 0;
}

/* The groups of the words within a token. */
static uint64_t contained_bits(const Tables *tables, const uint8_t *token, size_t length) {
    const Dictionary *markup = &tables->markup;
    const struct LongWords *words = tables->long_words;
    uint64_t bits = 0;
    uint32_t letters = 0;
    for (size_t end = 0; end < length; end++) {
        letters = rolled(letters, token[end]);
        if (end + 1 < BEGINNING)
            continue;
        const uint8_t *start = token + end + 1 - BEGINNING;
        for (uint32_t key = words->head[head_of(letters)]; key != 0; key = words->next[key - 1]) {
            const uint8_t *word = markup->keys + markup->start[key - 1];
            size_t size = (size_t)(markup->start[key] - markup->start[key - 1]);
            if (size <= (size_t)(token + length - start) && memcmp(start, word, size) == 0)
                bits |= markup->values[key - 1];
        }
    }
    return bits;
}

static uint64_t token_bits(const Tables *tables, const uint8_t *token, size_t length) {
    const uint64_t *known = find_key(&tables->markup, token, length);
    if (known != NULL)
        return *known;
    return length > LONGER_THAN ? contained_bits(tables, token, length) : 0;
}

static bool is_upper(uint8_t byte) { return byte >= 'A' && byte <= 'Z'; }

static bool is_lower(uint8_t byte) { return byte >= 'a' && byte <= 'z'; }

/* The length of the token at `at`: lower-case letters after at most one capital, or capitals, of which the
 * last belongs to the next token when lower-case letters follow. 0 for what is no letter. */
static size_t token_length(const uint8_t *at, const uint8_t *end) {
    const uint8_t *here = at;
    while (here != end && is_upper(*here))
        here++;
    size_t capitals = (size_t)(here - at);
    while (here != end && is_lower(*here))
        here++;
    bool lowered = here != at + capitals;
    return capitals > 1 ? capitals - lowered : (size_t)(here - at);
}

/* Where `length` bytes hold more than MOST_CHARACTERS characters, the bytes of that many. */
static size_t cut_length(const uint8_t *names, size_t length) {
    size_t characters = 0;
    for (size_t i = 0; i < length; i++) {
        characters += (names[i] & 0xC0) != 0x80;
        if (characters > MOST_CHARACTERS)
            return i;
    }
    return length;
}

uint64_t markup_bits(const Tables *tables, const uint8_t *names, size_t length) {
    uint8_t lowered[MOST_CHARACTERS];
    uint64_t bits = 0;
    if (length > MOST_CHARACTERS)
        length = cut_length(names, length);
    const uint8_t *end = names + length;
    while (names != end) {
        size_t size = token_length(names, end);
        for (size_t i = 0; i < size; i++)
            lowered[i] = names[i] | 0x20;
        if (size != 0)
            bits |= token_bits(tables, lowered, size);
        names += size != 0 ? size : 1;
    }
    return bits;
}

int known_attribute(const Tables *tables, const Attribute *attribute) {
    static const char *const texts[ATTRIBUTES] = {
#define ATTRIBUTE_TEXT(name, text) text,
        KNOWN_ATTRIBUTES(ATTRIBUTE_TEXT)};
    uintptr_t name = attribute->qualified_name != 0 ? attribute->qualified_name : attribute->node.name;
    if (name < MOST_KNOWN_NAMES)
        return tables->attribute[name];
    const NameEntry *entry = (const NameEntry *)name;
    const uint8_t *bytes = entry->length <= SHORT_NAME ? entry->name.within : entry->name.bytes;
    for (int known = 0; known < ATTRIBUTES; known++)
        if (entry->length == strlen(texts[known]) && memcmp(bytes, texts[known], entry->length) == 0)
            return known;
    return -1;
}

static void skip_white(const Tables *tables, const uint8_t **at, const uint8_t *end) {
    while (*at != end) {
        const uint8_t *next = *at;
        if (!is_white(&tables->characters, next_character(&next, end)))
            return;
        *at = next;
    }
}

/* Whether `word` stands at `at`, in letters of either case; moves behind it. */
static bool skip_word(const uint8_t **at, const uint8_t *end, const char *word) {
    const uint8_t *here = *at;
    for (; *word != 0; word++, here++)
        if (here == end || (*here | 0x20) != *word)
            return false;
    *at = here;
    return true;
}

/* Whether `property: value` stands at `at`. */
static bool declares(const Tables *tables, const uint8_t *at, const uint8_t *end, const char *property,
                     const char *value) {
    if (!skip_word(&at, end, property))
        return false;
    skip_white(tables, &at, end);
    if (at == end || *at++ != ':')
        return false;
    skip_white(tables, &at, end);
    return skip_word(&at, end, value);
}

bool hides(const Tables *tables, String value) {
    if (value.length == 4 && memcmp(value.bytes, "true", 4) == 0)
        return true;
    const uint8_t *end = value.bytes + value.length;
    for (const uint8_t *at = value.bytes; at != end; at++) {
        uint8_t letter = *at | 0x20;
        if ((letter == 'd' && declares(tables, at, end, "display", "none")) ||
            (letter == 'v' && declares(tables, at, end, "visibility", "hidden")))
            return true;
    }
    return false;
}
