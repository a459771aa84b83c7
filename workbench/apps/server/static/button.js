// A link below the server's base URL, which only the page knows: /, /user/name/, …
function baseUrl() {
  const config = document.getElementById("jupyter-config-data");
  if (!config) return null;
  const base = new URL(JSON.parse(config.textContent).baseUrl || "/", window.location.href);
  return base.origin === window.location.origin ? base.href : null;
}

function render({ model, el }) {
  const link = document.createElement("a");
  link.className = "jupyter-button wbs-link";
  link.target = "_blank";
  link.rel = "noopener noreferrer";
  el.classList.add("wbs-place");
  el.append(link);
  const base = baseUrl();
  let missing = base ? "" : "Opens in JupyterLab and Notebook 7 only";

  function draw() {
    const relative = model.get("relative");
    const usable = base && relative && !missing;
    link.textContent = model.get("label");
    link.title = missing || model.get("hint");
    link.setAttribute("aria-disabled", String(!usable));
    if (usable) {
      link.href = base + relative.replace(/^\/+/, "");
    } else {
      link.removeAttribute("href");
    }
  }

  draw();
  for (const name of ["relative", "label", "hint"]) model.on(`change:${name}`, draw);
  if (base) {
    fetch(`${base}workbench/status`, { credentials: "same-origin" })
      .then((answer) => answer.ok)
      .catch(() => false)
      .then((there) => {
        if (!there) {
          missing = "This server has not loaded our extension: jupyter server extension enable "
            + "workbench.apps.server, then restart it";
          draw();
        }
      });
  }
  return () => {
    for (const name of ["relative", "label", "hint"]) model.off(`change:${name}`, draw);
  };
}

export default { render };
