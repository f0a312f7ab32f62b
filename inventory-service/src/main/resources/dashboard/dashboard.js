"use strict";

/** The dashboard: reads /v1/… and follows /v1/stream. Everything is put on the page as text, never as HTML. */

const HEALTH = ["healthy", "suspect", "recovering", "unhealthy", "quarantined", "retired", "lost", "unknown"];
const PRESENCE = ["present", "departed", "lost"];
const SIGNS = {healthy: "✓", suspect: "?", recovering: "↻", unhealthy: "✗", quarantined: "⊘", retired: "⊘", lost: "✗", unknown: "·"};
const PAGE = 50;
const RETRY_MILLIS = 3000;
const RELOAD_MILLIS = 1000;

let token = sessionStorage.getItem("token") || "";
let list = "nodes";
let pageToken = "";
let shown = new Set();
let stream = null;
let reload = 0;
let marked = new Set();
let request = 0;

const by = id => document.getElementById(id);

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    made.setAttribute(key, value);
  }
  made.append(...children.map(child => (child instanceof Node ? child : String(child ?? ""))));
  return made;
}

function link(to, text) {
  return element("a", {href: to}, text);
}

const nodeLink = node => link("#/node/" + encodeURIComponent(node.name), node.name);
const deviceLink = device => link("#/device/" + encodeURIComponent(device.uuid), device.uuid);

/** A state is told by a sign and a word, and only then by a colour. */
function state(word, text) {
  return element("span", {class: String(word).replace(/[^a-z-]/g, "")}, text);
}

const health = word => state(word, (SIGNS[word] || "·") + " " + word);
const presence = node => state(node.presence, node.presence || "unknown");
const verdict = node => state(node.verdict === "trusted" ? "healthy" : node.verdict, node.verdict);

function deviceSigns(node) {
  const counts = new Map();
  (node.devices || []).forEach(device => counts.set(device.health, (counts.get(device.health) || 0) + 1));
  const cell = element("span", {});
  HEALTH.filter(word => counts.has(word)).forEach(word => cell.append(state(word, (SIGNS[word] || "·") + " " + counts.get(word) + " " + word), " "));
  return cell;
}

function models(node) {
  return [...new Set((node.devices || []).map(device => device.shortModel || device.model))].join(", ");
}

const driver = node => node.driverVersion || node.driverState || "";
const memory = device => Math.round(device.memoryBytes / 2 ** 30) + " GiB";

function holders(device) {
  return (device.holders || []).map(holder => (holder.masked ? "(hidden)" : holder.namespace + "/" + holder.pod + "/" + holder.container)).join(", ");
}

const LISTS = {
  nodes: {
    title: "Nodes",
    fields: "name,presence,verdict,devices,driverVersion,driverState",
    sorts: ["name", "-name", "presenceSince", "-presenceSince", "announcedAt", "-announcedAt"],
    columns: {Node: nodeLink, Presence: presence, Verdict: verdict, GPUs: deviceSigns, Models: models, Driver: driver},
    key: node => node.name,
  },
  devices: {
    title: "GPUs",
    fields: "uuid,node,index,model,shortModel,health,localHealth,memoryBytes,holders",
    sorts: ["node", "-node", "model", "-model", "health", "-health"],
    columns: {GPU: deviceLink, Node: device => link("#/node/" + encodeURIComponent(device.node), device.node), Index: device => device.index, Model: device => device.shortModel || device.model, Health: device => health(device.health), Memory: memory, Holders: holders},
    key: device => device.node,
  },
};

/** Reads JSON; a refusal is thrown with its status and the words of the server. */
async function read(path) {
  const answer = await fetch("v1/" + path, {headers: token ? {authorization: "Bearer " + token} : {}});
  if (!answer.ok) {
    throw await refusal(answer);
  }
  return answer.json();
}

async function refusal(answer) {
  let detail = answer.statusText;
  try {
    detail = (await answer.json()).detail || detail;
  } catch {
    // Something before the service has answered: its status has to do.
  }
  return Object.assign(new Error(detail), {status: answer.status});
}

function fail(error) {
  if (error.status === 401) {
    login(token ? error.message : "");
    return;
  }
  notice("problem", error.status ? error.status + ": " + error.message : "The service does not answer; trying again.");
}

function notice(id, text) {
  by(id).textContent = text;
  by(id).hidden = !text;
}

function login(reason) {
  stop();
  by("fleet").hidden = true;
  by("login").hidden = false;
  notice("problem", "");
  notice("refusal", reason);
  connection("", "no token");
  by("token").focus();
}

function connection(kind, text) {
  by("connection").className = kind;
  by("connection").textContent = text;
}

function showSummary(summary) {
  notice("bus", summary.busFault ? summary.silentNodes.length + " nodes are silent and not declared lost, since the fault may be one of the bus: " + summary.silentNodes.slice(0, 20).join(", ") + (summary.silentNodes.length > 20 ? ", …" : "") : "");
  const totals = by("totals");
  totals.replaceChildren(total("Nodes", summary.nodes, "#/nodes"));
  Object.entries(summary.presence).filter(([word]) => word !== "present").forEach(([word, count]) => totals.append(total("Nodes " + word, count, PRESENCE.includes(word) ? "#/nodes?presence=" + word : "#/nodes", word)));
  totals.append(total("GPUs", Object.values(summary.devices).reduce((sum, count) => sum + count, 0), "#/devices"));
  HEALTH.filter(word => summary.devices[word]).forEach(word => totals.append(total((SIGNS[word] || "") + " " + word, summary.devices[word], "#/devices?health=" + word, word)));
  totals.append(total("Device ids held", summary.heldDevices, "#/devices"));
  by("models").tBodies[0].replaceChildren(...summary.models.map(model => element("tr", {},
    element("td", {}, link("#/devices?model=" + encodeURIComponent(model.model), model.model)),
    ...[model.nodes, model.devices, model.healthy].map(count => element("td", {class: "number"}, count)))));
  const filter = by("filter").elements.model;
  options(filter, summary.models.map(model => model.model), filter.value || parameters().get("model") || "");
}

function total(name, count, to, word) {
  const box = element("div", {class: "total"}, element("b", {}, count));
  box.append(element("a", {href: to}, word ? state(word, name) : name));
  return box;
}

function options(select, values, chosen) {
  const wanted = ["", ...values];
  if (chosen && !wanted.includes(chosen)) {
    wanted.push(chosen);
  }
  if (wanted.join("\n") !== [...select.options].map(option => option.value).join("\n")) {
    select.replaceChildren(...wanted.map(value => element("option", {value}, value || "all")));
  }
  select.value = chosen;
}

function parameters() {
  return new URLSearchParams(location.hash.split("?")[1] || "");
}

/** Reads the page of the list that the address names; an answer that was overtaken by another request is dropped. */
async function load(changed) {
  const mine = ++request;
  const shape = LISTS[list];
  const query = parameters();
  query.set("fields", shape.fields);
  query.set("limit", PAGE);
  if (pageToken) {
    query.set("token", pageToken);
  }
  try {
    const page = await read(list + "?" + query);
    if (mine === request) {
      showList(shape, page, changed || new Set());
      notice("problem", "");
    }
  } catch (error) {
    if (mine === request) {
      fail(error);
    }
  }
}

function showList(shape, page, changed) {
  const names = Object.keys(shape.columns);
  const table = by("items");
  table.caption.textContent = shape.title;
  table.tHead.replaceChildren(element("tr", {}, ...names.map(name => element("th", {scope: "col"}, name))));
  table.tBodies[0].replaceChildren(...page.items.map(item => element("tr", changed.has(shape.key(item)) ? {class: "changed"} : {},
    ...names.map(name => element("td", {"data-name": name}, shape.columns[name](item))))));
  shown = new Set(page.items.map(shape.key));
  by("next").disabled = !page.next;
  by("next").dataset.token = page.next || "";
  by("first").disabled = !pageToken;
  by("place").textContent = page.items.length ? shape.title + " on this page: " + page.items.length + (page.next ? ", more on the next" : "") : "nothing matches";
}

async function showDetail(kind, name) {
  const mine = ++request;
  try {
    const found = await read(kind + "s/" + encodeURIComponent(name));
    if (mine !== request) {
      return;
    }
    shown = new Set([kind === "node" ? found.name : found.node]);
    by("detail").replaceChildren(element("h2", {}, name), kind === "node" ? nodeDetail(found) : facts(found), element("p", {}, link("#/nodes", "All nodes")));
    notice("problem", "");
  } catch (error) {
    if (mine === request) {
      by("detail").replaceChildren();
      fail(error);
    }
  }
}

function nodeDetail(node) {
  const {devices, holders: held, ...rest} = node;
  const shape = LISTS.devices;
  const table = element("table", {}, element("caption", {}, "GPUs"), element("tbody", {}));
  const names = ["GPU", "Index", "Model", "Health", "Memory", "Holders"];
  table.prepend(element("thead", {}, element("tr", {}, ...names.map(name => element("th", {scope: "col"}, name)))));
  devices.forEach(device => table.tBodies[0].append(element("tr", {}, ...names.map(name => element("td", {"data-name": name}, shape.columns[name](device))))));
  return element("div", {}, table, facts(rest));
}

/** Every field of an object, nested ones as JSON. */
function facts(object) {
  const made = element("dl", {});
  Object.entries(object).filter(([, value]) => JSON.stringify(value) !== "[]" && JSON.stringify(value) !== "{}").forEach(([name, value]) => made.append(element("dt", {}, name), element("dd", {}, typeof value === "object" ? JSON.stringify(value, null, 1) : value)));
  return made;
}

/** What the address names: the kind of a list, or a node or GPU with its name. */
function place() {
  const [, kind = "nodes", name = ""] = location.hash.split("?")[0].split("/");
  try {
    return {kind, name: decodeURIComponent(name), detail: kind === "node" || kind === "device"};
  } catch {
    return {kind, name, detail: kind === "node" || kind === "device"};
  }
}

/** Shows what the address names. */
function route() {
  const {kind, detail} = place();
  pageToken = "";
  by("list").hidden = detail;
  by("detail").hidden = !detail;
  if (!detail) {
    list = kind === "devices" ? "devices" : "nodes";
    showFilter();
  }
  document.querySelectorAll("nav a").forEach(each => (each.dataset.list === list && !detail ? each.setAttribute("aria-current", "page") : each.removeAttribute("aria-current")));
  refresh();

  function showFilter() {
    const query = parameters();
    const fields = by("filter").elements;
    options(fields.health, HEALTH, query.get("health") || "");
    options(fields.presence, PRESENCE, query.get("presence") || "");
    options(fields.sort, LISTS[list].sorts.slice(1), query.get("sort") || "");
    fields.sort.options[0].textContent = LISTS[list].sorts[0];
    options(fields.model, [...fields.model.options].map(option => option.value).filter(value => value), query.get("model") || "");
    fields.node.value = query.get("node") || "";
    fields.namespace.value = query.get("namespace") || "";
  }
}

function refresh(changed) {
  const {kind, name, detail} = place();
  if (!by("fleet").hidden) {
    detail ? showDetail(kind, name) : load(changed);
  }
}

/** Reads again what is shown, once in a while, however many events come; the nodes of these names are marked. */
function reloadSoon(changed) {
  changed.forEach(name => marked.add(name));
  reload ||= setTimeout(() => {
    const names = marked;
    marked = new Set();
    reload = 0;
    refresh(names);
  }, RELOAD_MILLIS);
}

function nodesChanged(changes) {
  const changed = (changes.changed || []).map(node => node.name);
  const gone = changes.removed || [];
  const visible = [...changed, ...gone].some(name => shown.has(name));
  if (changes.many || visible || gone.length || shown.size < PAGE || parameters().size) {
    reloadSoon(changed);
  }
}

function event(text) {
  let name = "message";
  const data = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("event: ")) {
      name = line.slice(7);
    } else if (line.startsWith("data: ")) {
      data.push(line.slice(6));
    }
  }
  if (name === "summary") {
    showSummary(JSON.parse(data.join("\n")));
  } else if (name === "nodes") {
    nodesChanged(JSON.parse(data.join("\n")));
  }
}

/** Follows the stream with fetch, since EventSource sends no token; begins again whenever it ends. */
async function follow() {
  const controller = new AbortController();
  stop();
  stream = controller;
  try {
    const answer = await fetch("v1/stream", {headers: token ? {authorization: "Bearer " + token} : {}, signal: controller.signal, cache: "no-store"});
    if (!answer.ok) {
      throw await refusal(answer);
    }
    by("login").hidden = true;
    by("fleet").hidden = false;
    by("forget").hidden = !token;
    connection("live", "live");
    refresh();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const events = (rest + part.value).split("\n\n");
      rest = events.pop();
      events.forEach(event);
    }
  } catch (error) {
    if (controller.signal.aborted) {
      return;
    }
    if (error.status === 401 || error.status === 403) {
      login(token ? error.message : "");
      return;
    }
    fail(error);
    connection("away", "connecting again");
  }
  if (stream === controller) {
    setTimeout(() => stream === controller && follow(), RETRY_MILLIS);
  }
}

function stop() {
  if (stream) {
    stream.abort();
    stream = null;
  }
}

by("login").addEventListener("submit", submitted => {
  submitted.preventDefault();
  token = by("token").value.trim();
  by("token").value = "";
  sessionStorage.setItem("token", token);
  follow();
});

by("forget").addEventListener("click", () => {
  token = "";
  sessionStorage.removeItem("token");
  by("forget").hidden = true;
  follow();
});

by("filter").addEventListener("submit", submitted => submitted.preventDefault());
by("filter").addEventListener("change", () => {
  const query = new URLSearchParams([...new FormData(by("filter"))].filter(([, value]) => value));
  location.hash = "#/" + list + (query.size ? "?" + query : "");
});

by("first").addEventListener("click", () => {
  pageToken = "";
  load();
});

by("next").addEventListener("click", () => {
  pageToken = by("next").dataset.token;
  load();
});

window.addEventListener("hashchange", route);
document.addEventListener("visibilitychange", () => (document.hidden ? stop() : follow()));
route();
follow();
