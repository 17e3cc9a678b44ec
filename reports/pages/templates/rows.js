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

  // Shows `line(row)` of the rows it is given, `size` a page, in `body`, and says which in #count.
  function pager(body, size, what, line) {
    const [count, previous, next] = ["count", "previous", "next"].map((id) => document.getElementById(id));
    let found = [];
    let all = 0;
    let page = 0;
    function turn(to) {
      page = to;
      const first = page * size;
      const shown = found.slice(first, first + size);
      body.replaceChildren(...shown.map(line));
      const range = found.length ? `${whole(first + 1)} to ${whole(first + shown.length)} of ${whole(found.length)}` : "0";
      count.textContent = `Showing ${range} ${what}${found.length < all ? ` (${whole(all)} in all)` : ""}.`;
      previous.disabled = page === 0;
      next.disabled = first + size >= found.length;
    }
    previous.addEventListener("click", () => turn(page - 1));
    next.addEventListener("click", () => turn(page + 1));
    return (rows, ofAll) => {
      [found, all] = [rows, ofAll];
      turn(0);
    };
  }

  return { element, isolated, scrolled, cell, number, whole, unpacked, expander, pager };
})();
