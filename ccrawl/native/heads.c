/* Heads of WARC records and of HTTP messages: where they end, and where the values stand that are asked for.
 *
 * The rules are those of ccrawl.archives.formats and ccrawl.archives.http, which take the values out. A folded
 * value is one span over its lines; whoever reads it joins them. White space is that of Python's bytes.strip.
 */
#include <string.h>

#include "native.h"

/* The fields of each, by lower-case name, in the order of their numbers. */
#define WARC_FIELDS(X)                                                                                              \
    X("warc-type")                                                                                                  \
    X("content-length")                                                                                             \
    X("content-type")                                                                                               \
    X("warc-target-uri")                                                                                            \
    X("warc-date")                                                                                                  \
    X("warc-record-id")                                                                                             \
    X("warc-payload-digest")                                                                                        \
    X("warc-block-digest")                                                                                          \
    X("warc-truncated")                                                                                             \
    X("warc-identified-content-language")                                                                           \
    X("warc-segment-number")                                                                                        \
    X("warc-refers-to")                                                                                             \
    X("warc-refers-to-target-uri")                                                                                  \
    X("warc-refers-to-date")                                                                                        \
    X("warc-refers-to-container")

#define HTTP_FIELDS(X)                                                                                              \
    X("content-type")                                                                                               \
    X("content-encoding")                                                                                           \
    X("content-length")                                                                                             \
    X("transfer-encoding")

typedef struct {
    const char *text;
    size_t length;
} Name;

#define NAME_ENTRY(text) {text, sizeof text - 1},
#define NAME_LISTED(text) text " "

static const Name WARC_NAMES[] = {WARC_FIELDS(NAME_ENTRY)};
static const Name HTTP_NAMES[] = {HTTP_FIELDS(NAME_ENTRY)};
enum { WARC_COUNT = sizeof WARC_NAMES / sizeof *WARC_NAMES, HTTP_COUNT = sizeof HTTP_NAMES / sizeof *HTTP_NAMES };

EXPORTED const char *ccrawl_warc_fields(void) { return WARC_FIELDS(NAME_LISTED); }

EXPORTED const char *ccrawl_http_fields(void) { return HTTP_FIELDS(NAME_LISTED); }

enum { NO_HEAD = -1, NO_STATUS = -1 };

typedef struct {
    int64_t start, end;
} Span;

typedef struct {
    int64_t name;
    Span value;
} Field;

static bool is_digit_byte(uint8_t byte) { return byte >= '0' && byte <= '9'; }

static Span stripped(const uint8_t *buffer, Span span) {
    while (span.start < span.end && is_white_byte(buffer[span.start]))
        span.start++;
    while (span.start < span.end && is_white_byte(buffer[span.end - 1]))
        span.end--;
    return span;
}

/* The number of a name, -1 for one that is not asked for. */
static int number_of(const uint8_t *buffer, Span name, const Name *names, int count) {
    for (int i = 0; i < count; i++)
        if (is_same_name(buffer + name.start, (size_t)(name.end - name.start), names[i].text, names[i].length))
            return i;
    return -1;
}

/* Index of the next line end in [at, end), `end` where there is none. */
static int64_t line_end(const uint8_t *buffer, int64_t at, int64_t end) {
    const uint8_t *found = at < end ? memchr(buffer + at, '\n', (size_t)(end - at)) : NULL;
    return found == NULL ? end : found - buffer;
}

/* Index of what follows the empty line, NO_HEAD where there is none before `limit`; `*last` is the end of the
 * last line before it. */
static int64_t head_end(const uint8_t *buffer, int64_t at, int64_t limit, int64_t *last) {
    for (int64_t end = line_end(buffer, at, limit); end < limit; end = line_end(buffer, end + 1, limit)) {
        *last = end;
        if (end + 1 < limit && buffer[end + 1] == '\n')
            return end + 2;
        if (end + 2 < limit && buffer[end + 1] == '\r' && buffer[end + 2] == '\n')
            return end + 3;
    }
    return NO_HEAD;
}

/* A line of a head is a field, or goes on with the one before it; it may also be neither. */
typedef struct {
    bool folded;
    Span name, value; /* stripped; a folded line has no name, a line without a colon no value either */
    bool named;
} Line;

static Line read_line(const uint8_t *buffer, int64_t start, int64_t end) {
    Line line = {.folded = start < end && (buffer[start] == ' ' || buffer[start] == '\t')};
    if (line.folded) {
        line.value = stripped(buffer, (Span){start, end});
        return line;
    }
    const uint8_t *colon = start < end ? memchr(buffer + start, ':', (size_t)(end - start)) : NULL;
    if (colon != NULL) {
        line.named = true;
        line.name = stripped(buffer, (Span){start, colon - buffer});
        line.value = stripped(buffer, (Span){colon - buffer + 1, end});
    }
    return line;
}

/* Let a value go on over a folded line, when there is something on it. */
static void unfold(Span *value, Span more) {
    if (more.start == more.end)
        return;
    if (value->start == value->end)
        value->start = more.start;
    value->end = more.end;
}

/* The head that starts at `at`, in at most `most` bytes. Returns the index of the block, or NO_HEAD. The values
 * are counted from `at`, and empty where there is no such field; the first of several stands. */
EXPORTED int64_t ccrawl_warc_head(const uint8_t *buffer, int64_t size, int64_t at, int64_t most, Span *values) {
    int64_t last = at;
    int64_t block = head_end(buffer, at, size - at < most ? size : at + most, &last);
    if (block == NO_HEAD)
        return NO_HEAD;
    bool seen[WARC_COUNT] = {false};
    Span *current = NULL;
    memset(values, 0, WARC_COUNT * sizeof *values);
    for (int64_t start = line_end(buffer, at, last) + 1, end; start < last; start = end + 1) {
        end = line_end(buffer, start, last);
        Line line = read_line(buffer, start, end);
        if (line.folded) {
            if (current != NULL)
                unfold(current, line.value);
            continue;
        }
        int name = line.named ? number_of(buffer, line.name, WARC_NAMES, WARC_COUNT) : -1;
        current = NULL;
        if (name >= 0 && !seen[name]) {
            seen[name] = true;
            current = values + name;
            *current = line.value;
        }
    }
    for (int name = 0; name < WARC_COUNT; name++) {
        if (values[name].start == values[name].end) {
            values[name] = (Span){0, 0};
        } else {
            values[name].start -= at;
            values[name].end -= at;
        }
    }
    return block;
}

/* The status of "HTTP/1.1 200 OK", or NO_STATUS. */
static int64_t status_of(const uint8_t *buffer, int64_t at, int64_t end) {
    at += 4;
    if (at < end && buffer[at] == '/') {
        int64_t digits = ++at;
        while (at < end && is_digit_byte(buffer[at]))
            at++;
        if (at == digits)
            return NO_STATUS;
        if (at + 1 < end && buffer[at] == '.' && is_digit_byte(buffer[at + 1]))
            for (at++; at < end && is_digit_byte(buffer[at]);)
                at++;
    }
    int64_t blanks = at;
    while (at < end && (buffer[at] == ' ' || buffer[at] == '\t'))
        at++;
    int64_t digits = at, status = 0;
    if (at == blanks)
        return NO_STATUS;
    for (; at < end && at < digits + 3 && is_digit_byte(buffer[at]); at++)
        status = 10 * status + buffer[at] - '0';
    bool ended = at == end || buffer[at] == ' ' || buffer[at] == '\t' || buffer[at] == '\r' || buffer[at] == '\n';
    return at > digits && ended ? status : NO_STATUS;
}

/* The head of the HTTP response that starts with "HTTP" at `start`, in at most `most` bytes; without an empty
 * line all of it is head. `message` gets the status and the index of the body. Returns how many fields were
 * found; the first `room` of them are in `fields`, in their order. */
EXPORTED int64_t ccrawl_http_head(const uint8_t *buffer, int64_t start, int64_t end, int64_t most, int64_t *message,
                                  Field *fields, int64_t room) {
    int64_t limit = end - start < most ? end : start + most, last = limit, count = 0;
    int64_t body = head_end(buffer, start, limit, &last);
    if (body == NO_HEAD)
        last = body = limit;
    message[0] = limit - start < 4 ? NO_STATUS : status_of(buffer, start, last);
    message[1] = body;
    Field *current = NULL, beyond;
    for (int64_t from = line_end(buffer, start, last) + 1, to; from < last; from = to + 1) {
        to = line_end(buffer, from, last);
        Line line = read_line(buffer, from, to);
        if (line.folded) {
            if (current != NULL)
                unfold(&current->value, line.value);
            continue;
        }
        /* White space before a name makes it another one: only a blank goes on with a value. */
        int name = line.named && line.name.start == from ? number_of(buffer, line.name, HTTP_NAMES, HTTP_COUNT) : -1;
        current = NULL;
        if (name >= 0) {
            current = count < room ? fields + count : &beyond;
            *current = (Field){name, line.value};
            count++;
        }
    }
    return count;
}
