"use strict";
// The slider: says what the chosen threshold accepts, and moves the point of the risk-coverage chart there.
(() => {
  const { names, stops } = JSON.parse(document.getElementById("stops").textContent);
  const slider = document.getElementById("threshold");
  const output = document.getElementById("stop");
  const buttons = document.querySelectorAll("#slider [data-stop]");

  function show() {
    const stop = stops[Number(slider.value)];
    const list = document.createElement("dl");
    names.forEach((name, place) => {
      const row = document.createElement("div");
      row.append(document.createElement("dt"), document.createElement("dd"));
      row.firstChild.textContent = name;
      row.lastChild.textContent = stop.texts[place];
      list.append(row);
    });
    const mark = document.createElement("p");
    mark.className = stop.certified ? "mark certified" : "mark";
    mark.textContent = stop.mark;
    output.replaceChildren(list, mark);
    slider.setAttribute("aria-valuetext", stop.spoken);
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
