// What all views share: theme, canvas stage with pan and zoom, toolbar, search, tooltip, minimap, PNG.
// Texts come from models of strangers: they reach the page through textContent and fillText only.

const { abs, ceil, floor, hypot, max, min, round, sqrt } = Math;

// ---------------------------------------------------------------- texts and numbers

const printable = (text) =>
  String(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
const digits = (value) => String(Number(value.toPrecision(3)));
const count = (value) => round(value).toLocaleString("en-US");
const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;
const share = (part) => (part > 0 && part < 0.001 ? "<0.1 %" : `${(part * 100).toFixed(1)} %`);

function seconds(value) {
  if (!(value >= 0)) return "unknown";
  if (value >= 0.9995) return `${digits(value)} s`; // 999.5 ms has the digits 1000
  return value >= 0.0009995 ? `${digits(value * 1e3)} ms` : `${digits(value * 1e6)} µs`;
}

function bytes(value) {
  if (!(value >= 0)) return "unknown";
  const step = value >= 9.995e8 ? 3 : value >= 9.995e5 ? 2 : value >= 999.5 ? 1 : 0;
  return `${digits(value / 1000 ** step)} ${["B", "kB", "MB", "GB"][step]}`;
}

const measured = (value, unit) => (unit === "s" ? seconds(value) : unit === "B" ? bytes(value) : value >= 0 ? `${digits(value)}${unit ? ` ${unit}` : ""}` : "unknown");

const fitted = new Map(); // what a text looks like in so many pixels, per font
function fitText(ctx, text, width) {
  const room = floor(width);
  if (room < 8 || !text) return "";
  const key = `${ctx.font}|${room}|${text}`;
  let found = fitted.get(key);
  if (found === undefined) {
    const letters = [...printable(text.length > 400 ? `${text.slice(0, 300)}…${text.slice(-99)}` : text)];
    let keep = letters.length;
    found = letters.join("");
    if (ctx.measureText(found).width > room) {
      let low = 0;
      while (low < keep) { // the longest that fits, cut in the middle: both ends of a path tell something
        const middle = (low + keep + 1) >> 1;
        if (ctx.measureText(cut(letters, middle)).width <= room) low = middle;
        else keep = middle - 1;
      }
      found = low > 2 ? cut(letters, low) : ""; // fewer letters tell nothing
    }
    if (fitted.size > 20000) fitted.clear();
    fitted.set(key, found);
  }
  return found;
}
const cut = (letters, keep) => `${letters.slice(0, ceil(keep / 2)).join("")}…${keep > 1 ? letters.slice(-floor(keep / 2)).join("") : ""}`;

// ---------------------------------------------------------------- data

// The header with `header.columns` as typed arrays; the block may start anywhere, so it is copied once.
function unpack(model) {
  const header = JSON.parse(model.get("header") || "{}");
  const block = model.get("columns");
  const raw = block instanceof DataView ? new Uint8Array(block.buffer, block.byteOffset, block.byteLength) : new Uint8Array(block || 0);
  const buffer = raw.slice().buffer;
  const columns = {};
  for (const [name, [kind, offset, length]] of Object.entries(header.columns || {}))
    columns[name] = new { f: Float32Array, d: Float64Array, u: Uint32Array }[kind](buffer, offset, length);
  header.columns = columns;
  return header;
}

// ---------------------------------------------------------------- theme and fills

const LETTER = 14; // pixels of the letters that everything on a canvas is laid out for
// How much larger the letters around a view are, as in projector mode: what is on its canvas grows with them.
const scaleOf = (root) => (parseFloat(getComputedStyle(root).fontSize) || LETTER) / LETTER;

const probe = document.createElement("canvas").getContext("2d");
// Red, green, blue and how opaque.
function rgba(color) {
  probe.fillStyle = "#808080";
  probe.fillStyle = color.trim();
  const value = probe.fillStyle;
  if (value[0] === "#") return [1, 3, 5].map((i) => parseInt(value.slice(i, i + 2), 16)).concat(1);
  return value.match(/[\d.]+/g).map(Number);
}
const rgb = (color) => rgba(color).slice(0, 3);
const css = ([r, g, b]) => `rgb(${round(r)},${round(g)},${round(b)})`;
const mixed = new Map();
function mix(from, to, part) {
  const key = `${from}|${to}|${part}`;
  if (!mixed.has(key)) {
    const [a, b] = [rgb(from), rgb(to)];
    mixed.set(key, css(a.map((value, i) => value + (b[i] - value) * part)));
  }
  return mixed.get(key);
}

function readTheme(root) {
  const style = getComputedStyle(root);
  const paper = css(rgb(style.getPropertyValue("--paper")));
  const [r, g, b] = rgb(paper);
  const dark = 0.2126 * r + 0.7152 * g + 0.0722 * b < 110;
  const over = (name) => solid(style.getPropertyValue(name), paper);
  return {
    dark, paper, panel: over("--panel"), ink: over("--ink"), soft: over("--soft"), line: over("--line"),
    accent: over("--accent"), font: style.fontFamily || "sans-serif",
  };
}

// JupyterLab's text colours are partly transparent; on a canvas each is wanted as it looks on the paper.
const solid = (color, paper) => mix(paper, css(rgb(color)), rgba(color)[3]);

// Calls back when the theme changes, also where the new colours come later than the attribute.
function onTheme(root, call) {
  const watch = new MutationObserver(call);
  watch.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-jp-theme-name", "class"] });
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", call);
  root.addEventListener("transitionend", call);
  return () => { watch.disconnect(); media.removeEventListener("change", call); };
}

const HATCHES = { "/": [[0, 8, 8, 0]], "\\": [[0, 0, 8, 8]], x: [[0, 8, 8, 0], [0, 0, 8, 8]], "-": [[0, 4, 8, 4]], "|": [[4, 0, 4, 8]], "+": [[0, 4, 8, 4], [4, 0, 4, 8]], ".": [] };
const tiles = new Map();
function hatch(ctx, style) {
  const key = `${style.color}${style.pattern}`;
  if (!tiles.has(key)) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const pen = tile.getContext("2d");
    pen.fillStyle = style.color;
    pen.fillRect(0, 0, 8, 8);
    pen.strokeStyle = pen.fillStyle = style.ink || "#000000";
    pen.lineWidth = 1.5;
    for (const [x0, y0, x1, y1] of HATCHES[style.pattern] || []) {
      pen.beginPath();
      pen.moveTo(x0, y0);
      pen.lineTo(x1, y1);
      pen.stroke();
    }
    if (style.pattern === ".") pen.fillRect(3, 3, 2.5, 2.5);
    tiles.set(key, tile);
  }
  return style.pattern ? ctx.createPattern(tiles.get(key), "repeat") : style.color;
}

// Fills a rectangle in a style of the palette: colour, hatching, outline.
function fillStyled(ctx, style, x, y, w, h) {
  ctx.fillStyle = hatch(ctx, style);
  ctx.fillRect(x, y, w, h);
}

function legend(root, entries, theme) {
  root.replaceChildren();
  for (const { label, style, glyph } of entries) {
    const item = make("span", "", "", root);
    if (style) {
      const swatch = make("canvas", "", "", item);
      swatch.width = 36;
      swatch.height = 24;
      swatch.style.cssText = "width:18px;height:12px";
      const ctx = swatch.getContext("2d");
      ctx.scale(2, 2);
      fillStyled(ctx, style, 0, 0, 18, 12);
      ctx.strokeStyle = theme.line;
      ctx.strokeRect(0.5, 0.5, 17, 11);
    }
    make("span", "", `${glyph ? `${glyph} ` : ""}${printable(label)}`, item);
  }
}

const RUNS = { A: "#0072B2", B: "#D55E00" }; // the colours of the runs, and of nothing else
const BADGE = "#F0E442"; // of a node that a finding is about; with a black outline and a sign

// ---------------------------------------------------------------- elements

function make(tag, className, text, parent) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  parent?.append(element);
  return element;
}

// The root of a view. JupyterLab's shortcuts ("0 0" restarts a kernel!) must not see our keys.
function begin(el, label) {
  const root = make("div", "wbv", "", el);
  root.dataset.lmSuppressShortcuts = "true";
  root.role = "group";
  root.ariaLabel = printable(label);
  root.addEventListener("keydown", (event) => event.stopPropagation());
  const live = make("div", "wbv-live", "", root);
  live.ariaLive = "polite";
  return { root, say: (text) => { live.textContent = printable(text); } };
}

function pressable(bar, label, title, call) {
  const button = make("button", "", label, bar);
  button.type = "button";
  button.title = title;
  button.ariaLabel = title;
  button.addEventListener("click", call);
  return button;
}

const TIGHT = 700, SMALL = 480; // pixels of a view; between them its controls have short labels and one row

function toolbar(root) {
  const bar = make("div", "wbv-bar", "", root);
  new ResizeObserver(() => ["wbv-tight", "wbv-small"].forEach((name, at) => root.classList.toggle(name, root.clientWidth < [TIGHT, SMALL][at] * scaleOf(root)))).observe(root);
  return {
    bar,
    button(label, title, call, short) {
      const button = pressable(bar, label, title, call);
      if (short) button.dataset.short = short;
      return button;
    },
    // options: [{value, label, disabled}]
    choice(label, title, options, value, call) {
      const holder = make("label", "", label, bar);
      const select = make("select", "", "", holder);
      select.title = title;
      for (const one of options) {
        const option = make("option", "", printable(one.label), select);
        option.value = one.value;
        option.disabled = Boolean(one.disabled);
      }
      select.value = value;
      select.addEventListener("change", () => call(select.value));
      return select;
    },
    // find(text): start anew, gives how many; go(step): to the next or the one before, gives its number.
    search(title, find, go) {
      const input = make("input", "", "", bar);
      input.type = "search";
      input.placeholder = "Search ( / )";
      input.title = title;
      input.ariaLabel = title;
      const told = make("span", "wbv-count", "", bar);
      let found = 0;
      const show = (at) => { told.textContent = !input.value ? "" : found ? `${at + 1} of ${count(found)}` : "not found"; };
      const look = () => { found = find(input.value); show(found ? go(0) : 0); };
      input.addEventListener("input", look);
      input.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && found) show(go(event.shiftKey ? -1 : 1));
        if (event.key === "Escape" && input.value) { event.preventDefault(); input.value = ""; look(); }
      });
      const follow = (asked) => { if (input.value !== asked) { input.value = asked; look(); } };
      return { input, look, follow, ask(text) { input.value = text; look(); input.focus(); } };
    },
  };
}

// A button that fills the window with a view, above all else of the page, and one that fills the screen; Escape ends both.
function expander(root, bar, changed) {
  let wide = false;
  const leave = () => { if (root.popover) { root.hidePopover(); root.removeAttribute("popover"); } };
  const enter = () => { if (root.showPopover && root.isConnected) { root.popover = "manual"; root.showPopover(); } };
  const set = (now) => {
    if (document.fullscreenElement === root) document.exitFullscreen();
    if (now === wide) return;
    wide = now;
    root.classList.toggle("wbv-expanded", wide);
    if (wide) enter();
    else leave();
    expand.textContent = wide ? "Back" : "Expand";
    screen.hidden = !wide || !document.fullscreenEnabled;
    changed();
    expand.focus();
  };
  const expand = pressable(bar, "Expand", "Fill the window; Escape comes back", () => set(!wide));
  const screen = pressable(bar, "Full screen", "Fill the screen; Escape comes back", () => { leave(); root.requestFullscreen().catch(enter); });
  screen.hidden = true;
  root.addEventListener("fullscreenchange", () => { if (document.fullscreenElement !== root) set(false); });
  root.addEventListener("keydown", (event) => { if (event.key === "Escape" && wide && !event.defaultPrevented) set(false); });
}

// ---------------------------------------------------------------- the stage: a canvas that is looked at through a window

// asked: {label, axes: "xy" | "x", bounds() → {x, y, w, h}, draw(ctx, stage, theme), hover(point|null, event) → text,
//         click(point, event), twice(point, event), key(event) → handled, minimap() → [{x, y, w, h, color}],
//         least: the smallest scale of fitting until everything is asked for, sized(): called before the first fit, fitted(): after each}
class Stage {
  constructor(parent, root, asked) {
    Object.assign(this, { root, asked, kx: 1, ky: 1, tx: 0, ty: 0, width: 1, height: 1, scale: 1, fresh: true, onView: null, least: asked.least || 0 });
    this.holder = make("div", "wbv-stage", "", parent);
    this.canvas = make("canvas", "", "", this.holder);
    this.canvas.tabIndex = 0;
    this.canvas.role = "img";
    this.canvas.ariaLabel = printable(asked.label);
    this.tip = make("div", "wbv-tip", "", this.holder);
    this.tip.hidden = true;
    this.ctx = this.canvas.getContext("2d");
    this.ending = [onTheme(root, () => this.request())];
    const resize = new ResizeObserver(() => this.resize());
    for (const place of [this.holder, root]) resize.observe(place); // the root alone changes where letters grow
    this.ending.push(() => resize.disconnect());
    this.listen();
  }

  end() {
    for (const call of this.ending) call();
  }

  // Sizes and places on the canvas are in pixels of letters of LETTER pixels; `scale` is how large one is on the screen.
  resize() {
    const [shownWidth, shownHeight] = [this.holder.clientWidth, this.holder.clientHeight], scale = scaleOf(this.root);
    if (!shownWidth || !shownHeight) return;
    const [width, height] = [shownWidth / scale, shownHeight / scale], changed = width !== this.width || height !== this.height;
    if (!changed && !this.fresh) return;
    const dots = devicePixelRatio || 1;
    Object.assign(this.canvas, { width: round(shownWidth * dots), height: round(shownHeight * dots) });
    this.canvas.style.cssText = `width:${shownWidth}px;height:${shownHeight}px`;
    const anew = this.fresh || (changed && !this.touched);
    Object.assign(this, { width, height, scale });
    if (anew) { this.asked.sized?.(); this.fit(); }
    this.request();
  }

  request() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.paint(this.ctx, (devicePixelRatio || 1) * this.scale); });
  }

  paint(ctx, scale) {
    const theme = readTheme(this.root);
    ctx.setTransform(scale, 0, 0, scale, 0, 0);
    ctx.fillStyle = theme.paper;
    ctx.fillRect(0, 0, this.width, this.height);
    ctx.save();
    this.asked.draw(ctx, this, theme);
    ctx.restore();
    if (this.asked.minimap && ctx === this.ctx) this.drawMinimap(ctx, theme);
    if (!this.canvas.dataset.painted) performance.mark("wbv painted");
    this.canvas.dataset.painted = "yes";
  }

  toWorld(px, py) { return { x: (px - this.tx) / this.kx, y: (py - this.ty) / this.ky }; }
  toScreen(x, y) { return [x * this.kx + this.tx, y * this.ky + this.ty]; }
  window() { const a = this.toWorld(0, 0); return { ...a, w: this.width / this.kx, h: this.height / this.ky }; }

  // Shows a rectangle of the world, everything unless told; never larger than life unless asked.
  fit(rect = this.asked.bounds(), most = 1.15, least = this.least) {
    if (!rect || !(rect.w > 0)) return;
    const margin = this.asked.axes === "x" ? 0 : 12;
    const kx = (this.width - 2 * margin) / rect.w;
    if (this.asked.axes === "x") Object.assign(this, { kx, tx: -rect.x * kx });
    else {
      const k = max(min(kx, (this.height - 2 * margin) / rect.h, most), least);
      Object.assign(this, { kx: k, ky: k, tx: this.width / 2 - (rect.x + rect.w / 2) * k });
      this.ty = rect.h * k > this.height ? margin - rect.y * k : this.height / 2 - (rect.y + rect.h / 2) * k;
      if (rect.w * k > this.width) this.tx = margin - rect.x * k;
    }
    this.fresh = false;
    this.asked.fitted?.();
    this.moved();
  }

  showAll() {
    Object.assign(this, { touched: false, least: 0 });
    this.fit();
  }

  // Brings a rectangle into sight, at least so large.
  reveal(rect, least = 0.35) {
    const seen = this.window(), small = this.asked.axes !== "x" && this.kx < least;
    if (!small && rect.x >= seen.x && rect.y >= seen.y && rect.x + rect.w <= seen.x + seen.w && rect.y + rect.h <= seen.y + seen.h) return this.request();
    if (small) this.kx = this.ky = least;
    this.tx = this.width / 2 - (rect.x + rect.w / 2) * this.kx;
    this.ty = this.height / 2 - (rect.y + min(rect.h, this.height / this.ky) / 2) * this.ky;
    this.touched = true;
    this.moved();
  }

  moveBy(dx, dy) { this.tx += dx; this.ty += dy; this.touched = true; this.moved(); }

  zoomAt(px, py, factor) {
    const limit = (k) => min(max(k, 1e-3), this.asked.axes === "x" ? 1e12 : 6);
    const to = limit(this.kx * factor) / this.kx;
    this.tx = px - (px - this.tx) * to;
    this.kx *= to;
    if (this.asked.axes !== "x") { this.ty = py - (py - this.ty) * to; this.ky *= to; }
    this.touched = true;
    this.moved();
  }

  moved() {
    this.asked.limit?.(this);
    this.hideTip();
    this.onView?.(this);
    this.request();
  }

  listen() {
    const fingers = new Map();
    const { canvas } = this;
    let start = null, spread = 0, onMap = false;
    const at = (event) => { const box = canvas.getBoundingClientRect(); return [(event.clientX - box.left) / this.scale, (event.clientY - box.top) / this.scale]; };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.focus({ preventScroll: true });
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, at(event));
      start = fingers.size === 1 ? at(event) : null;
      onMap = fingers.size === 1 && this.jump(...at(event));
      if (fingers.size === 2) spread = gap(fingers);
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = at(event);
      if (!fingers.has(event.pointerId)) return this.hover(x, y, event);
      const [fromX, fromY] = fingers.get(event.pointerId);
      fingers.set(event.pointerId, [x, y]);
      if (onMap) return void this.jump(x, y);
      if (fingers.size === 2) {
        const now = gap(fingers), [[ax, ay], [bx, by]] = fingers.values();
        if (spread > 0) this.zoomAt((ax + bx) / 2, (ay + by) / 2, now / spread);
        spread = now;
      } else if (!start || hypot(x - start[0], y - start[1]) > 4) {
        start = null;
        canvas.style.cursor = "grabbing";
        this.moveBy(x - fromX, y - fromY);
      }
    });
    const up = (event) => {
      fingers.delete(event.pointerId);
      canvas.style.cursor = "";
      if (event.type === "pointerup" && start && !onMap) this.asked.click?.(this.toWorld(...start), event);
      start = null;
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", () => { this.hideTip(); this.asked.hover?.(null); });
    canvas.addEventListener("dblclick", (event) => this.asked.twice?.(this.toWorld(...at(event)), event));
    canvas.addEventListener("wheel", (event) => {
      // Until the view is clicked the wheel scrolls the page; pinching on a touchpad comes with Ctrl.
      if (!event.ctrlKey && document.activeElement !== canvas) return;
      event.preventDefault();
      const [x, y] = at(event);
      if (event.shiftKey || abs(event.deltaX) > abs(event.deltaY)) this.moveBy(-(event.deltaX || event.deltaY), 0);
      else this.zoomAt(x, y, Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (this.asked.key?.(event) || this.ownKey(event.key)) event.preventDefault();
    });
  }

  ownKey(key) {
    const steps = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (steps[key]) this.moveBy(...steps[key]);
    else if (key === "+" || key === "=") this.zoomAt(this.width / 2, this.height / 2, 1.25);
    else if (key === "-") this.zoomAt(this.width / 2, this.height / 2, 0.8);
    else if (key === "0") this.showAll();
    else return false;
    return true;
  }

  hover(x, y, event) {
    const text = this.asked.hover?.(this.toWorld(x, y), event);
    if (!text) return this.hideTip();
    this.tip.textContent = text.split("\n").map(printable).join("\n");
    this.tip.hidden = false;
    const [w, h] = [this.tip.offsetWidth / this.scale, this.tip.offsetHeight / this.scale];
    this.tip.style.left = `${max(0, min(x + 14, this.width - w - 4)) * this.scale}px`;
    this.tip.style.top = `${(y + 18 + h > this.height ? max(0, y - h - 10) : y + 18) * this.scale}px`;
  }

  hideTip() { this.tip.hidden = true; }

  // Where the minimap stands, while not everything is in sight.
  mapFrame() {
    const all = this.asked.bounds();
    const seen = this.window();
    if (!all || !(all.w > 0) || this.width < 240 || (seen.w >= all.w * 0.98 && seen.h >= all.h * 0.98)) return null;
    const k = min(110 / all.w, 90 / all.h);
    const [w, h] = [max(all.w * k, 12), max(all.h * k, 12)];
    return { all, k, x: this.width - w - 8, y: this.height - h - 8, w, h };
  }

  jump(px, py) {
    const frame = this.asked.minimap && this.mapFrame();
    if (!frame || px < frame.x || py < frame.y || px > frame.x + frame.w || py > frame.y + frame.h) return false;
    const x = frame.all.x + (px - frame.x) / frame.k, y = frame.all.y + (py - frame.y) / frame.k;
    this.moveBy(this.width / 2 - (x * this.kx + this.tx), this.height / 2 - (y * this.ky + this.ty));
    return true;
  }

  drawMinimap(ctx, theme) {
    const frame = this.mapFrame();
    if (!frame) return;
    const { all, k, x, y, w, h } = frame, seen = this.window();
    const at = (one, least) => [x + (one.x - all.x) * k, y + (one.y - all.y) * k, max(one.w * k, least), max(one.h * k, least)];
    ctx.save();
    ctx.fillStyle = theme.paper;
    ctx.strokeStyle = theme.line;
    ctx.beginPath();
    ctx.rect(x - 3.5, y - 3.5, w + 7, h + 7);
    ctx.fill();
    ctx.stroke();
    ctx.clip();
    for (const one of this.asked.minimap()) {
      ctx.fillStyle = one.color;
      ctx.fillRect(...at(one, 1));
    }
    ctx.strokeStyle = theme.accent;
    ctx.lineWidth = 2;
    ctx.strokeRect(...at(seen, 2));
    ctx.restore();
  }
}
const gap = (fingers) => { const [[ax, ay], [bx, by]] = fingers.values(); return hypot(ax - bx, ay - by); };

// ---------------------------------------------------------------- pictures

// One picture of all stages side by side or below each other, with title and legend. Gives a PNG blob.
function picture({ stages, titles, legendEntries, root, stacked }) {
  const theme = readTheme(root), scale = 2, pad = 12, line = 20;
  const inner = stacked ? max(...stages.map((s) => s.width)) : stages.reduce((sum, s) => sum + s.width + pad, -pad);
  const tall = stacked ? stages.reduce((sum, s) => sum + s.height + line + pad, 0) : max(...stages.map((s) => s.height)) + line;
  const canvas = document.createElement("canvas");
  const ctx = canvas.getContext("2d");
  const across = max(1, floor(inner / 230)), wide = inner / across, rows = ceil(legendEntries.length / across);
  canvas.width = (inner + 2 * pad) * scale;
  canvas.height = (tall + rows * line + 3 * pad) * scale;
  ctx.scale(scale, scale);
  ctx.fillStyle = theme.paper;
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  let x = pad, y = pad;
  stages.forEach((stage, i) => {
    ctx.font = `600 ${LETTER}px ${theme.font}`;
    ctx.fillStyle = theme.ink;
    ctx.fillText(fitText(ctx, titles[i], stage.width), x, y + LETTER);
    const copy = document.createElement("canvas");
    Object.assign(copy, { width: stage.width * scale, height: stage.height * scale });
    stage.paint(copy.getContext("2d"), scale);
    ctx.drawImage(copy, x, y + line, stage.width, stage.height);
    ctx.strokeStyle = theme.line;
    ctx.strokeRect(x + 0.5, y + line + 0.5, stage.width - 1, stage.height - 1);
    if (stacked) y += stage.height + line + pad;
    else x += stage.width + pad;
  });
  ctx.font = `${LETTER}px ${theme.font}`;
  legendEntries.forEach(({ style, glyph, label }, i) => {
    const left = pad + (i % across) * wide, top = tall + 2 * pad + floor(i / across) * line;
    if (style) {
      fillStyled(ctx, style, left, top, 18, 12);
      ctx.strokeRect(left, top, 18, 12);
    }
    ctx.fillStyle = theme.ink;
    ctx.fillText(fitText(ctx, `${glyph ? `${glyph} ` : ""}${label}`, wide - 34), left + (style ? 24 : 0), top + 12);
  });
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}
function download(blob, name) {
  const link = make("a", "", "", null);
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

// Calls each function at its event of the model, and sends the picture to Python whenever it asks; returns what ends both.
function hear(model, made, calls) {
  const asked = async () => {
    const blob = await made();
    model.set("picture", new DataView(await blob.arrayBuffer()));
    model.save_changes();
  };
  const heard = Object.entries({ ...calls, "change:asked": asked });
  for (const [event, call] of heard) model.on(event, call);
  return () => { for (const [event, call] of heard) model.off(event, call); };
}
