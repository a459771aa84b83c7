// The graph view: controls, opening and closing, linked selection, search, texts.

const MOST_SHOWN = 6000, MOST_SELECTED = 2000, MOST_LEGEND = 14;
const MOST_TYPES = 10; // op types below the search
const READABLE = 0.5; // the smallest scale that is chosen without being asked to show everything: letters of LETTER pixels fit
const MOST_LETTER = 28; // of the letters in the graph that the width of boxes is for: LETTER pixels at READABLE
const LEAST_FIRST = 0.5; // scale of the whole graph at first, as long as closing boxes helps
const STACKED = 460; // pixels of a view with letters of LETTER; less has one graph below the other
const NARROW = 820; // pixels of a view; less has the inspector below

function render({ model, el }) {
  const data = unpack(model), text = (number) => data.texts[number];
  const { root, say } = begin(el, data.told || "Graph");
  const view = { data, text, badges: model.get("badges") || {} };
  const save = (name, value) => { model.set(name, value); model.save_changes(); };
  const pickMode = () => {
    view.mode = data.modes.find((one) => one.name === model.get("color") && one.known) || data.modes.find((one) => one.known);
    view.styles = new Map((view.mode?.styles || []).map((one) => [one.text, one]));
  };
  pickMode();
  const links = [new Map(), new Map()]; // of each pane: row → rows of the other
  data.columns.link_from?.forEach((from, i) => { const to = data.columns.link_to[i]; push(links[0], from, to); push(links[1], to, from); });

  // ------------------------------------------------------------ controls
  const tools = toolbar(root);
  const search = tools.search("Search names, op types and providers; op:Conv searches op types alone; Enter goes to the next", find, go);
  const color = tools.choice("Colour", "What the boxes are coloured by", data.modes.map((one) => ({ value: one.name, label: one.label, disabled: !one.known })), view.mode?.name, (value) => { save("color", value); recolor(); });
  view.columns = columnsOf(data);
  if (!view.columns && data.panes.some((pane) => pane.trees.length > 1)) tools.choice("Group", "How nodes are put into boxes", ["modules", "partitions"].map((value) => ({ value, label: value })), model.get("group"), (value) => { save("group", value); regroup(); });
  if (!view.columns) tools.button("Expand one level", "Open every closed box in sight", () => level(true), "+1 level");
  if (!view.columns) tools.button("Collapse one level", "Close the innermost open boxes", () => level(false), "−1 level");
  tools.button("Fit", "Show the whole graph (0)", () => panes.forEach((pane) => pane.stage.showAll()));
  tools.button("PNG", "Download this picture", async () => download(await shot(), `${(data.model || "graph").replace(/[^\w.-]+/g, "_").slice(0, 60)}.png`));
  expander(root, tools.bar, () => arrange());
  const types = make("div", "wbv-hits", "", root);
  const body = make("div", "wbv-body", "", root), holder = make("div", "wbv-panes", "", body);
  let panes = null;
  panes = data.panes.map(paneOf);
  view.most = (name) => max(...panes.map((pane) => pane.most[name])); // one scale of colours for both
  view.ops = new Set(panes.flatMap((pane) => Array.from(pane.rows.op)));
  for (const event of ["focus", "blur"]) search.input.addEventListener(event, listTypes);
  const details = make("div", "wbv-details", "", body);
  const legendRow = make("div", "wbv-legend", "", root);
  details.tabIndex = 0;
  details.role = "region";
  details.ariaLabel = "Details of the selection";
  const shot = () => picture({ stages: panes.map((pane) => pane.stage), titles: panes.map((pane) => pane.heading), legendEntries: entries(), root, stacked: holder.style.flexDirection === "column" });
  const refit = (pane) => { pane.stage.touched = false; pane.stage.least = view.columns ? LEAST_SCALE : READABLE; pane.fit(); };

  function paneOf(told, number) {
    const pane = new Pane(view, told, number), place = make("div", "wbv-pane", "", holder);
    const title = make("div", "wbv-title", printable(pane.heading), place), run = RUNS[/^([AB])\b/.exec(told.title)?.[1]];
    if (run) title.style.cssText = `border-left:4px solid ${run};padding-left:5px`;
    if (data.panes.some(({ note }) => note)) make("div", "wbv-note wbv-line", printable(told.note || "\u2003"), place).title = printable(told.note);
    const toggled = (point, whole) => { // by its sign, or by a double click elsewhere on it
      const rect = pane.find(point), hit = rect && pane.isBox(rect.item) && point.x < rect.x + 22 !== whole;
      if (hit) toggle(pane, rect.item);
      return hit;
    };
    pane.stage = new Stage(place, root, {
      label: `${pane.heading}. Enter selects and opens boxes, arrows move, + and - zoom, 0 fits, / searches.`,
      least: view.columns ? LEAST_SCALE : READABLE,
      bounds: () => (pane.total ? pane.whole : null),
      draw: (ctx, stage, theme) => drawPane(ctx, stage, theme, pane),
      minimap: () => [...pane.frames.map((one) => ({ ...one, color: "rgba(128,128,128,.18)" })), ...pane.cells.map((one) => ({ ...one, color: pane.chosen.has(one.item) ? pane.theme.accent : pane.theme.line }))],
      hover: (point) => { const rect = point && pane.find(point); return rect ? hint(pane, rect.item) : ""; },
      click: (point) => { if (!toggled(point, false)) choose(pane, pane.find(point)?.item ?? -1); },
      twice: (point) => toggled(point, true),
      key: (event) => keyed(pane, event),
      sized: () => { pane.settle(); first(); },
      fitted: align,
    });
    if (view.columns) pane.stage.onView = ({ kx, ky, tx, ty, touched }) => { // rows stay level
      for (const { stage } of panes || []) if (stage !== pane.stage && stage.width === pane.stage.width) { Object.assign(stage, { kx, ky, tx, ty, touched, fresh: false }); stage.request(); }
    };
    pane.grow(model.get("group"));
    return pane;
  }

  // ------------------------------------------------------------ opening and closing, the same path in both
  // The largest scale at which the whole of a graph is in sight.
  const whole = ({ stage, whole: { w, h } }) => min((stage.width - 24) / w, (stage.height - 24) / h);
  // Until a person opens or closes a box, those stay closed that would make the letters of the whole too small.
  function first() {
    if (!panes || view.columns || model.get("opened").length || panes.some(({ stage }) => stage.width < 2)) return;
    const drawn = panes.filter(({ total }) => total), free = panes.filter(({ stage }) => !stage.touched);
    const minor = (pane) => [...pane.opened].filter((b) => b && 2 * pane.inside[b].length < pane.total && !pane.children[b].some((item) => pane.opened.has(item)));
    const size = (letter) => { for (const pane of free) { pane.letter = letter; pane.settle(); } };
    size(LETTER);
    for (let left = minor(panes[0]); left.length && drawn.some((pane) => whole(pane) < LEAST_FIRST); left = minor(panes[0])) {
      left.sort((p, q) => panes[0].inside[p].length - panes[0].inside[q].length);
      const shut = left.slice(0, ceil(left.length / 2)).map((b) => panes[0].pathOf(b));
      for (const pane of panes) { for (const path of shut) pane.opened.delete(pane.byPath.get(path)); pane.settle(); }
    }
    // Boxes are as wide as the letters will need, in both graphs.
    for (let letter = LETTER, need; (need = min(ceil(LETTER / min(1, ...drawn.map(whole))), MOST_LETTER)) > letter;) size(letter = min(ceil(1.15 * need), MOST_LETTER));
    for (const pane of free) pane.fit();
  }
  // Graphs beside each other that nobody moved have one scale and begin at one height.
  function align() {
    const free = (panes || []).filter(({ stage, total }) => total && !stage.touched && !stage.fresh);
    if (view.columns || free.length < 2) return;
    const k = max(min(1.15, ...free.map(whole)), free[0].stage.least);
    const ty = max(12, min(...free.map(({ stage, whole }) => (stage.height - whole.h * k) / 2)));
    for (const { stage, whole } of free) { Object.assign(stage, { kx: k, ky: k, tx: max(12, (stage.width - whole.w * k) / 2), ty }); stage.request(); }
  }
  function toggle(pane, box, open = !pane.opened.has(box)) {
    for (const one of panes) {
      const other = one === pane ? box : one.byPath.get(pane.pathOf(box));
      if (other === undefined || (!other && !open)) continue;
      const before = one.rects.get(other);
      one.opened[open ? "add" : "delete"](other);
      one.settle();
      const after = one.rects.get(other);
      if (before && after) one.stage.moveBy((before.x - after.x) * one.stage.kx, (before.y - after.y) * one.stage.ky);
    }
    remember();
    say(`${pane.title(box)} ${open ? "opened" : "closed"}`);
    mark();
  }
  function level(open) {
    for (const pane of panes) {
      let shown = pane.cells.length;
      const deepest = max(0, ...pane.frames.map(({ item }) => pane.depth[item]));
      if (!open) for (const b of [...pane.opened]) if (b && pane.depth[b] >= deepest) pane.opened.delete(b);
      if (open) for (const { item } of pane.cells) {
        if (!pane.isBox(item)) continue;
        shown += pane.children[item].length - 1;
        if (shown > MOST_SHOWN) { say(`More than ${count(MOST_SHOWN)} boxes: open single ones.`); break; }
        pane.opened.add(item);
      }
      pane.settle();
      refit(pane);
    }
    remember();
    mark();
  }
  function remember() { save("opened", [...new Set(panes.flatMap((pane) => [...pane.opened].map((b) => pane.pathOf(b))))]); }
  function regroup() {
    for (const pane of panes) { pane.grow(model.get("group")); pane.settle(); refit(pane); }
    mark();
  }
  function recolor() {
    pickMode();
    color.value = view.mode?.name;
    for (const pane of panes) { pane.sums = []; pane.settle(); }
    mark();
  }

  // ------------------------------------------------------------ selection
  let sending = false;
  function choose(pane, item) {
    panes.forEach((one) => { one.current = one === pane ? item : -1; });
    sending = true;
    model.set("side", item < 0 ? -1 : pane.number);
    save("selected", item < 0 ? [] : namesOf(pane, pane.rowsOf(item)));
    sending = false;
    mark(true);
  }
  // The names of rows and of what is linked with them: other views know the members of a fused node by their own names.
  function namesOf(pane, rows) {
    const other = panes[1 - pane.number], linked = other ? rows.flatMap((row) => links[pane.number].get(row) || []) : [];
    const names = [...rows.map((row) => pane.text("name", row)), ...linked.map((row) => other.text("name", row))];
    return [...new Set(names)].slice(0, MOST_SELECTED);
  }
  function mark(show = false) {
    const names = model.get("selected") || [], side = model.get("side");
    for (const pane of panes) {
      pane.picked = pane.current >= 0 ? pane.rowsOf(pane.current) : side >= 0 && side !== pane.number ? [] : names.flatMap((name) => pane.byName.get(name) || []);
      pane.chosen = new Set(pane.rects.has(pane.current) ? [pane.current] : pane.picked.map((row) => pane.shown(row)));
      pane.linked = [];
    }
    panes.forEach((pane, i) => { if (panes[1 - i]) panes[1 - i].linked = [...new Set(pane.picked.flatMap((row) => links[i].get(row) || []))]; });
    for (const pane of panes) {
      pane.met = new Set(pane.linked.map((row) => pane.shown(row)).filter((item) => !pane.chosen.has(item)));
      const rect = pane.rects.get([...pane.chosen, ...pane.met][0]);
      if (show && rect && pane.number !== side) pane.stage.reveal(rect);
      pane.stage.request();
    }
    tell();
    explain();
  }
  function explain() {
    legend(legendRow, entries(), readTheme(root));
  }
  function keyed(pane, { key, shiftKey }) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key], [item = -1] = pane.chosen;
    if (key === "/") search.input.focus();
    else if (key === "Escape" && pane.chosen.size + pane.met.size) choose(pane, -1);
    else if (key === "Enter" || key === " ") {
      if (item < 0) step(pane, pane.cells[0]);
      else if (pane.isBox(item)) toggle(pane, item);
    } else if (way && item >= 0 && !shiftKey) step(pane, nearest(pane.cells, pane.rects.get(item), way));
    else return false;
    return true;
  }
  function step(pane, rect) {
    if (!rect) return;
    choose(pane, rect.item);
    pane.stage.reveal(rect);
    say(hint(pane, rect.item).replaceAll("\n", ", "));
  }

  // ------------------------------------------------------------ search
  let hits = [], hit = 0;
  // Nodes of an op type come first, then names, then providers. `op:Conv`, `name:` and `provider:` look there alone.
  function find(query) {
    const [, only, words] = query.trim().toLowerCase().match(/^(?:(op|name|provider):)?\s*(.*)$/s);
    const has = words ? data.texts.map((other) => other.toLowerCase().includes(words)) : [];
    const exact = words ? data.texts.map((other) => short(other).toLowerCase() === words) : [];
    const ranks = [["op", exact], ...(only === "op" && exact.some((is, i) => is && view.ops.has(i)) ? [] : [["op", has]]), ["name", has], ["provider", has]];
    const asked = ranks.filter(([column]) => !only || column === only);
    hits = [];
    hit = 0;
    if (words) for (const pane of panes) for (let row = 0; row < pane.total; row++) {
      const rank = asked.findIndex(([column, matches]) => matches[pane.rows[column][row]]);
      if (rank >= 0) hits.push([pane, row, rank]);
    }
    hits.sort((p, q) => p[2] - q[2]);
    save("search", query);
    say(words ? `${plural(hits.length, "node")} found` : "");
    listTypes();
    return hits.length;
  }
  // The op types of what was found, or of the whole graph while nothing is searched, with their counts.
  function listTypes() {
    const counts = new Map(), add = (pane, row) => { if (pane.rows.kind[row] === NODE) counts.set(pane.rows.op[row], (counts.get(pane.rows.op[row]) || 0) + 1); };
    if (hits.length) for (const [pane, row] of hits) add(pane, row);
    else if (!search.input.value && document.activeElement === search.input) for (const pane of panes) for (let row = 0; row < pane.total; row++) add(pane, row);
    types.replaceChildren();
    const most = [...counts].sort((p, q) => q[1] - p[1]).slice(0, MOST_TYPES);
    if (!hits.length || counts.size > 1) for (const [op, n] of most) {
      const type = short(text(op)), label = `${printable(type).slice(0, 40)} ${count(n)}`;
      pressable(types, label, label, () => search.ask(`op:${type}`)).addEventListener("pointerdown", (event) => event.preventDefault()); // the search keeps the focus
    }
  }
  function go(by) {
    hit = (hit + by + hits.length) % hits.length;
    const [pane, row] = hits[hit], item = pane.boxes + row;
    pane.openTo(row);
    choose(pane, item);
    pane.stage.reveal(pane.rects.get(item), 0.7);
    return hit;
  }

  // ------------------------------------------------------------ texts
  function hint(pane, item) {
    const sum = pane.sum(item), row = item - pane.boxes, lines = [row < 0 ? `${pane.title(item)} (${pane.size(item)})` : `${pane.text("op", row)}  ${pane.text("name", row)}`];
    if (sum.kinds.size) lines.push([...sum.kinds].slice(0, 6).map(([key, n]) => (text(key) || "unknown") + (row < 0 ? ` ${count(n)}` : "")).join(", "));
    if (sum.time >= 0) lines.push(`${seconds(sum.time)}, ${share(sum.time / pane.all.time)} of all nodes`);
    if (sum.memory >= 0) lines.push(`outputs ${bytes(sum.memory)}`);
    for (const [word, side] of [["stub: reads", "ins"], ["stub: others read", "outs"]]) {
      const tensors = [...new Set((pane.stubs[side].get(item) || []).map((i) => text(pane.wires.tensor[i])))];
      if (tensors.length) lines.push(`${word} ${tensors.slice(0, 3).join(", ")}${tensors.length > 3 ? ` and ${tensors.length - 3} more` : ""}`);
    }
    for (const told of new Set(pane.badges.get(item))) lines.push(`finding: ${told}`);
    return lines.join("\n");
  }
  function tell() {
    details.replaceChildren();
    if (!panes.some((pane) => pane.picked.length)) return void make("div", "wbv-note", panes.some((pane) => pane.total) ? "Click a box to see what it is and what happened to it; double-click or ▸ opens it." : "There is nothing to show.", details);
    for (const pane of panes) {
      const own = pane.picked.length > 0, rows = own ? pane.picked : pane.linked, list = make("dl", "", "", details);
      const line = (name, told) => { if (told) { make("dt", "", name, list); make("dd", "", printable(told), list); } };
      const among = (column) => {
        const found = new Map();
        for (const row of rows) { const told = pane.text(column, row); if (told) found.set(told, (found.get(told) || 0) + 1); }
        return [...found].sort((a, b) => b[1] - a[1]).slice(0, 8).map(([told, n]) => (rows.length > 1 ? `${told} ×${n}` : told)).join(", ");
      };
      const sum = (column) => rows.reduce((all, row) => (pane.rows[column][row] >= 0 ? (all || 0) + pane.rows[column][row] : all), NaN);
      const names = rows.slice(0, 4).map((row) => pane.text("name", row)).join(", "), one = rows.length === 1, [row] = rows;
      line(own ? pane.told.title : `${pane.told.title}, linked`, !rows.length ? "nothing: no node does its work here" : one ? names : `${plural(rows.length, "node")}: ${names}${rows.length > 4 ? " …" : ""}`);
      line("op type", among("op"));
      line(data.modes[0].label, among("provider"));
      if (one && pane.rows.partition[row] !== NO_PARTITION) line("partition", String(pane.rows.partition[row]));
      line("what happened", among("fate"));
      line("passes", among("passes"));
      if (one) line("makes", pane.text("shapes", row));
      const time = sum("time"), memory = sum("memory");
      if (time >= 0) line("time", `${seconds(time)} a run, ${share(time / pane.all.time)} of all nodes`);
      if (memory >= 0) line("outputs", bytes(memory));
      line("why here", among("note"));
      line("error of B", among("error"));
      line("finding", [...new Set(rows.map((row) => view.badges[pane.text("name", row)]).filter(Boolean))].join("; "));
    }
  }
  function entries() {
    const { mode } = view, told = mode?.kind === "category" ? categories(mode) : mode ? numbers(mode) : [];
    if (panes.some((pane) => pane.lines.some((line) => line.crosses))) told.push({ label: `dashed: into another partition${panes.some((pane) => pane.lines.some((line) => line.edges.some((edge) => edge.crosses && !(edge.bytes >= 0)))) ? "; no number: size unknown" : ""}`, glyph: "⇢" });
    if (panes.some((pane) => pane.stubs.ins.size)) told.push({ label: "stub: read in many places or far away", glyph: "⟂" });
    if (panes.some((pane) => pane.badges.size)) told.push({ label: "a finding is about it", glyph: "!" });
    return told;
  }
  function categories(mode) {
    const counts = (one) => panes.map((pane) => pane.all.kinds.get(one.text) || 0), shown = mode.styles.filter((one) => counts(one).some(Boolean));
    const told = shown.slice(0, MOST_LEGEND).map((one) => ({ ...one, label: `${one.label || "unknown"} (${counts(one).map(count).join(" | ")})` }));
    return shown.length > told.length ? [...told, { label: `and ${shown.length - told.length} more` }] : told;
  }
  function numbers({ name, unit }) {
    const most = view.most(name), theme = readTheme(root);
    return [...[0, 0.25, 1].map((part) => ({ label: part ? measured(most * part, unit) : "0", style: { color: heat(theme, part), pattern: "" } })), { label: "unknown", style: unknownStyle(theme) }];
  }

  // ------------------------------------------------------------ start, and what Python says
  const arrange = () => {
    const scale = scaleOf(root), narrow = root.clientWidth < STACKED * scale && panes.length > 1, height = model.get("height_px"), wide = root.classList.contains("wbv-expanded");
    const least = view.columns ? min(view.columns.height * PITCH * LEAST_SCALE + 24, MOST_TALL) : 0;
    root.classList.toggle("wbv-narrow", root.clientWidth < NARROW * scale);
    holder.style.flexDirection = narrow ? "column" : "row";
    for (const pane of panes) pane.stage.holder.style.minHeight = `${wide ? 200 : max(narrow ? round(height * 0.7) : height, least)}px`;
  };
  const watch = new ResizeObserver(() => { arrange(); explain(); }); // before it has a size it has no theme
  watch.observe(root);
  arrange();
  const kept = new Set(model.get("opened"));
  for (const pane of panes) {
    if (kept.size) pane.opened = new Set(Array.from(pane.path.keys()).filter((b) => !b || kept.has(pane.pathOf(b))));
    pane.settle();
  }
  mark();
  const unhear = hear(model, shot, {
    "change:selected": () => { if (!sending) { panes.forEach((pane) => { pane.current = -1; }); mark(true); } },
    "change:color": recolor,
    "change:group": regroup,
    "change:badges": () => { view.badges = model.get("badges") || {}; for (const pane of panes) { pane.badge(); pane.stage.request(); } tell(); },
    "change:height_px": arrange,
    "change:search": () => search.follow(model.get("search")),
  });
  search.follow(model.get("search"));
  const unwatch = onTheme(root, explain);
  return () => {
    unwatch();
    unhear();
    watch.disconnect();
    panes.forEach((pane) => pane.stage.end());
  };
}

// The shared rows of graphs that are small enough for one column each; null for larger ones.
function columnsOf({ panes, columns }) {
  const totals = panes.map((_, number) => columns[`${number}_name`].length);
  if (!max(...totals) || totals.some((total, i) => panes[i].nodes > MOST_IN_COLUMN || total > panes[i].nodes + MOST_PORTS)) return null;
  const wires = totals.map((_, number) => Array.from(columns[`${number}_wire_from`], (from, i) => [from, columns[`${number}_wire_to`][i]]));
  const made = alignedRows(totals, Array.from(columns.link_from, (from, i) => [from, columns.link_to[i]]), wires);
  return { ...made, laid: wires.map((list, number) => columnLinks(made.slots[number], list)) };
}

function nearest(cells, from, [dx, dy]) {
  let best = null, least = Infinity;
  for (const cell of from ? cells : []) {
    const gx = cell.x + cell.w / 2 - from.x - from.w / 2, gy = cell.y + cell.h / 2 - from.y - from.h / 2;
    const along = gx * dx + gy * dy, far = along + 2.5 * (abs(gx * dy) + abs(gy * dx));
    if (cell.item !== from.item && along > 1 && far < least) { least = far; best = cell; }
  }
  return best;
}
