// What all pages of the console use. Texts from the database are only ever set as text, never as HTML.

export const byId = (id) => document.getElementById(id);

// element('p', {class: 'x', onclick: f}, 'text', child, …); what is null is left out
export function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined) continue;
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, '');
    else if (value !== false) made.setAttribute(key, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child != null));
  return made;
}

export const link = (route, ...children) => element('a', { href: route }, ...children);
export const targetRoute = (name) => `#/target/${encodeURIComponent(name)}`;

// A link to a page with those parameters that are not empty.
export function routeTo(page, parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value != null && value !== '');
  return `#/${page}${given.length ? `?${new URLSearchParams(given)}` : ''}`;
}

// ---- texts ----------------------------------------------------------------------------------------------------------

export const number = (value) => Number(value).toLocaleString('en');
export const count = (value, noun) => `${number(value)} ${noun}${Number(value) === 1 ? '' : 's'}`;
export const time = (value) => (value ? new Date(value).toLocaleString() : '');

export function duration(seconds) {
  if (seconds == null) return '0 s';
  const s = Number(seconds);
  if (s === 0) return '0 s';
  if (s < 1) return `${Math.round(s * 1000)} ms`;
  if (s < 120) return `${Number(s.toFixed(1))} s`;
  if (s < 7200) return `${Math.round(s / 60)} min`;
  if (s < 172800) return `${(s / 3600).toFixed(1)} h`;
  return `${Math.round(s / 86400)} days`;
}

// Values come as texts of JSON, because JavaScript would round numbers and drop trailing zeros.
export const shown = (text) => (text.startsWith('"') ? JSON.parse(text) : text);

// Sets a text only when it changes, so that focus and screen readers are not disturbed.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function say(text) {
  byId('message').textContent = text;
  if (text) setTimeout(() => { if (byId('message').textContent === text) byId('message').textContent = ''; }, 8000);
}

// ---- states ---------------------------------------------------------------------------------------------------------

// While nothing is known of the source, a state is that of a while ago: it is shown so, and never in green.
let known = true;

function paintState(node) {
  node.className = known ? `state ${node.dataset.state.replace(' ', '-')}` : 'state unknown';
  setText(node, known ? node.dataset.state : `unknown (was ${node.dataset.state})`);
}

export function setState(node, state) {
  node.dataset.state = state;
  paintState(node);
  return node;
}

export const stateOf = (state) => setState(element('span'), state);

export function setKnown(now) {
  if (known === now) return;
  known = now;
  document.querySelectorAll('[data-state]').forEach(paintState);
}

// ---- lists ----------------------------------------------------------------------------------------------------------

// Makes the children of `parent` those of `items`, by key. What is there already is kept, with its focus and what is open
// in it; `update` brings it up to date.
export function keyed(parent, items, keyOf, make, update) {
  const before = new Map([...parent.children].map((node) => [node.dataset.key, node]));
  const keys = new Set(items.map(keyOf));
  for (const [key, node] of before) if (!keys.has(key)) node.remove();
  items.forEach((item, place) => {
    const key = keyOf(item);
    const node = before.get(key) || make(item);
    node.dataset.key = key;
    if (parent.children[place] !== node) {
      const focused = node.contains(document.activeElement) ? document.activeElement : null;
      parent.insertBefore(node, parent.children[place] || null);
      if (focused) focused.focus({ preventScroll: true });
    }
    if (update) update(node, item);
  });
}

// A table in a region that scrolls where it is too wide; rows go to `body`. A title with "-" in front is left out in
// narrow windows.
export function makeTable(label, titles) {
  const body = element('tbody');
  const minor = (title) => title.startsWith('-');
  const node = element('div', { class: 'wide', role: 'region', 'aria-label': label, tabindex: '0' },
    element('table', {}, element('thead', {}, element('tr', {}, titles.map((title) =>
      element('th', { scope: 'col', class: minor(title) ? 'minor' : null }, title.replace(/^-/, ''))))), body));
  return { node, body };
}

export const cell = (...children) => element('td', {}, ...children);
export const minorCell = (...children) => element('td', { class: 'minor' }, ...children);
// A button that opens what `make` gives, below it, and closes it again.
export function opener(label, make) {
  const place = element('div', { hidden: true });
  const toggle = element('button', { type: 'button', class: 'row', 'aria-expanded': 'false', onclick: () => {
    const opens = toggle.getAttribute('aria-expanded') === 'false';
    toggle.setAttribute('aria-expanded', String(opens));
    place.hidden = !opens;
    place.replaceChildren(...(opens ? [make()] : []));
  } }, label);
  return [toggle, place];
}

// What comes later is shown in place of "loading …", or why it does not come.
export function later(promise, show) {
  const place = element('div', {}, element('p', { class: 'note' }, 'loading …'));
  promise.then((answer) => place.replaceChildren(...[show(answer)].flat()),
    (error) => place.replaceChildren(element('p', { class: 'note' }, error.isForbidden ? `Not shown: ${error.message}.` : error.message)));
  return place;
}

export const rowTitle = (...children) => element('th', { scope: 'row' }, ...children);

// ---- asking and acting ----------------------------------------------------------------------------------------------

let token = sessionStorage.getItem('token') || '';
let rights = new Set();

export const mayAct = () => rights.size > 0;

// The token that the tab keeps, and the rights of whoever has it.
export function setToken(given) {
  token = given;
  if (given) sessionStorage.setItem('token', given);
  else sessionStorage.removeItem('token');
}

export function setRights(words) {
  rights = new Set(words);
  document.querySelectorAll('button[data-right]').forEach((button) => { button.disabled = !rights.has(button.dataset.right); });
}

// A button that works only for those who have the right to do that.
export function actionButton(label, right, onclick, name) {
  return element('button', { type: 'button', 'data-right': right, disabled: !rights.has(right), 'aria-label': name, onclick }, label);
}

export async function ask(path, parameters, body) {
  const options = { headers: {}, cache: 'no-store', signal: AbortSignal.timeout(body ? 60000 : 20000) };
  if (body) {
    options.method = 'POST';
    options.headers['Content-Type'] = 'application/json';
    options.body = JSON.stringify(body);
  }
  if (token && (body || path === 'who')) options.headers.Authorization = `Bearer ${token}`;
  const given = Object.entries(parameters || {}).filter(([, value]) => value != null);
  let answer;
  let content;
  try {
    answer = await fetch(`api/${path}?${new URLSearchParams(given)}`, options);
    content = await answer.json();
  } catch (error) {
    throw Object.assign(new Error('the rowrelay process does not answer'), { isAway: true });
  }
  if (!answer.ok) {
    throw Object.assign(new Error([content.error, content.hint].filter(Boolean).join(': ')),
      { isAway: answer.status === 503, isForbidden: answer.status === 403, isStranger: answer.status === 401,
        isMissing: answer.status === 404 });
  }
  return content;
}

// Gives what was answered; undefined where it failed, which is then said.
export async function act(wish) {
  try {
    const answer = await ask('actions', {}, wish);
    say('');
    return answer;
  } catch (error) {
    say(error.message);
    return undefined;
  } finally {
    document.dispatchEvent(new Event('acted'));
  }
}

// What the database user may not see is said once, in place of it.
export function explain(node, error) {
  node.className = 'note';
  setText(node, error ? (error.isForbidden ? `Not shown: ${error.message}.` : error.message) : '');
}
