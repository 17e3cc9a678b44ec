// The table of disagreements: shows those that search, selects and the filter on who is right leave, a page at a time.
(async () => {
  const { element, isolated, cell, number, whole, tag, unpacked, textsOf, opened, placed, controls, expander, pager } = table;
  // Columns that a narrow screen has no room for.
  const PLACE = ["family", "variant", "trial", "question"];
  const place = document.getElementById("rows");
  const columns = place.querySelectorAll("thead th").length;
  const data = await unpacked("packed");
  if (data === null) {
    document.getElementById("count").textContent = "This browser cannot unpack the disagreements; a current one can.";
    return;
  }
  const { candidates, rows, texts } = data;
  const top = (answer) => Math.max(...Object.values(answer.probabilities));
  const outcome = (answer) => (answer.failure !== null ? "failed" : answer.right ? "right" : "wrong");

  // Filters by value: a candidate that is right alone, or wrong alone, or none that is right.
  const filters = new Map();
  candidates.forEach((name, index) => {
    const rest = candidates.length > 2 ? "all others" : candidates[1 - index];
    filters.set(`right-${index}`, [
      `${name} right, ${rest} wrong`,
      (row) => row.answers.every((answer, at) => answer.right === (at === index)),
    ]);
    // Of two candidates one that is wrong alone is the other that is right alone.
    if (candidates.length > 2) {
      filters.set(`wrong-${index}`, [
        `${name} wrong, ${rest} right`,
        (row) => row.answers.every((answer, at) => answer.right === (at !== index)),
      ]);
    }
  });
  filters.set("none", ["none right", (row) => row.answers.every((answer) => !answer.right)]);

  const who = document.getElementById("who");
  const failures = (row) => row.answers.map((answer) => answer.failure ?? "").join("\n");
  const asked = controls(place, data, failures, () => refresh());
  const fits = (row) => (who.value === "" || filters.get(who.value)[1](row)) && asked(row);

  function answered(answer) {
    const stated = answer.probabilities === null ? " " : ` ${number(top(answer), 4)} `;
    const said = answer.failure === null ? [isolated(answer.choice), stated] : [];
    const failure = answer.failure === null ? [] : [" ", isolated(answer.failure)];
    return element("td", outcome(answer), ...said, element("span", "outcome", outcome(answer)), ...failure);
  }

  function line(row) {
    return element(
      "tr",
      "",
      table.heading(expander(row.case, columns, () => detail(row))),
      ...row.answers.map(answered),
      cell(row.expected),
      cell(number(row.spread, 4), "number"),
      ...PLACE.map((name) => cell(String(row[name]), name === "trial" ? "number wide" : "wide")),
    );
  }

  function detail(row) {
    const known = textsOf(texts, row);
    const made = opened(known, options(row, known.question));
    made.prepend(placed(row, PLACE));
    return made;
  }

  function options(row, question) {
    const head = element("tr", "", ...["option", ...candidates].map((name) => element("th", "", isolated(name))));
    const body = element("tbody", "");
    for (const option of row.options) {
      const marks = option === row.expected ? [tag("expected")] : row.unsafe.includes(option) ? [tag("unsafe")] : [];
      const name = element("th", "", isolated(option), " ", ...marks);
      const description = question && question.descriptions[option];
      if (description) name.append(isolated(description, "div", "description"));
      body.append(element("tr", "", name, ...row.answers.map((answer) => mass(answer, option))));
    }
    return element("div", "scroll", element("table", "", element("thead", "", head), body));
  }

  function mass(answer, option) {
    const probability = answer.probabilities === null ? null : answer.probabilities[option];
    return element("td", "number", number(probability, 4), " ", ...(answer.choice === option ? [tag("chosen")] : []));
  }

  const show = pager(place.querySelector("table.rows tbody"), 25, "disagreements", line);
  const refresh = () => show(rows.filter(fits), rows.length);

  for (const [value, [label, holds]] of filters) {
    who.append(new Option(`${label} (${whole(rows.filter(holds).length)})`, value));
  }
  who.addEventListener("change", refresh);
  refresh();
  place.dataset.ready = "true";
})();
