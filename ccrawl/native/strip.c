/* Elements that never hold main content; ccrawl.html.content.strip says which, and why. */
#include <stdlib.h>

#include "cut.h"

enum { MOST_CHARACTERS = 1000 }; /* of an element that may be content */
enum { LITTLE = 400 };           /* characters; so much is cut without a further look */
enum { MANY = 200 };             /* elements; a page with more of them has another idea of what they are */
static const double WHOLE = 0.6; /* of the page's words */

/* What may be done with an element: cut it; unless there is too much of its kind; only where it is short and
 * holds nothing that says "here is the content". */
typedef enum { STAYS, GOES, STANDS_AROUND, DOUBTFUL } Kind;

typedef struct {
    Node *node;
    Kind kind;
    int64_t outer;      /* the found element around it, or -1 */
    int64_t characters; /* of its text; while it is being read, of what was read before */
    int64_t marks;      /* elements that say "here is the content", in the same way */
    bool cut;
} Found;

typedef struct {
    const Tables *tables;
    Found *found;
    int64_t count, room;
    int64_t inner; /* the innermost element that is being read, or -1 */
    int64_t characters, marks;
} Search;

static Kind kind_of(const Tables *tables, const Node *node) {
    const int64_t *tag = tables->tag;
    int64_t name = node->name < MOST_KNOWN_NAMES ? (int64_t)node->name : -1;
    if (name == tag[TAG_NAV] || name == tag[TAG_FOOTER])
        return STANDS_AROUND;
    if (name == tag[TAG_ASIDE] || name == tag[TAG_HEADER] || name == tag[TAG_FORM])
        return DOUBTFUL;
    return name == tag[TAG_SELECT] || name == tag[TAG_DATALIST] || name == tag[TAG_SVG] ? GOES : STAYS;
}

static bool marks_content(const Tables *tables, const Node *node) {
    const int64_t *tag = tables->tag;
    int64_t name = node->name < MOST_KNOWN_NAMES ? (int64_t)node->name : -1;
    return name == tag[TAG_H1] || name == tag[TAG_MAIN] || name == tag[TAG_ARTICLE];
}

/* Characters of a text: bytes that do not go on with one. Their number in a PART fits into a byte, which lets
 * compilers count sixteen at once. */
static int64_t count_characters(const Node *node) {
    enum { PART = 240 };
    String text = text_of(node);
    int64_t count = 0;
    for (size_t start = 0; start < text.length; start += PART) {
        size_t end = text.length - start < PART ? text.length : start + PART;
        uint8_t part = 0;
        for (size_t i = start; i < end; i++)
            part = (uint8_t)(part + ((text.bytes[i] & 0xC0) != 0x80));
        count += part;
    }
    return count;
}

static int open_element(Search *search, Node *node, Kind kind) {
    if (search->count == search->room) {
        int64_t room = 2 * search->room + 32;
        Found *found = realloc(search->found, (size_t)room * sizeof *found);
        if (found == NULL)
            return NO_MEMORY;
        search->found = found;
        search->room = room;
    }
    search->found[search->count] = (Found){
        .node = node,
        .kind = kind,
        .outer = search->inner,
        .characters = search->characters,
        .marks = search->marks,
    };
    search->inner = search->count++;
    return 0;
}

static void close_element(Search *search) {
    Found *found = search->found + search->inner;
    found->characters = search->characters - found->characters;
    found->marks = search->marks - found->marks;
    search->inner = found->outer;
}

static int enter_node(Search *search, Node *node, const Node *root) {
    if (node->type == TEXT_NODE && search->inner >= 0)
        search->characters += count_characters(node);
    if (node->type != ELEMENT_NODE)
        return 0;
    search->marks += marks_content(search->tables, node);
    Kind kind = node == root ? STAYS : kind_of(search->tables, node);
    return kind == STAYS ? 0 : open_element(search, node, kind);
}

static void leave_node(Search *search, const Node *node) {
    if (search->inner >= 0 && search->found[search->inner].node == node)
        close_element(search);
}

/* Have a node on its way from memory while its previous sibling is read: this is the first look at a tree. */
static void fetch_early(const Node *node) {
#if defined(__GNUC__)
    __builtin_prefetch(node);
    __builtin_prefetch((const char *)node + 64);
#else
    (void)node;
#endif
}

/* Find all such elements within `root`, in document order. */
static int find_elements(Search *search, Node *root) {
    Node *node = root;
    for (;;) {
        fetch_early(node->next);
        if (enter_node(search, node, root) != 0)
            return NO_MEMORY;
        if (node->first_child != NULL) {
            node = node->first_child;
            continue;
        }
        leave_node(search, node);
        while (node != root && node->next == NULL) {
            node = node->parent;
            leave_node(search, node);
        }
        if (node == root)
            return 0;
        node = node->next;
    }
}

static bool stands_around(const Found *found) { return found->kind == STANDS_AROUND || found->kind == DOUBTFUL; }

static bool is_in_content(const Tables *tables, const Node *node) {
    const int64_t *tag = tables->tag;
    for (node = node->parent; node != NULL; node = node->parent)
        if (node->name == (uintptr_t)tag[TAG_MAIN] || node->name == (uintptr_t)tag[TAG_ARTICLE])
            return true;
    return false;
}

/* Whether an element is cut when those of its kind are few. */
static bool may_go(const Tables *tables, const Found *found) {
    const Node *parent = found->node->parent;
    if (found->kind == GOES)
        return true;
    if (parent != NULL && parent->name == (uintptr_t)tables->tag[TAG_BLOCKQUOTE]) /* it names the source */
        return false;
    if (found->node->name == (uintptr_t)tables->tag[TAG_HEADER] && is_in_content(tables, found->node))
        return false;
    return found->kind == STANDS_AROUND || (found->characters <= MOST_CHARACTERS && found->marks == 0);
}

/* Whether `characters` are more than WHOLE of the page's: no more of it is read than is needed to say no. */
static bool is_nearly_all(const Node *root, int64_t characters) {
    int64_t count = 0;
    for (const Node *node = root; node != NULL; node = following(node, root)) {
        count += count_characters(node);
        if ((double)characters <= WHOLE * (double)count)
            return false;
    }
    return true;
}

/* Characters in the elements that stand around the content: all, and without those within others. */
static void count_around(const Search *search, int64_t *all, int64_t *outermost) {
    *all = *outermost = 0;
    for (int64_t i = 0; i < search->count; i++) {
        Found *found = search->found + i;
        /* From here on `outer` is the nearest such element around it, or -1. */
        while (found->outer >= 0 && !(stands_around(search->found + found->outer) && search->found[found->outer].cut))
            found->outer = search->found[found->outer].outer;
        if (!stands_around(found) || !found->cut)
            continue;
        *all += found->characters;
        *outermost += found->outer < 0 ? found->characters : 0;
    }
}

static void choose_elements(Search *search, const Node *root) {
    int64_t around = 0, all, outermost;
    for (int64_t i = 0; i < search->count; i++)
        around += stands_around(search->found + i);
    for (int64_t i = 0; i < search->count; i++) {
        Found *found = search->found + i;
        bool many = around > MANY && stands_around(found);
        found->cut = !many && may_go(search->tables, found);
    }
    count_around(search, &all, &outermost);
    if (all <= LITTLE || !is_nearly_all(root, outermost))
        return;
    for (int64_t i = 0; i < search->count; i++)
        if (stands_around(search->found + i))
            search->found[i].cut = false;
}

/* Find what to cut out of `root`; the addresses go to `addresses`, at most `room`, elements before those around
 * them. With `cut` they are cut. Returns how many there are. */
EXPORTED int64_t ccrawl_strip(const Tables *tables, Node *root, bool cut, uint64_t *addresses, int64_t room) {
    Search search = {.tables = tables, .inner = -1};
    int64_t count = 0;
    int failed = find_elements(&search, root);
    if (failed == 0) {
        choose_elements(&search, root);
        for (int64_t i = search.count - 1; i >= 0; i--) {
            if (!search.found[i].cut)
                continue;
            if (count < room)
                addresses[count] = (uint64_t)(uintptr_t)search.found[i].node;
            count++;
            if (cut)
                unlink_node(search.found[i].node);
        }
    }
    free(search.found);
    return failed != 0 ? failed : count;
}
