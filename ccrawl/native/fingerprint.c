/* The fingerprint of a text: its tokens, their windows of three, the windows' hashes, and the bits' votes.
 *
 * ccrawl.text.simhash has the definition, and makes the tables. One pass over the text: a window is hashed when
 * its last token has been written, so that of a page only its folded text and the set of hashes take memory.
 */
#include <stdlib.h>
#include <string.h>

#include "native.h"
#include "xxh3.h"

enum { SEPARATOR, WORD, ALONE }; /* classes of characters */
enum { WINDOW = 3, BITS = 64, PLANES = 64, LEAST_SLOTS = 64 };

/* The tables of ccrawl.text.simhash. */
typedef struct {
    const uint8_t *plain;         /* 256: what an ASCII character of a word folds to, 0 for all other bytes */
    const uint8_t *kinds;         /* CODE_POINTS */
    const uint32_t *folded;       /* `fold_below` code points; from CODE_POINTS on: a place in `several` */
    int64_t fold_below;           /* code points from here on fold to themselves */
    const uint8_t *several;       /* what folds to several characters, as UTF-8, one after the other */
    const int64_t *several_start; /* where each starts, and where the last ends */
} Folding;

/* Distinct hashes: a table of mask + 1 slots, at most half of them taken, in which 0 is no hash. */
typedef struct {
    uint64_t *slots;
    size_t mask, taken;
} Hashes;

typedef struct {
    const uint8_t *start[WINDOW]; /* of the last three tokens */
    int64_t tokens;
    Hashes seen;
    bool seen_zero; /* a hash of 0 */
    bool failed;    /* there was no memory */
    int64_t voters;
    uint64_t planes[PLANES]; /* [i] holds bit i of each bit's count of votes */
} Features;

/* Where the hash is, or the slot that it would take. */
static uint64_t *slot_of(const Hashes *hashes, uint64_t hash) {
    size_t at = (size_t)hash & hashes->mask;
    while (hashes->slots[at] != 0 && hashes->slots[at] != hash)
        at = (at + 1) & hashes->mask;
    return hashes->slots + at;
}

static bool grow(Hashes *hashes) {
    Hashes larger = {calloc(2 * (hashes->mask + 1), sizeof(uint64_t)), 2 * hashes->mask + 1, hashes->taken};
    if (larger.slots == NULL)
        return false;
    for (size_t at = 0; at <= hashes->mask; at++)
        if (hashes->slots[at] != 0)
            *slot_of(&larger, hashes->slots[at]) = hashes->slots[at];
    free(hashes->slots);
    *hashes = larger;
    return true;
}

static void vote(Features *features, uint64_t hash) {
    features->voters++;
    for (uint64_t *plane = features->planes; hash != 0; plane++) {
        uint64_t carried = *plane & hash;
        *plane ^= hash;
        hash = carried;
    }
}

/* A feature votes when it is met for the first time. */
static void add_feature(Features *features, const uint8_t *from, const uint8_t *to) {
    uint64_t hash = xxh3(from, (size_t)(to - from));
    Hashes *seen = &features->seen;
    if (hash == 0) {
        features->voters += !features->seen_zero;
        features->seen_zero = true;
        return;
    }
    uint64_t *slot = slot_of(seen, hash);
    if (*slot != 0)
        return;
    *slot = hash;
    vote(features, hash);
    if (2 * ++seen->taken > seen->mask && !grow(seen))
        features->failed = true; /* there is a free slot yet */
}

/* A token starts at `out`, or behind the space that is written there. */
static uint8_t *open_token(Features *features, uint8_t *out) {
    if (features->tokens >= WINDOW)
        add_feature(features, features->start[0], out);
    if (features->tokens++ > 0)
        *out++ = ' ';
    features->start[0] = features->start[1];
    features->start[1] = features->start[2];
    features->start[2] = out;
    return out;
}

static uint8_t *put_folded(const Folding *folding, uint32_t code, uint8_t *out) {
    uint32_t to = code < folding->fold_below ? folding->folded[code] : code;
    if (to < CODE_POINTS)
        return put_character(out, to);
    const int64_t *start = folding->several_start + (to - CODE_POINTS);
    size_t size = (size_t)(start[1] - start[0]);
    memcpy(out, folding->several + start[0], size);
    return out + size;
}

/* Writes the tokens to `out`; returns where the last one ends. */
static uint8_t *read_tokens(const Folding *folding, const uint8_t *text, const uint8_t *end, uint8_t *out,
                            Features *features) {
    int before = SEPARATOR;
    while (text < end && !features->failed) {
        uint8_t plain = folding->plain[*text];
        if (plain != 0) {
            if (before != WORD)
                out = open_token(features, out);
            do {
                *out++ = plain;
            } while (++text < end && (plain = folding->plain[*text]) != 0);
            before = WORD;
            continue;
        }
        uint32_t code = next_character(&text, end);
        int kind = folding->kinds[code];
        if (kind != SEPARATOR) {
            if (kind == ALONE || before != WORD)
                out = open_token(features, out);
            out = put_folded(folding, code, out);
        }
        before = kind;
    }
    return out;
}

/* The features that are complete only when no token follows: the last window, or the tokens of a short text. */
static void add_last(Features *features, const uint8_t *end) {
    const uint8_t *const *start = features->start;
    if (features->tokens >= WINDOW) {
        add_feature(features, start[0], end);
    } else if (features->tokens > 0) {
        add_feature(features, start[2], end);
        if (features->tokens == 2)
            add_feature(features, start[1], start[2] - 1);
    }
}

static uint64_t majority(const Features *features) {
    uint64_t bits = 0;
    for (int bit = 0; bit < BITS; bit++) {
        int64_t votes = 0;
        for (int i = 0; features->voters >> i != 0; i++)
            votes |= (int64_t)(features->planes[i] >> bit & 1) << i;
        if (2 * votes > features->voters)
            bits |= UINT64_C(1) << bit;
    }
    return bits;
}

/* The fingerprint of UTF-8 in *out, 0 when it has no word. 0, or NO_MEMORY. */
EXPORTED int ccrawl_simhash(const Folding *folding, const uint8_t *text, int64_t length, uint64_t *out) {
    size_t slots = LEAST_SLOTS;
    while (slots < (size_t)length / 3) /* twice the windows of a text in Latin letters */
        slots *= 2;
    Features features = {.seen = {calloc(slots, sizeof(uint64_t)), slots - 1, 0}};
    /* A character of n bytes folds to at most 3n, and has a space before it. */
    uint8_t *tokens = malloc(4 * (size_t)length + 1);
    features.failed = features.seen.slots == NULL || tokens == NULL;
    if (!features.failed)
        add_last(&features, read_tokens(folding, text, text + length, tokens, &features));
    uint64_t bits = majority(&features);
    *out = features.voters > 0 && bits == 0 ? 1 : bits;
    free(features.seen.slots);
    free(tokens);
    return features.failed ? NO_MEMORY : 0;
}

/* For the tests. */
EXPORTED uint64_t ccrawl_xxh3(const uint8_t *data, int64_t length) { return xxh3(data, (size_t)length); }
