// Listings get their colours when they become visible, tables sort by a click, lists filter while one types.

const WORDS = {
  cpp: "alignas auto bool break case catch char class const constexpr constinit continue default delete do double else enum explicit extern false final float for friend if inline int long namespace new noexcept nullptr operator override private protected public return short signed sizeof static static_assert struct switch template this throw true try typedef typename union unsigned using virtual void volatile while",
  python: "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield",
  sh: "", yaml: "true false none",
};
const COMMENT = { cpp: "\\/\\/[^\\n]*|\\/\\*[^]*?\\*\\/|^#[^\\n]*", python: "#[^\\n]*", sh: "#[^\\n]*", yaml: "#[^\\n]*" };
const STRING = '"(?:[^"\\\\\\n]|\\\\.)*"|\'(?:[^\'\\\\\\n]|\\\\.)*\'';
const KEY = { yaml: "^[ -]*[\\w, ]+(?=:)" };

/** Wraps the tokens of a listing in the classes that the theme knows. */
function colour(code, language) {
  const words = new Set(WORDS[language].split(" "));
  const token = new RegExp(
    `(?<comment>${COMMENT[language]})|(?<string>${STRING})|(?<key>${KEY[language] ?? "(?!)"})|(?<number>\\b\\d[\\w.]*)|(?<word>[A-Za-z_]\\w*)`, "gm");
  const result = document.createDocumentFragment();
  const text = code.textContent;
  let end = 0;
  for (const match of text.matchAll(token)) {
    const { comment, string, key, number, word } = match.groups;
    const kind = comment ? "c1" : string ? "s" : key ? "nt" : number ? "mi" : words.has(word) ? "k" : text[match.index + word.length] === "(" ? "nf" : "";
    result.append(text.slice(end, match.index));
    end = match.index + match[0].length;
    if (!kind) { result.append(match[0]); continue; }
    const span = document.createElement("span");
    span.className = kind;
    span.textContent = match[0];
    result.append(span);
  }
  result.append(text.slice(end));
  code.replaceChildren(result);
}

function colourListings() {
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      colour(target.querySelector("code"), target.dataset.language);
    }
  });
  for (const listing of document.querySelectorAll("pre.listing")) {
    listing.classList.add("highlight");
    seen.observe(listing);
  }
}

/** Numbers sort as numbers, also `1,024`, `87.0 %` and `1.3x`; the rest as text. */
function valueOf(row, column) {
  const text = row.cells[column]?.textContent.trim() ?? "";
  const number = parseFloat(text.replaceAll(",", "").replace("−", "-"));
  return Number.isNaN(number) ? text.toLowerCase() : number;
}

function compare(a, b) {
  if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
  return typeof a === "number" ? -1 : 1;
}

function sortBy(heading) {
  const table = heading.closest("table");
  const column = heading.cellIndex;
  const descending = heading.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", descending ? "descending" : "ascending");

  const rows = [...table.tBodies[0].rows].map((row) => [valueOf(row, column), row]);
  rows.sort(([a], [b]) => (descending ? compare(b, a) : compare(a, b)));
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

function makeTablesSort() {
  for (const table of document.querySelectorAll(".md-typeset table")) {
    if (!table.tHead || !table.tBodies[0] || table.tBodies[0].rows.length < 10) continue;
    for (const heading of table.tHead.rows[0].cells) {
      if (!heading.textContent.trim()) continue;
      heading.classList.add("sorts");
      heading.addEventListener("click", () => sortBy(heading));
    }
  }
}

/** `<input data-filter-rows>` shows those rows of the page's table that contain what is typed. */
function makeRowFilters() {
  for (const input of document.querySelectorAll("input[data-filter-rows]")) {
    const rows = [...document.querySelector(".md-typeset table").tBodies[0].rows].map((row) => [row.textContent.toLowerCase(), row]);
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      for (const [text, row] of rows) row.hidden = !text.includes(wanted);
    });
  }
}

/** `<input data-filter="ID">` shows those links of the element that contain what is typed. */
function makeFilters() {
  for (const input of document.querySelectorAll("input[data-filter]")) {
    const list = document.getElementById(input.dataset.filter);
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      for (const link of list.querySelectorAll(".names a")) link.hidden = !link.textContent.toLowerCase().includes(wanted);
      for (const details of list.querySelectorAll("details")) details.open = wanted !== "";
      for (const section of list.querySelectorAll("section")) section.hidden = !section.querySelector(".names a:not([hidden])");
    });
  }
}

colourListings();
makeTablesSort();
makeFilters();
makeRowFilters();
