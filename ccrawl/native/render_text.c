/* Memory, strings and characters of a rendering. */
#include "characters.h"
#include "render.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"

void *take(Writer *writer, size_t size) {
    void *taken = arena_take(writer->arena, size);
    if (taken == NULL)
        longjmp(*writer->out, 1);
    return taken;
}

/* The array with room for one item more than `count`. */
void *grown(Writer *writer, const void *old, int64_t count, int64_t *room, size_t item) {
    if (count < *room)
        return (void *)old;
    *room = 2 * *room + 8;
    void *larger = take(writer, (size_t)*room * item);
    if (count > 0)
        memcpy(larger, old, (size_t)count * item);
    return larger;
}

String joined(Writer *writer, const String *parts, size_t count) {
    size_t size = 0;
    const String *only = NULL;
    int filled = 0;
    for (size_t i = 0; i < count; i++) {
        size += parts[i].length;
        if (parts[i].length != 0) {
            only = parts + i;
            filled++;
        }
    }
    if (filled <= 1)
        return only == NULL ? LITERAL("") : *only;
    uint8_t *bytes = take(writer, size), *at = bytes;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].length != 0)
            memcpy(at, parts[i].bytes, parts[i].length);
        at += parts[i].length;
    }
    return (String){bytes, size};
}

void add(Builder *builder, String text) {
    if (text.length == 0)
        return;
    int64_t size = builder->size + (int64_t)text.length;
    if (size > builder->room) {
        int64_t room = size > 2 * builder->room ? size + 32 : 2 * builder->room;
        uint8_t *bytes = take(builder->writer, (size_t)room);
        if (builder->size > 0)
            memcpy(bytes, builder->bytes, (size_t)builder->size);
        builder->bytes = bytes;
        builder->room = room;
    }
    memcpy(builder->bytes + builder->size, text.bytes, text.length);
    builder->size = size;
}

void add_byte(Builder *builder, uint8_t byte) { add(builder, (String){&byte, 1}); }

String replaced(Writer *writer, String text, uint8_t byte, String with) {
    if (!contains_byte(text, byte))
        return text;
    Builder out = {.writer = writer};
    for (size_t i = 0; i < text.length; i++) {
        if (text.bytes[i] == byte)
            add(&out, with);
        else
            add_byte(&out, text.bytes[i]);
    }
    return built(&out);
}

String repeated(Writer *writer, uint8_t byte, size_t count) {
    uint8_t *bytes = take(writer, count + 1);
    memset(bytes, byte, count);
    return (String){bytes, count};
}

String number_text(Writer *writer, int64_t number) {
    enum { DIGITS = 24 };
    uint8_t *end = (uint8_t *)take(writer, DIGITS) + DIGITS, *at = end;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        *--at = (uint8_t)('0' + left % 10);
        left /= 10;
    } while (left != 0);
    if (number < 0)
        *--at = '-';
    return (String){at, (size_t)(end - at)};
}

bool equal(String one, String other) {
    return one.length == other.length && (one.length == 0 || memcmp(one.bytes, other.bytes, one.length) == 0);
}

bool starts_with(String text, const char *start) {
    size_t size = strlen(start);
    return text.length >= size && memcmp(text.bytes, start, size) == 0;
}

bool contains(String text, const char *part) {
    size_t size = strlen(part);
    for (size_t i = 0; i + size <= text.length; i++)
        if (text.bytes[i] == (uint8_t)part[0] && memcmp(text.bytes + i, part, size) == 0)
            return true;
    return false;
}

bool contains_byte(String text, uint8_t byte) {
    return text.length != 0 && memchr(text.bytes, byte, text.length) != NULL;
}

static size_t slot_of(const Map *map, String key) {
    uint64_t hash = UINT64_C(0xCBF29CE484222325); /* FNV-1a */
    for (size_t i = 0; i < key.length; i++)
        hash = (hash ^ key.bytes[i]) * UINT64_C(0x100000001B3);
    size_t slot = (size_t)(hash ^ hash >> 32) & map->mask;
    while (map->slots[slot] != 0 && !equal(map->keys[map->slots[slot] - 1], key))
        slot = (slot + 1) & map->mask;
    return slot;
}

int64_t *map_get(const Map *map, String key) {
    if (map->count == 0)
        return NULL;
    uint32_t found = map->slots[slot_of(map, key)];
    return found == 0 ? NULL : map->values + found - 1;
}

static void enlarge(Writer *writer, Map *map) {
    size_t slots = map->room == 0 ? 32 : 8 * (size_t)map->room;
    int64_t room = (int64_t)slots / 4;
    String *keys = take(writer, (size_t)room * sizeof *keys);
    int64_t *values = take(writer, (size_t)room * sizeof *values);
    if (map->count > 0) {
        memcpy(keys, map->keys, (size_t)map->count * sizeof *keys);
        memcpy(values, map->values, (size_t)map->count * sizeof *values);
    }
    map->keys = keys;
    map->values = values;
    map->room = room;
    map->mask = slots - 1;
    map->slots = take(writer, slots * sizeof *map->slots);
    memset(map->slots, 0, slots * sizeof *map->slots);
    for (int64_t i = 0; i < map->count; i++)
        map->slots[slot_of(map, keys[i])] = (uint32_t)(i + 1);
}

int64_t *map_put(Writer *writer, Map *map, String key, int64_t value) {
    int64_t *known = map_get(map, key);
    if (known != NULL)
        return known;
    if (map->count == map->room)
        enlarge(writer, map);
    map->slots[slot_of(map, key)] = (uint32_t)(map->count + 1);
    map->keys[map->count] = key;
    map->values[map->count] = value;
    return map->values + map->count++;
}

bool is_space(uint32_t code) {
    if (code < 0x80)
        return code == ' ' || (code >= '\t' && code <= '\r') || (code >= 0x1C && code <= 0x1F);
    return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
           code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

uint32_t first_code(String text) {
    const uint8_t *at = text.bytes;
    return next_character(&at, text.bytes + text.length);
}

size_t last_size(String text) {
    size_t size = 1;
    while (size < text.length && size < 4 && (text.bytes[text.length - size] & 0xC0) == 0x80)
        size++;
    return size;
}

uint32_t last_code(String text) { return first_code(slice(text, text.length - last_size(text), text.length)); }

String first_character(String text) {
    if (text.bytes[0] < 0x80 || text.bytes[0] >= PIPE_BYTE)
        return slice(text, 0, 1);
    size_t size = 1;
    while (size < text.length && (text.bytes[size] & 0xC0) == 0x80)
        size++;
    return slice(text, 0, size);
}

String last_character(String text) {
    if (text.length == 0)
        return text;
    return slice(text, text.length - last_size(text), text.length);
}

String stripped_left(String text) {
    while (text.length != 0) {
        const uint8_t *at = text.bytes;
        if (!is_space(next_character(&at, text.bytes + text.length)))
            break;
        text = slice(text, (size_t)(at - text.bytes), text.length);
    }
    return text;
}

String stripped_right(String text) {
    while (text.length != 0 && is_space(last_code(text)))
        text.length -= last_size(text);
    return text;
}

String stripped(String text) { return stripped_right(stripped_left(text)); }

bool is_word(const Writer *writer, String character) {
    return character.length != 0 && character.bytes[0] < PIPE_BYTE &&
           (writer->tables->characters[first_code(character)] & IN_WORD) != 0;
}

bool is_alphanumeric(const Writer *writer, uint32_t code) {
    return (writer->tables->characters[code] & ALPHANUMERIC) != 0;
}

static bool is_control(uint32_t code) { return (code < 0x20 && !is_space(code)) || code == 0x7F; }

static bool is_invisible(uint32_t code) {
    return code == 0xAD || code == 0x200B || code == 0x2060 || code == 0xFEFF;
}

bool is_unseen(uint32_t code) {
    if (code < 0xA0)
        return is_control(code) || (code >= 0x80 && code != 0x85);
    return is_invisible(code) || (code >= 0xFDD0 && code <= 0xFDEF) || (code & 0xFFFE) == 0xFFFE;
}

static bool is_valid(String text) {
    const uint8_t *at = text.bytes, *end = at + text.length;
    while (at < end) {
        if (*at < 0x80) {
            at++;
            continue;
        }
        const uint8_t *start = at;
        if (next_character(&at, end) == REPLACEMENT && !(at - start == 3 && start[0] == 0xEF))
            return false;
    }
    return true;
}

/* Text of the page as valid UTF-8, U+FFFD for what is none: a tree may be made of any bytes. */
String valid(Writer *writer, String text) {
    if (is_valid(text))
        return text;
    Builder out = {.writer = writer};
    const uint8_t *at = text.bytes, *end = at + text.length;
    while (at < end) {
        uint8_t bytes[4];
        add(&out, (String){bytes, (size_t)(put_character(bytes, next_character(&at, end)) - bytes)});
    }
    return built(&out);
}

/* `text` without white space and what is unseen at its ends, and whether there was white space. */
String visible(String text, bool *space_before, bool *space_after) {
    *space_before = *space_after = false;
    while (text.length != 0) {
        const uint8_t *at = text.bytes;
        uint32_t code = *at < 0x80 ? *at++ : next_character(&at, text.bytes + text.length);
        if (!is_space(code) && !is_unseen(code))
            break;
        *space_before = *space_before || is_space(code);
        text = slice(text, (size_t)(at - text.bytes), text.length);
    }
    while (text.length != 0) {
        uint8_t last = text.bytes[text.length - 1];
        uint32_t code = last < 0x80 ? last : last_code(text);
        if (!is_space(code) && !is_unseen(code))
            break;
        *space_after = *space_after || is_space(code);
        text.length -= last < 0x80 ? 1 : last_size(text);
    }
    return text;
}

/* `text` with single spaces for white space, without what is invisible or no character. */
String plain(Writer *writer, String text) {
    Builder out = {.writer = writer};
    const uint8_t *at = text.bytes, *end = at + text.length;
    bool space = false;
    while (at < end) {
        const uint8_t *start = at;
        uint32_t code = *at < 0x80 || *at >= PIPE_BYTE ? *at++ : next_character(&at, end);
        if (*start < PIPE_BYTE && is_space(code)) {
            space = true;
        } else if (*start >= PIPE_BYTE || !is_unseen(code)) {
            if (space && out.size > 0)
                add_byte(&out, ' ');
            space = false;
            add(&out, (String){start, (size_t)(at - start)});
        }
    }
    return built(&out);
}

/* `text` for a code block: line breaks and spaces stay, what is invisible or no character goes. */
String verbatim(Writer *writer, String text) {
    Builder out = {.writer = writer};
    const uint8_t *at = text.bytes, *end = at + text.length;
    while (at < end) {
        const uint8_t *start = at;
        uint32_t code = next_character(&at, end);
        if (code == '\r' || code == '\v' || code == '\f') {
            if (code == '\r' && at < end && *at == '\n')
                at++;
            add_byte(&out, '\n');
        } else if (code == 0xA0) {
            add_byte(&out, ' ');
        } else if (!is_unseen(code)) {
            add(&out, (String){start, (size_t)(at - start)});
        }
    }
    return built(&out);
}
