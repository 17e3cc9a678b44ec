"use strict";
// What a table of rows is made of: elements, text of others, packed data, and pages.
const table = (() => {
  function element(tag, className, ...children) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...children);
    return made;
  }

  // Text of others: never markup, and its direction stays its own.
  function isolated(text, tag = "bdi", className = "") {
    const made = element(tag, `foreign ${className}`.trim());
    made.dir = "auto";
    made.textContent = text;
    return made;
  }

  // Text of any length in a region that scrolls, also by keys.
  function scrolled(text, label) {
    const made = isolated(text, "pre");
    made.tabIndex = 0;
    made.setAttribute("role", "region");
    made.setAttribute("aria-label", label);
    return made;
  }

  const cell = (text, className = "") => element("td", className, isolated(text));

  // The head of a row.
  function heading(content) {
    const made = element("th", "", content);
    made.scope = "row";
    return made;
  }

  const number = (value, digits) => (value === null || value === undefined ? "-" : value.toFixed(digits));

  const whole = (value) => value.toLocaleString("en");

  // The JSON in the element called `id`; null where the browser cannot unpack it.
  async function unpacked(id) {
    if (typeof DecompressionStream === "undefined") return null;
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).json();
  }

  // A button called `text` that opens and closes a row below its own, filled by `detail` when it is first seen.
  function expander(text, columns, detail) {
    const button = element("button", "expand", isolated(text));
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-expanded") === "true";
      const row = button.closest("tr");
      if (open) {
        row.nextElementSibling.remove();
      } else {
        const td = element("td", "", detail());
        td.colSpan = columns;
        row.after(element("tr", "detail", td));
      }
      button.setAttribute("aria-expanded", String(!open));
    });
    return button;
  }

  // The texts of the case and the question of a row; null where a page has none.
  function textsOf(texts, row) {
    const text = Object.hasOwn(texts, row.case) ? texts[row.case] : null;
    return { text, question: text && text.questions[row.question] };
  }

  // The state and the instructions of a row, as far as they are here, and its `options`.
  function opened({ text, question }, options) {
    const made = element("div", "case");
    if (text) made.append(element("h4", "", "State"), scrolled(text.state, "State"));
    if (question) made.append(element("h4", "", "Instructions"), scrolled(question.instructions, "Instructions"));
    made.append(element("h4", "", "Options"), options);
    return made;
  }

  // The fields called `names` of a row, in words, where their columns have no room.
  function placed(row, names) {
    const made = element("p", "aside narrow");
    for (const name of names) made.append(made.hasChildNodes() ? ", " : "", `${name} `, isolated(String(row[name])));
    return made;
  }

  // What search looks into. Texts are kept once for all rows of a question: a state may be long, and trials many.
  function searcher(texts, more) {
    const shared = new Map();
    return (row, wanted) => {
      const key = `${row.case}\n${row.question}`;
      if (!shared.has(key)) {
        const { text, question } = textsOf(texts, row);
        const parts = [row.case, row.question, row.expected, ...row.options];
        if (text) parts.push(text.state);
        if (question) parts.push(question.instructions, ...Object.values(question.descriptions));
        shared.set(key, parts.join("\n").toLowerCase());
      }
      return shared.get(key).includes(wanted) || more(row).toLowerCase().includes(wanted);
    };
  }

  // The search field and the selects of `place`: what they say in `chosen`, and `refresh` where it changes. Returns
  // whether a row is what they ask for.
  function controls(place, { rows, texts }, more, refresh) {
    const chosen = { search: "", fields: {} };
    const found = searcher(texts, more);
    place.querySelector("#search").addEventListener("input", (event) => {
      chosen.search = event.target.value.trim().toLowerCase();
      refresh();
    });
    for (const select of place.querySelectorAll("select[data-field]")) {
      for (const name of new Set(rows.map((row) => row[select.dataset.field]))) select.append(new Option(name, name));
      select.addEventListener("change", () => {
        chosen.fields[select.dataset.field] = select.value;
        refresh();
      });
    }
    return (row) =>
      Object.entries(chosen.fields).every(([field, value]) => value === "" || row[field] === value) &&
      (chosen.search === "" || found(row, chosen.search));
  }

  const tag = (name) => element("span", `tag ${name}`, name);

  // Shows `line(row)` of the rows it is given, `size` a page, in `body`, and says which in #count.
  function pager(body, size, what, line) {
    const [count, previous, next] = ["count", "previous", "next"].map((id) => document.getElementById(id));
    let found = [];
    let all = 0;
    let page = 0;
    function turn(to) {
      const at = document.activeElement;
      page = to;
      const first = page * size;
      const shown = found.slice(first, first + size);
      body.replaceChildren(...shown.map(line));
      const range = found.length ? `${whole(first + 1)} to ${whole(first + shown.length)} of ${whole(found.length)}` : "0";
      count.textContent = `Showing ${range} ${what}${found.length < all ? ` (${whole(all)} in all)` : ""}.`;
      previous.disabled = page === 0;
      next.disabled = first + size >= found.length;
      // A button that is disabled loses the focus, and the keyboard its place.
      if (at === next && next.disabled) previous.focus();
      if (at === previous && previous.disabled) next.focus();
    }
    previous.addEventListener("click", () => turn(page - 1));
    next.addEventListener("click", () => turn(page + 1));
    return (rows, ofAll) => {
      [found, all] = [rows, ofAll];
      turn(0);
    };
  }

  return { element, isolated, cell, heading, number, whole, tag, unpacked, textsOf, opened, placed, controls, expander, pager };
})();
