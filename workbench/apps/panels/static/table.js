// A table to read, sort, filter and pick from. Texts may come from strangers: textContent only.

const FOLDED = 160; // letters of a cell that is folded to a few lines
const MANY = 4; // columns; more of them stand below each other where there is no room
const LONG = 14; // letters of a name that may be broken before a capital letter, in a line that it does not fit
const MOST_SHOWN = 250; // rows in the page; filtering or sorting shows the others

function el(name, props, ...children) {
  const node = Object.assign(document.createElement(name), props);
  node.append(...children);
  return node;
}

// A column with a unit says how many digits its numbers have: 1.10 below 1.99.
function shown(value, wanted) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  const digits = wanted || 4;
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size >= 1e6 || (size < 1e-4 && size > 0)) return value.toExponential(digits - 1);
  const rounded = size >= 10 ** (digits - 1) ? value.toFixed(0) : value.toPrecision(digits);
  const least = wanted === 3 && rounded.includes(".") ? rounded.split(".")[1].length : 0;
  return Number(rounded).toLocaleString("en-US", { minimumFractionDigits: Math.min(least, 8), maximumFractionDigits: 8 });
}

// A long text in a few lines, with a button that shows the others.
function folded(text) {
  const whole = el("div", { className: "wbt-folded", textContent: text });
  const more = el("button", { type: "button", className: "wbt-more", textContent: "more" });
  more.setAttribute("aria-expanded", "false");
  more.onclick = (event) => {
    event.stopPropagation();
    const open = whole.classList.toggle("wbt-unfolded");
    more.textContent = open ? "less" : "more";
    more.setAttribute("aria-expanded", String(open));
  };
  return [whole, more];
}

// The words of a text; a long name stands in a line of its own rather than broken, and breaks only beyond that.
function breakable(text) {
  return text.split(/(\s+)/).map((word) => {
    const parts = word.length > LONG ? word.replace(/([a-z0-9])(?=[A-Z])/g, "$1\n").split("\n") : [word];
    if (parts.length < 2) return word;
    return el("span", { className: "wbt-name" }, ...parts.flatMap((part, at) => (at ? [el("wbr"), part] : [part])));
  });
}

function compare(a, b) {
  const none = (x) => x === null || x === undefined;
  if (none(a) || none(b)) return none(a) - none(b); // absent ones last
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

function render({ model, el: root }) {
  const id = `wbt${Math.random().toString(36).slice(2)}`;
  let sorted = null; // {column, down}
  const search = el("input", { type: "search", placeholder: "filter…" });
  search.setAttribute("aria-label", "filter the rows");
  const count = el("span", { className: "wbt-count" });
  count.setAttribute("role", "status");
  const bar = el("div", { className: "wbt-bar" }, search, count);
  const table = el("table");
  const scroll = el("div", { className: "wbt-scroll", tabIndex: 0 }, table);
  scroll.setAttribute("role", "group");
  root.classList.add("wbt");
  root.append(bar, scroll);

  const data = () => model.get("rows");
  const keyOf = (row) => (model.get("key") < 0 ? null : String(row[model.get("key")]));

  let leading = new Set(model.get("picked")); // rows that were picked elsewhere stand first
  let clicking = false; // a row that is clicked here stays where it is

  function visible() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let rows = data().filter((row) => {
      const text = row.join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    if (sorted) {
      rows = [...rows].sort((a, b) => compare(a[sorted.column], b[sorted.column]) * (sorted.down ? -1 : 1));
    } else if (leading.size) {
      rows = [...rows.filter((row) => leading.has(keyOf(row))), ...rows.filter((row) => !leading.has(keyOf(row)))];
    }
    return rows;
  }

  function toggle(key, alone) {
    const before = model.get("picked");
    const had = before.includes(key);
    const others = alone ? [] : before.filter((one) => one !== key);
    clicking = true;
    model.set("picked", had && (!alone || before.length === 1) ? others : [...others, key]);
    clicking = false;
    model.save_changes();
  }

  function headCell(column, index) {
    const button = el("button", { type: "button", textContent: column.name });
    button.dataset.column = String(index);
    const now = sorted && sorted.column === index;
    button.append(el("span", { textContent: now ? (sorted.down ? " ▼" : " ▲") : "", ariaHidden: "true" }));
    button.onclick = () => {
      sorted = now && sorted.down ? null : { column: index, down: !!now };
      draw();
      const again = [...table.querySelectorAll("thead button")].find((one) => one.dataset.column === String(index));
      if (again) again.focus();
    };
    const cell = el("th", { scope: "col", title: column.help || "" }, button);
    cell.setAttribute("aria-sort", now ? (sorted.down ? "descending" : "ascending") : "none");
    if (column.number) cell.className = "wbt-number";
    return cell;
  }

  function bodyRow(row, picked) {
    const key = keyOf(row);
    const on = key !== null && picked.has(key);
    const line = el("tr");
    const columns = model.get("columns");
    row.forEach((value, index) => {
      if (index === model.get("under") || index === model.get("hidden")) return;
      const column = columns[index] || {};
      const text = shown(value, column.digits).replace(/^(\d{4})-(\d\d)-(?=\d\d )/, "$1\u2011$2\u2011"); // a date is one word
      const cell = el("td", { className: column.number ? "wbt-number" : text.length > 26 ? "wbt-long" : "wbt-short" });
      cell.append(...(text.length > FOLDED ? folded(text) : text ? breakable(text) : []));
      cell.dataset.name = column.name || "";
      if (value === null) cell.title = "not known";
      if (index === 0 && model.get("under") >= 0) {
        cell.append(el("div", { className: "wbt-under", textContent: shown(row[model.get("under")]) }));
      }
      line.append(cell);
    });
    if (model.get("action")) {
      const act = el("button", { type: "button", className: "wbt-act", textContent: model.get("action") });
      act.setAttribute("aria-label", `${model.get("action")} ${shown(row[0])}`);
      act.onclick = (event) => {
        event.stopPropagation();
        model.send({ act: key });
      };
      line.append(el("td", {}, act));
    }
    if (key !== null) {
      line.tabIndex = -1;
      line.classList.toggle("wbt-picked", on);
      line.setAttribute("aria-selected", String(on));
      line.onclick = (event) => toggle(key, !(event.ctrlKey || event.metaKey || event.shiftKey));
    }
    return line;
  }

  function draw() {
    const picked = new Set(model.get("picked"));
    const rows = visible();
    const head = el("tr");
    model.get("columns").forEach((column, index) => index !== model.get("under") && index !== model.get("hidden") && head.append(headCell(column, index)));
    if (model.get("action")) head.append(el("td"));
    root.classList.toggle("wbt-many", head.children.length > MANY);
    const body = el("tbody");
    body.append(...rows.slice(0, MOST_SHOWN).map((row) => bodyRow(row, picked)));
    const first = body.querySelector("tr[tabindex]");
    if (first) first.tabIndex = 0;
    const top = scroll.scrollTop;
    table.replaceChildren(el("caption", { textContent: model.get("caption"), id }), el("thead", {}, head), body);
    if (model.get("key") >= 0) table.setAttribute("role", "grid");
    scroll.setAttribute("aria-labelledby", id);
    scroll.scrollTop = top;
    const all = model.get("total");
    const now = Math.min(rows.length, MOST_SHOWN);
    count.textContent = now === all ? `${all.toLocaleString("en-US")} rows` : `${now.toLocaleString("en-US")} of ${all.toLocaleString("en-US")} rows`;
    bar.hidden = all <= 8;
  }

  table.addEventListener("keydown", (event) => {
    const line = event.target.closest("tr[tabindex]");
    if (!line || event.target !== line) return; // a button in a row has its own keys
    const next = { ArrowDown: line.nextElementSibling, ArrowUp: line.previousElementSibling }[event.key];
    if (next) {
      line.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
      event.preventDefault();
    } else if (event.key === "Enter" || event.key === " ") {
      const at = [...line.parentNode.children].indexOf(line);
      line.click();
      const again = table.querySelectorAll("tbody tr")[at];
      if (again) again.focus();
      event.preventDefault();
    }
  });
  const changed = () => {
    if (!clicking) leading = new Set(model.get("picked"));
    draw();
  };
  search.addEventListener("input", draw);
  const names = ["rows", "columns", "picked", "caption"];
  for (const name of names) model.on(`change:${name}`, changed);
  draw();
  return () => names.forEach((name) => model.off(`change:${name}`, changed));
}

export default { render };
