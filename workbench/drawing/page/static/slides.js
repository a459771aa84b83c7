"use strict";
const slides = [...document.querySelectorAll("section")];
const steps = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1, Home: -99, End: 99 };
const number = () => Math.min(slides.length, Math.max(1, parseInt(location.hash.slice(1)) || 1));
const show = () => slides.forEach((slide, index) => slide.classList.toggle("now", index + 1 === number()));
const turn = (step) => {
  location.replace("#" + Math.min(slides.length, Math.max(1, number() + step)));
};
document.body.classList.add("turned");
addEventListener("hashchange", show);
addEventListener("click", () => turn(1));
addEventListener("keydown", (event) => {
  if (event.key in steps && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    turn(steps[event.key]);
  }
});
show();
