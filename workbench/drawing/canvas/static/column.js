// A small graph as one column, a row a node. Two graphs side by side share their rows: what became of what stands level.

const MOST_IN_COLUMN = 48, MOST_PORTS = 10, ROW_H = 28, PITCH = 36, LANE_W = 10, BRACKET = 22, ENTRY = 26;
const MOST_TALL = 720; // pixels of a canvas that grows to show a column
const LEAST_SCALE = 0.7; // at which a row of ROW_H holds letters of LETTER pixels

// totals: rows of each graph, in order; links: [row of the first, row of the second]; wires of each: [from, to].
// Gives the slot of each row, and groups of rows that belong together: {top, rows: [of the first, of the second]}.
function alignedRows(totals, links, wires) {
  const [first, second = 0] = totals, all = first + second, head = Array.from({ length: all }, (_, i) => i);
  const root = (i) => { while (head[i] !== i) i = head[i] = head[head[i]]; return i; };
  for (const [a, b] of links) { const p = root(a), q = root(first + b); head[max(p, q)] = min(p, q); }
  const depth = totals.map((total, side) => depths(total, wires[side])), groups = new Map(); // by their root
  for (let i = 0; i < all; i++) {
    if (!groups.has(root(i))) groups.set(root(i), { rows: [[], []], makers: new Set(), at: NaN });
    groups.get(root(i)).rows[i < first ? 0 : 1].push(i < first ? i : i - first);
  }
  for (const { rows } of groups.values()) rows.forEach((list, side) => list.sort((p, q) => depth[side][p] - depth[side][q] || p - q));
  for (const group of groups.values()) if (group.rows[0].length) group.at = max(...group.rows[0].map((row) => depth[0][row]));
  const groupOf = (side, row) => groups.get(root(side * first + row));
  wires.forEach((list, side) => { for (const [from, to] of list) if (groupOf(side, from) !== groupOf(side, to)) groupOf(side, to).makers.add(groupOf(side, from)); });
  for (const row of Array.from({ length: second }, (_, i) => i).sort((p, q) => depth[1][p] - depth[1][q])) {
    const group = groupOf(1, row); // what has no row of the first graph stands below what it reads
    if (!group.rows[0].length) group.at = max(0, ...[...group.makers].map(({ at }) => at || 0)) + 0.25;
  }
  const slots = [new Array(first), new Array(second)], left = new Set([...groups.values()].sort((p, q) => p.at - q.at)), order = [];
  let top = 0;
  while (left.size) { // makers first, then what is less deep
    const waiting = [...left], next = waiting.find((group) => [...group.makers].every((maker) => !left.has(maker))) || waiting[0];
    left.delete(next);
    const height = max(next.rows[0].length, next.rows[1].length);
    next.rows.forEach((rows, side) => rows.forEach((row, i) => { slots[side][row] = top + ((i + 0.5) * height) / rows.length - 0.5; }));
    order.push({ top, height, rows: next.rows });
    top += height;
  }
  return { slots, groups: order, height: top };
}

// The longest path to each row; what reads nothing stands just above its first reader.
function depths(total, wires) {
  const depth = new Array(total).fill(0), next = new Array(total).fill(Infinity), reads = new Set(wires.map(([, to]) => to));
  for (let pass = 0, changed = true; changed && pass < total; pass++) {
    changed = false;
    for (const [from, to] of wires) if (depth[to] <= depth[from]) { depth[to] = depth[from] + 1; changed = true; }
  }
  for (const [from, to] of wires) next[from] = min(next[from], depth[to]);
  return depth.map((own, row) => (reads.has(row) || next[row] === Infinity ? own : next[row] - 0.5));
}

// Which lane each maker's line runs in, where it passes other rows: [[maker, from, to]] → lane by maker, and how many.
function lanesOf(spans) {
  const ends = [], lane = new Map();
  for (const [maker, from, to] of [...spans].sort((p, q) => p[1] - q[1] || p[2] - q[2])) {
    let free = ends.findIndex((end) => end < from);
    if (free < 0) free = ends.length;
    ends[free] = to;
    lane.set(maker, free);
  }
  return { lane, count: ends.length };
}

// The lines of one graph in its slots: those to the next row, and those that pass others by maker.
function columnLinks(slots, wires) {
  const taken = [...slots].sort((a, b) => a - b), next = new Map(taken.map((slot, i) => [slot, taken[i + 1]]));
  const pairs = new Map(), spans = new Map();
  wires.forEach(([from, to], i) => push(pairs, `${from},${to}`, i));
  const links = [...pairs].map(([key, list]) => {
    const [from, to] = key.split(",").map(Number), near = next.get(slots[from]) === slots[to];
    if (!near) {
      const [low, high] = [min(slots[from], slots[to]), max(slots[from], slots[to])], span = spans.get(from);
      spans.set(from, span ? [from, min(span[1], low), max(span[2], high)] : [from, low, high]);
    }
    return { from, to, list, near };
  });
  return { links, ...lanesOf(spans.values()) };
}

// Puts the boxes and lines of a pane into its column.
function layColumn(pane) {
  const { columns } = pane.view, { slots, laid } = columns, { boxes, wires, stage } = pane, own = slots[pane.number];
  const lanes = max(...laid.map(({ count }) => count)) * LANE_W + 8, tall = columns.height * PITCH - PITCH + ROW_H;
  const scale = min(1.15, max((stage.height - 24) / tall, LEAST_SCALE));
  const wide = min(440, max(150, (stage.width - 24) / scale - lanes - BRACKET)), mirrored = pane.number === 1;
  const x = mirrored ? BRACKET : lanes, rects = new Map(), lines = [], cells = [], entering = new Map();
  own.forEach((slot, row) => { const rect = { item: boxes + row, x, y: slot * PITCH, w: wide, h: ROW_H }; cells.push(rect); rects.set(boxes + row, rect); });
  const { links, lane } = laid[pane.number];
  for (const { from, to, list, near } of links) {
    const a = cells[from], b = cells[to], crossing = new Map(list.filter((i) => wires.crosses[i]).map((i) => [wires.tensor[i], wires.bytes[i]]));
    const line = { edges: [], wires: list, crosses: crossing.size > 0, arrow: true };
    if (line.crosses) {
      const size = [...crossing.values()].reduce((sum, value) => sum + value, 0);
      line.edges.push({ crosses: true, bytes: size });
      entering.set(b.item, (entering.get(b.item) || 0) + size);
    }
    const edge = mirrored ? x + wide : x, gutter = edge + (mirrored ? 1 : -1) * (8 + LANE_W * lane.get(from));
    const low = a.y + ROW_H / 2 + 5, high = b.y + ROW_H / 2 - 5;
    lines.push({ ...line, points: near ? [[x + ENTRY, a.y + ROW_H], [x + ENTRY, b.y]] : [[edge, low], [gutter, low], [gutter, high], [edge, high]] });
  }
  pane.stubs = { ins: new Map(), outs: new Map() };
  pane.shut = new Int32Array(boxes).fill(-1);
  return { rects, cells, lines, frames: [], entering, whole: { x: 0, y: 0, w: lanes + wide + BRACKET, h: tall } };
}

// A bracket around rows that became other rows, towards the other graph.
function drawBrackets(ctx, theme, pane) {
  const { columns } = pane.view, { number, whole } = pane, edge = number ? BRACKET : whole.w - BRACKET, out = number ? -1 : 1;
  ctx.strokeStyle = mix(theme.line, theme.ink, 0.5);
  ctx.lineWidth = 1.6;
  ctx.beginPath();
  for (const { top, height, rows } of columns.groups) {
    const own = rows[number], other = rows[1 - number];
    if (!own.length || !other.length || own.length + other.length < 3) continue;
    const middle = (top + (height - 1) / 2) * PITCH + ROW_H / 2, slots = own.map((row) => columns.slots[number][row] * PITCH);
    const x = edge + out * 9;
    if (own.length > 1) {
      ctx.moveTo(edge + out * 3, slots[0] + 3);
      ctx.lineTo(x, slots[0] + 3);
      ctx.lineTo(x, slots.at(-1) + ROW_H - 3);
      ctx.lineTo(edge + out * 3, slots.at(-1) + ROW_H - 3);
    }
    ctx.moveTo(own.length > 1 ? x : edge, middle);
    ctx.lineTo(edge + out * 400, middle);
  }
  ctx.stroke();
}
