"use strict";
// Shows the table of clusters. Everything from pages is put in as text, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const [KIND, SIZE, BYTES, DIAMETER, BOUND, MEMBERS] = [0, 1, 2, 3, 4, 5];
const [URL_, FILE, ROW, LENGTH, DISTANCE] = [0, 1, 2, 3, 4];
const PAGE = 50;
const CONTEXT = 3; // equal lines shown around a difference
const MOST_LINES = 1500; // of the part that differs: the comparison takes their product
const $ = (id) => document.getElementById(id);

const COLUMNS = [
  ["number", (c, i) => i],
  ["kind", (c) => c[KIND]],
  ["documents", (c) => c[SIZE]],
  ["redundant", (c) => c[BYTES]],
  ["furthest", (c) => c[DIAMETER]],
  ["kept", (c) => c[MEMBERS][0][URL_]],
];
const state = { column: 0, descending: false, page: 0, order: data.clusters.map((_, i) => i), open: new Set() };
const haystack = data.clusters.map((c) => c[MEMBERS].map((m) => m[URL_]).join("\n").toLowerCase());

function element(name, className, ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children);
  return made;
}
const number = (n) => n.toLocaleString("en");
function size(bytes) {
  for (const unit of ["B", "kB", "MB", "GB", "TB"]) {
    if (bytes < 1000 || unit === "TB") return (unit === "B" ? bytes : bytes.toFixed(1)) + " " + unit;
    bytes /= 1000;
  }
}
const plural = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;

function showSummary() {
  for (const [name, rows, bytes, share] of data.summary) {
    const about = [name, bytes ? size(bytes) : "", name === "rows" ? "" : (100 * share).toFixed(1) + "\u00a0%"];
    $("summary").append(element("li", "", element("strong", "", number(rows)), element("span", "", about.filter(Boolean).join(", "))));
  }
  const left = data.notShown ? `; the table has the largest ${number(data.clusters.length)}` : "";
  $("scope").textContent = plural(data.clusters.length + data.notShown, "cluster") + " in " + plural(data.files.length, "file") + left;
}

function showColumns() {
  $("columns").replaceChildren(...COLUMNS.map(([name], place) => {
    const button = element("button", "", name);
    button.type = "button";
    button.addEventListener("click", () => {
      state.descending = state.column === place ? !state.descending : place >= 2 && place <= 4;
      state.column = place;
      update();
    });
    const head = element("th", "", button);
    head.scope = "col";
    if (place === state.column) head.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
    return head;
  }));
}

function update() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const kind = $("kind").value;
  const value = COLUMNS[state.column][1];
  const keys = data.clusters.map(value);
  const sign = state.descending ? -1 : 1;
  state.order = data.clusters.map((_, i) => i)
    .filter((i) => (!kind || data.clusters[i][KIND] === kind) && words.every((word) => haystack[i].includes(word)))
    .sort((a, b) => (keys[a] < keys[b] ? -sign : keys[a] > keys[b] ? sign : a - b));
  state.page = 0;
  showColumns();
  showPage();
}

function showPage() {
  const pages = Math.max(1, Math.ceil(state.order.length / PAGE));
  $("found").textContent = plural(state.order.length, "cluster");
  $("page").textContent = `${state.page + 1} of ${number(pages)}`;
  $("previous").disabled = state.page === 0;
  $("next").disabled = state.page + 1 >= pages;
  const shown = state.order.slice(state.page * PAGE, (state.page + 1) * PAGE);
  $("rows").replaceChildren(...shown.flatMap(tableRows));
}

function tableRows(place) {
  const cluster = data.clusters[place];
  const near = cluster[KIND] === "near";
  const bound = cluster[BOUND] > cluster[DIAMETER] ? ` (at most ${cluster[BOUND]})` : "";
  const opener = element("button", "", cluster[MEMBERS][0][URL_] || "(no URL)");
  opener.type = "button";
  opener.setAttribute("aria-expanded", String(state.open.has(place)));
  opener.addEventListener("click", () => {
    if (!state.open.delete(place)) state.open.add(place);
    showPage();
  });
  const row = element("tr", "",
    element("td", "number", number(place + 1)),
    element("td", "", element("span", "kind " + (near ? "near" : "exact"), cluster[KIND])),
    element("td", "number", number(cluster[SIZE])),
    element("td", "number", size(cluster[BYTES])),
    element("td", "number", near ? plural(cluster[DIAMETER], "bit") + bound : "identical"),
    element("td", "", opener));
  return state.open.has(place) ? [row, detailRow(place, cluster)] : [row];
}

function detailRow(place, cluster) {
  const list = element("ol", "", ...cluster[MEMBERS].map((member, i) => {
    const role = i === 0 ? "kept" : cluster[KIND] === "near" ? plural(member[DISTANCE], "bit") : "identical";
    return element("li", "", address(member[URL_]), " ",
      element("small", "", `${role}, ${size(member[LENGTH])}, ${data.files[member[FILE]]} row ${member[ROW]}`));
  }));
  const cell = element("td", "detail", list);
  const more = cluster[SIZE] - cluster[MEMBERS].length;
  if (more > 0) cell.append(element("p", "note", `and ${number(more)} more; --clusters writes all of them`));
  const texts = data.texts[place + 1];
  if (texts) cell.append(comparison(cluster, texts));
  else if (cluster[KIND] === "near") cell.append(element("p", "note", "The texts of this cluster are not in this file, to bound its size."));
  cell.colSpan = COLUMNS.length;
  return element("tr", "", cell);
}

function address(url) {
  if (!/^https?:\/\//i.test(url)) return element("span", "", url || "(no URL)");
  const link = element("a", "", url);
  link.href = url;
  link.rel = "noreferrer noopener";
  link.target = "_blank";
  return link;
}

function comparison(cluster, texts) {
  const choose = element("select", "", ...texts.slice(1).map((_, i) => {
    const option = element("option", "", `${cluster[MEMBERS][i + 1][URL_]} (${plural(cluster[MEMBERS][i + 1][DISTANCE], "bit")})`);
    option.value = String(i + 1);
    return option;
  }));
  const sides = element("div", "sides");
  const show = () => sides.replaceChildren(...differences(texts[0], texts[Number(choose.value)]));
  choose.addEventListener("change", show);
  show();
  const box = element("div", "", element("label", "compare", "The one kept beside ", choose), sides);
  if (cluster[MEMBERS].slice(0, texts.length).some((m) => m[LENGTH] > data.textBytes)) {
    box.append(element("p", "note", `Texts are cut at ${number(data.textBytes)} bytes here.`));
  }
  return box;
}

// Two cells a line: left and right, lines that differ marked, and in a changed line the words that do. Of many equal
// lines in a row only those next to a difference are shown.
function differences(left, right) {
  const lines = alignedLines(left.split("\n"), right.split("\n"));
  const differs = lines.map(([a, b]) => a !== b);
  const shown = lines.map((_, i) => differs.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).includes(true));
  const cells = [];
  let equal = 0;
  const fold = () => {
    if (equal) cells.push(...[0, 1].map(() => element("div", "fold", plural(equal, "equal line"))));
    equal = 0;
  };
  lines.forEach(([a, b], i) => {
    if (!shown[i]) { equal++; return; }
    fold();
    if (a === b) cells.push(element("div", "", a), element("div", "", b));
    else if (a === null) cells.push(element("div", ""), element("div", "come", b));
    else if (b === null) cells.push(element("div", "gone", a), element("div", ""));
    else {
      const pairs = align(a.split(/(\s+)/), b.split(/(\s+)/));
      cells.push(element("div", "gone", ...marked(pairs, 0)), element("div", "come", ...marked(pairs, 1)));
    }
  });
  fold();
  return cells;
}

function marked(pairs, side) {
  return pairs.filter((pair) => pair[side] !== null)
    .map((pair) => (pair[0] === pair[1] ? pair[side] : element("b", "", pair[side])));
}

// Pairs of lines; removed and added lines that stand together become pairs of changed lines.
function alignedLines(a, b) {
  const rows = [];
  let gone = [], come = [];
  const flush = () => {
    for (let i = 0; i < Math.max(gone.length, come.length); i++) rows.push([gone[i] ?? null, come[i] ?? null]);
    gone = []; come = [];
  };
  for (const [x, y] of align(a, b)) {
    if (x === null) come.push(y);
    else if (y === null) gone.push(x);
    else { flush(); rows.push([x, y]); }
  }
  flush();
  return rows;
}

// Longest common subsequence of what is left between the common start and end; beyond the bound all counts as changed.
function align(a, b) {
  let start = 0, end = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const x = a.slice(start, a.length - end), y = b.slice(start, b.length - end);
  const pairs = a.slice(0, start).map((item) => [item, item]);
  if (x.length > MOST_LINES || y.length > MOST_LINES) {
    pairs.push(...x.map((item) => [item, null]), ...y.map((item) => [null, item]));
  } else {
    const width = y.length + 1;
    const longest = new Uint16Array((x.length + 1) * width);
    for (let i = x.length - 1; i >= 0; i--)
      for (let j = y.length - 1; j >= 0; j--)
        longest[i * width + j] = x[i] === y[j] ? longest[(i + 1) * width + j + 1] + 1
          : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    let i = 0, j = 0;
    while (i < x.length || j < y.length) {
      if (i < x.length && j < y.length && x[i] === y[j]) pairs.push([x[i++], y[j++]]);
      else if (j >= y.length || (i < x.length && longest[(i + 1) * width + j] >= longest[i * width + j + 1])) pairs.push([x[i++], null]);
      else pairs.push([null, y[j++]]);
    }
  }
  return pairs.concat(a.slice(a.length - end).map((item) => [item, item]));
}

let typing = 0;
$("search").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(update, 150);
});
$("kind").addEventListener("change", update);
$("previous").addEventListener("click", () => { state.page--; showPage(); });
$("next").addEventListener("click", () => { state.page++; showPage(); });
showSummary();
update();
