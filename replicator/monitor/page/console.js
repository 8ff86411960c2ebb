'use strict';

// All content comes from /api/, and is refreshed every two seconds while the page is visible.
// Texts from the database are only ever set as text, never as HTML.

const OVERVIEW_INTERVAL = 2000;
const SAMPLES_INTERVAL = 10000;

const byId = (id) => document.getElementById(id);
let token = sessionStorage.getItem('token') || '';
let selected = new Set(); // "target/change" of errors
let errors = [];
let oldest = null; // last change of the history that is shown

// element('p', {class: 'x'}, 'text', child, …)
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, '');
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

const number = (value) => Number(value).toLocaleString('en');
const count = (value, noun) => `${number(value)} ${noun}${Number(value) === 1 ? '' : 's'}`;
const time = (value) => (value ? new Date(value).toLocaleString() : '');

function duration(seconds) {
  if (seconds == null) return '0 s';
  const s = Number(seconds);
  if (s < 1) return `${Math.round(s * 1000)} ms`;
  if (s < 120) return `${s.toFixed(1)} s`;
  if (s < 7200) return `${Math.round(s / 60)} min`;
  return `${(s / 3600).toFixed(1)} h`;
}

function say(text) {
  byId('message').textContent = text;
  if (text) setTimeout(() => { if (byId('message').textContent === text) byId('message').textContent = ''; }, 8000);
}

async function ask(path, body) {
  const options = { headers: {}, cache: 'no-store' };
  if (body) {
    options.method = 'POST';
    options.headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
    options.body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    throw new Error('the rowrelay process does not answer');
  }
  const content = await answer.json();
  if (!answer.ok) throw new Error([content.error, content.hint].filter(Boolean).join(': '));
  return content;
}

// ---- acting ---------------------------------------------------------------------------------------------------------

async function act(wish) {
  try {
    await ask('api/actions', wish);
    say('');
    await Promise.all([showOverview(), showErrors()]);
  } catch (error) {
    say(error.message);
  }
}

function showToken() {
  byId('sign-in').hidden = token !== '';
  byId('sign-out').hidden = token === '';
  byId('error-list').replaceChildren(...errors.map(errorItem));
  showOverview();
  showErrorActions();
}

byId('sign-in').addEventListener('submit', (event) => {
  event.preventDefault();
  token = byId('token').value;
  byId('token').value = '';
  sessionStorage.setItem('token', token);
  showToken();
});
byId('sign-out').addEventListener('click', () => {
  token = '';
  sessionStorage.removeItem('token');
  showToken();
});

// ---- targets and processes ------------------------------------------------------------------------------------------

function chart(title, key) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 360 48');
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', `${title}, last hour`);
  for (const kind of ['area', 'line']) {
    const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    path.setAttribute('class', kind);
    svg.append(path);
  }
  return element('figure', { 'data-chart': key },
    element('figcaption', {}, title, element('span', { class: 'most' }), element('b', {})), svg);
}

function drawChart(figure, at, values, format) {
  const last = at.length ? at[at.length - 1] : 0;
  const most = Math.max(1e-9, ...values.filter((value) => value != null));
  const points = [];
  at.forEach((second, i) => {
    if (values[i] != null) points.push([360 - (last - second) / 10, 46 - (values[i] / most) * 42]);
  });
  const line = points.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');
  figure.querySelector('.line').setAttribute('d', line);
  figure.querySelector('.area').setAttribute('d', points.length ? `${line}L360 48L${points[0][0].toFixed(1)} 48Z` : '');
  const scale = `last hour: at most ${format(most < 1e-6 ? 0 : most)}`;
  setText(figure.querySelector('.most'), scale);
  figure.querySelector('svg').setAttribute('aria-label', `${figure.querySelector('figcaption').firstChild.textContent}, ${scale}`);
}

function makeTarget(name) {
  return element('article', { class: 'target', 'data-target': name },
    element('div', { class: 'head' }, element('h3', {}, name), element('span', { class: 'state' }),
      element('span', { class: 'refused meta' }), element('button', { type: 'button', class: 'switch' })),
    element('p', { class: 'note' }),
    element('div', { class: 'charts' }, chart('Backlog', 'backlog'), chart('Lag', 'lag'), chart('Changes/s', 'rate')));
}

// Sets a text only when it changes, so that focus and screen readers are not disturbed.
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function showTarget(list, target) {
  let card = [...list.children].find((one) => one.dataset.target === target.target);
  if (!card) list.append(card = makeTarget(target.target));
  const state = card.querySelector('.state');
  state.className = `state ${target.state.replace(' ', '-')}`;
  setText(state, target.state);
  setText(card.querySelector('.refused'), target.errors || target.blocked
    ? `${count(target.errors, 'refused change')}${target.blocked ? `, ${number(target.blocked)} waiting` : ''}` : '');
  setText(card.querySelector('.note'), target.note || '');
  const stopped = target.state === 'paused' || target.state === 'halted';
  const button = card.querySelector('.switch');
  setText(button, stopped ? 'Resume' : 'Pause');
  button.setAttribute('aria-label', `${stopped ? 'Resume' : 'Pause'} ${target.target}`);
  button.disabled = token === '';
  button.onclick = () => act({ action: stopped ? 'resume' : 'pause', target: target.target });
  const now = { backlog: number(target.backlog), lag: duration(target.lag), rate: number(target.rate) };
  for (const figure of card.querySelectorAll('figure')) setText(figure.querySelector('b'), now[figure.dataset.chart]);
}

function processRow(process) {
  return element('tr', {},
    element('th', { scope: 'row' }, `${process.host} ${process.pid}`),
    element('td', {}, element('span', { class: `state ${process.state}` }, process.state)),
    element('td', {}, number(process.workers)), element('td', {}, process.targets.join(', ')),
    element('td', {}, process.state === 'running' ? process.doing : ''), element('td', {}, number(process.changes)),
    element('td', {}, time(process.started_at)), element('td', {}, process.version));
}

async function showOverview() {
  try {
    const overview = await ask('api/overview');
    setText(byId('database'), overview.database);
    const failing = overview.targets.filter((target) => target.state !== 'running').length;
    setText(byId('state'), `${count(overview.targets.length, 'target')}, ${failing ? `${failing} not running` : 'all running'}` +
      (token ? '' : '; read-only'));
    const list = byId('target-list');
    for (const card of [...list.children])
      if (!overview.targets.some((target) => target.target === card.dataset.target)) card.remove();
    overview.targets.forEach((target) => showTarget(list, target));
    byId('process-list').replaceChildren(...overview.processes.map(processRow));
  } catch (error) {
    setText(byId('state'), error.message);
  }
}

async function showSamples() {
  try {
    const { at, targets } = await ask('api/samples');
    const formats = { backlog: number, lag: duration, rate: number };
    for (const card of byId('target-list').children) {
      const trace = targets[card.dataset.target];
      if (!trace) continue;
      for (const figure of card.querySelectorAll('figure'))
        drawChart(figure, at, trace[figure.dataset.chart], formats[figure.dataset.chart]);
    }
  } catch (error) { /* showOverview() shows the error */ }
}

// ---- errors ---------------------------------------------------------------------------------------------------------

// Values are texts of JSON, because JavaScript would round numbers and drop trailing zeros.
const shown = (text) => (text.startsWith('"') ? JSON.parse(text) : text);

const payload = (error) => ['old_row', 'new_row'].filter((name) => error[name]).map((name) =>
  `${name}: {\n${error[name].map(([column, text]) => `  ${JSON.stringify(column)}: ${text}`).join(',\n')}\n}`).join('\n');

const idOf = (error) => `${error.target}/${error.change}`;

function changesOf(list) {
  const changes = {};
  for (const error of list) (changes[error.target] = changes[error.target] || []).push(error.change);
  return changes;
}

// Acts on the changes that are shown, not on those refused meanwhile. A skipped change is never delivered.
function actOn(action, list) {
  const many = list.length === 1 ? `change ${list[0].change} of ${list[0].target}` : `these ${number(list.length)} changes`;
  if (action === 'skip' && !confirm(`Skip ${many}? Skipped changes are never delivered.`)) return;
  act({ action, changes: changesOf(list) });
}

function showErrorActions() {
  const may = token !== '';
  const some = errors.some((error) => selected.has(idOf(error)));
  byId('retry-selected').disabled = byId('skip-selected').disabled = !may || !some;
  byId('retry-all').disabled = byId('skip-all').disabled = !may || errors.length === 0;
  byId('select-all').disabled = errors.length === 0;
  byId('select-all').checked = errors.length > 0 && errors.every((error) => selected.has(idOf(error)));
}

function errorItem(error) {
  const box = element('input', { type: 'checkbox', 'aria-label': `select change ${error.change} of ${error.target}`,
    onchange: () => {
      if (box.checked) selected.add(idOf(error)); else selected.delete(idOf(error));
      showErrorActions();
    } });
  box.checked = selected.has(idOf(error));
  const one = (action, label) => element('button', { type: 'button', disabled: token === '',
    'aria-label': `${label} change ${error.change}`,
    onclick: () => actOn(action, [error]) }, label);
  return element('li', {},
    element('div', { class: 'actions' }, box,
      element('span', { class: `state ${error.state}` }, error.state),
      element('b', {}, `${error.target}: ${error.op} of ${error.table} ${error.key == null ? '' : error.key}`),
      element('span', { class: 'meta' }, `change ${error.change}, ${count(error.attempts, 'attempt')}, ${time(error.refused_at)}`),
      one('retry', 'Retry'), one('skip', 'Skip')),
    element('div', {}, [error.message, error.detail, error.sqlstate].filter(Boolean).join(' — ')),
    element('details', {}, element('summary', {}, 'payload'),
      element('pre', {}, payload(error))));
}

async function showErrors() {
  try {
    const answer = await ask('api/errors');
    const before = JSON.stringify(errors);
    errors = answer.errors;
    selected = new Set([...selected].filter((id) => errors.some((error) => idOf(error) === id)));
    const all = answer.count > errors.length ? `${number(answer.count)}, showing the last ${number(errors.length)}` : number(answer.count);
    setText(byId('error-count'), answer.count ? `(${all})` : '(none)');
    if (before !== JSON.stringify(errors)) byId('error-list').replaceChildren(...errors.map(errorItem));
    showErrorActions();
  } catch (error) { // a process may have the right to deliver but not to read refused changes
    setText(byId('error-count'), `(${error.message})`);
  }
}

byId('select-all').addEventListener('change', () => {
  selected = new Set(byId('select-all').checked ? errors.map(idOf) : []);
  byId('error-list').replaceChildren(...errors.map(errorItem));
  showErrorActions();
});
for (const action of ['retry', 'skip']) {
  byId(`${action}-selected`).addEventListener('click', () =>
    actOn(action, errors.filter((error) => selected.has(idOf(error)))));
  byId(`${action}-all`).addEventListener('click', () => actOn(action, errors));
}

// ---- history --------------------------------------------------------------------------------------------------------


function differences(change) {
  if (change.changed) {
    return element('dl', {}, ...change.changed.flatMap(([column, before, after]) => [
      element('dt', {}, column), element('dd', {}, element('del', {}, shown(before)), ' ', element('ins', {}, shown(after)))]));
  }
  const row = change.new_row || change.old_row;
  if (!row) return null;
  // Without an image before, the columns that an update changed are unknown; the row's own history shows them.
  const kind = change.op === 'insert' ? 'ins' : change.op === 'delete' ? 'del' : 'span';
  return element('dl', {}, ...row.flatMap(([column, value]) => [
    element('dt', {}, column), element('dd', {}, element(kind, {}, shown(value)))]));
}

function searchRow(table, key) {
  byId('table').value = table;
  byId('key').value = key;
  byId('text').value = '';
  byId('key').focus();
  search(false);
}

function changeTitle(change) {
  if (change.key == null) return element('b', {}, `${change.op} ${change.table}`);
  return element('b', {}, change.op, ' ', element('button',
    { type: 'button', class: 'row', title: 'history of this row', onclick: () => searchRow(change.table, change.key) },
    `${change.table} ${change.key}`));
}

function changeItem(change) {
  return element('li', {},
    changeTitle(change),
    element('div', { class: 'meta' }, [`change ${change.change}`, time(change.captured_at), change.actor,
      `transaction ${change.txid}`,
      Object.entries(change.status || {}).map(([target, state]) => `${target}: ${state}`).join(', ')].filter(Boolean).join(' · ')),
    change.problem ? element('div', { class: 'state error' }, change.problem) : null,
    differences(change));
}

async function search(more) {
  const parameters = new URLSearchParams(new FormData(byId('search')));
  if (more && oldest) parameters.set('before', oldest);
  try {
    setText(byId('history-note'), 'searching …');
    const changes = await ask(`api/history?${parameters}`);
    const list = byId('change-list');
    if (!more) list.replaceChildren();
    list.append(...changes.map(changeItem));
    setText(byId('history-note'), changes.length || more ? '' : 'No changes found.');
    oldest = changes.length ? changes[changes.length - 1].change : oldest;
    byId('more').hidden = changes.length < 50;
  } catch (error) {
    setText(byId('history-note'), error.message);
  }
}

byId('search').addEventListener('submit', (event) => {
  event.preventDefault();
  search(false);
});
byId('more').addEventListener('click', () => search(true));

// ---- refreshing -----------------------------------------------------------------------------------------------------

function repeat(show, interval) {
  const next = async () => {
    if (!document.hidden) await show();
    setTimeout(next, interval);
  };
  next();
}

showToken();
repeat(async () => { await showOverview(); await showErrors(); }, OVERVIEW_INTERVAL);
repeat(showSamples, SAMPLES_INTERVAL);
setTimeout(showSamples, 1000);
search(false);
