/* Links and images, and where they point: resolved against the page, and safe between the parentheses of a link.
 */
#include "characters.h"
#include "render.h"

#include <string.h>

enum { MOST_ENTITY = 32 }; /* characters of an entity's name */
enum { MOST_NESTED = 8 };  /* parentheses in a destination; CommonMark asks for 32 at least */

/* What a link may point to. Anything else (javascript:, data:, file:, cid:) is of no use in a text. */
static const char *const SCHEMES[] = {"http", "https", "ftp",  "ftps",   "mailto", "tel",    "sms",    "news",
                                      "irc",  "ircs",  "xmpp", "magnet", "geo",    "gemini", "gopher", "matrix"};
enum { SCHEME_COUNT = sizeof SCHEMES / sizeof *SCHEMES };

/* Whether the byte is one that links are made of, with nothing to resolve and nothing to escape: in a path, or
 * anywhere else in a URL. */
static bool is_simple_in_path(uint8_t byte) {
    return is_letter(byte) || is_digit(byte) || (byte != 0 && strchr("_-.~/%", byte) != NULL);
}

static bool is_simple(uint8_t byte) {
    return is_simple_in_path(byte) || (byte != 0 && strchr("?#@!$'*+,=:&", byte) != NULL);
}

static bool all_simple(String text) {
    for (size_t i = 0; i < text.length; i++)
        if (!is_simple(text.bytes[i]))
            return false;
    return true;
}

static bool is_simple_absolute(String reference) {
    size_t from = starts_with(reference, "https:/") ? 7 : starts_with(reference, "http:/") ? 6 : 0;
    return reference.length > from + 1 && reference.bytes[from] == '/' &&
           all_simple(slice(reference, from, reference.length));
}

static bool is_simple_relative(String reference) {
    size_t at = 0;
    if (reference.length == 0 || reference.bytes[0] == '.' || reference.bytes[0] == '/')
        return false;
    while (at < reference.length && is_simple_in_path(reference.bytes[at]))
        at++;
    if (at == 0)
        return false;
    if (at == reference.length)
        return true;
    return (reference.bytes[at] == '?' || reference.bytes[at] == '#') &&
           all_simple(slice(reference, at, reference.length));
}

bool is_entity(const Writer *writer, String after) {
    const uint8_t *at = after.bytes, *end = at + after.length;
    int characters = 0;
    if (at < end && *at == '#')
        at++;
    while (at < end && *at < PIPE_BYTE && *at != ';') {
        uint32_t code = next_character(&at, end);
        if (code != '_' && !is_alphanumeric(writer, code))
            return false;
        if (++characters > MOST_ENTITY)
            return false;
    }
    return characters > 0 && at < end && *at == ';';
}

/* What would end a destination, or read as more than itself. */
static bool is_unsafe(uint32_t code) {
    if (code < 0x80)
        return code <= 0x20 || code == 0x7F || strchr("\"<>\\`|", (int)code) != NULL;
    return code <= 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200F) ||
           (code >= 0x2028 && code <= 0x202F) || (code >= 0x205F && code <= 0x206F) || code == 0x3000 ||
           code == 0xFEFF || (code >= 0xFDD0 && code <= 0xFDEF) || code == 0xFFFE || code == 0xFFFF ||
           code == 0x1FFFE || code == 0x1FFFF;
}

static void add_percent(Builder *out, String bytes) {
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < bytes.length; i++) {
        add_byte(out, '%');
        add_byte(out, (uint8_t)digits[bytes.bytes[i] >> 4]);
        add_byte(out, (uint8_t)digits[bytes.bytes[i] & 0x0F]);
    }
}

/* Whether parentheses pair up, nested no deeper than any parser allows. */
static bool is_balanced(String url) {
    int depth = 0;
    for (size_t i = 0; i < url.length; i++) {
        depth += (url.bytes[i] == '(') - (url.bytes[i] == ')');
        if (depth < 0 || depth > MOST_NESTED)
            return false;
    }
    return depth == 0;
}

/* `url` without anything that would end a Markdown destination or read as more than itself. */
static String safe(Writer *writer, String url) {
    Builder out = {.writer = writer};
    bool balanced = is_balanced(url);
    const uint8_t *at = url.bytes, *end = at + url.length;
    while (at < end) {
        const uint8_t *start = at;
        uint32_t code = next_character(&at, end);
        String character = {start, (size_t)(at - start)};
        if (is_unsafe(code) || (!balanced && (code == '(' || code == ')')))
            add_percent(&out, character);
        else if (code == '&' && is_entity(writer, (String){at, (size_t)(end - at)}))
            add(&out, LITERAL("&amp;"));
        else
            add(&out, character);
    }
    return built(&out);
}

/* The bytes of the scheme that a reference begins with, 0 where there is none. */
static size_t scheme_length(String reference) {
    size_t at = 0;
    if (reference.length == 0 || !is_letter(reference.bytes[0]))
        return 0;
    while (at < reference.length &&
           (is_letter(reference.bytes[at]) || is_digit(reference.bytes[at]) || reference.bytes[at] == '+' ||
            reference.bytes[at] == '.' || reference.bytes[at] == '-'))
        at++;
    return at < reference.length && reference.bytes[at] == ':' ? at : 0;
}

static bool is_known_scheme(String scheme) {
    for (int i = 0; i < SCHEME_COUNT; i++) {
        size_t at = 0;
        while (at < scheme.length && SCHEMES[i][at] != 0 && (scheme.bytes[at] | 0x20) == SCHEMES[i][at])
            at++;
        if (at == scheme.length && SCHEMES[i][at] == 0)
            return true;
    }
    return false;
}

/* A reference as the URL Standard takes it: without white space at its ends, and without line ends and tabs. */
static String trimmed(Writer *writer, String reference) {
    Builder out = {.writer = writer};
    size_t start = 0, end = reference.length;
    while (start < end && (reference.bytes[start] == 0 || strchr(" \t\n\r\f", reference.bytes[start]) != NULL))
        start++;
    while (end > start && (reference.bytes[end - 1] == 0 || strchr(" \t\n\r\f", reference.bytes[end - 1]) != NULL))
        end--;
    for (size_t i = start; i < end; i++)
        if (reference.bytes[i] != '\t' && reference.bytes[i] != '\n' && reference.bytes[i] != '\r')
            add_byte(&out, reference.bytes[i]);
    return built(&out);
}

static String resolved(Writer *writer, String reference) {
    reference = trimmed(writer, reference);
    if (reference.length == 0 || reference.bytes[0] == '#')
        return LITERAL("");
    size_t scheme = scheme_length(reference);
    if (scheme != 0 && !is_known_scheme(slice(reference, 0, scheme)))
        return LITERAL("");
    if (scheme == 0 || contains_byte(reference, '[') || contains_byte(reference, ']')) {
        int64_t length = 0;
        const uint8_t *bytes = writer->request->resolve(reference.bytes, (int64_t)reference.length, &length);
        if (bytes == NULL || length <= 0)
            return LITERAL("");
        reference = (String){bytes, (size_t)length};
    }
    return safe(writer, reference);
}

/* The absolute destination as it stands in Markdown, empty where the reference leads nowhere useful: into the page
 * itself, malformed, or of another scheme. */
String destination_of(Writer *writer, String reference) {
    const RenderRequest *base = writer->request;
    bool climbs = contains(reference, "/.");
    if (is_simple_absolute(reference)) {
        if (reference.bytes[0] != '/')
            return reference;
        if (base->origin_length != 0 && !climbs) {
            String before = reference.bytes[1] == '/' ? (String){base->scheme, (size_t)base->scheme_length}
                                                      : (String){base->origin, (size_t)base->origin_length};
            return JOIN(writer, before, reference);
        }
    } else if (base->directory_length != 0 && !climbs && is_simple_relative(reference)) {
        return JOIN(writer, ((String){base->directory, (size_t)base->directory_length}), reference);
    }
    return resolved(writer, reference);
}

static String title_text(Writer *writer, String title) {
    Builder out = {.writer = writer};
    title = plain(writer, title);
    for (size_t i = 0; i < title.length; i++) {
        uint8_t byte = title.bytes[i];
        if (byte == '\\' || byte == '"')
            add_byte(&out, '\\');
        add_byte(&out, byte);
        if (byte == '&' && is_entity(writer, slice(title, i + 1, title.length)))
            add(&out, LITERAL("amp;"));
    }
    return out.size == 0 ? LITERAL("") : JOIN(writer, LITERAL(" \""), built(&out), LITERAL("\""));
}

/* What stands after the text of a link, empty where it leads nowhere. */
static String closing_of(Writer *writer, const Node *node) {
    String destination = destination_of(writer, attribute_of(writer, node, A_HREF));
    if (destination.length == 0 || writer->request->links == LINKS_DROP)
        return LITERAL("");
    if (writer->request->links == LINKS_REFERENCE) {
        int64_t number = *map_put(writer, &writer->references, destination, writer->references.count + 1);
        return JOIN(writer, LITERAL("]["), number_text(writer, number), LITERAL("]"));
    }
    String title = title_text(writer, attribute_of(writer, node, A_TITLE));
    return JOIN(writer, LITERAL("]("), destination, title, LITERAL(")"));
}

/* A link that holds one text, as most do: written at once. */
static void put_plain_link(Writer *writer, String text, String closing) {
    static const uint8_t open_bracket[] = {OPEN_BRACKET_BYTE}, close_bracket[] = {CLOSE_BRACKET_BYTE};
    bool before, after;
    text = visible(text, &before, &after);
    writer->ws = writer->ws || before;
    if (text.length == 0)
        return;
    part_words(writer, text);
    text = replaced(writer, text, '[', (String){open_bracket, 1});
    text = replaced(writer, text, ']', (String){close_bracket, 1});
    put(writer, text, LITERAL("["));
    writer->tail = closing;
    writer->ws = after;
}

/* Open `<a>` for content that the caller writes; false where it is no link. */
bool begin_link(Writer *writer, Node *node) {
    String closing = closing_of(writer, node);
    return closing.length != 0 && open_inline(writer, ANCHOR, LITERAL("["), closing);
}

/* `<a>`: its text in brackets, unless it leads nowhere or links are not wanted. */
Close open_link(Writer *writer, Node *node) {
    String reference = attribute_of(writer, node, A_HREF);
    if (reference.length == 0)
        return JUST_FOLLOWS;
    if (reference.bytes[0] == '#')
        return put_reference(writer, node) || is_sign(node) ? skip_children : JUST_FOLLOWS;
    String closing = closing_of(writer, node);
    if (closing.length == 0)
        return JUST_FOLLOWS;
    const Node *child = node->first_child;
    if (writer->inline_count == 0 && is_only_child(child) && element_of(writer, child) == E_TEXT) {
        put_plain_link(writer, page_text(writer, child), closing);
        return skip_children;
    }
    return open_inline(writer, ANCHOR, LITERAL("["), closing) ? close_inline : JUST_FOLLOWS;
}

static bool is_data(String text) {
    while (text.length != 0 && text.bytes[0] < 0x80 && is_space(text.bytes[0]))
        text = slice(text, 1, text.length);
    return starts_with(text, "data:");
}

/* The first URL in the value of `srcset`. */
static String first_candidate(String value) {
    size_t start = 0, end;
    while (start < value.length &&
           (value.bytes[start] == ',' || (value.bytes[start] < 0x80 && is_space(value.bytes[start]))))
        start++;
    for (end = start; end < value.length && !(value.bytes[end] < 0x80 && is_space(value.bytes[end]));)
        end++;
    while (end > start && value.bytes[end - 1] == ',')
        end--;
    return slice(value, start, end);
}

/* Where the picture is: what a script would load (`data-src` ...) before the placeholder in `src`. */
static String source_of(Writer *writer, const Node *node) {
    static const uint8_t sources[] = {A_DATA_SRC,  A_DATA_ORIGINAL,     A_DATA_LAZY_SRC,
                                      A_DATA_LAZY, A_DATA_ORIGINAL_SRC, A_SRC};
    static const uint8_t sets[] = {A_DATA_SRCSET, A_SRCSET, A_DATA_LAZY_SRCSET};
    for (size_t i = 0; i < sizeof sources; i++) {
        String value = attribute_of(writer, node, sources[i]);
        if (value.length == 0 || is_data(value))
            continue;
        String destination = destination_of(writer, value);
        if (destination.length != 0)
            return destination;
    }
    for (size_t i = 0; i < sizeof sets; i++) {
        String candidate = first_candidate(attribute_of(writer, node, sets[i]));
        if (candidate.length != 0 && !starts_with(candidate, "data:"))
            return destination_of(writer, candidate);
    }
    return LITERAL("");
}

/* The alternative text of a picture, in its brackets. */
static String alternative(Writer *writer, String text) {
    static const uint8_t open_bracket[] = {OPEN_BRACKET_BYTE}, close_bracket[] = {CLOSE_BRACKET_BYTE};
    Builder out = {.writer = writer};
    text = replaced(writer, text, '[', (String){open_bracket, 1});
    text = replaced(writer, text, ']', (String){close_bracket, 1});
    escape(&out, text);
    return built(&out);
}

static bool is_dot(String size) {
    return equal(size, LITERAL("0")) || equal(size, LITERAL("1")) || equal(size, LITERAL("0px")) ||
           equal(size, LITERAL("1px"));
}

/* `<img>`: alternative text and source; only the text where the source is the image itself (`data:`). */
void put_image(Writer *writer, Node *node) {
    if (writer->request->images == IMAGES_DROP || put_math_image(writer, node))
        return;
    String text = plain(writer, attribute_of(writer, node, A_ALT));
    if (is_dot(attribute_of(writer, node, A_WIDTH)) && is_dot(attribute_of(writer, node, A_HEIGHT)))
        return; /* a counter, not a picture */
    if (writer->request->images == IMAGES_KEEP) {
        String destination = source_of(writer, node);
        if (destination.length != 0) {
            map_put(writer, &writer->images, destination, 0);
            put(writer, LITERAL(""),
                JOIN(writer, LITERAL("!["), alternative(writer, text), LITERAL("]("), destination, LITERAL(")")));
            writer->is_picture[writer->count - 1] = 1;
            return;
        }
    }
    if (text.length != 0)
        put(writer, text, LITERAL(""));
}

/* `<noscript>`: nothing of it but the images that a script would load, unless they have been written. */
void put_images_without_script(Writer *writer, Node *node) {
    for (Node *inner = node; inner != NULL; inner = following(inner, node))
        if (element_of(writer, inner) == E_IMG && map_get(&writer->images, source_of(writer, inner)) == NULL)
            put_image(writer, inner);
}
