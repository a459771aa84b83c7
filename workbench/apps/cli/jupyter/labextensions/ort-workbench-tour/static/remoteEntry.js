// Draws our live figures at once instead of their still pictures, runs one cell of the tour when the tour is opened (the one
// that shows the workbench), and adds cards to the launcher: the panels over a whole tab, the course, the tour.
// Figures and panels in every JupyterLab; the others in a server that `workbench lab` started, which names the notebook,
// the very text of that cell, and the cards; a notebook of the same name with another text in it is left alone.
(() => {
  const id = "ort-workbench-tour";
  let shared = {};

  function fromPage(name) {
    const page = document.getElementById("jupyter-config-data");
    const text = page && JSON.parse(page.textContent)[name];
    return text ? JSON.parse(text) : null;
  }

  const PLOTLY = "application/vnd.plotly.v1+json";

  // JupyterLab's plotly renderer shows the PNG beside a figure until the mouse passes, and then replaces that PNG.
  // Our figures, which have their title in `meta`, are drawn at once, in a place of their final height; their PNG
  // stays as it is, for readers that draw nothing.
  function drawAtOnce(rendermime) {
    const factory = rendermime.getFactory(PLOTLY);
    if (!factory) return; // no plotly beside this JupyterLab
    const createRenderer = (options) => {
      const renderer = factory.createRenderer(options);
      const render = renderer.renderModel.bind(renderer);
      renderer.renderModel = (model) => {
        const { layout } = model.data[PLOTLY];
        if (!Array.isArray(layout?.meta?.title)) return render(model);
        renderer.node.style.minHeight = `${Number(layout.height) || 0}px`;
        const { "image/png": picture, ...data } = model.data;
        return render(picture ? { data, metadata: model.metadata, trusted: model.trusted, setData() {} } : model);
      };
      return renderer;
    };
    rendermime.addFactory({ ...factory, createRenderer }, 0);
  }

  // The panels: this code becomes a notebook of its own, which is run and shows its output alone.
  const WORKBENCH = {
    name: "workbench",
    label: "Workbench",
    caption: "The panels over the whole tab",
    path: "workbench.ipynb",
    factory: "Notebook",
    source: "import workbench as wb\nwb.Workbench()",
  };

  // Pictures of the cards: a command without an icon leaves its card blank.
  const ICONS = {
    workbench: "M3 4h18v16H3zM3 9h18M7 16v-3M12 16v-5M17 16v-2",
    course: "M2 9l10-5 10 5-10 5zM6 12.5v4.5c3 2.5 9 2.5 12 0v-4.5M22 9v6",
    tour: "M21 12a9 9 0 1 1-18 0a9 9 0 1 1 18 0zM15.5 8.5l-2 5-5 2 2-5z",
  };

  function drawIcons() {
    const rules = Object.entries(ICONS).map(([name, path]) => {
      const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#1976d2" ` +
        `stroke-width="1.5" stroke-linejoin="round"><path d="${path}"/></svg>`;
      return `.${id}-${name} { background: url("data:image/svg+xml,${encodeURIComponent(svg)}") center / contain ` +
        `no-repeat; width: 32px; height: 32px; } .jp-LauncherCard .${id}-${name} { width: 52px; height: 52px; }`;
    });
    const style = document.createElement("style");
    rules.push(`.${id}-alone :is(.jp-Cell-inputWrapper, .jp-OutputPrompt, .jp-Notebook-footer) { display: none; }`);
    style.textContent = rules.join("\n");
    document.head.append(style);
  }

  async function openWorkbench(app, tour, panel) {
    await panel.context.ready;
    await panel.revealed;
    const session = panel.sessionContext;
    await session.ready;
    const kernel = session.session && session.session.kernel;
    if (!kernel) return; // the user chose to have none
    await kernel.info;
    const open = await kernel.requestCommInfo({ target_name: "jupyter.widget" });
    if (Object.keys(open.content.comms || {}).length) return; // a reloaded page: the workbench is there
    const notebook = panel.content;
    const index = notebook.widgets.findIndex((cell) =>
      cell.model.type === "code" && cell.model.sharedModel.getSource() === tour.source);
    if (index < 0) return;
    notebook.activeCellIndex = index;
    notebook.deselectAll();
    await app.commands.execute("notebook:run-cell");
  }

  // Shows what a notebook of one cell says, and nothing else; the notebook is made where there is none.
  async function openAlone(app, card) {
    const { contents } = app.serviceManager;
    const cell = { cell_type: "code", id: "panels", source: card.source, outputs: [], execution_count: null };
    cell.metadata = { jupyter: { source_hidden: true } };
    const kernelspec = { name: "python3", display_name: "Python 3", language: "python" };
    const content = { cells: [cell], metadata: { kernelspec }, nbformat: 4, nbformat_minor: 5 };
    const { content: files } = await contents.get(""); // asked for by name, a missing one is an error on the console
    if (!files.some(({ path }) => path === card.path)) await contents.save(card.path, { type: "notebook", format: "json", content });
    const panel = await app.commands.execute("docmanager:open", { path: card.path, factory: card.factory });
    await panel.context.ready;
    const cells = panel.context.model.sharedModel.cells;
    if (!cells.some((one) => one.getSource() === card.source)) return; // somebody else's notebook of this name
    panel.addClass(`${id}-alone`);
    panel.toolbar.hide();
    await openWorkbench(app, card, panel);
  }

  const tourPlugin = {
    id: `${id}:open`,
    autoStart: true,
    activate: (app) => {
      const tour = fromPage("workbenchTour");
      if (!tour) return;
      const done = new WeakSet();
      const look = () => {
        for (const widget of app.shell.widgets("main")) {
          const context = widget.context;
          if (!context || context.path !== tour.path || !widget.sessionContext || done.has(widget)) continue;
          done.add(widget);
          openWorkbench(app, tour, widget).catch((error) => console.error(id, error));
        }
      };
      app.restored.then(() => {
        look();
        app.shell.layoutModified.connect(look);
      });
    },
  };

  function figuresPlugin(IRenderMimeRegistry) {
    return {
      id: `${id}:figures`,
      autoStart: true,
      requires: [IRenderMimeRegistry],
      activate: (app, rendermime) => { app.started.then(() => drawAtOnce(rendermime)); },
    };
  }

  function launcherPlugin(ILauncher) {
    return {
      id: `${id}:launcher`,
      autoStart: true,
      optional: [ILauncher],
      activate: (app, launcher) => {
        drawIcons();
        for (const card of launcher ? [WORKBENCH, ...(fromPage("workbenchCards") || [])] : []) {
          const command = `${id}:${card.name}`;
          app.commands.addCommand(command, {
            label: card.label,
            caption: card.caption,
            iconClass: `${id}-${card.name}`,
            execute: () => (card.source ? openAlone(app, card)
              : app.commands.execute("docmanager:open", { path: card.path, factory: card.factory })),
          });
          launcher.add({ command, category: "ONNX Runtime Workbench" });
        }
      },
    };
  }

  // JupyterLab's own copy of a package; none where this JupyterLab does not share it.
  async function sharedPackage(name) {
    const versions = Object.values(shared[name] || {});
    return versions.length ? (await versions[0].get())() : {};
  }

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB[id] = {
    init: (scope) => { shared = scope; },
    get: async () => {
      const { ILauncher } = await sharedPackage("@jupyterlab/launcher");
      const { IRenderMimeRegistry } = await sharedPackage("@jupyterlab/rendermime");
      const plugins = [tourPlugin];
      if (ILauncher) plugins.push(launcherPlugin(ILauncher));
      if (IRenderMimeRegistry) plugins.push(figuresPlugin(IRenderMimeRegistry));
      return () => ({ __esModule: true, default: plugins });
    },
  };
})();
