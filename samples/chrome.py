"""What stands around the content of the sample pages: navigation, consent notice, footer, by language and style.

All of it is boilerplate on purpose: an extractor that works leaves none of it in the Markdown.
"""

from __future__ import annotations

import html
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrases:
    """The words of a site's frame in one language."""

    navigation: tuple[str, ...]
    consent: str
    accept: str
    related: tuple[str, ...]
    footer: str


def _phrases(navigation: str, consent: str, accept: str, related: str, footer: str) -> Phrases:
    return Phrases(tuple(navigation.split("|")), consent, accept, tuple(related.split("|")), footer)


# fmt: off
PHRASES: dict[str, Phrases] = {
    "en": _phrases("Home|News|Weather|Contact", "We use cookies to count visits and to remember your settings. You can change your choice at any time.", "Accept all", "More on this site|Letters to the editor|A walk along the pier", "All rights reserved. Imprint. Privacy."),
    "de": _phrases("Startseite|Stadt|Wetter|Kontakt", "Wir verwenden Cookies, um Besuche zu zählen und Ihre Einstellungen zu merken. Sie können Ihre Wahl jederzeit ändern.", "Alle annehmen", "Mehr zum Thema|Leserbriefe|Ein Spaziergang am Kai", "Alle Rechte vorbehalten. Impressum. Datenschutz."),
    "fr": _phrases("Accueil|Actualités|Météo|Contact", "Nous utilisons des cookies pour mesurer les visites. Vous pouvez changer d'avis à tout moment.", "Tout accepter", "À lire aussi|Courrier des lecteurs|Promenade sur le quai", "Tous droits réservés. Mentions légales."),
    "es": _phrases("Inicio|Noticias|El tiempo|Contacto", "Usamos cookies para contar las visitas. Puede cambiar su elección en cualquier momento.", "Aceptar todo", "Lea también|Cartas de los lectores|Un paseo por el muelle", "Todos los derechos reservados. Aviso legal."),
    "pt": _phrases("Início|Notícias|Tempo|Contacto", "Usamos cookies para contar visitas. Pode mudar a sua escolha a qualquer momento.", "Aceitar tudo", "Leia também|Cartas dos leitores|Um passeio pelo cais", "Todos os direitos reservados."),
    "it": _phrases("Home|Ricette|Stagioni|Contatti", "Usiamo i cookie per contare le visite. Potete cambiare la scelta in ogni momento.", "Accetta tutto", "Leggi anche|Pane e grissini|Zuppe d'inverno", "Tutti i diritti riservati."),
    "nl": _phrases("Voorpagina|Nieuws|Weer|Contact", "Wij gebruiken cookies om bezoeken te tellen. U kunt uw keuze altijd wijzigen.", "Alles toestaan", "Lees ook|Ingezonden brieven|Wandelen langs de kade", "Alle rechten voorbehouden."),
    "pl": _phrases("Strona główna|Wiadomości|Pogoda|Kontakt", "Używamy plików cookie, aby liczyć odwiedziny. Wybór można zmienić w każdej chwili.", "Akceptuj wszystko", "Czytaj także|Listy do redakcji|Spacer po nabrzeżu", "Wszelkie prawa zastrzeżone."),
    "cs": _phrases("Úvod|Zprávy|Počasí|Kontakt", "Používáme cookies k počítání návštěv. Volbu můžete kdykoli změnit.", "Přijmout vše", "Čtěte také|Dopisy čtenářů|Procházka po nábřeží", "Všechna práva vyhrazena."),
    "sv": _phrases("Hem|Nyheter|Väder|Kontakt", "Vi använder kakor för att räkna besök.", "Godkänn alla", "Läs också|Insändare", "Alla rättigheter förbehållna."),
    "ru": _phrases("Главная|Новости|Погода|Контакты", "Мы используем файлы cookie, чтобы считать посещения. Вы можете изменить выбор в любое время.", "Принять все", "Читайте также|Письма читателей|Прогулка по набережной", "Все права защищены."),
    "uk": _phrases("Головна|Новини|Погода|Контакти", "Ми використовуємо файли cookie, щоб рахувати відвідування. Вибір можна змінити будь-коли.", "Прийняти всі", "Читайте також|Листи читачів|Прогулянка набережною", "Усі права захищено."),
    "el": _phrases("Αρχική|Νέα|Καιρός|Επικοινωνία", "Χρησιμοποιούμε cookies για να μετράμε τις επισκέψεις.", "Αποδοχή όλων", "Διαβάστε επίσης|Γράμματα αναγνωστών|Βόλτα στην προκυμαία", "Με επιφύλαξη παντός δικαιώματος."),
    "tr": _phrases("Ana sayfa|Haberler|Hava|İletişim", "Ziyaretleri saymak için çerez kullanıyoruz. Seçiminizi her zaman değiştirebilirsiniz.", "Tümünü kabul et", "Bunları da okuyun|Okur mektupları|Rıhtımda yürüyüş", "Tüm hakları saklıdır."),
    "ar": _phrases("الرئيسية|الأخبار|الطقس|اتصل بنا", "نستخدم ملفات تعريف الارتباط لعد الزيارات. يمكنك تغيير اختيارك في أي وقت.", "قبول الكل", "اقرأ أيضا|رسائل القراء|نزهة على الرصيف", "جميع الحقوق محفوظة."),
    "he": _phrases("ראשי|חדשות|מזג אוויר|צור קשר", "אנו משתמשים בעוגיות כדי לספור ביקורים. אפשר לשנות את הבחירה בכל עת.", "אישור הכול", "קראו גם|מכתבים למערכת|טיול לאורך הרציף", "כל הזכויות שמורות."),
    "hi": _phrases("मुखपृष्ठ|समाचार|मौसम|संपर्क", "हम आगंतुकों की गिनती के लिए कुकीज़ का उपयोग करते हैं।", "सभी स्वीकार करें", "यह भी पढ़ें|पाठकों के पत्र", "सर्वाधिकार सुरक्षित।"),
    "fa": _phrases("خانه|خبرها|هوا|تماس", "ما برای شمارش بازدیدها از کوکی استفاده می‌کنیم.", "پذیرفتن همه", "بیشتر بخوانید|نامه‌های خوانندگان", "همهٔ حقوق محفوظ است."),
    "zh": _phrases("首页|新闻|天气|联系我们", "本站使用 Cookie 统计访问量，您可以随时更改选择。", "全部接受", "相关阅读|读者来信|码头散步", "版权所有。"),
    "zh-Hant": _phrases("首頁|文章|關於|聯絡", "本站使用 Cookie 統計瀏覽量，您可以隨時更改選擇。", "全部接受", "延伸閱讀|讀者來信", "版權所有。"),
    "ja": _phrases("ホーム|ニュース|天気|お問い合わせ", "当サイトは訪問者数を数えるためにクッキーを使用します。", "すべて許可", "関連記事|読者の声|岸壁の散歩", "無断転載を禁じます。"),
    "ko": _phrases("홈|뉴스|날씨|문의", "이 사이트는 방문 수를 세기 위해 쿠키를 사용합니다.", "모두 허용", "관련 기사|독자 편지|부두 산책", "모든 권리 보유."),
    "th": _phrases("หน้าแรก|ข่าว|อากาศ|ติดต่อ", "เราใช้คุกกี้เพื่อนับจำนวนผู้เข้าชม", "ยอมรับทั้งหมด", "อ่านเพิ่มเติม|จดหมายจากผู้อ่าน", "สงวนลิขสิทธิ์"),
    "vi": _phrases("Trang chủ|Tin tức|Thời tiết|Liên hệ", "Chúng tôi dùng cookie để đếm lượt truy cập. Bạn có thể thay đổi lựa chọn bất cứ lúc nào.", "Chấp nhận tất cả", "Xem thêm|Thư bạn đọc", "Giữ toàn quyền."),
    "id": _phrases("Beranda|Berita|Cuaca|Kontak", "Kami memakai kuki untuk menghitung kunjungan. Pilihan dapat diubah kapan saja.", "Terima semua", "Baca juga|Surat pembaca", "Hak cipta dilindungi."),
}
# fmt: on


def _links(texts: tuple[str, ...]) -> str:
    return "".join(f'<li><a href="/{number}">{text}</a></li>' for number, text in enumerate(texts, 1))


def news(content: str, phrases: Phrases) -> str:
    """Semantic elements, a consent dialog, a related-links block and sharing buttons."""
    return (
        f'<div id="consent" class="cookie-banner" role="dialog"><p>{phrases.consent}</p>'
        f"<button>{phrases.accept}</button></div>"
        f'<header><nav class="main-nav"><ul>{_links(phrases.navigation)}</ul></nav></header>'
        f"<main><article>{content}</article></main>"
        f'<aside class="related"><h2>{phrases.related[0]}</h2><ul>{_links(phrases.related[1:])}</ul></aside>'
        '<div class="share"><a href="/share?to=mail">@</a> <a href="/share?to=feed">RSS</a></div>'
        f"<footer><p>© 2024. {phrases.footer}</p></footer>"
        '<script>window.visits = (window.visits || 0) + 1; // "<p>" is text here</script>'
    )


def blog(content: str, phrases: Phrases) -> str:
    """`div`s with classes, a side bar with widgets and a comment form, as blog engines write them."""
    return (
        f'<div id="header"><ul class="menu">{_links(phrases.navigation)}</ul></div><div id="page">'
        f'<div id="content"><div class="post hentry">{content}</div>'
        '<div id="respond" class="comment-respond"><form action="/comment" method="post"><input name="author">'
        '<textarea name="comment" rows="4"></textarea><input type="submit"></form></div></div>'
        f'<div id="sidebar"><div class="widget"><h3>{phrases.related[0]}</h3><ul>{_links(phrases.related[1:])}</ul>'
        f'</div></div></div><div id="footer">{phrases.footer}</div>'
    )


def old(content: str, phrases: Phrases) -> str:
    """Layout by tables and fonts, upper-case tags, as pages were written around 2000."""
    menu = "<BR>".join(
        f'<A HREF="/{number}.html">{text}</A>' for number, text in enumerate(phrases.navigation)
    )
    return (
        '<TABLE WIDTH="100%" BORDER=0 CELLPADDING=4><TR><TD WIDTH=140 VALIGN=top BGCOLOR="#DDDDEE">'
        f'<FONT SIZE=2>{menu}</FONT></TD><TD VALIGN=top><FONT FACE="Arial">{content}</FONT></TD></TR>'
        f"<TR><TD COLSPAN=2 ALIGN=center><HR><FONT SIZE=1>{phrases.footer}</FONT></TD></TR></TABLE>"
    )


def docs(content: str, phrases: Phrases) -> str:
    """A manual: search, table of contents on the left, previous and next below."""
    return (
        '<div class="related" role="navigation"><a href="/guide/">Guide</a> » <a href="/guide/basics.html">Basics</a>'
        '</div><div class="sphinxsidebar"><h3>Contents</h3><ul><li><a href="#schedules">Schedules</a></li></ul>'
        '<form class="search" action="/search"><input name="q"><input type="submit" value="Go"></form></div>'
        f'<div class="document"><div class="body" role="main"><section>{content}</section></div></div>'
        '<div class="prev-next"><a href="lamps.html">Previous: Lamps</a> <a href="groups.html">Next: Groups</a></div>'
        f'<div class="footer">{phrases.footer}</div>'
    )


def shop(content: str, phrases: Phrases) -> str:
    """A basket, breadcrumbs, filters and a newsletter form around the goods."""
    return (
        '<header><a class="logo" href="/">Quayside</a><a class="basket" href="/basket">Basket (0)</a></header>'
        '<nav class="breadcrumb"><a href="/">Home</a> › <a href="/c/deck">On deck</a></nav>'
        '<div class="filters"><h3>Filter</h3><label><input type="checkbox"> In stock</label></div>'
        f'<div id="main">{content}</div><form class="newsletter"><label>Our letter, four times a year</label>'
        f"<input type=email><button>Subscribe</button></form><footer>{phrases.footer}</footer>"
    )


def bare(content: str, phrases: Phrases) -> str:
    """Nothing around it."""
    return content


STYLES = {style.__name__: style for style in (news, blog, old, docs, shop, bare)}


def document(head: str, body: str, language: str, direction: str, *, xhtml: bool) -> str:
    """A whole document: HTML with a doctype, or XHTML with an XML declaration."""
    language = html.escape(language)
    if xhtml:
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html>\n'
            f'<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="{language}">\n'
            f'<head>{head}<script src="/s.js"/></head>\n<body>{body}</body>\n</html>\n'
        )
    way = f' dir="{direction}"' if direction else ""
    return (
        f'<!DOCTYPE html>\n<html lang="{language}"{way}>\n<head>{head}</head>\n<body>{body}</body>\n</html>\n'
    )
