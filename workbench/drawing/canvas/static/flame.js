// The flame view: boxes as wide as their time, panes below each other on one time scale.
const KIND = { WHOLE: 0, MODULE: 1, NODE: 2, OPERATOR: 3, KERNEL: 4, GAP: 5, RUN: 6, BODY: 7, OTHER: 8, GAIN: 9, LOSS: 10 };
const KIND_NAMES = ["run", "module", "node", "operator", "kernel of a device", "no node", "run", "graph", "other", "gained", "lost"];
const ROW = 22, TITLE = 26, AFTER = 14, AXIS = 26, NAMED = 30, STRIP = 6, MOST_LINKED = 2000;
const COLORS = [{ value: "operator", label: "operator" }, { value: "provider", label: "provider" }, { value: "change", label: "A to B" }];
const KEYS = "Arrows: next, enclosing and inner box; Enter: zoom to it; Escape: back; + and -: zoom; Shift+arrows: move; 0: everything; /: search; n, N: next match, last match";

// A difference with its sign; µs for the smallest.
const signed = (value) => `${value < 0 ? "−" : "+"}${seconds(Math.abs(value))}`;

const listed = (names) => names.slice(0, 12).join(", ") + (names.length > 12 ? `, and ${names.length - 12} more` : "");

// One picture: columns, and for each row of each pane the boxes in order of their start.
class Layout {
  constructor(data, number) {
    const told = data.pictures[number], column = (name) => data.columns[`${number}_${name}`];
    Object.assign(this, { data, told, what: column("what"), up: column("up"), start: column("start_d"), width: column("width_f") });
    Object.assign(this, { own: column("own_f"), calls: column("calls_f"), change: column("change_f"), shape: column("shape") });
    this.rows = [];
    this.panes = [];
    let top = 4;
    for (const pane of told.panes) {
      const lines = [];
      for (let i = pane.first; i < pane.first + pane.count; i++) {
        const depth = this.shape[i] & 255;
        while (lines.length <= depth) lines.push([]);
        lines[depth].push(i);
      }
      const place = { ...pane, top, total: 0, net: 0, number: this.panes.length };
      lines.forEach((line, depth) => {
        const boxes = Uint32Array.from(line);
        for (let k = 1; k < boxes.length; k++) if (this.start[boxes[k]] < this.start[boxes[k - 1]]) { boxes.sort((a, b) => this.start[a] - this.start[b]); break; }
        if (!depth) for (const i of boxes) { place.total += this.width[i]; place.net += this.change ? this.change[i] : 0; }
        this.rows.push({ boxes, y: top + TITLE + depth * ROW, pane: place, depth });
      });
      top += TITLE + Math.max(1, lines.length) * ROW + AFTER;
      place.bottom = top - AFTER;
      this.panes.push(place);
    }
    this.height = top + AXIS;
    this.low = Infinity;
    this.high = -Infinity;
    for (const { boxes, depth } of this.rows) if (!depth) for (const i of boxes) { this.low = Math.min(this.low, this.start[i]); this.high = Math.max(this.high, this.start[i] + this.width[i]); }
    if (!(this.high > this.low)) [this.low, this.high] = [0, 1e-3];
    this.groups = new Set(Object.keys(told.members).map((i) => this.parent(i))); // boxes of boxes that have members
    this.most = 0;
    if (this.change) for (let i = 0; i < this.change.length; i++) if (this.kind(i) === KIND.NODE) this.most = Math.max(this.most, Math.abs(this.change[i]) || 0);
  }

  kind(i) { return this.shape[i] >> 8; }
  depth(i) { return this.shape[i] & 255; }
  parent(i) { return this.up[i] - 1; }
  text(number) { return number < 0 ? "" : this.data.texts[number]; }
  name(i) { return this.text(this.data.whats[this.what[i]][0]); }
  op(i) { return this.text(this.data.whats[this.what[i]][1]); }
  provider(i) { return this.text(this.data.whats[this.what[i]][2]); }
  paneOf(i) { return this.panes.find((pane) => i >= pane.first && i < pane.first + pane.count); }

  // The first box of a row that ends after `x`.
  firstAfter(boxes, x) {
    let low = 0, high = boxes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.start[boxes[middle]] + this.width[boxes[middle]] > x) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  at({ x, y }) {
    const row = this.rows.find((one) => y >= one.y && y < one.y + ROW);
    if (!row) return -1;
    const i = row.boxes[this.firstAfter(row.boxes, x)];
    return i !== undefined && this.start[i] <= x ? i : -1;
  }

  rowOf(i) {
    const pane = this.paneOf(i), depth = this.depth(i);
    return this.rows.find((row) => row.pane === pane && row.depth === depth);
  }

  children(i) {
    const pane = this.paneOf(i), below = this.rows.find((row) => row.pane === pane && row.depth === this.depth(i) + 1);
    const found = [];
    if (below) for (let k = this.firstAfter(below.boxes, this.start[i]); k < below.boxes.length; k++) {
      if (this.start[below.boxes[k]] >= this.start[i] + this.width[i]) break;
      if (this.parent(below.boxes[k]) === i) found.push(below.boxes[k]);
    }
    return found;
  }

  // Nodes that a box stands for.
  nodes(i) {
    const members = this.told.members[i];
    if (members) return [...new Set(members.map((number) => this.text(number)))];
    const found = new Set(), waiting = [i];
    for (let up = i; up >= 0; up = this.parent(up)) if (this.kind(up) === KIND.NODE) return [this.name(up)];
    while (waiting.length && found.size < MOST_LINKED) {
      const one = waiting.pop();
      if (this.kind(one) === KIND.NODE) found.add(this.name(one));
      else waiting.push(...this.children(one));
    }
    return [...found];
  }

  path(i) {
    const found = [];
    for (let up = this.parent(i); up >= 0; up = this.parent(up)) found.unshift(this.label(up));
    return found.join(" › ");
  }

  label(i) {
    const name = this.name(i), members = this.told.members[i];
    if (this.kind(i) !== KIND.NODE && !members?.some((number) => this.text(number) === name)) return name;
    return name.split("/").filter(Boolean).at(-1) || name;
  }
}

function render({ model, el }) {
  const born = performance.now(), data = unpack(model);
  const { root, say } = begin(el, `Flame view. ${data.told}`);
  root.classList.add("wbv-flame");
  const layouts = new Map();
  let layout = null, focus = -1, matches = null, order = [], at = 0, lit = null, history = [], theme = readTheme(root), drawn = false;
  const numberOf = (way) => Math.max(0, data.pictures.findIndex((one) => one.key === way));
  const layoutOf = (way) => {
    const number = numberOf(way);
    if (!layouts.has(number)) layouts.set(number, new Layout(data, number));
    return layouts.get(number);
  };

  for (const [i, kind] of ["wbv-title", "wbv-note wbv-line"].entries()) if (data.heading[i]) make("div", kind, printable(data.heading[i]), root).title = printable(data.heading[i]);
  const tools = toolbar(root);
  const ways = data.pictures.map((one) => ({ value: one.key, label: one.title }));
  const wayChoice = tools.choice("Show", "Which picture", ways, data.pictures[numberOf(model.get("way"))].key, (way) => put("way", way));
  const changes = data.pictures.some((_, number) => data.columns[`${number}_change_f`]);
  const colors = COLORS.map((one) => ({ ...one, disabled: one.value === "change" && !changes }));
  const colorChoice = tools.choice("Colour", "What the boxes are coloured by", colors, model.get("color"), (color) => put("color", color));
  const search = tools.search("Search names, operators and modules; Enter: next", find, go);
  const total = make("span", "wbv-note", "", tools.bar);
  tools.button("Everything", "Zoom out to everything (0)", () => home(true));
  tools.button("PNG", "Download the picture as PNG", async () => download(await snapshot(), `flame-${layout.told.key}.png`));
  expander(root, tools.bar, () => size());
  const stageHolder = make("div", "wbv-fill", "", root);
  stageHolder.style.cssText = "display:flex;min-width:0";
  const stage = new Stage(stageHolder, root, { label: `${data.told} ${KEYS}`, axes: "x", bounds: () => seen, draw, limit, hover, click, twice, key });
  stage.canvas.title = "";
  let seen = { x: 0, y: 0, w: 1e-3, h: 100 };
  const legendHolder = make("div", "wbv-legend", "", root);
  const details = make("div", "wbv-details", "", root);

  function put(name, value) { model.set(name, value); model.save_changes(); }

  function show() {
    layout = layoutOf(model.get("way"));
    const { told } = layout;
    wayChoice.value = told.key;
    focus = -1;
    history = [];
    size();
    const [low, high] = told.view || [layout.low, layout.high];
    seen = { x: low, y: 0, w: high - low, h: layout.height };
    stage.touched = false;
    stage.ty = 0;
    stage.fit();
    search.input.value = model.get("search") || "";
    search.look();
    link();
    colorChange();
    describe();
  }

  function size() {
    const least = 150, [own, most] = [layout.height, model.get("height_px")].map((height) => Math.max(height, least));
    stage.holder.style.height = root.classList.contains("wbv-expanded") ? "" : `min(${own / LETTER}em, ${most}px)`;
  }

  function home(all) {
    history = [];
    stage.touched = false;
    stage.fit(all ? { x: layout.low, y: 0, w: layout.high - layout.low, h: layout.height } : seen);
    stage.touched = all;
  }

  function limit(one) {
    const least = one.width / (layout.high - layout.low) / 1.05;
    if (one.kx < least) {
      one.tx = one.width / 2 - (one.width / 2 - one.tx) * (least / one.kx);
      one.kx = least;
    }
    const margin = 0.5 * one.width;
    one.tx = Math.min(Math.max(one.tx, one.width - margin - layout.high * one.kx), margin - layout.low * one.kx);
    one.ty = Math.min(0, Math.max(one.ty, one.height - layout.height));
    one.ky = 1;
  }

  // -------------------------------------------------------------- styles

  const fallback = { color: "#7a7a7a", pattern: ".", ink: "#000000" };
  function styleOf(i) {
    const kind = layout.kind(i);
    if (kind === KIND.GAP) return data.gap;
    if (kind === KIND.GAIN) return data.gain;
    if (kind === KIND.LOSS) return data.loss;
    const [, op, provider] = data.whats[layout.what[i]], color = model.get("color");
    if (op < 0 && provider < 0) return null;
    if (color === "provider") return provider < 0 ? fallback : data.styles.provider[provider];
    if (color === "change") return changeStyle(i);
    return op < 0 ? fallback : data.styles.op[op];
  }

  const shades = new Map();
  function changeStyle(i) {
    let one = i;
    while (one >= 0 && layout.kind(one) !== KIND.NODE) one = layout.parent(one);
    const change = one < 0 || !layout.change ? NaN : layout.change[one];
    if (!(Math.abs(change) > 0) || !layout.most) return Number.isNaN(change) ? null : { color: theme.panel, pattern: "", ink: theme.ink };
    const step = Math.ceil(Math.sqrt(Math.abs(change) / layout.most) * 8), key = `${change < 0}${step}${theme.paper}`;
    if (!shades.has(key)) {
      const base = change < 0 ? data.gain : data.loss, color = mix(theme.paper, base.color, 0.15 + 0.85 * step / 8);
      const [r, g, b] = rgb(color);
      shades.set(key, { color, pattern: step > 5 ? base.pattern : "", ink: 0.299 * r + 0.587 * g + 0.114 * b < 140 ? "#ffffff" : "#000000" });
    }
    return shades.get(key);
  }

  // -------------------------------------------------------------- drawing

  function draw(ctx, one, now) {
    theme = now;
    const left = one.toWorld(0, 0).x, right = one.toWorld(one.width, 0).x, { kx, tx, ty } = one;
    const plain = [mix(theme.paper, theme.ink, 0.1), mix(theme.paper, theme.ink, 0.2)];
    ctx.font = `${LETTER}px ${theme.font}`;
    ctx.textBaseline = "alphabetic";
    const fills = new Map(); // a style's colour or hatching, once a frame
    const { start, width, what, shape } = layout;
    for (const row of layout.rows) {
      const y = row.y + ty;
      if (y + ROW < 0 || y > one.height - AXIS) continue;
      const { boxes } = row;
      let tiny = -1;
      for (let k = layout.firstAfter(boxes, left); k < boxes.length; k++) {
        const i = boxes[k], from = start[i];
        if (from > right) break;
        const x0 = from * kx + tx, wide = width[i] * kx;
        const dim = matches && !matches.has(i), marked = lit?.has(i);
        if (wide < 1.5) { // too narrow to be told apart: one line a pixel
          const pixel = Math.floor(x0);
          if (pixel === tiny && !marked && !(matches && !dim)) continue;
          tiny = pixel;
          const style = styleOf(i);
          ctx.globalAlpha = dim ? 0.2 : 1;
          ctx.fillStyle = marked ? theme.accent : style ? style.color : plain[1];
          ctx.fillRect(pixel, y, 1, ROW - 1);
          continue;
        }
        const from0 = Math.max(x0, -2), w = Math.min(x0 + wide, one.width + 2) - from0, style = styleOf(i);
        ctx.globalAlpha = dim ? 0.2 : 1;
        ctx.fillStyle = style ? style.color : plain[(shape[i] & 255) % 2];
        ctx.fillRect(from0, y, wide > 3 ? w - 1 : w, ROW - 1);
        if (style && style.pattern && wide > 2 * STRIP && x0 > -STRIP) {
          const key = `${style.color}${style.pattern}`;
          if (!fills.has(key)) fills.set(key, hatch(ctx, style));
          ctx.fillStyle = fills.get(key);
          ctx.fillRect(x0, y, STRIP, ROW - 1);
        }
        if (wide > NAMED) {
          ctx.fillStyle = style ? style.ink : theme.ink;
          const inset = x0 > -STRIP ? STRIP + 3 : 4;
          ctx.fillText(caption(ctx, i, w - inset - 4), from0 + inset, y + 16);
        }
        if (wide > 8 && badgeOf(i)) { ctx.fillStyle = BADGE; ctx.strokeStyle = "#000000"; ctx.lineWidth = 1; ctx.beginPath(); ctx.arc(from0 + w - 5, y + 5, 3, 0, 7); ctx.fill(); ctx.stroke(); }
        if (i === focus) frame(ctx, from0, y, w, theme.accent, 2.5);
        else if (marked) frame(ctx, from0, y, w, theme.accent, 2);
      }
    }
    ctx.globalAlpha = 1;
    for (const pane of layout.panes) {
      const y = pane.top + ty;
      if (y > one.height || pane.bottom + ty < 0) continue;
      ctx.fillStyle = theme.ink;
      ctx.font = `600 ${LETTER}px ${theme.font}`;
      const time = differs(pane) ? signed(pane.net) : seconds(pane.total);
      const head = layout.told.key === "time" ? pane.title : `${pane.title}: ${time}`;
      const title = fitText(ctx, head, one.width - 16);
      const run = RUNS[/^([AB])\b/.exec(pane.title)?.[1]];
      if (run) { ctx.fillStyle = run; ctx.fillRect(0, y + 4, 4, 18); ctx.fillStyle = theme.ink; }
      ctx.fillText(title, run ? 9 : 6, y + 18);
      const used = ctx.measureText(title).width;
      ctx.font = `${LETTER}px ${theme.font}`;
      ctx.fillStyle = theme.soft;
      ctx.fillText(fitText(ctx, pane.note, one.width - used - 28), used + 16, y + 18);
      if (!pane.count) ctx.fillText("no run was completed", 6, y + TITLE + 16);
    }
    axis(ctx, one, left, right);
    if (!drawn) performance.measure("wbv drawn", { start: born });
    drawn = true;
  }

  const badgeOf = (i) => (layout.kind(i) === KIND.NODE && (model.get("badges") || {})[layout.name(i)]) || "";
  const frame = (ctx, x, y, w, color, line) => {
    ctx.strokeStyle = color;
    ctx.lineWidth = line;
    ctx.strokeRect(x + line / 2, y + line / 2, Math.max(w - 1 - line, 1), ROW - 1 - line);
  };

  const differs = (pane) => layout.told.key === "difference" && pane.number === layout.panes.length - 1;

  // The name, with its time and its share where there is room for the whole.
  function caption(ctx, i, room) {
    const name = layout.label(i), pane = layout.paneOf(i);
    if (room < 72) return fitText(ctx, name, room);
    const time = differs(pane) ? (layout.depth(i) ? ` ${signed(layout.change[i])}` : "") : ` ${seconds(layout.width[i])}`;
    const part = differs(pane) || layout.told.key === "time" ? "" : `, ${share(layout.width[i] / pane.total)}`;
    for (const each of [name + time + part, name + time]) if (ctx.measureText(each).width <= floor(room)) return fitText(ctx, each, room);
    return fitText(ctx, name, room);
  }

  function axis(ctx, one, left, right) {
    const y = one.height - AXIS;
    ctx.fillStyle = theme.paper;
    ctx.fillRect(0, y, one.width, AXIS);
    ctx.fillStyle = ctx.strokeStyle = theme.soft;
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(0, y + 0.5);
    ctx.lineTo(one.width, y + 0.5);
    const rough = (right - left) / Math.max(4, one.width / 130), power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((times) => times * power).find((each) => each >= rough);
    const [unit, per] = step >= 0.5 ? ["s", 1] : step >= 0.5e-3 || right - left >= 1e-3 ? ["ms", 1e3] : ["µs", 1e6];
    const places = Math.max(0, -Math.floor(Math.log10(step * per) + 1e-9));
    ctx.font = `${LETTER}px ${theme.font}`;
    for (let tick = Math.ceil(left / step); tick * step <= right; tick++) {
      const x = Math.round(tick * step * one.kx + one.tx) + 0.5, label = `${(tick * step * per).toFixed(places)} ${unit}`;
      ctx.moveTo(x, y);
      ctx.lineTo(x, y + 5);
      const half = ctx.measureText(label).width / 2;
      if (x - half > 2 && x + half < one.width - 2) ctx.fillText(label, x - half, y + 20);
    }
    ctx.stroke();
  }

  function colorChange() {
    colorChoice.value = model.get("color");
    const own = new Map(), by = model.get("color");
    for (const row of layout.rows) for (const i of row.boxes) {
      const kind = layout.kind(i), [, op, provider] = data.whats[layout.what[i]], number = by === "provider" ? provider : op;
      if (number >= 0 && kind !== KIND.GAP && kind < KIND.GAIN) own.set(number, (own.get(number) || 0) + (layout.own[i] || 0));
    }
    const most = [...own].sort((a, b) => b[1] - a[1]).slice(0, 10);
    const entries = by === "change" ? [] : most.map(([number]) => ({ label: layout.text(number).replace("ExecutionProvider", ""), style: data.styles[by === "provider" ? "provider" : "op"][number] }));
    if (by !== "change" && own.size > most.length) entries.push({ label: `${own.size - most.length} more`, style: null });
    if (by === "change" || layout.told.key === "difference") entries.push({ label: "less time in B", style: data.gain, glyph: "−" }, { label: "more time in B", style: data.loss, glyph: "+" });
    entries.push({ label: "no node: gaps", style: data.gap });
    if (Object.keys(model.get("badges") || {}).length) entries.push({ label: "a finding is about it", glyph: "!" });
    layout.legend = entries;
    legend(legendHolder, entries, readTheme(root));
    stage.request();
  }

  // -------------------------------------------------------------- words

  function facts(i) {
    const pane = layout.paneOf(i), kind = layout.kind(i), whole = pane.total || 1, change = layout.change ? layout.change[i] : NaN;
    const differing = differs(pane);
    const found = [[KIND_NAMES[kind], layout.name(i)]];
    if (layout.op(i) && kind !== KIND.OPERATOR && !differing) found.push(["operator", layout.op(i)]);
    if (layout.provider(i)) found.push(["provider", layout.provider(i)]);
    if (differing) {
      found.push(["difference", signed(change)], ["of all that changed", share(layout.width[i] / whole)]);
    } else {
      found.push(["time", seconds(layout.width[i])]);
      if (layout.told.key !== "time") found.push([`of ${pane.title}`, share(layout.width[i] / whole)]);
      if (layout.own[i] < layout.width[i] * 0.999) found.push(["of it its own", seconds(layout.own[i])]);
      if (layout.calls && layout.calls[i] > 0) found.push(["calls a run", digits(layout.calls[i])]);
      if (layout.told.key === "time") found.push(["begins at", `${layout.start[i] < 0 ? "−" : ""}${seconds(Math.abs(layout.start[i]))}`]);
      if (!Number.isNaN(change)) found.push(["what took its place, less A", signed(change)]);
    }
    const members = layout.told.members[i];
    if (members) found.push([members.length > 1 ? "nodes" : "node", listed(members.map((number) => layout.text(number)))]);
    if (layout.parent(i) >= 0) found.push(["inside", layout.path(i)]);
    if (badgeOf(i)) found.push(["finding", badgeOf(i)]);
    return found;
  }

  function hover(point) {
    const i = point ? layout.at(point) : -1;
    stage.canvas.style.cursor = i < 0 ? "" : "pointer";
    return i < 0 ? "" : facts(i).map(([what, told]) => `${what}: ${told}`).join("\n");
  }

  function describe() {
    details.replaceChildren();
    if (focus < 0) { make("span", "wbv-note", `${printable(layout.told.note)} Click a box for its figures; double-click to zoom to it. ${KEYS}.`, details); return; }
    const list = make("dl", "", "", details);
    const others = [...new Set([...(lit || [])].map((i) => layout.name(i)))].filter((name) => name !== layout.name(focus));
    for (const [what, told] of [...facts(focus), ...(others.length ? [["selected with it", listed(others)]] : [])]) {
      make("dt", "", printable(what), list);
      make("dd", "", printable(told), list);
    }
  }

  // -------------------------------------------------------------- choosing, searching

  function choose(i, quiet) {
    focus = i;
    describe();
    if (i >= 0) say(facts(i).map(([what, told]) => `${what} ${told}`).join(", "));
    if (!quiet) put("selected", i < 0 ? [] : layout.nodes(i));
    if (i >= 0) bring(i);
    stage.request();
  }

  function bring(i) {
    const row = layout.rowOf(i), x0 = layout.start[i] * stage.kx + stage.tx, x1 = x0 + layout.width[i] * stage.kx;
    if (x1 < 0 || x0 > stage.width) stage.tx += stage.width / 2 - (x0 + x1) / 2;
    const y = row.y + stage.ty;
    if (y < TITLE) stage.ty += TITLE - y;
    if (y + ROW > stage.height - AXIS) stage.ty -= y + ROW - stage.height + AXIS;
    stage.moved();
  }

  function zoomTo(i) {
    history.push({ x: stage.toWorld(0, 0).x, w: stage.width / stage.kx });
    const room = layout.width[i] * 0.02 || 1e-9;
    stage.fit({ x: layout.start[i] - room, y: 0, w: layout.width[i] + 2 * room, h: layout.height });
    stage.touched = true;
  }

  function back() {
    const last = history.pop();
    if (last) stage.fit({ ...last, y: 0, h: layout.height });
    else if (stage.touched) home(false);
    else if (focus < 0) return false;
    else choose(-1);
    return true;
  }

  function click(point) { choose(layout.at(point)); }
  function twice(point) {
    const i = layout.at(point);
    if (i >= 0) { focus = i; zoomTo(i); } else home(false);
  }

  // Boxes that contain the text; of boxes within boxes the outermost counts, so that the share is no sum twice.
  function find(text) {
    const wanted = text.trim().toLowerCase();
    if ((model.get("search") || "") !== text) put("search", text);
    matches = null;
    order = [];
    at = 0;
    total.textContent = "";
    stage.request();
    if (!wanted) return 0;
    const says = data.whats.map(([name, op]) => layout.text(name).toLowerCase().includes(wanted) || (op >= 0 && layout.text(op).toLowerCase().includes(wanted)));
    matches = new Set();
    const sums = layout.panes.map(() => 0);
    const inside = new Uint8Array(layout.what.length);
    for (const row of layout.rows) for (const i of row.boxes) {
      const up = layout.parent(i);
      inside[i] = up >= 0 && inside[up] ? 1 : 0;
      if (inside[i]) { matches.add(i); continue; }
      if (!says[layout.what[i]]) continue;
      inside[i] = 1;
      matches.add(i);
      order.push(i);
      sums[row.pane.number] += layout.width[i];
    }
    order.sort((a, b) => layout.width[b] - layout.width[a]);
    total.textContent = order.length ? layout.panes.map((pane, k) => (sums[k] ? `${seconds(sums[k])}, ${share(sums[k] / (pane.total || 1))} of ${printable(pane.title)}` : "")).filter(Boolean).slice(0, 3).join("; ") : "";
    return order.length;
  }

  function go(step) {
    at = step === 0 ? 0 : (at + step + order.length) % order.length;
    if (step) choose(order[at], true);
    return at;
  }

  function link() {
    const chosen = new Set(model.get("selected") || []);
    lit = null;
    if (chosen.size) {
      lit = new Set();
      for (const row of layout.rows) for (const i of row.boxes) {
        const members = layout.told.members[i];
        const mine = layout.kind(i) === KIND.NODE ? chosen.has(layout.name(i)) : members && !layout.groups.has(i) && members.some((number) => chosen.has(layout.text(number)));
        if (mine) lit.add(i);
      }
      if (!lit.size) lit = null;
      else if (focus < 0 || !chosen.has(layout.nodes(focus)[0]) || !layout.nodes(focus).every((name) => chosen.has(name))) {
        [focus] = lit;
        bring(focus);
      }
    } else if (focus >= 0 && layout.nodes(focus).length) focus = -1;
    describe();
    stage.request();
  }

  function key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "/") search.input.focus();
    else if (event.key === "Escape" || event.key === "Backspace") return back();
    else if (event.key === "n" || event.key === "N") { if (order.length) go(event.key === "n" ? 1 : -1); }
    else if (event.key === "0") home(event.shiftKey);
    else if (event.shiftKey) return false;
    else if (focus < 0 && (step || event.key.startsWith("Arrow"))) choose(layout.rows.length ? layout.rows[0].boxes[0] ?? -1 : -1);
    else if (focus < 0) return false;
    else if (event.key === "Enter") zoomTo(focus);
    else if (step) {
      const { boxes } = layout.rowOf(focus), next = boxes[boxes.indexOf(focus) + step];
      if (next !== undefined) choose(next);
    } else if (event.key === "ArrowUp") {
      const up = layout.parent(focus), pane = layout.paneOf(focus);
      if (up >= 0) choose(up);
      else if (pane.number) choose(layout.rows.find((row) => row.pane.number === pane.number - 1)?.boxes[0] ?? focus);
    } else if (event.key === "ArrowDown") {
      const [below] = layout.children(focus), next = layout.rows.find((row) => row.pane.number === layout.paneOf(focus).number + 1);
      if (below !== undefined) choose(below);
      else if (next) choose(next.boxes[0]);
    } else return false;
    return true;
  }

  const snapshot = () => picture({ stages: [stage], titles: [data.told], legendEntries: layout.legend, root, stacked: true });
  const unhear = hear(model, snapshot, {
    "change:way": show,
    "change:color": colorChange,
    "change:selected": link,
    "change:badges": () => { colorChange(); describe(); },
    "change:search": () => search.follow(model.get("search")),
    "change:height_px": size,
  });
  const unwatch = onTheme(root, () => { shades.clear(); legend(legendHolder, layout.legend || [], readTheme(root)); });
  show();
  return () => { unwatch(); unhear(); stage.end(); };
}
