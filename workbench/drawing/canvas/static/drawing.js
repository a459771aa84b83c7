// How a graph looks: frames, lines, boxes, stubs, the selection.

const CROSSING = "#CC79A7", MOST_TRACED = 40;
const MOST_HEAD = 30; // pixels of the graph: the largest letters of a frame's head
// The size of letters in the graph, so that they are never smaller than LETTER on the screen.
const letters = (k) => max(LETTER, ceil(LETTER / k));

function drawPane(ctx, stage, theme, pane) {
  const seen = stage.window(), k = stage.kx;
  pane.theme = theme;
  if (!pane.total) {
    ctx.textAlign = "center";
    return write(ctx, "No nodes in this graph", stage.width / 2, stage.height / 2, theme.soft, `${LETTER}px ${theme.font}`);
  }
  ctx.translate(stage.tx, stage.ty);
  ctx.scale(k, k);
  const each = (list, draw) => { for (const one of list) if (one.x + one.w >= seen.x && one.y + one.h >= seen.y && one.x <= seen.x + seen.w && one.y <= seen.y + seen.h) draw(ctx, theme, pane, one, k); };
  each(pane.frames, drawFrame);
  drawLines(ctx, theme, pane, seen, k);
  each(pane.frames, drawHead);
  if (pane.view.columns && pane.view.columns.slots[1].length) drawBrackets(ctx, theme, pane);
  each(pane.cells, drawCell);
  if (pane.badges.size) each(pane.cells, drawBadge);
  drawNeighbours(ctx, theme, pane, k);
  ctx.strokeStyle = theme.accent;
  ctx.lineWidth = 3 / min(k, 1);
  for (const [items, dash] of [[pane.met, [6, 4]], [pane.chosen, []]]) for (const item of items) {
    const rect = pane.rects.get(item);
    ctx.setLineDash(dash);
    if (rect) ctx.strokeRect(rect.x - 2, rect.y - 2, rect.w + 4, rect.h + 4);
  }
  ctx.setLineDash([]);
}

function drawFrame(ctx, theme, pane, frame) {
  shape(ctx, frame, 5, ground(theme, pane, frame), theme.line, 1);
  ctx.stroke();
}

function drawHead(ctx, theme, pane, { item, x, y, w }, k) {
  const size = letters(k), base = y + 3 + size;
  if (size > MOST_HEAD) return;
  const bold = `600 ${size}px ${theme.font}`, side = pane.value(item) || pane.size(item);
  ctx.font = bold;
  const label = fitText(ctx, `▾ ${pane.title(item)}`, w - 14), left = ctx.measureText(label).width + 16;
  ctx.font = `${size}px ${theme.font}`;
  const wide = ctx.measureText(side).width, both = wide < w - left - 7;
  ctx.fillStyle = ground(theme, pane, { item }); // the line into the box passes behind its name
  ctx.fillRect(x + 5, y + 3, left - 8 + (both ? wide + 4 : 0), max(HEADER - 4, size * 1.2));
  if (both) write(ctx, side, x + left, base, theme.soft);
  write(ctx, label, x + 7, base, theme.ink, bold);
}

function drawCell(ctx, theme, pane, cell, k) {
  const { item, x, y, w, h } = cell, box = pane.isBox(item), row = item - pane.boxes, { view, rows } = pane, { mode } = view;
  const port = !box && rows.kind[row] !== NODE, inserted = !box && rows.inserted[row], sum = pane.sum(item);
  const kinds = [...sum.kinds].sort((a, b) => b[1] - a[1]), style = !box && kinds.length ? view.styles.get(kinds[0][0]) : null;
  const amount = sum.nodes ? pane.amount(item) : null, known = amount !== null && amount >= 0, blank = amount !== null && !known;
  const fill = known ? heat(theme, amount / (view.most(mode.name) || 1)) : style ? mix(theme.paper, style.style.color, 0.16) : box ? theme.panel : theme.paper;
  if (inserted) ctx.setLineDash([4, 3]);
  shape(ctx, cell, port ? h / 2 : 4, fill, mix(theme.line, theme.ink, 0.25), box ? 1.4 : 1);
  if (k >= 0.12) ctx.stroke();
  ctx.setLineDash([]);
  if (k < 0.12) return;
  if (style || blank) fillStyled(ctx, style ? style.style : unknownStyle(theme), x + 1, y + 1, 9, h - 2);
  if (box && kinds.length) {
    let left = x + 8;
    for (const [key, n] of kinds) {
      const wide = ((w - 16) * n) / sum.nodes, one = view.styles.get(key);
      if (one) fillStyled(ctx, one.style, left, y + h - 12, wide, 8);
      left += wide;
    }
    ctx.lineWidth = 0.6;
    ctx.strokeRect(x + 8, y + h - 12, w - 16, 8);
  }
  const ink = known ? inkOn(fill) : theme.ink;
  if (known) { // how much of all, as a length
    ctx.fillStyle = ink;
    ctx.fillRect(x + 8, y + h - (pane.view.columns ? 3 : 6), max(((w - 16) * amount) / (pane.all[mode.name] || 1), 1), pane.view.columns ? 2 : 3);
  }
  const size = letters(k), tall = h - (box ? 12 : 4), two = size * (box ? 2.45 : 2.3) <= tall;
  if (size * 1.15 > tall) return;
  const glyph = (style?.glyph || (inserted ? "+" : "")), left = x + (port ? 12 : box && !blank ? 8 : 16), room = x + w - left - 8;
  const base = two ? y + 2 + size : y + (tall + size * 0.74) / 2 + (box ? 0 : 2), bold = `600 ${size}px ${theme.font}`;
  ctx.font = bold;
  const label = fitText(ctx, `${box ? "▸ " : ""}${pane.title(item)}`, room - (glyph ? size : 0)), used = ctx.measureText(label).width + 8;
  write(ctx, label, left, base, ink);
  if (glyph) write(ctx, glyph, x + w - size - 3, base, ink);
  ctx.font = `${size}px ${theme.font}`;
  if (two || pane.view.columns) write(ctx, fitParts(ctx, under(pane, item, port), two ? room : room - used - (glyph ? size : 0), pane.view.columns ? "  " : ", "), two ? left : left + used, two ? y + 1 + size * 2.2 : base, known ? ink : theme.soft);
  if (two) drawStubs(ctx, theme, pane, cell, k);
}

// What findings say of nodes in a box: an exclamation mark, or how many nodes.
function drawBadge(ctx, theme, pane, { item, x, y, w }, k) {
  const texts = pane.badges.get(item), size = 10 / min(max(k, 0.25), 1);
  if (!texts) return;
  Object.assign(ctx, { fillStyle: BADGE, strokeStyle: "#000000", lineWidth: size / 10 });
  ctx.beginPath();
  ctx.arc(x + w - 2, y + 2, size, 0, 7);
  ctx.fill();
  ctx.stroke();
  ctx.textAlign = "center";
  write(ctx, texts.length > 1 ? count(texts.length) : "!", x + w - 2, y + 2 + size * 0.5, "#000000", `700 ${size * 1.4}px ${theme.font}`);
  ctx.textAlign = "start";
}

// As many of the parts as there is room for, the first ones first. A number is whole or absent: a part of it is another one.
function fitParts(ctx, parts, room, between) {
  const shown = parts.filter(Boolean), fits = () => ctx.measureText(shown.join(between)).width <= floor(room);
  while (shown.length > 1 && !fits()) shown.pop();
  return /^[\d?]/.test(shown[0]) && !fits() ? "" : fitText(ctx, shown.join(between), room);
}

// The parts of the second line of a box, what matters most first: the number it is coloured by, how much it holds, a name of its own, or a shape.
function under(pane, item, port) {
  const row = item - pane.boxes, { time, kinds } = pane.sum(item), { mode, text } = pane.view;
  // Providers look alike but for their colour, so their names are there too.
  const where = mode?.name === "provider" ? [...kinds].map(([key, n]) => text(key) + (kinds.size > 1 ? ` ${n}` : "")) : [];
  if (pane.isBox(item)) return [pane.value(item), where.length > 1 ? "" : pane.size(item), ...where, !pane.value(item) && time >= 0 ? seconds(time) : ""];
  const own = leaf(pane.text("name", row)), op = pane.text("op", row);
  const dims = pane.text("shapes", row).replaceAll(/\S+, shape unknown/g, "").replaceAll(/(^|, )\w+ /g, "$1").replaceAll(/unk__\d+/g, "?");
  const crossing = pane.entering.get(item), into = crossing >= 0 ? `⇢ ${bytes(crossing)}` : "";
  const first = where.join(", ") || pane.value(item);
  if (pane.view.columns) return [port ? op : "", first, into, port || own === short(op) ? "" : own, dims];
  return [port ? dims || op : first || (dims && own.replace(/_\d+$/, "") === short(op) ? dims : own)];
}

function drawStubs(ctx, theme, pane, { item, x, y, w, h }, k) {
  for (const [side, edge, dir] of [["ins", y, -1], ["outs", y + h, 1]]) {
    const list = pane.stubs[side].get(item);
    if (!list) continue;
    const tensors = [...new Set(list.map((i) => pane.wires.tensor[i]))], more = tensors.length > 1 ? ` +${tensors.length - 1}` : "";
    ctx.fillStyle = theme.soft;
    ctx.fillRect(x + 13, edge + min(0, 6 * dir), 1.5, 6);
    ctx.fillRect(x + 10, edge + 6 * dir, 8, 1.5);
    const size = letters(k);
    ctx.font = `${size}px ${theme.font}`;
    const told = dir < 0 ? leaf(pane.view.text(tensors[0])).replace(/_output_\d+$/, "") + more : `to ${count(list.length)}`;
    const label = fitText(ctx, told, dir < 0 ? w / 2 - 24 : w - 24), base = edge + (dir < 0 ? -3 : size);
    ctx.fillStyle = ground(theme, pane, { item: pane.above(item) }); // a line passes behind it
    ctx.fillRect(x + 20, base - size * 0.85, ctx.measureText(label).width + 2, size);
    write(ctx, label, x + 21, base, theme.soft);
  }
}

function drawLines(ctx, theme, pane, seen, k) {
  const near = ({ points: [[x0, y0], ...rest] }) => rest.length > 1 || !(max(x0, rest[0][0]) < seen.x || min(x0, rest[0][0]) > seen.x + seen.w || max(y0, rest[0][1]) < seen.y || min(y0, rest[0][1]) > seen.y + seen.h);
  const lines = pane.lines.filter(near);
  for (const crosses of [false, true]) {
    const list = lines.filter((line) => line.crosses === crosses);
    ctx.strokeStyle = ctx.fillStyle = crosses ? CROSSING : mix(theme.line, theme.ink, 0.25);
    ctx.lineWidth = (crosses ? 2.2 : 1.1) / max(min(k, 1), 0.6);
    ctx.setLineDash(crosses ? [7, 4] : []);
    ctx.beginPath();
    for (const { points } of list) curve(ctx, points);
    ctx.stroke();
    ctx.setLineDash([]);
    if (k < 0.25) continue;
    ctx.beginPath();
    for (const line of list) tips(ctx, line);
    ctx.fill();
    if (crosses && k > 0.4 && !pane.view.columns) for (const line of list) if (line.arrow || line.arrowBack) drawBytes(ctx, theme, line, k);
  }
}

// The arrows of a line: a curve of two points ends upright, one with corners along its last piece.
function tips(ctx, { points, arrow, arrowBack }) {
  const tip = ([x, y], [fromX, fromY]) => {
    const level = points.length > 2 && abs(y - fromY) < 0.5, dx = level ? 7 * Math.sign(x - fromX) : 0, dy = level ? 0 : 7 * (Math.sign(y - fromY) || 1);
    ctx.moveTo(x, y);
    ctx.lineTo(x - dx - dy * 0.57, y - dy - dx * 0.57);
    ctx.lineTo(x - dx + dy * 0.57, y - dy + dx * 0.57);
  };
  if (arrow) tip(points.at(-1), points.length > 2 ? points.at(-2) : [0, points.at(-1)[1] - 1]);
  if (arrowBack) tip(points[0], points.length > 2 ? points[1] : [0, points[0][1] + 1]);
}

function drawBytes(ctx, theme, { points, edges, arrow }, k) {
  const [x, y] = arrow ? points.at(-1) : points[0], sum = edges.reduce((all, edge) => all + (edge.crosses ? edge.bytes : 0), 0);
  if (!(sum >= 0)) return; // the legend says so once
  const words = bytes(sum), size = letters(k), base = arrow ? y - 10 : y + 7 + size;
  ctx.font = `600 ${size}px ${theme.font}`;
  ctx.fillStyle = theme.paper;
  ctx.fillRect(x + 6, base - size, ctx.measureText(words).width + 4, size * 1.2);
  write(ctx, words, x + 8, base, theme.ink);
}

// What the selection reads and makes, along the lines that lead there; ends that have no line are joined directly.
function drawNeighbours(ctx, theme, pane, k) {
  const { chosen, lines, rects } = pane;
  if (!chosen.size || chosen.size > MOST_TRACED) return;
  if (pane.traced?.chosen !== chosen || pane.traced.lines !== lines) pane.traced = { chosen, lines, ...trace(pane) };
  ctx.strokeStyle = ctx.fillStyle = theme.accent;
  ctx.lineWidth = 2.2 / max(min(k, 1), 0.35);
  ctx.beginPath();
  for (const { points } of pane.traced.along) curve(ctx, points);
  ctx.stroke();
  ctx.beginPath();
  for (const line of pane.traced.along) tips(ctx, line);
  ctx.fill();
  ctx.setLineDash([3, 4]);
  ctx.beginPath();
  for (const [a, b] of pane.traced.direct) {
    const from = rects.get(a), to = rects.get(b);
    curve(ctx, [[from.x + from.w / 2, from.y + from.h], [to.x + to.w / 2, to.y]]);
  }
  ctx.stroke();
  ctx.setLineDash([]);
}

function trace(pane) {
  const { chosen, wires, lines } = pane;
  const own = new Set(), direct = new Map();
  for (let i = 0; i < wires.from.length; i++) {
    const a = pane.shown(wires.from[i]), b = pane.shown(wires.to[i]);
    if (a !== b && (chosen.has(a) || chosen.has(b))) { own.add(i); direct.set(i, [a, b]); }
  }
  const along = lines.filter((line) => line.wires.some((i) => own.has(i)));
  for (const line of along) for (const i of line.wires) direct.delete(i);
  return { along, direct: [...new Map([...direct.values()].map((ends) => [ends.join(), ends])).values()] };
}

const unknownStyle = (theme) => ({ color: theme.paper, pattern: ".", ink: theme.soft });
const heat = (theme, part) => mix(theme.paper, theme.dark ? "#E595C4" : CROSSING, round((0.06 + 0.8 * sqrt(max(part, 0))) * 50) / 50);
const inkOn = (color) => { const [r, g, b] = rgb(color); return 0.299 * r + 0.587 * g + 0.114 * b > 125 ? "#000000" : "#ffffff"; };
const ground = (theme, pane, { item }) => mix(theme.paper, theme.line, min(0.07 * pane.depth[item], 0.28));

function write(ctx, text, x, y, color, font = ctx.font) {
  ctx.font = font;
  ctx.fillStyle = color;
  ctx.fillText(text, x, y);
}

function shape(ctx, { x, y, w, h }, radius, fill, stroke, width) {
  Object.assign(ctx, { fillStyle: fill, strokeStyle: stroke, lineWidth: width });
  ctx.beginPath();
  ctx.roundRect(x, y, w, h, radius);
  ctx.fill();
}

// Two points as a curve that leaves and arrives upright; more of them with rounded corners.
function curve(ctx, points) {
  const [[x0, y0], ...rest] = points, [x1, y1] = rest.at(-1);
  ctx.moveTo(x0, y0);
  if (rest.length > 1) {
    for (let i = 0; i < rest.length - 1; i++) ctx.arcTo(...rest[i], ...rest[i + 1], 6);
    return ctx.lineTo(x1, y1);
  }
  const bend = y1 > y0 ? min((y1 - y0) / 2, 60) : 40;
  return abs(x0 - x1) < 0.5 && y1 > y0 ? ctx.lineTo(x1, y1) : ctx.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1);
}
