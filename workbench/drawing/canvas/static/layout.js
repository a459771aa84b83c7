// The layered layout of the children of one box: layers, order, places, folded into columns. It knows no graph.

const HEADER = 24, BELOW = 12, ABOVE = HEADER + BELOW; // from the children to the borders of their box
const GAP_X = 18, GAP_Y = 30, GUTTER = 34, LANE = 14, MOST_COUNTED = 500, MOST_SPAN = 30, MOST_WIDE = 8, FILLED = 0.95;

// sizes: [{w, h}]; edges: [{from, to, tensors, hidden, wires, ...}] between their numbers; enters, leaves: [{item, wires}] that
// are tied to the outside; what is taller than `tallest` is folded; with `fill`, gaps of what is too low are wider. Gives {w, h,
// at: [{x, y}], lines, far: edges that are too long to be drawn as lines}, from 0, 0. A line knows the wires that pass through it.
function layered(sizes, edges, enters, leaves, aspect, tallest, fill = false) {
  const count = sizes.length;
  const rank = ranks(count, edges);
  const turned = edges.map((edge) => (rank[edge.from] < rank[edge.to] ? edge : { ...edge, from: edge.to, to: edge.from, back: true }));
  const layer = layersOf(count, turned, rank);
  const drawn = turned.filter((edge) => !edge.hidden), isFar = (edge) => layer[edge.to] - layer[edge.from] > MOST_SPAN;
  const far = drawn.filter(isFar), ahead = drawn.filter((edge) => !isFar(edge));
  const deepest = layer.reduce((most, one) => max(most, one), 0);
  const first = enters.length ? 1 : 0;
  const rows = Array.from({ length: deepest + 1 + first + (leaves.length ? 1 : 0) }, () => []);
  const cell = (row, w, h, item) => { const made = { row, w, h, item, up: [], down: [], x: 0, at: rows[row].length }; rows[row].push(made); return made; };
  const real = sizes.map((size, item) => cell(layer[item] + first, size.w, size.h, item));
  const entry = enters.length ? cell(0, 1, 0, -1) : null;
  const exit = leaves.length ? cell(rows.length - 1, 1, 0, -1) : null;
  const links = new Map();
  const link = (above, below, edge, wires = []) => {
    let made = above.down.find((one) => one.below === below);
    if (!made) {
      made = { above, below, edges: [], wires: [], weight: (above.item === -1 ? 3 : 1) * (below.item === -1 ? 3 : 1) };
      above.down.push(made);
      below.up.push(made);
      links.set(made, made);
    }
    if (edge) made.edges.push(edge);
    for (const wire of wires) made.wires.push(wire);
  };
  const rails = new Map(); // long edges of one source share a rail through the rows between
  const joined = (from, to, edge, key, fromBelow = false) => {
    if (to.row - from.row === 1) return link(from, to, edge, edge.wires);
    if (!rails.has(key)) rails.set(key, []);
    const rail = rails.get(key);
    for (let row = from.row + 1; row < to.row; row++) rail[row] ||= cell(row, 6, 0, -1);
    link(from, rail[from.row + 1], fromBelow ? edge : null, edge.wires);
    for (let row = from.row + 1; row < to.row - 1; row++) link(rail[row], rail[row + 1], edge.crosses ? edge : null, edge.wires);
    link(rail[to.row - 1], to, edge, edge.wires);
  };
  for (const edge of ahead) joined(real[edge.from], real[edge.to], edge, edge.back ? `back ${edge.from}` : edge.from, edge.back);
  for (const { item, wires } of enters) joined(entry, real[item], { pin: true, wires }, "entry");
  for (const { item, wires } of leaves) joined(real[item], exit, { pin: true, wires }, "exit", true);
  order(rows);
  place(rows);
  return { ...fold(rows, real, [...links.values()], entry, exit, aspect, tallest, fill), far };
}

// An order in which few edges lead back (Eades, Lin and Smyth 1993): boxes may read each other in a circle.
function ranks(count, edges) {
  const outs = Array.from({ length: count }, () => new Map()), ins = Array.from({ length: count }, () => new Map());
  for (const { from, to, tensors = 1 } of edges) { outs[from].set(to, tensors); ins[to].set(from, tensors); }
  const left = new Set(Array.from({ length: count }, (_, i) => i)), head = [], tail = [];
  const weight = (map) => [...map.values()].reduce((a, b) => a + b, 0);
  const take = (one, end) => { left.delete(one); end.push(one); for (const other of outs[one].keys()) ins[other].delete(one); for (const other of ins[one].keys()) outs[other].delete(one); };
  while (left.size) {
    const all = [...left];
    const source = all.find((one) => !ins[one].size), sink = all.findLast((one) => !outs[one].size);
    if (source !== undefined) take(source, head);
    else if (sink !== undefined) take(sink, tail);
    else take(all.reduce((a, b) => (weight(outs[b]) - weight(ins[b]) > weight(outs[a]) - weight(ins[a]) ? b : a)), head);
  }
  const rank = [];
  [...head, ...tail.reverse()].forEach((one, at) => { rank[one] = at; });
  return rank;
}

// The longest path to each, no layer too wide. What reads nothing moves down to just above its first reader;
// what is tied to none of the others stands in a block at the top.
function layersOf(count, ahead, rank) {
  const layer = new Array(count).fill(0), next = new Array(count).fill(Infinity), used = [], makers = layer.map(() => []);
  for (const { from, to } of ahead) makers[to].push(from);
  const inOrder = layer.map((_, item) => item).sort((a, b) => rank[a] - rank[b]);
  for (const item of inOrder) {
    if (!makers[item].length) continue;
    layer[item] = 1 + max(...makers[item].map((one) => layer[one]));
    while (used[layer[item]] >= MOST_WIDE) layer[item]++;
    used[layer[item]] = (used[layer[item]] || 0) + 1;
  }
  for (const { from, to } of ahead) next[from] = min(next[from], layer[to]);
  const loose = inOrder.filter((item) => !makers[item].length && next[item] === Infinity);
  const wide = max(4, ceil(sqrt(loose.length)));
  loose.forEach((item, i) => { layer[item] = floor(i / wide); });
  return layer.map((one, item) => (!makers[item].length && next[item] < Infinity ? next[item] - 1 : one));
}

// Barycentre sweeps; the order with the fewest crossings is kept.
function order(rows) {
  const number = () => { for (const row of rows) row.forEach((one, at) => { one.at = at; }); };
  const state = () => rows.map((row) => [...row]);
  number();
  let best = state(), fewest = crossings(rows);
  for (let sweep = 0; sweep < 8 && fewest > 0; sweep++) {
    const down = sweep % 2 === 0;
    for (let i = 1; i < rows.length; i++) {
      const row = rows[down ? i : rows.length - 1 - i];
      for (const one of row) {
        const near = down ? one.up.map((l) => l.above.at) : one.down.map((l) => l.below.at);
        one.wish = near.length ? near.reduce((a, b) => a + b) / near.length : one.at;
      }
      row.sort((a, b) => a.wish - b.wish || a.at - b.at);
      row.forEach((one, at) => { one.at = at; });
    }
    const now = crossings(rows);
    if (now < fewest) { fewest = now; best = state(); }
  }
  best.forEach((row, i) => { rows[i] = row; });
  number();
}

function crossings(rows) {
  let found = 0;
  for (const row of rows) {
    const ends = row.flatMap((one) => one.down.map((l) => l.below.at).sort((a, b) => a - b));
    if (ends.length > MOST_COUNTED) continue;
    for (let i = 0; i < ends.length; i++) for (let j = i + 1; j < ends.length; j++) if (ends[i] > ends[j]) found++;
  }
  return found;
}

// Each as near to the middle of its neighbours as its row allows.
function place(rows) {
  for (const row of rows) {
    let x = 0;
    for (const one of row) { one.x = x + one.w / 2; x += one.w + GAP_X; }
    for (const one of row) one.x -= (x - GAP_X) / 2;
  }
  for (let pass = 0; pass < 6; pass++) {
    const down = pass % 2 === 0;
    for (let i = 1; i < rows.length; i++) settle(rows[down ? i : rows.length - 1 - i], down);
  }
}

function settle(row, down) {
  const blocks = []; // least squares with a least distance: pool neighbours that would overlap
  let offset = 0;
  row.forEach((one, i) => {
    if (i) offset += row[i - 1].w / 2 + GAP_X + one.w / 2;
    const near = down ? one.up : one.down;
    let sum = 0, weight = 0;
    for (const l of near) { sum += (down ? l.above.x : l.below.x) * l.weight; weight += l.weight; }
    const wish = (weight ? sum / weight : one.x) - offset;
    one.offset = offset;
    let block = { sum: wish * (weight || 0.1), weight: weight || 0.1, cells: [one] };
    while (blocks.length && blocks.at(-1).sum / blocks.at(-1).weight > block.sum / block.weight) {
      const before = blocks.pop();
      block = { sum: before.sum + block.sum, weight: before.weight + block.weight, cells: before.cells.concat(block.cells) };
    }
    blocks.push(block);
  });
  for (const block of blocks) for (const one of block.cells) one.x = block.sum / block.weight + one.offset;
}

// A long strip becomes columns side by side, so that the whole comes near to the wanted proportions.
function fold(rows, real, links, entry, exit, aspect, tallest, fill) {
  const heights = rows.map((row) => max(0, ...row.map((one) => one.h)));
  const wide = (from, to) => {
    const cells = rows.slice(from, to).flat();
    return [min(...cells.map((one) => one.x - one.w / 2)), max(...cells.map((one) => one.x + one.w / 2))];
  };
  const tall = heights.reduce((sum, h) => sum + h + GAP_Y, -GAP_Y);
  let starts = [0], x = 0, bottom = 0, least = Infinity;
  for (let m = 1; m <= (tall > tallest ? min(10, heights.filter(Boolean).length) : 0); m++) {
    const tried = [0], tops = [0];
    let y = 0, w = -GUTTER;
    rows.forEach((_, i) => {
      if (i && y + heights[i] / 2 > tall / m && tried.length < m) { tried.push(i); y = 0; }
      y += heights[i] + GAP_Y;
      tops.push(y);
    });
    tried.forEach((from, c) => { const [low, high] = wide(from, tried[c + 1]); w += high - low + GUTTER; });
    const size = max(w / aspect, ...tops); // what fits the wanted proportions best is drawn largest
    if (size < least) { least = size; starts = tried; }
  }
  const lane = starts.length > 1 ? LANE + 4 : 0;
  const parts = starts.map((from, c) => ({ ends: wide(from, starts[c + 1]), heights: heights.slice(from, starts[c + 1]) }));
  const broad = parts.reduce((sum, { ends: [low, high] }) => sum + high - low + GUTTER, -GUTTER);
  const free = parts.map((part) => ((FILLED * broad) / aspect - part.heights.reduce((sum, h) => sum + h, 0)) / max(part.heights.length - 1, 1));
  const gap = fill ? min(max(GAP_Y, min(...free)), 2 * GAP_Y) : GAP_Y;
  const frames = starts.map((from, c) => {
    const [low, high] = wide(from, starts[c + 1]);
    const frame = { from, x, right: x + high - low };
    let top = lane;
    rows.slice(from, starts[c + 1]).forEach((row, i) => {
      const h = heights[from + i];
      for (const one of row) Object.assign(one, { x: one.x - low + x, top: one.h ? top + (h - one.h) / 2 : top, bottom: one.h ? top + (h + one.h) / 2 : top + h, column: c });
      top += h + gap;
    });
    frame.bottom = top - gap;
    bottom = max(bottom, frame.bottom);
    x = frame.right + GUTTER;
    return frame;
  });
  const w = x - GUTTER, h = bottom + lane;
  const lines = [], plain = (points, wires, crosses = false) => lines.push({ edges: [], points, wires, crosses });
  const passing = (cells) => cells.flatMap(({ wires }) => wires);
  const wraps = new Array(frames.length).fill(0);
  for (const { above, below, edges, wires } of links) {
    const line = { edges, wires, arrow: below.item !== -1 && edges.some((edge) => !edge.back), arrowBack: above.item !== -1 && edges.some((edge) => edge.back), crosses: edges.some((edge) => edge.crosses) };
    if (above.column === below.column) lines.push({ ...line, points: [[above.x, above.bottom], [below.x, below.top]] });
    else {
      const shift = 4 * (wraps[above.column]++ % 6), gutter = frames[above.column].right + 6 + shift;
      const low = frames[above.column].bottom + 5 + shift / 2, high = lane - 5 - shift / 2;
      lines.push({ ...line, points: [[above.x, above.bottom], [above.x, low], [gutter, low], [gutter, high], [below.x, high], [below.x, below.top]] });
    }
  }
  for (const one of rows.flat()) if (one.item === -1 && one.up.length && one.down.length && one.bottom > one.top)
    plain([[one.x, one.top], [one.x, one.bottom]], passing(one.down), one.down.some((l) => l.edges.some((edge) => edge.crosses)));
  if (entry) plain([[w / 2, -ABOVE], [entry.x, entry.top]], passing(entry.down));
  if (exit) plain(exit.bottom < h - 6 ? [[exit.x, exit.bottom], [exit.x, h + 3], [w / 2, h + 3], [w / 2, h + BELOW]] : [[exit.x, exit.bottom], [w / 2, h + BELOW]], passing(exit.up));
  return { w, h, at: real.map((one) => ({ x: one.x - one.w / 2, y: one.top })), lines };
}
