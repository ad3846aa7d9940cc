/* The phrases of interface text that a block begins with. */
#include "native.h"

enum { MOST_CHARACTERS = 64, MOST_BYTES = 8 * MOST_CHARACTERS, WORDS = 3 };

typedef struct {
    const uint8_t *start;
    size_t length;
} Word;

/* The first words of `text`; returns how many there are, at most WORDS. */
static int split_words(const Tables *tables, const uint8_t *text, const uint8_t *end, Word *words) {
    int count = 0;
    while (count < WORDS) {
        const uint8_t *next = text;
        while (text != end && is_white(&tables->characters, next_character(&next, end)))
            text = next;
        if (text == end)
            break;
        words[count].start = text;
        while (text != end) {
            next = text;
            if (is_white(&tables->characters, next_character(&next, end)))
                break;
            text = next;
        }
        words[count].length = (size_t)(text - words[count].start);
        count++;
    }
    return count;
}

/* Whether the last character of a word may stand after a phrase; `length` becomes that without it. */
static bool drop_sign(const Tables *tables, const uint8_t *start, size_t *length) {
    size_t last = *length;
    while (last > 0 && (start[--last] & 0xC0) == 0x80)
        continue;
    const uint8_t *at = start + last;
    uint32_t code = *length == 0 ? 0 : next_character(&at, start + *length);
    if (*length == 0 || code >= 0x10000 || !tables->after[code])
        return false;
    *length = last;
    return true;
}

static Word without_signs(const Tables *tables, Word word) {
    while (drop_sign(tables, word.start, &word.length))
        continue;
    return word;
}

static uint64_t value_of(const Dictionary *dictionary, const uint8_t *key, size_t length) {
    const uint64_t *value = find_key(dictionary, key, length);
    return value == NULL ? 0 : *value;
}

/* The groups of a phrase of several words: these, with one space between. */
static uint64_t joined_value(const Tables *tables, const Word *words, int count) {
    uint8_t phrase[MOST_BYTES + WORDS];
    size_t length = 0;
    for (int i = 0; i < count; i++) {
        if (i > 0)
            phrase[length++] = ' ';
        for (size_t j = 0; j < words[i].length; j++)
            phrase[length++] = words[i].start[j];
    }
    return value_of(&tables->phrases, phrase, length);
}

/* Whether some phrase has this beginning. */
static bool may_begin(const Tables *tables, const uint8_t *text, size_t length) {
    size_t end[4] = {0, 0, 0, 0}; /* of each of the first characters */
    for (int i = 1; i < 4; i++) {
        end[i] = end[i - 1];
        if (end[i] < length)
            end[i]++;
        while (end[i] < length && (text[end[i]] & 0xC0) == 0x80)
            end[i]++;
    }
    return find_key(&tables->beginnings, text, end[3]) != NULL ||
           (end[1] != end[3] && find_key(&tables->phrases, text, end[1]) != NULL);
}

/* Two of three blocks are done with here. A capital sigma's lower case depends on what follows. */
bool may_begin_phrase(const Tables *tables, const uint32_t *codes, size_t length) {
    uint8_t text[8 * PHRASE_BEGINNING];
    size_t characters;
    for (size_t i = 0; i < length; i++)
        if (codes[i] == CAPITAL_SIGMA)
            return true;
    size_t size = lower_case(&tables->characters, codes, length, text, &characters);
    return size > 0 && may_begin(tables, text, size);
}

uint64_t phrase_bits(const Tables *tables, const uint32_t *codes, size_t length) {
    uint8_t text[MOST_BYTES];
    size_t characters;
    if (length > MOST_CHARACTERS)
        length = MOST_CHARACTERS;
    size_t size = lower_case(&tables->characters, codes, length, text, &characters);
    if (size == 0 || !may_begin(tables, text, size))
        return 0;
    Word words[WORDS];
    int count = split_words(tables, text, text + size, words);
    if (count == 0)
        return 0;
    if (find_key(&tables->first_words, words[0].start, words[0].length) == NULL) {
        Word first = without_signs(tables, words[0]);
        return first.length < words[0].length ? value_of(&tables->phrases, first.start, first.length) : 0;
    }
    uint64_t bits = value_of(&tables->phrases, words[0].start, words[0].length);
    if (count > 1) {
        Word second = without_signs(tables, words[1]);
        bool ends = second.length < words[1].length;
        words[1] = second;
        bits |= joined_value(tables, words, 2);
        if (count > 2 && !ends) {
            words[2] = without_signs(tables, words[2]);
            bits |= joined_value(tables, words, 3);
        }
    }
    return bits;
}
