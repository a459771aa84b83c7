// The button Share with its menu in groups: arrows move, a letter goes to the next item that begins with it, Escape closes.

const BELOW = 30; // pixels of a status bar below the page
const NAME = "share"; // of button and menu, for screen readers

function el(name, props, attributes, ...children) {
  const node = Object.assign(document.createElement(name), props);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function render({ model, el: root }) {
  const opener = el(
    "button",
    { type: "button", className: "jupyter-button widget-button wbp-small", textContent: "Share ▾" },
    { "aria-haspopup": "menu", "aria-expanded": "false", "aria-label": NAME },
  );
  const list = el("div", { className: "wbm-list", hidden: true }, { role: "menu", "aria-label": NAME });
  const items = [];
  for (const [group, hints] of Object.entries(model.get("groups"))) {
    const made = Object.entries(hints).map(([key, hint]) => {
      const item = el(
        "button",
        { type: "button", textContent: key[0].toUpperCase() + key.slice(1), title: hint },
        { role: "menuitem", "data-lm-suppress-shortcuts": "true" },
      );
      item.onclick = () => {
        close(true);
        model.send({ act: key });
      };
      return item;
    });
    items.push(...made);
    list.append(
      el("div", { className: "wbm-group" }, { role: "group", "aria-label": group },
        el("span", { className: "wbm-name", textContent: group }, { "aria-hidden": "true" }),
        el("span", { className: "wbm-items" }, {}, ...made)),
    );
  }
  root.classList.add("wbm");
  root.append(opener, list);

  function open() {
    list.hidden = false;
    opener.setAttribute("aria-expanded", "true");
    const { top, bottom } = opener.getBoundingClientRect();
    const height = list.offsetHeight;
    list.classList.toggle("wbm-up", bottom + height > window.innerHeight - BELOW && top > height);
    items[0].focus();
  }

  function close(back) {
    list.hidden = true;
    opener.setAttribute("aria-expanded", "false");
    if (back) opener.focus();
  }

  function begins(letter, at) {
    const ordered = [...items.slice(at + 1), ...items.slice(0, at + 1)];
    return ordered.find((item) => item.textContent.toLowerCase().startsWith(letter.toLowerCase()));
  }

  function goal(key, at) {
    if (key === "ArrowDown" || key === "ArrowRight") return items[(at + 1) % items.length];
    if (key === "ArrowUp" || key === "ArrowLeft") return items.at(at - 1);
    if (key === "Home") return items[0];
    if (key === "End") return items.at(-1);
    return key.length === 1 && key !== " " ? begins(key, at) : undefined;
  }

  opener.onclick = () => {
    if (!list.hidden) close(true);
    else if (!model.get("locked")) open();
  };
  list.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Tab") return close(false); // the focus moves on
    if (event.key === "Escape") close(true);
    else {
      const item = goal(event.key, items.indexOf(document.activeElement));
      if (!item) return;
      item.focus();
    }
    event.preventDefault();
    event.stopPropagation();
  };
  root.onmousedown = (event) => event.preventDefault(); // the focus stays in the menu
  root.addEventListener("focusout", (event) => {
    if (!list.hidden && !root.contains(event.relatedTarget)) close(false);
  });

  const lock = () => {
    const locked = model.get("locked");
    opener.setAttribute("aria-disabled", String(locked)); // a disabled button would lose the focus
    opener.title = locked ? "Something runs: stop it first" : "What is shown, as a page, a file or code";
    if (locked) close(false);
  };
  model.on("change:locked", lock);
  lock();
  return () => model.off("change:locked", lock);
}

export default { render };
