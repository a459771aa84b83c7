// The configs: a line for each with the chief knobs in view, a palette that changes any other, and a drawer with
// a table of all. Texts may come from strangers: textContent only.

const OTHER = "other…";
const CHIEF = { level: "level", precision: "precision", providers: "provider", intra_op_threads: "threads" };
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
  constructor(send, row, label, tag = "td") {
    this.send = send;
    this.row = row;
    this.label = label;
    this.options = "";
    this.typing = false;
    this.mark = el("button", { type: "button", className: "wbk-mark", textContent: "≠" });
    this.mark.onclick = () => send({ act: "copy", row, label });
    this.place = el("span", { className: "wbk-place" });
    this.node = el(tag, {}, el("div", { className: "wbk-cell" }, this.mark, this.place));
  }

  set(value) {
    this.send({ act: "set", row: this.row, label: this.label, value });
  }

  update(row, cell, short) {
    if (cell.none) {
      this.put(el("span", { textContent: "–", title: "of another kind" }));
      this.mark.hidden = true;
      this.node.className = "";
      return;
    }
    const name = this.label ? `${row.label}, ${this.label}` : row.label;
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
    this.mark.hidden = !cell.differs || !this.label || this.label === "A";
    this.mark.title = `${row.label} differs: give ${this.label} what A has`;
    named(this.mark, `${row.label}: give ${this.label} what A has`);
    this.node.className = [
      cell.differs && this.label && this.label !== "A" && "wbk-differs",
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

// A row of the table. Its name opens its help, and the rows of its details below it.
class Line {
  constructor(send, row) {
    this.cells = new Map();
    this.send = send;
    this.key = row.key;
    this.name = el("button", { type: "button", className: "wbk-row" });
    this.help = el("div", { className: "wbp-help", hidden: true });
    this.head = el("th", { scope: "row" }, this.name, this.help);
    this.node = el("tr", {}, this.head);
    this.name.onclick = () => {
      this.help.hidden = !this.help.hidden;
      this.tell();
      if (this.more) send({ act: "details", row: row.key, value: this.help.hidden ? "" : "open" });
    };
  }

  tell() {
    this.name.setAttribute("aria-expanded", String(!this.help.hidden));
  }

  update(row, columns, short) {
    this.more = row.more;
    this.name.textContent = row.label;
    this.help.textContent = row.help;
    this.name.disabled = !row.help && !row.more;
    this.name.title = row.help;
    this.tell();
    this.node.classList.toggle("wbk-inner", !!row.inner);
    if (row.line !== undefined) {
      this.text ??= el("td", { className: "wbk-text" });
      this.text.textContent = row.line;
      this.text.colSpan = columns.length;
      return arrange(this.node, [this.head, this.text]);
    }
    const labels = row.shared ? [""] : columns.map((column) => column.label);
    for (const label of labels) {
      if (!this.cells.has(label)) this.cells.set(label, new Cell(this.send, row.key, label));
    }
    const nodes = labels.map((label) => this.cells.get(label).node);
    arrange(this.node, [this.head, ...nodes]);
    if (row.shared) nodes[0].colSpan = columns.length;
    labels.forEach((label, place) => this.cells.get(label).update(row, row.cells[place], short && !row.shared));
  }
}

// Puts nodes into their order without moving those that are in place: a moved select loses the focus.
function arrange(parent, wanted) {
  for (const node of [...parent.children]) if (!wanted.includes(node)) node.remove();
  wanted.forEach((node, place) => {
    if (parent.children[place] !== node) parent.insertBefore(node, parent.children[place] || null);
  });
}

function push(className, textContent, act) {
  const made = el("button", { type: "button", className, textContent });
  made.onclick = act;
  return made;
}

// A box to type in and a list below it: arrows move, Enter chooses, Escape goes back.
class Palette {
  constructor(model, root) {
    this.model = model;
    this.row = null; // whose values are listed; null: all rows
    this.input = el("input", { type: "text", autocomplete: "off" });
    this.list = el("div", { className: "wbk-list", id: `wbk${Math.random().toString(36).slice(2)}` });
    this.node = el("div", { className: "wbk-palette", hidden: true }, this.input, this.list);
    for (const [name, value] of [["role", "combobox"], ["aria-expanded", "true"], ["aria-controls", this.list.id]]) {
      this.input.setAttribute(name, value);
    }
    this.input.setAttribute("data-lm-suppress-shortcuts", "true");
    this.list.setAttribute("role", "listbox");
    named(this.list, "what can be changed");
    root.append(this.node);
    this.input.oninput = () => this.typed();
    this.input.onkeydown = (event) => this.key(event);
    this.node.addEventListener("focusout", (event) => {
      if (!this.node.contains(event.relatedTarget)) this.close(false);
    });
    this.list.onmousedown = (event) => event.preventDefault(); // the focus stays in the box
  }

  open(label, opener) {
    Object.assign(this, { label, opener, row: null, at: 0, entered: false });
    opener.closest(".wbk-line").append(this.node);
    this.node.hidden = false;
    opener.setAttribute("aria-expanded", "true");
    this.model.send({ act: "look" });
    this.input.value = "";
    this.typed();
    this.input.focus();
  }

  close(back) {
    this.node.hidden = true;
    this.opener?.setAttribute("aria-expanded", "false");
    if (back) this.opener.focus();
  }

  typed() {
    this.at = 0;
    if (!this.row) {
      this.model.set("search", this.input.value);
      this.model.save_changes();
    }
    this.draw();
  }

  // What is listed: commands and rows, or the values of one row.
  items() {
    const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const has = (text) => words.every((word) => text.toLowerCase().includes(word));
    if (!this.row) {
      const commands = this.model.get("commands").filter(({ label }) => has(label));
      const rows = this.model.get("hits").filter(({ key }) => words.length || !(key in CHIEF)).map((row) => ({ ...row, row }));
      const [available, apart] = [rows.filter(({ why }) => !why), rows.filter(({ why }) => why)];
      return [...commands.filter(({ last }) => !last), ...available, ...commands.filter(({ last }) => last), ...apart];
    }
    const { options, typed, apart } = this.row;
    const values = options.filter(has).map((value) => ({ value, label: value, why: (apart ?? {})[value] }));
    const own = this.input.value.trim();
    if (typed && own && !options.includes(own)) values.push({ value: own, label: `set ${own}`, hint: typed });
    return [...values.filter((item) => !item.why), ...values.filter((item) => item.why)];
  }

  draw() {
    if (this.node.hidden) return;
    const items = (this.shown = this.items());
    this.at = Math.max(0, Math.min(this.at, items.length - 1));
    const what = this.row ? `${this.row.label} of ${this.label}` : `change in ${this.label}`;
    named(this.input, what);
    this.input.placeholder = this.row ? `${this.row.label}: ${this.row.typed || "choose"}` : `type to search ${this.model.get("total")} options`;
    const nodes = items.map((item, place) => {
      const node = el("div", { id: `${this.list.id}-${place}` },
        el("span", { className: "wbk-what", textContent: item.label }),
        el("span", { className: "wbk-hint", textContent: item.why || item.hint || item.help || "" }));
      node.setAttribute("role", "option");
      node.setAttribute("aria-selected", String(place === this.at));
      node.classList.toggle("wbk-apart", !!item.why);
      node.onclick = () => this.choose(item);
      return node;
    });
    if (!nodes.length) nodes.push(el("div", { className: "wbk-hint", textContent: this.row?.typed ? `type ${this.row.typed}` : "nothing of that name" }));
    this.list.replaceChildren(...nodes);
    if (items.length) this.input.setAttribute("aria-activedescendant", `${this.list.id}-${this.at}`);
    else this.input.removeAttribute("aria-activedescendant");
    if (items.length) nodes[this.at].scrollIntoView({ block: "nearest" });
  }

  // Hits come from Python: Enter that was faster than them waits.
  answered() {
    this.draw();
    if (this.entered && this.model.get("found") === this.input.value) {
      this.entered = false;
      if (this.shown.length) this.choose(this.shown[this.at]);
    }
  }

  choose(item) {
    if (item.row) {
      this.row = item.row;
      this.input.value = "";
      return this.typed();
    }
    if (item.value !== undefined) this.model.send({ act: "set", row: this.row.key, label: this.label, value: item.value });
    else this.model.send({ act: "command", value: item.key, label: this.label });
    this.close(true);
  }

  key(event) {
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    if (event.key in moves) {
      this.at += moves[event.key];
      this.draw();
    } else if (event.key === "Enter") {
      if (!this.row && this.model.get("found") !== this.input.value) this.entered = true;
      else if (this.shown.length) this.choose(this.shown[this.at]);
    } else if (event.key === "Escape") {
      if (!this.row) return this.close(true), event.preventDefault(), event.stopPropagation();
      this.row = null;
      this.input.value = "";
      this.typed();
    } else {
      return event.stopPropagation();
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

// The line of a config: its name, the chief knobs, and a chip for whatever else it changes.
class ConfigLine {
  constructor(label, send, palette, showAll) {
    this.label = label;
    this.send = send;
    this.cells = new Map();
    this.chips = new Map();
    this.name = el("span", { className: "wbk-name" });
    this.none = el("span", { className: "wbk-hint", textContent: "none" });
    this.change = push("wbk-change", "+ change…", () => palette.open(label, this.change));
    this.change.setAttribute("aria-haspopup", "listbox");
    named(this.change, `+ change… in ${label}`);
    this.all = push("wbk-link", "all settings", showAll);
    this.drop = push("wbk-link", "drop", () => send({ act: "drop", label }));
    named(this.drop, `drop ${label}`);
    this.further = el("div", { className: "wbk-further" });
    this.node = el("div", { className: "wbk-line" }, this.name);
    this.node.dataset.label = label;
  }

  update(column, place, columns, rows) {
    this.name.textContent = column.best ? `${column.name} ★` : column.name;
    this.name.title = column.best ? "The fastest" : "";
    const cells = Object.keys(CHIEF).map((key) => {
      const row = rows.find((one) => one.key === key);
      if (!this.cells.has(key)) this.cells.set(key, new Cell(this.send, key, this.label, "div"));
      const cell = this.cells.get(key);
      cell.update(row, row.cells[place], true);
      cell.node.dataset.head = CHIEF[key];
      return cell.node;
    });
    const changed = rows.filter((row) => !(row.key in CHIEF) && !row.inner && row.chips && row.cells[place] && !row.cells[place].default);
    const chips = changed.map((row) => this.chip(row, row.cells[place]));
    for (const key of [...this.chips.keys()]) if (!changed.some((row) => row.key === key)) this.chips.delete(key);
    const last = column.label === columns[columns.length - 1].label;
    const ends = this.label === "A" ? (chips.length ? [] : [this.none]) : [this.change];
    arrange(this.further, [...chips, ...ends, ...(last ? [this.all] : []), ...(column.drops ? [this.drop] : [])]);
    arrange(this.node, [this.name, ...cells, this.further, ...[...this.node.children].filter((one) => one.className === "wbk-palette")]);
  }

  chip(row, cell) {
    if (!this.chips.has(row.key)) {
      const words = el("span");
      const leave = push("wbk-leave", "×", () => this.send({ act: "set", row: row.key, label: this.label, value: leave.value }));
      this.chips.set(row.key, { words, leave, node: el("span", { className: "wbk-chip" }, words, leave) });
    }
    const { words, leave, node } = this.chips.get(row.key);
    words.textContent = `${row.label}: ${cell.value}`;
    node.title = `${row.label}: ${cell.value}\n${row.help}`;
    node.classList.toggle("wbk-error", !!cell.error);
    leave.value = row.options[0];
    named(leave, `leave ${row.label} of ${this.label} at its default`);
    return node;
  }
}

function render({ model, el: root }) {
  const send = (content) => model.send(content);
  const rows = new Map(), heads = new Map(), configs = new Map();
  root.classList.add("wbk");

  const lines = el("div", { className: "wbk-lines" });
  lines.setAttribute("role", "group");
  named(lines, "configs");
  const titles = ["", ...Object.values(CHIEF), "further changes"].map((textContent) => el("span", { textContent }));
  const top = el("div", { className: "wbk-line wbk-titles" }, ...titles);
  top.setAttribute("aria-hidden", "true");
  const palette = new Palette(model, lines);

  const undo = push("wbk-tool", "↶", () => send({ act: "undo" }));
  const redo = push("wbk-tool", "↷", () => send({ act: "redo" }));
  undo.title = "Undo the last change of a config (Ctrl-Z)";
  redo.title = "Redo the change that was undone";
  const shut = push("wbk-tool", "✕", () => show(false));
  named(shut, "close all settings").title = "Close (Esc)";
  const search = el("input", { type: "search", className: "wbk-search" });
  const count = el("span", { className: "wbk-count" });
  count.setAttribute("role", "status");
  const corner = el("td");
  const head = el("tr", {}, corner);
  const body = el("tbody");
  const table = el("table", {}, el("thead", {}, head), body);
  named(table, "configs: a row for each knob, a column for each config");
  const bar = el("div", { className: "wbk-bar" }, el("b", { textContent: "All settings" }), search, count, undo, redo, shut);
  const drawer = el("div", { className: "wbk-drawer", hidden: true }, bar, table);
  drawer.setAttribute("role", "group");
  named(drawer, "all settings");
  root.append(lines, drawer);

  let opener = null;
  function show(open) {
    if (open) opener = document.activeElement;
    drawer.hidden = !open;
    model.set("drawer", open);
    model.save_changes();
    draw();
    if (open) search.focus();
    else opener?.focus();
  }

  function headOf(label) {
    if (!heads.has(label)) {
      const name = push("wbk-name", "", () => send({ act: "edit", label }));
      const copy = push("wbk-tool", "+", () => send({ act: "duplicate", label }));
      copy.title = `Add a config like ${label}`;
      named(copy, `duplicate ${label}`);
      const node = el("th", { scope: "col" }, name, copy);
      node.dataset.label = label;
      heads.set(label, { node, name, copy });
    }
    return heads.get(label);
  }

  function fill(columns, short) {
    const nodes = [];
    let group = "";
    for (const row of search.value.trim() ? model.get("hits") : model.get("rows")) {
      if (!rows.has(row.key)) rows.set(row.key, new Line(send, row));
      const line = rows.get(row.key);
      line.update(row, columns, short);
      if (row.group && row.group !== group && !search.value.trim()) {
        group = row.group;
        const title = `group ${group}`;
        if (!rows.has(title)) {
          rows.set(title, { node: el("tr", { className: "wbk-group" }, el("th", { scope: "rowgroup", textContent: group })) });
        }
        rows.get(title).node.firstChild.colSpan = columns.length + 1;
        nodes.push(rows.get(title).node);
      }
      nodes.push(line.node);
    }
    arrange(body, nodes);
  }

  function draw() {
    const columns = model.get("columns");
    const all = model.get("rows");
    if (!columns.length || !all.length) return;
    for (const column of columns) {
      if (!configs.has(column.label)) configs.set(column.label, new ConfigLine(column.label, send, palette, () => show(drawer.hidden)));
    }
    columns.forEach((column, place) => configs.get(column.label).update(column, place, columns, all));
    arrange(lines, [top, ...columns.map((column) => configs.get(column.label).node), ...(palette.node.parentNode === lines ? [palette.node] : [])]);
    if (drawer.hidden) return;
    const short = drawer.clientWidth > 0 && (drawer.clientWidth - HEAD) / columns.length < SHORT;
    root.classList.toggle("wbk-short", short);
    for (const column of columns) {
      const { name, copy } = headOf(column.label);
      const words = short ? column.label : column.name;
      name.textContent = column.best ? `${words} ★` : words;
      name.title = "Results of one config are made of this one";
      name.setAttribute("aria-pressed", String(column.shown));
      copy.hidden = !column.duplicates || column.label !== columns[columns.length - 1].label;
    }
    arrange(head, [corner, ...columns.map((column) => headOf(column.label).node)]);
    fill(columns, short);
    undo.disabled = !model.get("undoes");
    redo.disabled = !model.get("redoes");
    count.textContent = search.value.trim() ? model.get("hit_count") : "";
    search.placeholder = `search ${model.get("total")} options…`;
    named(search, "search all options");
  }

  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      model.set("search", search.value);
      model.save_changes();
      draw();
    }, 120);
  });
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && drawer.contains(event.target)) show(false);
    else if ((event.ctrlKey || event.metaKey) && "zy".includes(event.key.toLowerCase()) && !event.target.matches("input")) {
      send({ act: event.key.toLowerCase() === "y" || event.shiftKey ? "redo" : "undo" });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const names = ["columns", "rows", "hits", "hit_count", "commands", "found", "undoes", "redoes"];
  let drawing = 0;
  const soon = () => {
    if (!drawing) {
      drawing = requestAnimationFrame(() => {
        drawing = 0;
        draw();
        palette.answered();
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
