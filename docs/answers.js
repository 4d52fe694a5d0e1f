// Filters the tables of "Can I use" and of the findings. The filters stand in the address. Without this file the pages are plain tables.
"use strict";
const form = document.querySelector("form.filters");
const grid = document.querySelector("table.support");
const rows = [...document.querySelectorAll(grid ? "table.support tbody tr" : "table.findings tbody tr")];
const data = grid && JSON.parse(document.getElementById("data").textContent);
const chosen = name => form.elements[name]?.value ?? "";
const usual = data && data.rows;
const untold = {}; // tests by state, of a cell without a test

// The tests that the filters select: by operator and subject, how many of each state.
function selected(byForm) {
  const [dtype, opset, rank, form_] = ["dtype", "opset", "rank", "form"].map(chosen);
  const found = {};
  for (const [operator, subject, d, o, r, f, state, tests] of data.rows) {
    if ((dtype && data.dtypes[d] !== dtype) || (opset && String(o) !== opset) || (rank && String(r) !== rank)) continue;
    if (form_ && data.forms[f] !== form_) continue;
    const cell = ((found[data.operators[operator]] ??= {})[subject] ??= {});
    cell[data.states[state]] = (cell[data.states[state]] ?? 0) + tests;
  }
  return found;
}

const sum = (counts, states) => states.reduce((all, state) => all + (counts[state] ?? 0), 0);
const taken = counts => sum(counts, ["wrong", "crash", "pass"]);

function stateOf(counts) {
  const worst = data.states.find(state => counts[state]) ?? "untested";
  return worst === "pass" && counts.declined ? "partly" : worst;
}

// As scripts/site_answers.py writes a cell.
function fill(cell, counts) {
  const state = stateOf(counts);
  cell.className = state;
  cell.counts = counts;
  const link = cell.link ??= cell.querySelector("a");
  const strip = cell.querySelector(".strip") ?? "";
  if (state === "untested") return cell.replaceChildren(state, strip);
  const few = taken(counts) ? `${counts.pass ?? 0}/${taken(counts)}` : "";
  link.innerHTML = `${state}<small>${few}${counts.declined ? ` +${counts.declined}` : ""}</small>`;
  cell.replaceChildren(link, strip);
}

// The numbers of all versions of a subject. A page that is opened from a folder may load scripts, and no JSON.
const loaded = subject => globalThis.versions?.[subject] ?? new Promise((done, failed) => {
  const script = Object.assign(document.createElement("script"), { src: `../versions/${subject}.js` });
  script.onload = () => done(globalThis.versions[subject]);
  script.onerror = failed;
  document.head.append(script);
});

// The numbers of the versions that are chosen take the place of those that the page came with.
async function switched() {
  const chosen = [...grid.querySelectorAll("th select")].filter(each => each.value);
  const wanted = await Promise.all(chosen.map(async each => {
    const found = await loaded(each.dataset.subject);
    const subject = each.closest("th").cellIndex - 1, version = found.subjects.findIndex(one => one.version === each.value);
    const place = names => name => (names.includes(name) || names.push(name), names.indexOf(name));
    const at = Object.fromEntries(["operators", "dtypes", "forms", "states"].map(name => [name, place(data[name])]));
    return found.rows.filter(row => row[1] === version).map(([operator, , dtype, opset, rank, form, state, tests]) => [
      at.operators(found.operators[operator]), subject, at.dtypes(found.dtypes[dtype]), opset, rank, at.forms(found.forms[form]),
      at.states(found.states[state]), tests,
    ]);
  }));
  const replaced = chosen.map(each => each.closest("th").cellIndex - 1);
  data.rows = [...usual.filter(row => !replaced.includes(row[1])), ...wanted.flat()];
  for (const each of grid.querySelectorAll("th select")) data.subjects[each.closest("th").cellIndex - 1].version = each.value;
  show();
}

function show() {
  const words = chosen("q").toLowerCase().split(/\s+/).filter(Boolean);
  const found = grid && selected();
  let count = 0;
  for (const row of rows) {
    let matches;
    if (grid) {
      const cells = [...row.cells].slice(1);
      cells.forEach((cell, subject) => fill(cell, found[row.dataset.name]?.[subject] ?? untold));
      matches = !chosen("state") || cells.some(cell => cell.className === chosen("state"));
    } else {
      matches = ["compiler", "symptom", "layer", "version"].every(name => !chosen(name) || row.dataset[name] === chosen(name));
    }
    const text = `${row.dataset.text ?? row.dataset.name} ${row.cells[1].textContent}`.toLowerCase();
    row.hidden = !(matches && words.every(word => text.includes(word)));
    count += !row.hidden;
  }
  order();
  form.querySelector("output").textContent = `${count} of ${rows.length} ${grid ? "operators" : "findings"}`;
}

// Rows in the order of the page, or by how many models use the operator.
function order() {
  const wanted = chosen("order");
  if (wanted === order.last || (!wanted && !order.last)) return;
  order.last = wanted;
  const sorted = wanted ? [...rows].sort((a, b) => b.dataset.models - a.dataset.models) : rows;
  sorted[0].parentElement.append(...sorted);
}

function fromAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const field of form.elements) if (field.name) field.value = given.get(field.name) ?? "";
  show();
}

function toAddress() {
  const set = [...new FormData(form)].filter(([, value]) => value);
  history.replaceState(null, "", set.length ? `#${new URLSearchParams(set)}` : location.pathname);
  show();
}

// The details of a cell: counts, both shares, the findings, and the command that makes it again.
function explain(event) {
  const link = event.target.closest("td a");
  if (!link) return;
  event.preventDefault();
  const cell = link.closest("td"), name = cell.parentElement.dataset.name;
  const { compiler: name_, version, frontend } = data.subjects[cell.cellIndex - 1];
  const compiler = version ? `${name_}==${version}` : name_;
  const passed = cell.counts.pass ?? 0, takes = taken(cell.counts), all = takes + (cell.counts.declined ?? 0);
  const share = whole => whole ? `${passed} of ${whole} (${Math.floor(100 * passed / whole)} %)` : "no test";
  const part = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
  const list = document.createElement("dl");
  const facts = { "right, of what it takes": share(takes), "right, of all": share(all) };
  for (const state of data.states) if (cell.counts[state]) facts[state] = cell.counts[state];
  for (const [label, text] of Object.entries(facts)) list.append(part("dt", label), part("dd", text));
  const dialog = document.querySelector("dialog.cell");
  dialog.replaceChildren(part("h3", `${name} on ${compiler}`), list);
  if (!link.hash.startsWith("#make")) {
    const findings = part("a", "its findings");
    findings.href = link.href;
    dialog.append(findings);
  }
  dialog.append(part("p", "Make it again:"));
  dialog.append(part("pre", `${grid.dataset.extract} &&\nopera run --compiler ${compiler} --frontend ${frontend} -k ${name}`));
  const close = part("button", "Close");
  close.onclick = () => dialog.close();
  dialog.append(close);
  dialog.showModal();
}

form.hidden = false;
form.addEventListener("input", toAddress);
form.addEventListener("submit", event => event.preventDefault());
addEventListener("hashchange", fromAddress);
grid?.addEventListener("click", explain);
for (const each of document.querySelectorAll("th select")) {
  each.hidden = false;
  each.addEventListener("change", switched);
}
fromAddress();
