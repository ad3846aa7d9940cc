/* Footnotes: references to notes of the page become `[^1]`, the notes `[^1]: text`.
 *
 * A reference is a link to a list item of the same page that is, or holds, nothing but a superscript. The notes
 * are known by being referred to: so they have to come later in the page than what refers to them, as they do. */
#include "characters.h"
#include "render.h"

#include <string.h>

enum { MOST_LABEL = 40 }; /* characters */

static const char *const SIGNS[] = {"#", "¶", "§", "🔗", "↩", "↩︎", "↩️", "↑", "⤴", "^"};
enum { SIGN_COUNT = sizeof SIGNS / sizeof *SIGNS, LONGEST_SIGN = 8 };

/* Whether a link within the page is only a sign to click on: a heading's anchor, a note's way back. */
bool is_sign(Node *node) {
    uint8_t bytes[LONGEST_SIGN];
    String text = {bytes, 0};
    size_t length = 0; /* of the text with the white space behind it */
    for (const Node *inner = node; inner != NULL; inner = following(inner, node)) {
        String piece = length == 0 ? stripped_left(text_of(inner)) : text_of(inner);
        size_t shown = stripped_right(piece).length;
        if (shown != 0 && (length > text.length || length + shown > LONGEST_SIGN))
            return false; /* with white space in it, or too long: links may be nested, so no more is read */
        if (shown != 0) {
            memcpy(bytes + length, piece.bytes, shown);
            text.length = length + shown;
        }
        length += piece.length;
    }
    for (int i = 0; i < SIGN_COUNT; i++)
        if (text.length == strlen(SIGNS[i]) && starts_with(text, SIGNS[i]))
            return true;
    return false;
}

/* Whether some list item of the page has this id. */
static bool is_note(Writer *writer, const Node *node, String id) {
    if (!writer->has_notes) {
        writer->has_notes = true;
        const Node *root = node;
        while (root->parent != NULL)
            root = root->parent;
        for (const Node *item = root; item != NULL; item = following(item, root))
            if (element_of(writer, item) == E_LI && has_attribute(writer, item, A_ID))
                map_put(writer, &writer->notes, attribute_of(writer, item, A_ID), 0);
    }
    return map_get(&writer->notes, id) != NULL;
}

/* The first word of a reference, which is its label. */
static String label_in(Writer *writer, String text) {
    const uint8_t *at = text.bytes, *end = at + text.length, *start = at;
    int characters = 0;
    while (at < end) {
        const uint8_t *next = at;
        uint32_t code = next_character(&next, end);
        bool labels = code == '_' || code == '.' || code == '-' || is_alphanumeric(writer, code);
        if (labels && characters == 0)
            start = at;
        if (!labels && characters > 0)
            break;
        at = next;
        characters += labels;
        if (characters == MOST_LABEL)
            break;
    }
    return characters == 0 ? LITERAL("") : (String){start, (size_t)(at - start)};
}

/* The label of a note that is referred to for the first time. */
static String new_label(Writer *writer, const Node *link) {
    String label = label_in(writer, text_within(writer, link));
    String number = number_text(writer, writer->noted.count + 1);
    if (label.length == 0)
        label = number;
    if (map_get(&writer->labels, label) != NULL)
        label = JOIN(writer, label, LITERAL("-"), number);
    return label;
}

/* Write `<sup><a href="#note">` or `<a href="#note"><sup>` as a reference; false where it is none. */
bool put_reference(Writer *writer, Node *node) {
    const Node *child = node->first_child;
    int outer = element_of(writer, node), inner = child == NULL ? NO_ELEMENT : element_of(writer, child);
    if (!is_only_child(child) || (inner != E_A && inner != E_SUP) || inner == outer)
        return false;
    const Node *link = inner == E_A ? child : node;
    String reference = attribute_of(writer, link, A_HREF);
    if (reference.length == 0 || reference.bytes[0] != '#')
        return false;
    String note = slice(reference, 1, reference.length);
    if (!is_note(writer, node, note))
        return false;
    const int64_t *known = map_get(&writer->noted, note);
    if (known == NULL) {
        const int64_t *label = map_put(writer, &writer->labels, new_label(writer, link), 0);
        known = map_put(writer, &writer->noted, note, label - writer->labels.values);
    }
    put(writer, LITERAL(""), JOIN(writer, LITERAL("[^"), writer->labels.keys[*known], LITERAL("]")));
    return true;
}

/* Begin the context of a note, if the list item is one that has been referred to. */
bool open_note(Writer *writer, Node *node) {
    const int64_t *known = map_get(&writer->noted, attribute_of(writer, node, A_ID));
    Context *context = writer->context;
    if (known == NULL || !context->flow)
        return false;
    String lead = JOIN(writer, LITERAL("[^"), writer->labels.keys[*known], LITERAL("]: "));
    String prefix = JOIN(writer, context->prefix, LITERAL("    "));
    writer->context = new_context(writer, context, lead, prefix, PARAGRAPH);
    writer->brk = PARAGRAPH;
    return true;
}
