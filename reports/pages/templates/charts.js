"use strict";
// Draws every chart of the page; window.views holds the Vega view of each, by key.
window.views = {};
window.drawn = (async () => {
  const specs = JSON.parse(document.getElementById("specs").textContent);
  for (const [key, spec] of Object.entries(specs)) {
    const place = document.getElementById(`chart-${key}`);
    const label = place.getAttribute("aria-label");
    try {
      const result = await vegaEmbed(place, spec, { actions: false, renderer: "svg" });
      window.views[key] = result.view;
    } catch (error) {
      console.error(`The chart ${key} cannot be drawn:`, error); // The others can.
    }
    // Vega describes a drawing as itself.
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", label);
    place.removeAttribute("aria-roledescription");
  }
})();
