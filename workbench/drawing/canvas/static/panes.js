// One graph of the view as boxes: its tree, what each box holds, what is visible and where it stands.
// Items are numbers: first the boxes, then the rows (nodes, inputs and outputs).

const PAD = BELOW, NODE_H = 42, BOX_H = 56, NODE = 0, NO_PARTITION = 0xffffffff;
const ROWS = ["name", "op", "kind", "provider", "partition", "fate", "inserted", "passes", "shapes", "note", "error"];
const WIRES = ["from", "to", "tensor", "hub", "crosses"];

class Pane {
  constructor(view, told, number) {
    const col = (name) => view.data.columns[`${number}_${name}`] || [];
    const rows = { time: col("time_f"), memory: col("memory_f") }, wires = { bytes: col("wire_bytes_f") };
    for (const name of ROWS) rows[name] = col(name);
    for (const name of WIRES) wires[name] = col(`wire_${name}`);
    Object.assign(this, { view, told, number, col, rows, wires, total: rows.name.length, letter: LETTER, picked: [], linked: [], chosen: new Set(), met: new Set(), current: -1 });
    this.heading = `${told.title}: ${plural(told.nodes, "node")}`;
    this.byName = new Map();
    rows.name.forEach((name, row) => push(this.byName, view.text(name), row));
  }

  // The tree of this name: children, and the rows within each box.
  grow(name) {
    const { told, col, total, view } = this, tree = told.trees.includes(name) ? name : "modules";
    const home = col(`${tree}_home`), parent = col(`${tree}_parent`), boxes = parent.length;
    Object.assign(this, { home, parent, boxes, label: col(`${tree}_label`), path: col(`${tree}_path`) });
    const lists = () => Array.from({ length: boxes }, () => []);
    this.inside = lists();
    this.children = lists();
    const first = new Array(boxes).fill(Infinity);
    for (let row = 0; row < total; row++) {
      this.inside[home[row]].push(row);
      this.children[home[row]].push(boxes + row);
      first[home[row]] = min(first[home[row]], row);
    }
    for (let b = boxes - 1; b > 0; b--) {
      first[parent[b]] = min(first[parent[b]], first[b]);
      this.children[parent[b]].push(b);
      for (const row of this.inside[b]) this.inside[parent[b]].push(row);
    }
    const starts = (item) => (item < boxes ? first[item] : item - boxes);
    for (const list of this.children) list.sort((p, q) => starts(p) - starts(q));
    this.byPath = new Map(Array.from(this.path, (path, b) => [view.text(path), b]));
    this.depth = [0];
    for (let b = 1; b < boxes; b++) this.depth[b] = this.depth[parent[b]] + 1;
    this.opened = new Set(view.columns ? Array.from(parent.keys()) : col(`${tree}_open`));
    this.sums = [];
  }

  isBox(item) { return item < this.boxes; }
  above(item) { return this.isBox(item) ? this.parent[item] : this.home[item - this.boxes]; }
  rowsOf(item) { return this.isBox(item) ? this.inside[item] : [item - this.boxes]; }
  text(column, row) { return this.view.text(this.rows[column][row]); }
  pathOf(box) { return this.view.text(this.path[box]); }
  title(item) {
    const row = item - this.boxes;
    return row < 0 ? this.view.text(this.label[item]) : this.rows.kind[row] === NODE ? short(this.text("op", row)) : leaf(this.text("name", row));
  }

  // Numbers of an item: nodes, time, memory, and nodes of each category.
  sum(item) {
    if (this.sums[item]) return this.sums[item];
    const found = { nodes: 0, time: NaN, memory: NaN, kinds: new Map() }, { mode } = this.view, { rows } = this;
    for (const row of this.rowsOf(item)) {
      if (rows.kind[row] !== NODE) continue;
      found.nodes++;
      for (const name of ["time", "memory"]) if (rows[name][row] >= 0) found[name] = (found[name] || 0) + rows[name][row];
      if (mode?.kind === "category") { const key = rows[mode.name][row]; found.kinds.set(key, (found.kinds.get(key) || 0) + 1); }
    }
    return (this.sums[item] = found);
  }
  size(item) {
    const { nodes } = this.sum(item), rows = this.rowsOf(item);
    return nodes ? plural(nodes, "node") : plural(rows.length, this.view.data.kinds[this.rows.kind[rows[0]]] || "node");
  }
  // The number that the boxes are coloured by, where this graph has it.
  amount(item) { const { mode } = this.view; return mode?.kind === "number" && this.all[mode.name] >= 0 ? this.sum(item)[mode.name] : null; }
  value(item) { const amount = this.amount(item); return amount === null || !(amount >= 0) ? "" : measured(amount, this.view.mode.unit); }

  // Which item stands for a row: itself, or the outermost closed box around it.
  shown(row) { const shut = this.shut[this.home[row]]; return shut >= 0 ? shut : this.boxes + row; }

  settle() {
    Object.assign(this, this.view.columns ? layColumn(this) : this.layer(), { all: this.sum(0), most: {} });
    for (const name of ["time", "memory"]) this.most[name] = this.cells.reduce((top, cell) => max(top, this.sum(cell.item)[name] || 0), 0);
    this.badge();
  }

  // Boxes within boxes, each with its children in layers.
  layer() {
    this.shut = new Int32Array(this.boxes).fill(-1);
    for (let b = 0; b < this.boxes; b++) this.shut[b] = b && this.shut[this.parent[b]] >= 0 ? this.shut[this.parent[b]] : this.opened.has(b) ? -1 : b;
    this.font = getComputedStyle(this.stage.root).fontFamily || "sans-serif";
    const parts = this.lift(), rects = new Map(), frames = [], cells = [], lines = [];
    const { width, height } = this.stage, aspect = min(2.4, max(0.5, width / max(height, 1)));
    const measure = (item) => {
      if (!this.isBox(item) || !this.opened.has(item)) return { ...this.extent(item), item };
      const children = this.children[item].map(measure), { edges, enters, leaves } = parts.get(item) || NOTHING;
      const at = new Map(children.map((child, i) => [child.item, i])), number = (one) => at.get(one);
      const ends = [...edges.values()].map((edge) => ({ ...edge, from: number(edge.a), to: number(edge.b) }));
      const tied = (items) => [...items].map(([one, wires]) => ({ item: number(one), wires }));
      const made = layered(children, ends, tied(enters), tied(leaves), ...(this.depth[item] < 2 || 2 * this.inside[item].length > this.total ? [aspect, 420] : [1.3, 900]), !item);
      for (const { a, b, wires } of made.far) for (const i of wires) this.stub(a, b, i);
      return { item, children, made, w: max(made.w + 2 * PAD, 110), h: made.h + HEADER + 2 * PAD };
    };
    const lay = ({ item, w, h, children, made }, x, y) => {
      const rect = { item, x, y, w, h };
      rects.set(item, rect);
      if (!children) return void cells.push(rect);
      if (item) frames.push(rect);
      const left = x + (w - made.w) / 2, top = y + HEADER + PAD;
      for (const line of made.lines) lines.push({ ...line, points: line.points.map(([px, py]) => [px + left, py + top]) });
      children.forEach((child, i) => lay(child, left + made.at[i].x, top + made.at[i].y));
    };
    const whole = measure(0);
    lay(whole, 0, -HEADER);
    return { rects, frames, cells, lines, entering: new Map(), whole: { x: 0, y: 0, w: whole.w, h: whole.h - HEADER } };
  }

  // Wires between visible items, each told to the box that holds both ends; boxes on the way are entered and left.
  lift() {
    const { wires } = this, parts = new Map();
    const part = (b) => { if (!parts.has(b)) parts.set(b, { edges: new Map(), enters: new Map(), leaves: new Map() }); return parts.get(b); };
    const depthOf = (item) => (this.isBox(item) ? this.depth[item] : this.depth[this.above(item)] + 1);
    this.stubs = { ins: new Map(), outs: new Map() };
    for (let i = 0; i < wires.from.length; i++) {
      let a = this.shown(wires.from[i]), b = this.shown(wires.to[i]);
      if (a === b) continue;
      const hub = wires.hub[i]; // tells what comes first, but is no line
      if (hub) this.stub(a, b, i);
      while (this.above(a) !== this.above(b)) {
        if (depthOf(a) >= depthOf(b)) { if (!hub) push(part(this.above(a)).leaves, a, i); a = this.above(a); }
        else { if (!hub) push(part(this.above(b)).enters, b, i); b = this.above(b); }
      }
      const { edges } = part(this.above(a)), key = `${a},${b}`;
      if (!edges.has(key)) edges.set(key, { a, b, wires: [], hidden: true, tensors: 0, crosses: false, bytes: 0, seen: new Set() });
      const edge = edges.get(key);
      edge.tensors++;
      if (hub) continue;
      edge.hidden = false;
      edge.wires.push(i);
      if (wires.crosses[i] && !edge.seen.has(wires.tensor[i])) { edge.crosses = true; edge.seen.add(wires.tensor[i]); edge.bytes += wires.bytes[i]; }
    }
    return parts;
  }
  stub(a, b, wire) { push(this.stubs.outs, a, wire); push(this.stubs.ins, b, wire); }

  extent(item) {
    const { ctx } = this.stage, box = this.isBox(item);
    ctx.font = `600 ${this.letter}px ${this.font}`;
    const w = min(ctx.measureText(this.title(item).slice(0, 60)).width + 20 + 2 * this.letter, 16 * this.letter);
    return { w: max(w, box ? 146 : 112), h: box ? BOX_H : NODE_H };
  }
  // What findings say, by the visible item that holds the node.
  badge() {
    const texts = this.view.badges;
    this.badges = new Map();
    for (const name of Object.keys(texts)) for (const row of this.byName.get(name) || []) push(this.badges, this.shown(row), texts[name]);
  }
  fit() { if (this.total) this.stage.fit(); }

  find({ x, y }) {
    const hit = (one) => x >= one.x && y >= one.y && x <= one.x + one.w && y <= one.y + one.h;
    return this.cells.find(hit) || this.frames.findLast((one) => hit(one) && y <= one.y + HEADER) || null;
  }
  openTo(row) {
    const before = this.opened.size;
    for (let b = this.home[row]; this.opened.add(b), b; b = this.parent[b]);
    if (this.opened.size > before) this.settle();
  }
}

const NOTHING = { edges: new Map(), enters: [], leaves: [] };
const push = (map, key, one) => { const list = map.get(key); if (list) list.push(one); else map.set(key, [one]); };
const short = (op) => op.slice(op.lastIndexOf(":") + 1);
const leaf = (name) => name.split("/").findLast((part) => part) || name;
