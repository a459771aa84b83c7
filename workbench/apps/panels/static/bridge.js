// What only the page can do: put a cell into the notebook, save a file, fill the clipboard, hear clicks in plots.
// Python sends {id, kind, …} with a custom message; the answer is {id, ok} or {id, failed: "why"}. A click on a
// point sends {pick: "its name"}, Enter behind a model's path sends {open: "the path"}, dropped files send
// {files: [their names]} with their contents, an arrow in projector mode {step: ±1}, Escape there {step: 0}.

const LETTER = 14; // pixels that figures are drawn for
const ABOVE = ".wbv-expanded, .wbm-list:not([hidden])"; // lies over the views while it is there

function place(context, root) {
  const cells = context.model.toJSON().cells;
  const shows = (cell) =>
    (cell.outputs || []).some((output) => {
      const view = output.data && output.data["application/vnd.jupyter.widget-view+json"];
      return view && view.model_id === root;
    });
  let at = cells.findIndex(shows);
  if (at < 0) return -1;
  const pinned = (cell) => cell && ((cell.metadata && cell.metadata.tags) || []).includes("workbench-pin");
  do at += 1;
  while (pinned(cells[at]));
  return at;
}

function insertCell(model, asked) {
  const context = model.widget_manager && model.widget_manager.context;
  if (!context || !context.model || !context.model.sharedModel) throw new Error("no notebook within reach");
  const at = place(context, asked.root);
  if (at < 0) throw new Error("the cell of the panels was not found");
  context.model.sharedModel.insertCell(at, {
    cell_type: "code",
    source: asked.source,
    metadata: { trusted: true, tags: ["workbench-pin"] },
    outputs: asked.outputs,
    execution_count: null,
  });
}

function download(asked, buffers) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(buffers, { type: asked.mime }));
  link.download = asked.name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

async function copy(text) {
  if (navigator.clipboard && window.isSecureContext) {
    try {
      return await navigator.clipboard.writeText(text);
    } catch (error) {
      // not allowed here, or the page has not the focus: the old way below
    }
  }
  const box = document.createElement("textarea");
  box.value = text;
  box.style.position = "fixed";
  box.style.opacity = "0";
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  if (!done) throw new Error("the browser does not let the page fill the clipboard");
}

function initialize({ model }) {
  model.on("msg:custom", async (asked, buffers) => {
    try {
      if (asked.kind === "cell") insertCell(model, asked);
      else if (asked.kind === "download") download(asked, buffers);
      else if (asked.kind === "copy") await copy(asked.text);
      model.send({ id: asked.id, ok: true });
    } catch (error) {
      model.send({ id: asked.id, failed: String((error && error.message) || error) });
    }
  });
}

// JupyterLab takes single letters as commands (B adds a cell, D D deletes one) unless a text box has the focus.
// ipywidgets gives a control without a description only a title, which not every screen reader reads.
function nameControls(panels) {
  for (const node of panels.querySelectorAll(":is(input, select, textarea)[title]:not([aria-label])")) {
    const label = node.id && panels.querySelector(`label[for="${CSS.escape(node.id)}"]`);
    if (!label || !label.textContent.trim()) node.setAttribute("aria-label", node.title);
  }
}

// A figure that was drawn before its place had a size is 700 pixels wide; a responsive one hears of `resize`.
const fitting = new ResizeObserver((seen) => {
  for (const { target } of seen) target.style.marginBottom = `${(target.dataset.wbpScale - 1) * target.offsetHeight}px`;
  const wrong = seen.some(({ target }) => {
    const drawn = target.querySelector(".main-svg");
    return drawn && target.clientWidth > 0 && Math.abs(drawn.clientWidth - target.clientWidth) > 1;
  });
  if (wrong) requestAnimationFrame(() => window.dispatchEvent(new Event("resize")));
});

// Figures are drawn for letters of 14 pixels. Where letters are larger, as in projector mode, the whole figure grows:
// plotly knows of transforms, so that a pointer still meets its points; a margin keeps the room for it.
function fitFigures(panels) {
  const scale = Math.max(1, parseFloat(getComputedStyle(panels).fontSize) / LETTER);
  for (const plot of panels.querySelectorAll(`.js-plotly-plot:has(.main-svg):not([data-wbp-scale="${scale}"])`)) {
    plot.dataset.wbpScale = scale;
    const grown = { flex: "none", overflow: "hidden", transform: `scale(${scale})`, transformOrigin: "0 0", width: `${100 / scale}%` };
    Object.assign(plot.style, scale > 1 ? grown : { flex: "", overflow: "", transform: "", width: "" });
    fitting.observe(plot);
  }
}

// A point that names a candidate can be picked, as its row of the table can. A plot that is made anew in the
// same element has new events.
const hearing = new WeakMap();

function hearPicks(panels, model) {
  for (const plot of panels.querySelectorAll(".js-plotly-plot")) {
    if (!plot.on || (hearing.has(plot) && hearing.get(plot) === plot._ev)) continue;
    hearing.set(plot, plot._ev);
    plot.on("plotly_click", ({ points }) => {
      const point = points.find(({ data }) => data.meta === "candidates");
      if (point) model.send({ pick: point.data.ids[point.pointNumber] });
    });
  }
}

// What was typed goes along with Enter: the widget's own value may still be on its way to the kernel. The widget
// lets no key pass, so keys are heard on their way down to it.
function hearModels(panels, model) {
  const entered = ({ key, target }) => {
    if (key === "Enter" && target.matches(".wbp-model-row input[list]")) model.send({ open: target.value });
  };
  panels.addEventListener("keydown", entered, { capture: true });
  panels.addEventListener("dragover", (event) => {
    if (event.dataTransfer.types.includes("Files")) event.preventDefault();
  });
  panels.addEventListener("drop", async (event) => {
    const files = [...event.dataTransfer.files];
    if (!files.length) return;
    event.preventDefault();
    const contents = await Promise.all(files.map((file) => file.arrayBuffer()));
    model.send({ files: files.map(({ name }) => name) }, undefined, contents);
  });
}

// The second click of a double click would stop what the first one started.
function hearClicks(panels) {
  const heard = (event) => {
    if (event.detail > 1 && event.target.closest(".wbp-compare, .wbp-try")) event.stopPropagation();
  };
  panels.addEventListener("click", heard, { capture: true });
}

// In projector mode arrows turn the views, and Escape ends it; what lies above the views hears its own keys.
function hearProjector(panels, model) {
  panels.addEventListener("keydown", (event) => {
    if (panels.querySelector(ABOVE)) return;
    const step = { ArrowLeft: -1, ArrowRight: 1, Escape: 0 }[event.key];
    if (step === undefined || !panels.classList.contains("wbp-projector") || event.target.matches("input, select, textarea")) return;
    model.send({ step });
    event.preventDefault();
    event.stopPropagation();
  }, { capture: true });
}

function render({ model, el }) {
  el.classList.add("wbp-alive"); // without_anywidget.py: without this mark the panels say what is missing
  const guard = () => {
    const panels = el.closest(".wbp");
    if (!panels) return requestAnimationFrame(guard); // not in the page yet
    const tidy = () => {
      nameControls(panels);
      fitFigures(panels);
      hearPicks(panels, model);
    };
    new MutationObserver(tidy).observe(panels, { childList: true, subtree: true });
    tidy();
    hearModels(panels, model);
    hearProjector(panels, model);
    hearClicks(panels);
    panels.addEventListener("focusin", (event) => {
      if (event.target.matches("select, input, tr, canvas")) {
        event.target.setAttribute("data-lm-suppress-shortcuts", "true");
      }
    });
  };
  guard();
}

export default { initialize, render };
