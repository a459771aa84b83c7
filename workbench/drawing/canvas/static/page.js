// The stand-in for anywidget's model, and the start of every view of the page.
const linkedModels = new Map();
for (const place of document.querySelectorAll(".wbv-place")) {
  const [stateText, columnsText] = [...place.querySelectorAll("script")].map((one) => one.textContent);
  const state = JSON.parse(stateText);
  state.columns = new DataView(Uint8Array.from(atob(columnsText), (c) => c.charCodeAt(0)).buffer);
  const listeners = new Map();
  const model = {
    get: (name) => state[name],
    set(name, value) {
      const same = JSON.stringify(state[name]) === JSON.stringify(value);
      state[name] = value;
      if (same) return;
      for (const call of listeners.get(`change:${name}`) || []) call();
      if (name === "selected") for (const other of linkedModels.get(place.dataset.linked) || []) if (other !== model) other.set(name, value);
    },
    save_changes() {},
    send() {},
    on: (event, call) => listeners.set(event, [...(listeners.get(event) || []), call]),
    off: (event, call) => listeners.set(event, (listeners.get(event) || []).filter((one) => one !== call)),
  };
  if (place.dataset.linked) linkedModels.set(place.dataset.linked, [...(linkedModels.get(place.dataset.linked) || []), model]);
  const el = document.createElement("div");
  place.append(el);
  views[place.dataset.view]({ model, el });
}
