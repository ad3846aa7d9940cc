/* Characters of UTF-8, their classes, and lower case, as Python has them. */
#ifndef CCRAWL_CHARACTERS_H
#define CCRAWL_CHARACTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Classes, those of words first; ccrawl.html.content.text says what they hold. */
enum { LETTER, UPPER, DIGIT, WIDE, SPACE, STOP, COMMA, OTHER, MARK, RIGHTS, CLASSES };

/* A character's entry: its class, and what Python's str methods ask. */
enum { CLASS_MASK = 0x0F, WHITE = 0x10, CASED = 0x20, CASE_IGNORABLE = 0x40 };

enum { CODE_POINTS = 0x110000, REPLACEMENT = 0xFFFD, CAPITAL_SIGMA = 0x3A3 };

typedef struct {
    const uint8_t *entry;  /* CODE_POINTS */
    const uint32_t *lower; /* `lowered` code points; those above have no case */
    uint32_t lowered;
} Characters;

/* The character at `*at`, before `end`; moves on. What is no UTF-8 is U+FFFD, as often as Python says. */
static inline uint32_t next_character(const uint8_t **at, const uint8_t *end) {
    const uint8_t *byte = *at;
    uint8_t first = byte[0];
    if (first < 0x80) {
        *at = byte + 1;
        return first;
    }
    int more = first < 0xC2 ? -1 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : first < 0xF5 ? 3 : -1;
    uint8_t low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    uint8_t high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    uint32_t code = more < 0 ? 0 : first & (0x3Fu >> more);
    byte++;
    for (int i = 0; i < more; i++) {
        if (byte == end || *byte < low || *byte > high) {
            more = -1;
            break;
        }
        code = code << 6 | (*byte++ & 0x3F);
        low = 0x80;
        high = 0xBF;
    }
    *at = byte;
    return more < 0 ? REPLACEMENT : code;
}

/* White space as bytes.isspace() has it. */
static inline bool is_white_byte(uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

/* Whether bytes are those of `lower`, which has no capitals, in letters of either case. */
static inline bool is_same_name(const uint8_t *bytes, size_t length, const char *lower, size_t lower_length) {
    if (length != lower_length)
        return false;
    for (size_t i = 0; i < length; i++)
        if ((bytes[i] >= 'A' && bytes[i] <= 'Z' ? bytes[i] | 0x20 : bytes[i]) != (uint8_t)lower[i])
            return false;
    return true;
}

static inline bool is_white(const Characters *characters, uint32_t code) {
    return (characters->entry[code] & WHITE) != 0;
}

/* Writes a character as UTF-8; returns where the next one goes. */
uint8_t *put_character(uint8_t *out, uint32_t code);

/* str.lower() of `codes`, as UTF-8 in `out`, which has room for 8 bytes a character. Returns the number of
 * bytes, and that of characters in `characters_out`. */
size_t lower_case(const Characters *characters, const uint32_t *codes, size_t length, uint8_t *out,
                  size_t *characters_out);

#endif
