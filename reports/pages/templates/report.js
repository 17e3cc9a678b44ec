// The table of decisions: shows those that search, selects and filters leave, in the order asked for, a page at a time.
(async () => {
  const { element, isolated, cell, number, whole, tag, unpacked, textsOf, opened, placed, controls, expander, pager } = table;
  // Columns that a narrow screen has no room for.
  const PLACE = ["family", "variant", "split", "trial", "question"];
  const place = document.getElementById("rows");
  const columns = place.querySelectorAll("thead th").length;
  const data = await unpacked("packed");
  if (data === null) {
    document.getElementById("count").textContent = "This browser cannot unpack the decisions; a current one can.";
    return;
  }
  const { rows, texts } = data;
  const chosen = { flags: new Set(), key: null, rising: true };

  const outcome = (row) => (row.failure !== null ? "failed" : row.choice === row.expected ? "right" : "wrong");

  const asked = controls(place, data, (row) => row.failure ?? "", () => refresh());
  const fits = (row) => [...chosen.flags].every((flag) => row.flags.includes(flag)) && asked(row);

  function value(row) {
    if (chosen.key === "outcome") return outcome(row);
    return chosen.key === "flags" ? shownFlags(row) : row[chosen.key];
  }

  // What the column of outcomes says is no flag of its own.
  const shownFlags = (row) => row.flags.filter((flag) => flag !== "wrong" && flag !== "failed").join(", ");

  // Rows without a value come last, in either direction.
  function inOrder(left, right) {
    const [a, b] = [value(left), value(right)];
    if (a === null || b === null) return (a === null) - (b === null);
    return (chosen.rising ? 1 : -1) * (typeof a === "number" ? a - b : a < b ? -1 : a > b ? 1 : 0);
  }

  function line(row) {
    const unsafe = row.choice !== null && row.unsafe.includes(row.choice);
    return element(
      "tr",
      outcome(row),
      table.heading(expander(row.case, columns, () => detail(row))),
      cell(outcome(row), "outcome"),
      cell(row.choice ?? "-", unsafe ? "harm" : ""),
      cell(row.expected),
      cell(number(row.top, 4), "number"),
      cell(shownFlags(row)),
      ...PLACE.map((name) => cell(String(row[name]), name === "trial" ? "number wide" : "wide")),
    );
  }

  function detail(row) {
    const known = textsOf(texts, row);
    const made = opened(known, options(row, known.question));
    made.prepend(placed(row, PLACE));
    if (row.failure !== null) made.append(element("p", "failure", "Failed. ", isolated(row.failure)));
    made.append(element("p", "aside", measured(row)));
    return made;
  }

  function options(row, question) {
    const items = row.options.map((option, index) => {
      const marks = [
        ["chosen", option === row.choice],
        ["expected", option === row.expected],
        ["unsafe", row.unsafe.includes(option)],
        ["demanded", option === row.demanded],
      ];
      const tags = marks.filter(([, holds]) => holds).map(([name]) => tag(name));
      const description = question && question.descriptions[option];
      return element(
        "li",
        "",
        element("div", "option", isolated(option), ...tags),
        ...(row.probabilities === null ? [] : [mass(row.probabilities[index])]),
        ...(description ? [isolated(description, "div", "description")] : []),
      );
    });
    return element("ul", "options", ...items);
  }

  function mass(probability) {
    const bar = element("span", "bar");
    bar.style.setProperty("--share", String(probability));
    bar.setAttribute("aria-hidden", "true");
    return element("div", "mass", bar, element("span", "number", number(probability, 4)));
  }

  function measured(row) {
    const latency = row.latency_s === null ? "unknown" : `${milliseconds(1000 * row.latency_s)} ms`;
    const sum = row.raw_sum === null ? "" : `Probabilities summed to ${row.raw_sum} before normalisation. `;
    return `${sum}Latency: ${latency}.`;
  }

  const milliseconds = (value) => (value < 1e6 ? number(value, 2) : value.toPrecision(6));

  const show = pager(place.querySelector("table.rows tbody"), 50, "decisions", line);

  function refresh() {
    const found = rows.filter(fits);
    show(chosen.key === null ? found : found.sort(inOrder), rows.length);
  }

  function sortBy(button) {
    const head = button.closest("th");
    chosen.rising = chosen.key === button.dataset.key ? !chosen.rising : true;
    chosen.key = button.dataset.key;
    for (const other of head.parentElement.children) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", chosen.rising ? "ascending" : "descending");
    refresh();
  }

  function press(button) {
    const flag = button.dataset.flag;
    if (!chosen.flags.delete(flag)) chosen.flags.add(flag);
    button.setAttribute("aria-pressed", String(chosen.flags.has(flag)));
    refresh();
  }

  for (const button of place.querySelectorAll("[data-flag]")) {
    button.append(` (${whole(rows.filter((row) => row.flags.includes(button.dataset.flag)).length)})`);
    button.addEventListener("click", () => press(button));
  }
  for (const button of place.querySelectorAll("[data-key]")) button.addEventListener("click", () => sortBy(button));
  refresh();
  place.dataset.ready = "true";
})();
