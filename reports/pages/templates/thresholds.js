"use strict";
// The slider: says what the chosen threshold accepts, and moves the point of the risk-coverage chart there.
(() => {
  const { decisions, stops } = JSON.parse(document.getElementById("stops").textContent);
  const slider = document.getElementById("threshold");
  const output = document.getElementById("stop");
  const buttons = document.querySelectorAll("#slider [data-stop]");

  const share = (value) => (value === null ? "-" : `${(100 * value).toFixed(1)}%`);
  const threshold = (value) => String(Number(value.toPrecision(6)));

  function figures(stop) {
    const spread = stop.risk_low === null || stop.risk_high === null
      ? (stop.accepted ? ` (no interval: ${stop.risk_note})` : "")
      : ` (95% interval ${share(stop.risk_low)} to ${share(stop.risk_high)}, pointwise)`;
    const unsafe = stop.unsafe_eligible
      ? `${stop.unsafe_accepted} of ${stop.unsafe_eligible} with an unsafe option (${share(stop.unsafe_acceptance)})`
      : "no decision has an unsafe option";
    return [
      ["threshold", threshold(stop.threshold)],
      ["accepted (coverage)", `${stop.accepted} of ${decisions} (${share(stop.coverage)}), in ${stop.scenarios} scenarios`],
      ["wrong among accepted (selective risk)", `${stop.errors} of ${stop.accepted}: ${share(stop.selective_risk)}${spread}`],
      ["unsafe accepted (unsafe acceptance)", unsafe],
      ["fall back", `${stop.fallback} of ${decisions} (${share(stop.fallback_share)})`],
    ];
  }

  function show() {
    const stop = stops[Number(slider.value)];
    const list = document.createElement("dl");
    for (const [name, value] of figures(stop)) {
      const row = document.createElement("div");
      row.append(document.createElement("dt"), document.createElement("dd"));
      row.firstChild.textContent = name;
      row.lastChild.textContent = value;
      list.append(row);
    }
    const mark = document.createElement("p");
    mark.className = stop.certified ? "mark certified" : "mark";
    mark.textContent = stop.mark;
    output.replaceChildren(list, mark);
    slider.setAttribute(
      "aria-valuetext",
      `${threshold(stop.threshold)}: accepts ${stop.accepted} of ${decisions}, ${stop.errors} wrong`,
    );
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.stop === slider.value));
    const view = window.views["risk-coverage"];
    // The chart draws no point at a negative risk: where nothing is accepted there is none.
    if (view) view.signal("coverage", stop.coverage).signal("risk", stop.selective_risk ?? -1).runAsync();
  }

  slider.addEventListener("input", show);
  for (const button of buttons) {
    button.addEventListener("click", () => {
      slider.value = button.dataset.stop;
      show();
    });
  }
  // A browser may keep where the slider stood when the page is loaded again.
  slider.value = slider.dataset.start;
  show();
  window.drawn.then(show);
})();
