/* The tables that everything else reads, made once. */
#include <stdlib.h>
#include <string.h>

#include "native.h"

typedef struct {
    int64_t count;
    const uint8_t *keys;
    const int64_t *start;
    const uint64_t *values;
} Keys;

/* Tables as the caller gives them; its arrays must outlive the tables. */
typedef struct {
    const uint8_t *characters;
    const uint32_t *lower;
    int64_t lowered;
    int64_t tag_slots;
    const uint64_t *tag_bits;
    const uint64_t *own_bits;
    const uint8_t *tag_kinds;
    uint64_t link_bit;
    uint64_t heading_bits;
    const int64_t *tags;
    const uint64_t *attributes;
    Keys markup;
    Keys phrases;
    Keys first_words;
    Keys beginnings;
    const uint8_t *after;
    const uint64_t *sign_bits;
} Specification;

#define TAG_TEXT_ENTRY(name, text) text " "
static const char TAG_NAMES[] = KNOWN_TAGS(TAG_TEXT_ENTRY);
static const char ATTRIBUTE_NAMES[] = KNOWN_ATTRIBUTES(TAG_TEXT_ENTRY);

/* Names of the tags and attributes whose numbers the caller gives, in order. */
EXPORTED const char *ccrawl_tag_names(void) { return TAG_NAMES; }

EXPORTED const char *ccrawl_attribute_names(void) { return ATTRIBUTE_NAMES; }

static int fill_dictionary(Dictionary *dictionary, const Keys *keys) {
    dictionary->count = (size_t)keys->count;
    dictionary->keys = keys->keys;
    dictionary->start = keys->start;
    dictionary->values = keys->values;
    return index_keys(dictionary);
}

EXPORTED void ccrawl_free_tables(Tables *tables) {
    if (tables == NULL)
        return;
    free(tables->markup.slots);
    free(tables->phrases.slots);
    free(tables->first_words.slots);
    free(tables->beginnings.slots);
    free(tables->long_words);
    free(tables);
}

/* Tables for ccrawl_walk and the rest; NULL when there is no memory. */
EXPORTED Tables *ccrawl_tables(const Specification *given) {
    Tables *tables = calloc(1, sizeof *tables);
    if (tables == NULL)
        return NULL;
    tables->characters = (Characters){given->characters, given->lower, (uint32_t)given->lowered};
    for (int code = 0; code < 0x80; code++)
        tables->ascii_steps[code] = class_step(given->characters[code] & CLASS_MASK);
    tables->tag_slots = given->tag_slots;
    tables->tag_bits = given->tag_bits;
    tables->own_bits = given->own_bits;
    tables->tag_kinds = given->tag_kinds;
    tables->link_bit = given->link_bit;
    tables->heading_bits = given->heading_bits;
    tables->after = given->after;
    for (int i = 0; i < TAGS; i++)
        tables->tag[i] = given->tags[i];
    memset(tables->attribute, -1, sizeof tables->attribute);
    for (int i = 0; i < ATTRIBUTES; i++)
        if (given->attributes[i] > 0 && given->attributes[i] < MOST_KNOWN_NAMES) /* 0: lexbor has no number for it */
            tables->attribute[given->attributes[i]] = (int8_t)i;
    for (int i = 0; i < PHRASE_SIGNS; i++)
        tables->sign_bits[i] = given->sign_bits[i];
    if (fill_dictionary(&tables->markup, &given->markup) != 0 ||
        fill_dictionary(&tables->phrases, &given->phrases) != 0 ||
        fill_dictionary(&tables->first_words, &given->first_words) != 0 ||
        fill_dictionary(&tables->beginnings, &given->beginnings) != 0 || build_long_words(tables) != 0) {
        ccrawl_free_tables(tables);
        return NULL;
    }
    return tables;
}

/* MARKUP groups of names, PHRASES groups that a piece of text begins with. */
EXPORTED uint64_t ccrawl_markup_bits(const Tables *tables, const uint8_t *names, int64_t length) {
    return markup_bits(tables, names, (size_t)length);
}

EXPORTED uint64_t ccrawl_phrase_bits(const Tables *tables, const uint32_t *codes, int64_t length) {
    return phrase_bits(tables, codes, (size_t)length);
}
