// Fits the still picture of a live figure into its cell, and runs one cell of the tour when the tour is opened:
// the one that shows the workbench.
// Only in a server that `workbench lab` started, which names the notebook and the very text of that cell; a
// notebook of the same name with another text in it is left alone.
(() => {
  const id = "ort-workbench-tour";

  function wanted() {
    const page = document.getElementById("jupyter-config-data");
    const told = page && JSON.parse(page.textContent).workbenchTour;
    return told ? JSON.parse(told) : null;
  }

  // JupyterLab's plotly renderer shows the PNG with all its pixels until a click, and no metadata change that.
  function fitPictures() {
    const style = document.createElement("style");
    style.textContent = ".jp-RenderedPlotly img { max-width: min(100%, 760px); height: auto; }";
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

  const plugin = {
    id: `${id}:open`,
    autoStart: true,
    activate: (app) => {
      fitPictures();
      const tour = wanted();
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

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB[id] = {
    init: () => {},
    get: async () => () => ({ __esModule: true, default: plugin }),
  };
})();
