// The knob table: a cell for each knob of each config. Texts may come from strangers: textContent only.

const OTHER = "other…";
const DEFAULT = "default: "; // before the value in effect
const HEAD = 110, SHORT = 92; // pixels of the names of the rows; of a cell that has no room for more than the value

function el(name, props, ...children) {
  const node = Object.assign(document.createElement(name), props);
  node.append(...children);
  return node;
}

function inShort(text, short) {
  return short && text.startsWith(DEFAULT) ? text.slice(DEFAULT.length) : text;
}

function named(node, name) {
  node.setAttribute("aria-label", name);
  return node;
}

// A cell keeps its elements while the page lives, so that the focus and a half-typed word stay in them.
class Cell {
  constructor(send, row, label) {
    this.send = send;
    this.row = row;
    this.label = label;
    this.options = "";
    this.typing = false;
    this.mark = el("button", { type: "button", className: "wbk-mark", textContent: "≠" });
    this.mark.onclick = () => send({ act: "copy", row, label });
    this.place = el("span", { className: "wbk-place" });
    this.node = el("td", {}, el("div", { className: "wbk-cell" }, this.mark, this.place));
  }

  set(value) {
    this.send({ act: "set", row: this.row, label: this.label, value });
  }

  update(row, cell, short) {
    const name = `${row.label}, ${this.label}`;
    const typed = row.typed && (row.options.length < 2 || this.typing || (cell.error && !row.options.includes(cell.value)));
    const control = typed ? this.box(row) : this.choice(row, cell, short);
    named(control, name);
    control.title = cell.error || `${cell.value}\n${row.help}`;
    control.setAttribute("aria-invalid", String(!!cell.error));
    if (typed) {
      const isDefault = cell.default && !cell.error;
      if (document.activeElement !== control || !this.typing) control.value = isDefault ? "" : cell.value;
      control.placeholder = isDefault ? inShort(cell.value, short) : row.typed;
    } else {
      control.value = cell.value;
    }
    this.mark.hidden = !cell.differs || this.label === "A";
    this.mark.title = `${row.label} differs: give ${this.label} what A has`;
    named(this.mark, `${row.label}: give ${this.label} what A has`);
    this.node.className = [
      cell.differs && this.label !== "A" && "wbk-differs",
      cell.default && "wbk-default",
      cell.error && "wbk-error",
    ].filter(Boolean).join(" ");
  }

  choice(row, cell, short) {
    if (!this.select) {
      this.select = el("select");
      this.select.onfocus = () => {
        this.name(false);
        if (row.key === "providers") this.send({ act: "look" });
      };
      this.select.onblur = () => this.name(this.short);
      this.select.onchange = () => {
        const value = this.select.value;
        if (value === OTHER) return this.type(row);
        if (value.endsWith("…")) this.select.value = this.held;
        this.set(value);
      };
    }
    const others = row.options.includes(cell.value) ? [] : [cell.value];
    const all = [...others, ...row.options, ...(row.typed ? [OTHER] : [])];
    const state = JSON.stringify([all, row.apart]);
    if (this.options !== state) {
      this.options = state;
      this.apart = row.apart ?? {};
      const option = (text) => el("option", { value: text, textContent: text });
      const works = (text) => !(text in this.apart);
      const broken = all.filter((text) => !works(text)).map(option);
      this.select.replaceChildren(...all.filter(works).map(option));
      if (broken.length) this.select.append(el("optgroup", { label: "do not work here" }, ...broken));
    }
    this.short = short;
    this.name(short && document.activeElement !== this.select);
    this.held = cell.value;
    return this.put(this.select);
  }

  // An open list has every value in full, "default: 2" beside "2", and why a value does not work here.
  name(short) {
    for (const option of this.select.options) {
      const why = document.activeElement === this.select && this.apart[option.value];
      const text = inShort(option.value, short) + (why ? `: ${why}` : "");
      if (option.textContent !== text) option.textContent = text;
    }
  }

  type(row) {
    this.typing = true;
    const box = this.box(row);
    box.value = "";
    box.placeholder = row.typed;
    box.focus();
  }

  box(row) {
    if (!this.input) {
      this.input = el("input", { type: "text" });
      const done = () => {
        this.typing = false;
        const text = this.input.value.trim();
        this.set(text || this.first);
      };
      this.input.onchange = done;
      this.input.onblur = () => {
        if (this.typing && !this.input.value.trim()) done();
      };
    }
    this.first = row.options[0];
    return this.put(this.input);
  }

  put(control) {
    if (this.place.firstChild !== control) this.place.replaceChildren(control);
    return control;
  }
}

// A row, with its help below; one that the search found has its long name in a line of its own.
class Line {
  constructor(send, row, found) {
    this.cells = new Map();
    this.send = send;
    this.key = row.key;
    this.name = el("span");
    this.help = el("div", { className: "wbp-help" });
    this.head = el("th", { scope: found ? "rowgroup" : "row" }, this.name);
    this.node = el("tr");
    this.wide = el("td", {}, this.help);
    if (found) this.head.append(this.help);
    this.lead = found ? el("td") : this.head;
    this.nodes = found
      ? [el("tr", { className: "wbk-found" }, this.head), this.node]
      : [this.node, el("tr", { className: "wbp-help-line" }, this.wide)];
  }

  update(row, columns, short) {
    this.name.textContent = row.label;
    this.head.title = this.help.textContent = row.help;
    (this.lead === this.head ? this.wide : this.head).colSpan = columns.length + 1;
    if (row.line !== undefined) return this.updateLine(row, columns);
    const labels = columns.map((column) => column.label);
    for (const label of labels) {
      if (!this.cells.has(label)) this.cells.set(label, new Cell(this.send, row.key, label));
    }
    arrange(this.node, [this.lead, ...labels.map((label) => this.cells.get(label).node)]);
    labels.forEach((label, place) => this.cells.get(label).update(row, row.cells[place], short));
  }

  updateLine(row, columns) {
    if (!this.text) {
      this.text = el("span", { className: "wbk-text" });
      const change = el("button", { type: "button", className: "wbk-link", textContent: "change" });
      named(change, `change the ${row.label}`);
      change.onclick = () => this.send({ act: "open", value: row.section });
      this.cell = el("td", {}, this.text, " ", change);
      this.node.append(this.head, this.cell);
    }
    this.cell.colSpan = columns.length;
    this.text.textContent = row.line;
  }
}

// Puts nodes into their order without moving those that are in place: a moved select loses the focus.
function arrange(parent, wanted) {
  for (const node of [...parent.children]) if (!wanted.includes(node)) node.remove();
  wanted.forEach((node, place) => {
    if (parent.children[place] !== node) parent.insertBefore(node, parent.children[place] || null);
  });
}

function render({ model, el: root }) {
  const send = (content) => model.send(content);
  const lines = new Map();
  const heads = new Map();
  const corner = el("td");
  const head = el("tr", {}, corner);
  const body = el("tbody");
  const found = el("tbody", { className: "wbk-hits" });
  const search = el("input", { type: "search", className: "wbk-search" });
  const count = el("div", { className: "wbk-count" });
  count.setAttribute("role", "status");
  const searching = el("td", {}, search, count);
  const table = el("table", {}, el("thead", {}, head), body, el("tbody", {}, el("tr", {}, searching)), found);
  named(table, "configs: a row for each knob, a column for each config");
  root.classList.add("wbk");
  root.append(table);

  function headOf(label) {
    if (!heads.has(label)) {
      const show = el("button", { type: "button", className: "wbk-name" });
      show.onclick = () => send({ act: "edit", label });
      const copy = el("button", { type: "button", className: "wbk-tool", textContent: "+", title: `Add a column like ${label}` });
      named(copy, `duplicate ${label}`).onclick = () => send({ act: "duplicate", label });
      const drop = el("button", { type: "button", className: "wbk-tool", textContent: "✕", title: `Drop the column ${label}` });
      named(drop, `drop ${label}`).onclick = () => send({ act: "drop", label });
      const node = el("th", { scope: "col" }, show, copy, drop);
      node.dataset.label = label;
      heads.set(label, { node, show, copy, drop });
    }
    return heads.get(label);
  }

  function fill(place, rows, columns) {
    const nodes = [];
    for (const row of rows) {
      const key = `${place.className}/${row.key}`;
      if (!lines.has(key)) lines.set(key, new Line(send, row, place === found));
      const line = lines.get(key);
      line.update(row, columns, short);
      nodes.push(...(row.help ? line.nodes : [line.node]));
    }
    arrange(place, nodes);
  }

  let short = false; // whether the cells are narrow

  function draw() {
    const columns = model.get("columns");
    short = root.clientWidth > 0 && (root.clientWidth - HEAD) / columns.length < SHORT;
    root.classList.toggle("wbk-short", short);
    for (const column of columns) {
      const { show, copy, drop } = headOf(column.label);
      const name = short ? column.label : column.name;
      show.textContent = column.best ? `${name} ★` : name;
      show.title = column.best ? "The fastest. Show its details below" : "Show the details of this config below";
      show.setAttribute("aria-pressed", String(column.shown));
      copy.hidden = !column.duplicates || column.label !== columns[columns.length - 1].label;
      drop.hidden = !column.drops;
    }
    arrange(head, [corner, ...columns.map((column) => headOf(column.label).node)]);
    searching.colSpan = columns.length + 1;
    fill(body, model.get("rows"), columns);
    fill(found, model.get("hits"), columns);
    count.textContent = model.get("hit_count");
    search.placeholder = `search ${model.get("total")} options…`;
    named(search, "search all options");
  }

  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      model.set("search", search.value);
      model.save_changes();
    }, 120);
  });
  search.value = model.get("search");
  const names = ["columns", "rows", "hits", "hit_count"];
  let drawing = 0;
  const soon = () => {
    if (!drawing) {
      drawing = requestAnimationFrame(() => {
        drawing = 0;
        draw();
      });
    }
  };
  for (const name of names) model.on(`change:${name}`, soon);
  draw();
  const resized = new ResizeObserver(soon);
  resized.observe(root);
  return () => {
    resized.disconnect();
    names.forEach((name) => model.off(`change:${name}`, soon));
  };
}

export default { render };
