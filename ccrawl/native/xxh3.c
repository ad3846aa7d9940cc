/* XXH3 (64 bits, seed 0) after its specification, doc/xxhash_spec.md of xxHash.
 *
 * The package xxhash has it too, at a call from Python for each window of three words: ten times what the
 * hashing takes. The tests hold this to the package for all lengths.
 */
#include "xxh3.h"

#include <string.h>

enum { SECRET_SIZE = 192, STRIPE = 64, LANES = 8, SHORT_MOST = 16, MIDDLE_MOST = 128, LONG_FROM = 241 };

static const uint8_t SECRET[SECRET_SIZE] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
};

static const uint64_t PRIME32_1 = 0x9E3779B1, PRIME32_2 = 0x85EBCA77, PRIME32_3 = 0xC2B2AE3D;
static const uint64_t PRIME64_1 = UINT64_C(0x9E3779B185EBCA87), PRIME64_2 = UINT64_C(0xC2B2AE3D27D4EB4F),
                      PRIME64_3 = UINT64_C(0x165667B19E3779F9), PRIME64_4 = UINT64_C(0x85EBCA77C2B2AE63),
                      PRIME64_5 = UINT64_C(0x27D4EB2F165667C5), PRIME_MX1 = UINT64_C(0x165667919E3779F9),
                      PRIME_MX2 = UINT64_C(0x9FB21C651E98DF25);

/* Little-endian whatever the machine; compilers make one load of it. */
static inline uint32_t read32(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint64_t read64(const uint8_t *at) { return (uint64_t)read32(at) | (uint64_t)read32(at + 4) << 32; }

static inline uint64_t swapped(uint64_t value) {
    value = (value & UINT64_C(0x00FF00FF00FF00FF)) << 8 | (value >> 8 & UINT64_C(0x00FF00FF00FF00FF));
    value = (value & UINT64_C(0x0000FFFF0000FFFF)) << 16 | (value >> 16 & UINT64_C(0x0000FFFF0000FFFF));
    return value << 32 | value >> 32;
}

static inline uint64_t rotated(uint64_t value, int bits) { return value << bits | value >> (64 - bits); }

__extension__ typedef unsigned __int128 Product; /* of C, but of every 64-bit compiler */

/* The 128 bits of a product, folded to 64. */
static inline uint64_t multiplied(uint64_t a, uint64_t b) {
    Product product = (Product)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t avalanche(uint64_t value) {
    value = (value ^ value >> 37) * PRIME_MX1;
    return value ^ value >> 32;
}

static inline uint64_t avalanche_xxh64(uint64_t value) {
    value = (value ^ value >> 33) * PRIME64_2;
    value = (value ^ value >> 29) * PRIME64_3;
    return value ^ value >> 32;
}

static uint64_t of_1_to_3(const uint8_t *data, size_t length) {
    uint64_t combined = (uint64_t)data[0] << 16 | (uint64_t)data[length >> 1] << 24 | data[length - 1] |
                        (uint64_t)length << 8;
    return avalanche_xxh64(combined ^ (uint64_t)(read32(SECRET) ^ read32(SECRET + 4)));
}

static uint64_t of_4_to_8(const uint8_t *data, size_t length) {
    uint64_t combined = (uint64_t)read32(data + length - 4) | (uint64_t)read32(data) << 32;
    uint64_t value = combined ^ (read64(SECRET + 8) ^ read64(SECRET + 16));
    value ^= rotated(value, 49) ^ rotated(value, 24);
    value *= PRIME_MX2;
    value ^= (value >> 35) + length;
    value *= PRIME_MX2;
    return value ^ value >> 28;
}

static uint64_t of_9_to_16(const uint8_t *data, size_t length) {
    uint64_t low = read64(data) ^ (read64(SECRET + 24) ^ read64(SECRET + 32));
    uint64_t high = read64(data + length - 8) ^ (read64(SECRET + 40) ^ read64(SECRET + 48));
    return avalanche(length + swapped(low) + high + multiplied(low, high));
}

static inline uint64_t mixed16(const uint8_t *data, const uint8_t *secret) {
    return multiplied(read64(data) ^ read64(secret), read64(data + 8) ^ read64(secret + 8));
}

static uint64_t of_17_to_128(const uint8_t *data, size_t length) {
    uint64_t value = length * PRIME64_1;
    for (size_t i = (length - 1) / 32 + 1; i-- > 0;) {
        value += mixed16(data + 16 * i, SECRET + 32 * i);
        value += mixed16(data + length - 16 * (i + 1), SECRET + 32 * i + 16);
    }
    return avalanche(value);
}

static uint64_t of_129_to_240(const uint8_t *data, size_t length) {
    uint64_t value = length * PRIME64_1;
    size_t rounds = length / 16;
    for (size_t i = 0; i < 8; i++)
        value += mixed16(data + 16 * i, SECRET + 16 * i);
    value = avalanche(value);
    for (size_t i = 8; i < rounds; i++)
        value += mixed16(data + 16 * i, SECRET + 16 * (i - 8) + 3);
    return avalanche(value + mixed16(data + length - 16, SECRET + 136 - 17));
}

static void accumulate(uint64_t *lanes, const uint8_t *stripe, const uint8_t *secret) {
    for (int i = 0; i < LANES; i++) {
        uint64_t value = read64(stripe + 8 * i), keyed = value ^ read64(secret + 8 * i);
        lanes[i ^ 1] += value;
        lanes[i] += (keyed & 0xFFFFFFFF) * (keyed >> 32);
    }
}

static void scramble(uint64_t *lanes) {
    const uint8_t *secret = SECRET + SECRET_SIZE - STRIPE;
    for (int i = 0; i < LANES; i++) {
        lanes[i] ^= lanes[i] >> 47;
        lanes[i] ^= read64(secret + 8 * i);
        lanes[i] *= PRIME32_1;
    }
}

static uint64_t of_long(const uint8_t *data, size_t length) {
    uint64_t lanes[LANES] = {PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1};
    const size_t in_block = (SECRET_SIZE - STRIPE) / 8; /* stripes */
    size_t stripes = (length - 1) / STRIPE;             /* the last one is taken from the end */
    for (size_t i = 0; i < stripes; i++) {
        accumulate(lanes, data + STRIPE * i, SECRET + 8 * (i % in_block));
        if (i % in_block == in_block - 1)
            scramble(lanes);
    }
    accumulate(lanes, data + length - STRIPE, SECRET + SECRET_SIZE - STRIPE - 7);
    uint64_t value = length * PRIME64_1;
    for (int i = 0; i < LANES / 2; i++)
        value += multiplied(lanes[2 * i] ^ read64(SECRET + 11 + 16 * i), lanes[2 * i + 1] ^ read64(SECRET + 19 + 16 * i));
    return avalanche(value);
}

uint64_t xxh3(const uint8_t *data, size_t length) {
    if (length >= LONG_FROM)
        return of_long(data, length);
    if (length > MIDDLE_MOST)
        return of_129_to_240(data, length);
    if (length > SHORT_MOST)
        return of_17_to_128(data, length);
    if (length > 8)
        return of_9_to_16(data, length);
    if (length >= 4)
        return of_4_to_8(data, length);
    if (length > 0)
        return of_1_to_3(data, length);
    return avalanche_xxh64(read64(SECRET + 56) ^ read64(SECRET + 64));
}
