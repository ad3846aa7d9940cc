"""Words that say what a part of a page is for: one table for markup, one for visible text.

`MARKUP` groups words that authors use in `class`, `id`, `role` and `itemprop`; each group is one bit
(`markup_bit(name)`). `PHRASES` groups words that short pieces of interface text begin with or consist of,
in many languages. Both are general vocabulary: no word here names a site, a framework's private prefix or a
phrase of a particular page. A word that is longer than six letters and found in neither table is searched
for the markup words it contains ("sidebarleft", "articlebody").

The groups say nothing about what is kept: they are evidence, and the fitted model weighs it.
"""

from __future__ import annotations

import re


def words(text: str) -> tuple[str, ...]:
    """The words of a table written as one string."""
    return tuple(text.split())


MARKUP: dict[str, str] = {
    # What tends to hold the text.
    "article": "article articles artikel articulo articolo artigo statya",
    "content": "content contents contenido contenu inhalt conteudo contenuto innhold",
    "body": "body bodytext copy richtext rte prose wysiwyg markdown formatted",
    "main": "main primary hauptinhalt principal center central",
    "post": "post posts blogpost hentry",
    "entry": "entry entries",
    "text": "text txt texte texto testo paragraph para p",
    "story": "story stories news reportage feature nachricht noticia",
    "page": "page pages seite pagina",
    "detail": "detail details view single show",
    "description": "description desc descr beschreibung descripcion overview about summary excerpt",
    "lead": "lead lede intro introduction teaser standfirst dek deck kicker subtitle subheadline abstract",
    "title": "title headline heading titel titulo titre header-title name",
    "section": "section sections chapter block module component segment",
    "faq": "faq faqs accordion collapse collapsible question answer qa tab tabs tabpanel panel",
    "docs": "doc docs documentation manual guide tutorial wiki reference theme api mw",
    "code": "code highlight pre snippet syntax example",
    "table": "table tbl grid data spec specs specification specifications attributes properties datasheet",
    "product": "product products item items sku goods produkt produto prodotto",
    "price": "price prices preis precio prix amount cost",
    "recipe": "recipe ingredient ingredients instructions directions rezept steps step method",
    "list": "list listing listings results result search-results archive catalog category collection "
    "directory",
    "card": "card cards tile tiles box teasers",
    "forum": "forum thread topic topics message messages msg discussion reply replies replylist conversation",
    "quote": "quote quotes blockquote pullquote citation",
    "figure": "figure image images img photo photos picture media gallery slideshow video player",
    "caption": "caption captions credit credits legend copyright-image",
    # What tends to stand around it.
    "nav": "nav navi navigation navbar menu menus menubar submenu dropdown megamenu hamburger",
    "header": "header head masthead topbar top banner branding logo hero",
    "footer": "footer foot bottom colophon contentinfo impressum fuss",
    "sidebar": "sidebar side aside rail column right left complementary secondary spalte rightcol leftcol",
    "widget": "widget widgets gadget portlet plugin",
    "comment": "comment comments commentlist kommentar kommentare comentario comentarios disqus respond "
    "feedback commento commentaires commenti komentarz komentarze opinie opinia odpowiedz dyskusja yorum "
    "yorumlar reacties reactie reaktion kommentti coment comentarii otzyvy kommentarii discussion "
    "guestbook cmt cmts komentare komentar forumpost",
    "related": "related recommend recommended recommendation recommendations similar also more morefrom "
    "suggested suggestions read-next upnext linked verwandt weitere associated",
    "popular": "popular trending latest recent top-stories most newest ranking hot mostread",
    "next": "next prev previous pager pagination paging older newer paginator",
    "social": "social share sharing shares shariff follow sns facebook twitter pinterest whatsapp "
    "linkedin addthis bookmark instagram telegram",
    "ad": "ad ads adv advert advertisement advertising sponsor sponsored promoted anzeige werbung dfp gpt "
    "publicidad banners reklama taboola outbrain pubs",
    "promo": "promo promotion promotions offer offers deal deals cta call action upsell campaign",
    "subscribe": "subscribe subscription newsletter signup register paywall membership premium abo "
    "mailing optin",
    "login": "login signin auth account user user-menu logout profile my",
    "consent": "cookie cookies consent gdpr privacy ccpa datenschutz",
    "popup": "popup modal overlay lightbox dialog alert notice notification toast alertdialog tooltip "
    "popover offcanvas",
    "search": "search searchbox suche busca find filter filters facet facets sort sorting refine",
    "form": "form forms input field fields select button buttons btn submit contact kontakt",
    "breadcrumb": "breadcrumb breadcrumbs crumb crumbs path trail",
    "tags": "tag tags taglist keywords keyword labels label hashtag tagcloud schlagwort categories",
    "meta": "meta metadata info infos postmeta data-info details-info byline-info",
    "author": "author authors byline autor vcard bio contributor writer avatar poster",
    "date": "date time datetime published timestamp updated posted dateline datum fecha pubdate",
    "rating": "rating ratings review reviews stars star testimonial testimonials votes vote score bewertung",
    "cart": "cart basket checkout wishlist compare buy shop shopping shipping warenkorb order quantity "
    "qty stock",
    "tool": "tool tools toolbar print printer email download controls control icons icon utility "
    "utilities options actions edit",
    "toc": "toc contents-table outline index anchors jump skip",
    "language": "lang language languages locale country currency region translate sprache",
    "legal": "legal disclaimer copyright terms license policy imprint rights",
    "hide": "hide hidden invisible sr screenreader visuallyhidden noprint noscript collapsed none",
    "mobile": "mobile desktop phone tablet sticky fixed floating",
    "carousel": "carousel slider slide slides swiper slick owl marquee ticker",
    "partner": "partner partners brand brands client clients network sister",
    "map": "map maps location locations address store stores weather event events calendar schedule",
    "signature": "signature sig member rank joined reputation badge",
    "reference": "references footnote footnotes bibliography cite citations notes note sources source "
    "external",
}

PHRASES: dict[str, str] = {
    "share": "share|tweet|pin it|email this|print|teilen|drucken|compartir|imprimir|partager|imprimer|"
    "condividi|compartilhar|udostępnij|drukuj|поделиться|печать|κοινοποίηση|分享|打印|シェア|공유|paylaş|"
    "delen|dela|facebook|twitter|whatsapp|linkedin|pinterest|follow us|follow|telegram",
    "more": "read more|more|see more|view more|show more|learn more|view all|see all|load more|"
    "continue reading|mehr|weiterlesen|mehr lesen|alle anzeigen|leer más|ver más|ver todo|lire la suite|"
    "voir plus|en savoir plus|leggi tutto|continua|leia mais|saiba mais|więcej|czytaj więcej|подробнее|"
    "читать далее|περισσότερα|διαβάστε|更多|查看更多|もっと見る|続きを読む|더보기|devamı|lees meer|läs mer",
    "related": "related|related articles|related posts|related stories|you may also like|see also|also read|"
    "recommended|more from|more on|read next|up next|trending|most read|popular|latest|latest news|"
    "recent posts|similar|don't miss|ähnliche|auch interessant|mehr zum thema|das könnte sie|lesen sie auch|"
    "meistgelesen|relacionado|relacionadas|te puede interesar|lo más leído|à lire aussi|articles liés|"
    "sur le même sujet|leggi anche|articoli correlati|leia também|veja também|czytaj też|zobacz też|polecamy|"
    "читайте также|похожие|по теме|популярное|διαβάστε επίσης|σχετικά|相关|相关阅读|相关新闻|推荐阅读|热门|"
    "関連記事|人気記事|おすすめ|관련기사|추천|ilgili|lees ook|läs också|customers also|people also",
    "comment": "comments|comment|leave a comment|leave a reply|post a comment|add a comment|reply|"
    "kommentare|kommentar|antworten|comentarios|responder|deja un comentario|commentaires|répondre|"
    "commenti|rispondi|comentários|komentarze|dodaj komentarz|комментарии|ответить|σχόλια|评论|发表评论|"
    "回复|コメント|댓글|yorum|reacties|kommentarer",
    "subscribe": "subscribe|sign up|newsletter|register|get the|join|log in|login|sign in|create account|"
    "abonnieren|anmelden|jetzt registrieren|einloggen|suscríbete|suscribirse|registrarse|iniciar sesión|"
    "s'abonner|inscrivez-vous|se connecter|iscriviti|accedi|assine|cadastre-se|entrar|zapisz się|zaloguj|"
    "подписаться|подпишитесь|войти|εγγραφή|σύνδεση|订阅|注册|登录|登録|ログイン|구독|로그인|abone|giriş|"
    "aanmelden|logga in",
    "legal": "copyright|©|(c)|all rights reserved|terms|terms of use|privacy|privacy policy|disclaimer|"
    "impressum|datenschutz|agb|aviso legal|política de privacidad|mentions légales|confidentialité|"
    "note legali|regulamin|polityka|политика|пользовательское|όροι|版权|版权所有|隐私|著作権|利用規約|"
    "이용약관|gizlilik",
    "consent": "we use cookies|this site uses cookies|this website uses cookies|cookies|accept|accept all|"
    "manage preferences|wir verwenden cookies|diese website|alle akzeptieren|ablehnen|utilizamos cookies|"
    "aceptar|nous utilisons des cookies|accepter|utilizziamo|accetta|usamos cookies|aceitar|"
    "używamy plików|мы используем|χρησιμοποιούμε cookies|我们使用|当サイトでは",
    "author": "by|written by|author|posted by|von|autor|por|par|di|редакция|автор|작성자|作者|記者|文|"
    "来源|责任编辑|编辑|source|quelle|fuente|foto|photo|image|credit|getty",
    "date": "published|updated|posted|last updated|posted on|date|veröffentlicht|aktualisiert|stand|"
    "publicado|actualizado|publié|mis à jour|pubblicato|aggiornato|opublikowano|опубликовано|обновлено|"
    "发布时间|发布|更新|投稿日",
    "ad": "advertisement|ad|ads|sponsored|anzeige|werbung|publicidad|publicité|pubblicità|publicidade|"
    "reklama|реклама|διαφήμιση|广告|広告|광고|reklam|advertentie|annons",
    "nav": "home|menu|back|back to top|next|previous|skip to content|search|about us|contact|contact us|"
    "startseite|suche|kontakt|zurück|weiter|nach oben|über uns|inicio|buscar|contacto|volver|siguiente|"
    "accueil|rechercher|retour|suivant|cerca|contatti|avanti|início|contato|strona główna|szukaj|wstecz|"
    "главная|поиск|контакты|назад|αρχική|επικοινωνία|首页|搜索|返回|下一页|上一页|ホーム|検索|次へ|홈|"
    "검색|ana sayfa|zoeken|sök",
    "tags": "tags|tag|categories|category|filed under|topics|keywords|schlagwörter|schlagworte|kategorie|"
    "kategorien|themen|etiquetas|categorías|mots-clés|catégories|tags:|categorie|kategoria|tagi|теги|"
    "рубрики|ετικέτες|标签|分类|关键词|カテゴリー|タグ|태그",
    "shop": "add to cart|add to basket|buy now|in den warenkorb|añadir al carrito|ajouter au panier|aggiungi|"
    "comprar|do koszyka|в корзину|купить|加入购物车|カートに入れる|sepete|checkout|wishlist|compare|in stock|"
    "out of stock|quantity|free shipping|select",
    "script": "please enable javascript|enable javascript|javascript|you need to enable|your browser|"
    "bitte aktivieren|this page uses frames|loading|laden",
}

# What a page says instead of its text when it is not shown as it wants to be.
NOTICE = re.compile(
    r"javascript|java script|\bframes?\b|\bnoframes\b|\b(?:your|ihr|votre|su|tu|seu|il tuo) (?:web ?)?"
    r"(?:browser|navigateur|navegador)|brows?er unterst|браузер|浏览器|瀏覽器|ブラウザ|브라우저",
    re.IGNORECASE,
)

# The groups of each word, and of each phrase.
MARKUP_BIT: dict[str, int] = {}
for _index, _words in enumerate(MARKUP.values()):
    for _word in _words.split():
        MARKUP_BIT[_word] = MARKUP_BIT.get(_word, 0) | 1 << _index

PHRASE_BIT: dict[str, int] = {}
for _index, _words in enumerate(PHRASES.values()):
    for _word in _words.split("|"):
        PHRASE_BIT[_word] = PHRASE_BIT.get(_word, 0) | 1 << _index

AFTER = ":：.!?»›>,…("  # what may stand after a phrase
FIRST_WORDS = frozenset(phrase.split(" ", 1)[0] for phrase in PHRASE_BIT)
# The first three characters of any text that can begin with a phrase of more than one.
BEGINNINGS = frozenset(phrase[:3] for phrase in PHRASE_BIT) | frozenset(
    phrase + after for phrase in PHRASE_BIT if len(phrase) == 2 for after in f"{AFTER} \t\n\r\f\xa0\u3000"
)


def markup_bit(name: str) -> int:
    """The bit of one group of `MARKUP`."""
    return 1 << list(MARKUP).index(name)


def phrase_bit(name: str) -> int:
    """The bit of one group of `PHRASES`."""
    return 1 << list(PHRASES).index(name)
