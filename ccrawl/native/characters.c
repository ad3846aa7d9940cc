#include "characters.h"

enum { SMALL_SIGMA = 0x3C3, FINAL_SIGMA = 0x3C2, DOTTED_I = 0x130, DOT_ABOVE = 0x307 };

uint8_t *put_character(uint8_t *out, uint32_t code) {
    if (code < 0x80) {
        *out++ = (uint8_t)code;
    } else if (code < 0x800) {
        *out++ = (uint8_t)(0xC0 | code >> 6);
        *out++ = (uint8_t)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        *out++ = (uint8_t)(0xE0 | code >> 12);
        *out++ = (uint8_t)(0x80 | (code >> 6 & 0x3F));
        *out++ = (uint8_t)(0x80 | (code & 0x3F));
    } else {
        *out++ = (uint8_t)(0xF0 | code >> 18);
        *out++ = (uint8_t)(0x80 | (code >> 12 & 0x3F));
        *out++ = (uint8_t)(0x80 | (code >> 6 & 0x3F));
        *out++ = (uint8_t)(0x80 | (code & 0x3F));
    }
    return out;
}

/* Whether the capital sigma at `at` ends a word (Unicode, 3.13, Final_Sigma). */
static bool is_final_sigma(const Characters *characters, const uint32_t *codes, size_t length, size_t at) {
    const uint8_t *entry = characters->entry;
    size_t before = at, after = at + 1;
    while (before > 0 && (entry[codes[before - 1]] & CASE_IGNORABLE))
        before--;
    if (before == 0 || !(entry[codes[before - 1]] & CASED))
        return false;
    while (after < length && (entry[codes[after]] & CASE_IGNORABLE))
        after++;
    return after == length || !(entry[codes[after]] & CASED);
}

size_t lower_case(const Characters *characters, const uint32_t *codes, size_t length, uint8_t *out,
                  size_t *characters_out) {
    uint8_t *start = out;
    size_t count = length;
    for (size_t i = 0; i < length; i++) {
        uint32_t code = codes[i];
        if (code == DOTTED_I) { /* the only character that two stand for */
            out = put_character(put_character(out, 'i'), DOT_ABOVE);
            count++;
        } else if (code == CAPITAL_SIGMA) {
            out = put_character(out, is_final_sigma(characters, codes, length, i) ? FINAL_SIGMA : SMALL_SIGMA);
        } else {
            out = put_character(out, code < characters->lowered ? characters->lower[code] : code);
        }
    }
    *characters_out = count;
    return (size_t)(out - start);
}
