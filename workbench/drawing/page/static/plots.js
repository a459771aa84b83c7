"use strict";
for (const place of document.querySelectorAll("figure.plot")) {
  const told = JSON.parse(place.querySelector("script").textContent);
  const target = document.createElement("div");
  place.append(target);
  Plotly.newPlot(target, told.data, told.layout, {
    responsive: true, displaylogo: false, modeBarButtonsToRemove: ["lasso2d", "select2d"],
  });
}
