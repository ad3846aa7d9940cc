/* The words of blocks, counted; ccrawl.html.content.text says what the figures are. */
#define _GNU_SOURCE /* memmem, which is linear */
#include <stdlib.h>
#include <string.h>

#include "judge.h"

static const double WIDE_WORDS = 0.6; /* words in a WIDE character */
enum { PHRASE_CHARACTERS = 64, PHRASE_BLOCK = 240 }; /* a longer block begins with none */
enum { BODY_LOOK = 100, BODY_START = 50, BODY_LEAST = 12 };
enum { DESCRIPTION_START = 40, DESCRIPTION_LEAST = 30 };
enum { TITLE_PART = 8 }; /* characters; a shorter text is no part of a title */

typedef struct {
    const Tables *tables;
    const Page *page;
    const HeadTexts *head;
    int64_t shortest, longest; /* characters of a block that may be the title */
    uint32_t *codes;           /* room for `longest` characters, and for their lower case */
    uint8_t *lowered;
} Reading;

BlockReader read_block(const Page *page, int64_t block) {
    int64_t first = page->b_first[block];
    const uint8_t *at = (const uint8_t *)(uintptr_t)page->t_address[first];
    return (BlockReader){
        .page = page,
        .text = first,
        .end = block + 1 < page->blocks ? page->b_first[block + 1] : page->texts,
        .at = at,
        .stop = at + page->t_size[first],
    };
}

int64_t read_character(BlockReader *reader) {
    if (reader->at != reader->stop)
        return next_character(&reader->at, reader->stop);
    if (++reader->text >= reader->end)
        return -1;
    reader->at = (const uint8_t *)(uintptr_t)reader->page->t_address[reader->text];
    reader->stop = reader->at + reader->page->t_size[reader->text];
    return ' ';
}

int64_t find_bytes(const uint8_t *text, size_t length, const uint8_t *needle, size_t needle_length) {
    if (needle_length > length)
        return -1;
    const uint8_t *found = memmem(text, length, needle, needle_length);
    return found == NULL ? -1 : found - text;
}

typedef struct {
    int64_t classes[CLASSES];
    int64_t dark; /* characters that are not white space */
    int64_t characters, words, linked, last;
} Counts;

/* Add one text of a block. `in_word` says whether the block's last text ended in a word. */
static void count_text(const Tables *tables, const uint8_t *at, const uint8_t *end, Counts *counts, bool *in_word) {
    const uint8_t *entry = tables->characters.entry;
    const uint64_t *ascii = tables->ascii_steps, space = class_step(SPACE);
    uint64_t word = *in_word, words = 0, last = 0;
    while (at != end) {
        uint64_t packed = 0;
        const uint8_t *stop = end - at < MOST_STEPS ? end : at + MOST_STEPS;
        while (at < stop) {
            bool is_ascii = *at < 0x80;
            uint64_t step = is_ascii ? ascii[*at++] : class_step(entry[next_character(&at, end)] & CLASS_MASK);
            uint64_t is_word = step >> 63;
            packed += step;
            words += is_word & ~word;
            word = is_word;
            last = step == space ? last : step;
        }
        for (int class = 0; class < CLASSES; class++)
            counts->classes[class] += (int64_t)(packed >> STEP_BITS * class & MOST_STEPS);
    }
    for (int class = 0; class < CLASSES; class++)
        if (last >> STEP_BITS * class & 1)
            counts->last = class;
    counts->words += (int64_t)words;
    *in_word = word != 0;
}

static void sum_classes(Counts *counts) {
    counts->characters = 0;
    for (int class = 0; class < CLASSES; class++)
        counts->characters += counts->classes[class];
    counts->dark = counts->characters - counts->classes[SPACE];
}

static Counts count_block(const Tables *tables, const Page *page, int64_t block) {
    Counts counts = {.last = SPACE};
    bool in_word = false;
    int64_t end = block + 1 < page->blocks ? page->b_first[block + 1] : page->texts;
    for (int64_t text = page->b_first[block]; text < end; text++) {
        const uint8_t *at = (const uint8_t *)(uintptr_t)page->t_address[text];
        count_text(tables, at, at + page->t_size[text], &counts, &in_word);
        int64_t dark = counts.dark;
        sum_classes(&counts);
        if (page->n_tags[page->t_node[text]] & tables->link_bit)
            counts.linked += counts.dark - dark;
    }
    counts.characters += end - page->b_first[block] - 1; /* a space between two texts */
    return counts;
}

/* The first characters of a block without white space before them, at most `most`. */
static size_t begin_block(const Reading *reading, int64_t block, uint32_t *codes, size_t most) {
    BlockReader reader = read_block(reading->page, block);
    size_t length = 0;
    for (int64_t code; length < most && (code = read_character(&reader)) >= 0;)
        if (length > 0 || !is_white(&reading->tables->characters, (uint32_t)code))
            codes[length++] = (uint32_t)code;
    return length;
}

static size_t without_white_end(const Reading *reading, const uint32_t *codes, size_t length) {
    while (length > 0 && is_white(&reading->tables->characters, codes[length - 1]))
        length--;
    return length;
}

static bool contains_codes(const uint8_t *text, int64_t size, const uint32_t *codes, size_t length) {
    uint8_t bytes[4 * BODY_LOOK];
    uint8_t *end = bytes;
    for (size_t i = 0; i < length; i++)
        end = put_character(end, codes[i]);
    return find_bytes(text, (size_t)size, bytes, (size_t)(end - bytes)) >= 0;
}

/* Whether the block's beginning, with single spaces, stands in the head's article body. */
static bool is_in_body(const Reading *reading, int64_t block) {
    uint32_t codes[BODY_LOOK];
    BlockReader reader = read_block(reading->page, block);
    size_t length = 0;
    bool space = false;
    int64_t code;
    for (int seen = 0; seen < BODY_LOOK && (code = read_character(&reader)) >= 0; seen++) {
        if (is_white(&reading->tables->characters, (uint32_t)code)) {
            space = length > 0;
            continue;
        }
        if (space)
            codes[length++] = ' ';
        space = false;
        codes[length++] = (uint32_t)code;
    }
    const HeadTexts *head = reading->head;
    return length > BODY_LEAST &&
           contains_codes(head->bodies, head->bodies_length, codes, length < BODY_START ? length : BODY_START);
}

/* Whether the beginning of a block that is long enough without white space around it stands in the
 * description. */
static bool is_in_description(const Reading *reading, int64_t block) {
    uint32_t codes[DESCRIPTION_START];
    BlockReader reader = read_block(reading->page, block);
    size_t length = 0, dark_end = 0;
    int64_t code;
    while ((length < DESCRIPTION_START || dark_end <= DESCRIPTION_LEAST) && (code = read_character(&reader)) >= 0) {
        bool white = is_white(&reading->tables->characters, (uint32_t)code);
        if (white && length == 0)
            continue;
        if (length < DESCRIPTION_START)
            codes[length] = (uint32_t)code;
        length++;
        if (!white)
            dark_end = length;
    }
    if (dark_end <= DESCRIPTION_LEAST)
        return false;
    length = without_white_end(reading, codes, length < DESCRIPTION_START ? length : DESCRIPTION_START);
    return contains_codes(reading->head->description, reading->head->description_length, codes, length);
}

/* The lower case of a block without white space around it, at most `longest` characters, when all of it is ASCII,
 * as most are. Returns its size, or -1. */
static int64_t lower_ascii(const Reading *reading, int64_t block) {
    const Page *page = reading->page;
    const uint8_t *entry = reading->tables->characters.entry;
    int64_t first = page->b_first[block], end = block + 1 < page->blocks ? page->b_first[block + 1] : page->texts;
    uint8_t *out = reading->lowered;
    int64_t size = 0;
    for (int64_t text = first; text < end && size < reading->longest; text++) {
        const uint8_t *at = (const uint8_t *)(uintptr_t)page->t_address[text], *stop = at + page->t_size[text];
        if (size > 0)
            out[size++] = ' ';
        else
            while (at != stop && *at < 0x80 && (entry[*at] & WHITE))
                at++;
        int64_t left = stop - at < reading->longest - size ? stop - at : reading->longest - size;
        uint8_t seen = 0;
        for (int64_t i = 0; i < left; i++) {
            seen |= at[i];
            out[size + i] = (uint8_t)(at[i] + (at[i] >= 'A' && at[i] <= 'Z' ? 'a' - 'A' : 0));
        }
        if (seen & 0x80)
            return -1;
        size += left;
    }
    while (size > 0 && (entry[out[size - 1]] & WHITE))
        size--;
    return size;
}

/* 1 for a block that is the title, 0.5 for one that contains it or is contained in it. */
static double title_match(const Reading *reading, int64_t block) {
    const HeadTexts *head = reading->head;
    int64_t ascii = lower_ascii(reading, block);
    size_t size = (size_t)ascii, characters = (size_t)ascii, title = (size_t)head->title_length;
    if (ascii < 0) {
        size_t length = begin_block(reading, block, reading->codes, (size_t)reading->longest);
        length = without_white_end(reading, reading->codes, length);
        size = lower_case(&reading->tables->characters, reading->codes, length, reading->lowered, &characters);
    }
    if (size == title && memcmp(reading->lowered, head->title, title) == 0)
        return 1.0;
    if (characters <= TITLE_PART)
        return 0.0;
    bool part = find_bytes(head->title, title, reading->lowered, size) >= 0 ||
                find_bytes(reading->lowered, size, head->title, title) >= 0;
    return part ? 0.5 : 0.0;
}

static uint64_t block_phrases(const Reading *reading, int64_t block, int64_t characters) {
    if (characters >= PHRASE_BLOCK)
        return 0;
    uint32_t codes[PHRASE_CHARACTERS];
    size_t length = begin_block(reading, block, codes, PHRASE_BEGINNING);
    if (!may_begin_phrase(reading->tables, codes, length))
        return 0;
    length = begin_block(reading, block, codes, PHRASE_CHARACTERS);
    return phrase_bits(reading->tables, codes, length);
}

static void describe_block(const Reading *reading, int64_t block, double *rows, int64_t blocks) {
    const HeadTexts *head = reading->head;
    Counts counts = count_block(reading->tables, reading->page, block);
    double *out = rows + block;
    for (int class = 0; class < CLASSES; class++)
        out[class * blocks] = (double)counts.classes[class];
    out[X_LENGTH * blocks] = counts.dark < 1 ? 1.0 : (double)counts.dark;
    out[X_WORDS * blocks] = (double)counts.words + WIDE_WORDS * (double)counts.classes[WIDE];
    out[X_LINKED * blocks] = (double)counts.linked;
    out[X_LAST * blocks] = (double)counts.last;
    double in_body = head->bodies_length < 0 ? -1.0 : 0.0;
    if (head->bodies_length > 0 && counts.characters > BODY_LEAST)
        in_body = is_in_body(reading, block);
    out[X_IN_BODY * blocks] = in_body;
    out[X_IN_DESCRIPTION * blocks] =
        head->description_length > 1 && counts.characters > DESCRIPTION_LEAST && is_in_description(reading, block);
    bool may_be_title = head->title_length > 0 && counts.characters >= reading->shortest && counts.characters <= reading->longest;
    out[X_TITLE * blocks] = may_be_title ? title_match(reading, block) : 0.0;
    uint64_t phrases = block_phrases(reading, block, counts.characters);
    memcpy(out + X_PHRASES * blocks, &phrases, sizeof phrases);
}

static int64_t longest_block(const Page *page) {
    int64_t longest = 0;
    for (int64_t block = 0, text = 0; block < page->blocks; block++) {
        int64_t end = block + 1 < page->blocks ? page->b_first[block + 1] : page->texts, size = 0;
        for (; text < end; text++)
            size += page->t_size[text] + 1;
        longest = size > longest ? size : longest;
    }
    return longest;
}

/* Fill in BlockText's rows. */
EXPORTED int ccrawl_read_text(const Tables *tables, const PageArrays *arrays, const HeadTexts *head, double *rows) {
    Page page = page_of(arrays);
    Reading reading = {.tables = tables, .page = &page, .head = head};
    reading.shortest = head->title_characters / 3 > 4 ? head->title_characters / 3 : 4;
    reading.longest = 2 * head->title_characters + 40;
    int64_t most = longest_block(&page);
    size_t room = (size_t)(most < reading.longest ? most : reading.longest) + 1;
    reading.codes = malloc(room * sizeof *reading.codes);
    reading.lowered = malloc(8 * room);
    if (reading.codes != NULL && reading.lowered != NULL)
        for (int64_t block = 0; block < page.blocks; block++)
            describe_block(&reading, block, rows, page.blocks);
    bool made = reading.codes != NULL && reading.lowered != NULL;
    free(reading.codes);
    free(reading.lowered);
    return made ? 0 : NO_MEMORY;
}
