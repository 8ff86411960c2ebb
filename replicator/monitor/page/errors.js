// Refused changes by target, table and kind of message. What is open stays open, and as it is, while the rest is refreshed.
import { act, actionButton, ask, count, element, explain, keyed, link, number, routeTo, setText, targetRoute,
  time } from './basics.js';
import { changeItem } from './history.js';

const PAGE = 50;

// ---- acting ---------------------------------------------------------------------------------------------------------

const CONSEQUENCE = { retry: 'They are delivered again.', skip: 'Skipped changes are never delivered.' };

function agreesTo(action, changes, where) {
  const verb = action === 'skip' ? 'Skip' : 'Retry';
  return confirm(`${verb} ${count(changes, 'change')}${where}? ${CONSEQUENCE[action]}`);
}

// Acts on what a filter finds, some thousands at a time; what is refused meanwhile is not among them.
async function actOnFilter(action, filter, changes, where, progress) {
  if (!agreesTo(action, changes, where)) return;
  let done = 0;
  for (let after = null; ;) {
    const answer = await act({ action, filter, ...(after && { after }) });
    if (answer === undefined) return;
    done += Number(answer.count);
    setText(progress, `${action === 'skip' ? 'Skipped' : 'Retried'} ${number(done)} of ${number(changes)}.`);
    if (answer.next === null) return;
    after = answer.next;
  }
}

function actOnOne(action, group, change) {
  if (agreesTo(action, 1, `: ${change} of ${group.target}`)) act({ action, changes: { [group.target]: [change] } });
}

// ---- one change -----------------------------------------------------------------------------------------------------

const payload = (error) => ['old_row', 'new_row'].filter((name) => error[name]).map((name) =>
  `${name}: {\n${error[name].map(([column, text]) => `  ${JSON.stringify(column)}: ${text}`).join(',\n')}\n}`).join('\n');

async function showLife(error, place) {
  try {
    const changes = await ask('history', { table: error.table, key: error.key });
    place.replaceChildren(element('ol', { class: 'list' }, changes.map(changeItem)));
  } catch (problem) {
    place.replaceChildren(element('p', { class: 'note' }, problem.message));
  }
}

async function showDetail(group, change, place) {
  place.hidden = false;
  if (place.children.length) return;
  const note = element('p', {}, 'loading …');
  place.replaceChildren(note);
  try {
    const error = await ask('errors', { target: group.target, change });
    if (error === null) {
      explain(note, new Error('It has been retried or skipped.'));
      return;
    }
    const life = element('div');
    const terms = [['operation', `${error.op} ${error.table} ${error.key == null ? '' : error.key}`],
      ['answer', [error.message, error.detail, error.sqlstate].filter(Boolean).join(' — ')],
      ['attempts', number(error.attempts)], ['refused', time(error.refused_at)]];
    const rows = payload(error); // none of what the log has not any more
    place.replaceChildren(
      element('dl', {}, terms.flatMap(([name, text]) => [element('dt', {}, name), element('dd', {}, text)])),
      rows ? element('pre', { tabindex: '0', role: 'region', 'aria-label': `payload of change ${change}` }, rows) : '');
    if (error.key != null) {
      place.append(element('h3', {}, 'History of the row, ', link(routeTo('history', { table: error.table, key: error.key }), 'on its own page')), life);
      showLife(error, life);
    }
  } catch (error) {
    explain(note, error);
  }
}

function makeChange(group, error) {
  const detail = element('div', { class: 'detail', hidden: true });
  const toggle = element('button', { type: 'button', class: 'row', 'aria-expanded': 'false',
    onclick: () => {
      const opens = toggle.getAttribute('aria-expanded') === 'false';
      toggle.setAttribute('aria-expanded', String(opens));
      if (opens) showDetail(group, error.change, detail);
      else detail.hidden = true;
    } }, `change ${error.change}${error.key == null ? '' : `, key ${error.key}`}`);
  return element('li', {},
    element('div', { class: 'actions' }, toggle,
      element('span', { class: 'meta' }, `${count(error.attempts, 'attempt')}, ${time(error.refused_at)}`),
      actionButton('Retry', 'retry', () => actOnOne('retry', group, error.change), `Retry change ${error.change}`),
      group.state === 'blocked' ? null
        : actionButton('Skip', 'skip', () => actOnOne('skip', group, error.change), `Skip change ${error.change}`)), detail);
}

// ---- a group --------------------------------------------------------------------------------------------------------

const keyOf = (group) => JSON.stringify([group.target, group.table, group.state, group.kind]);

// Its changes, one page at a time. A page starts below a change, so that new ones do not move it.
function makePages(group) {
  const list = element('ul', { class: 'list' });
  const starts = [null];
  const older = element('button', { type: 'button', hidden: true }, 'Older');
  const newer = element('button', { type: 'button', hidden: true }, 'Newer');
  const node = element('div', { class: 'changes' }, list, element('div', { class: 'actions' }, newer, older));
  let last = null;
  const refresh = async () => {
    const { target, table, state, kind } = group;
    const before = starts[starts.length - 1];
    const changes = await ask('errors', { target, table, state, kind, before });
    if (before !== starts[starts.length - 1]) return;
    older.hidden = changes.length < PAGE;
    last = changes.length ? changes[changes.length - 1].change : null;
    // What is open is being read, even when it was retried or skipped meanwhile, or is on the next page now.
    const isGone = (change) => older.hidden || BigInt(change) > BigInt(last);
    const open = [...list.children].filter((item) => !item.querySelector('.detail').hidden).map((item) => item.dataset.key);
    for (const change of open) if (!changes.some((one) => one.change === change)) changes.push({ change, isGone: isGone(change) });
    changes.sort((a, b) => (BigInt(a.change) < BigInt(b.change) ? 1 : -1));
    keyed(list, changes, (one) => one.change, (one) => makeChange(group, one),
      (item, one) => { item.classList.toggle('settled', one.isGone === true); });
    newer.hidden = starts.length === 1;
  };
  const turn = () => { list.replaceChildren(); refresh(); };
  older.addEventListener('click', () => { starts.push(last); turn(); });
  newer.addEventListener('click', () => { starts.pop(); turn(); });
  return { node, refresh };
}

function makeGroup(group, view) {
  const { target, table, state, kind, message } = group;
  const progress = element('span', { role: 'status', class: 'meta' });
  const place = element('div', { hidden: true });
  const toggle = element('button', { type: 'button', class: 'row', 'aria-expanded': 'false' }, message);
  const item = element('li', { class: 'group' });
  const actOn = (action) => actOnFilter(action, { target, table, state, kind, until: view.at }, item.group.count,
    ` of ${table} for ${target}`, progress);
  item.append(element('div', { class: 'actions' }, element('b', { class: 'count' }),
    element('span', {}, link(targetRoute(target), target), `: ${table}`), element('span', { class: `state ${state}` }, state),
    element('span', { class: 'meta when' }),
    actionButton('Retry', 'retry', () => actOn('retry'), `Retry all of ${target}: ${message}`),
    state === 'blocked' ? null : actionButton('Skip', 'skip', () => actOn('skip'), `Skip all of ${target}: ${message}`), progress),
  toggle, place);
  toggle.addEventListener('click', () => {
    const opens = toggle.getAttribute('aria-expanded') === 'false';
    toggle.setAttribute('aria-expanded', String(opens));
    place.hidden = !opens;
    item.pages = opens ? makePages(group) : null;
    place.replaceChildren(...(opens ? [item.pages.node] : []));
    if (opens) item.pages.refresh().catch((error) => explain(item.pages.node, error));
  });
  return item;
}

function showGroup(item, group) {
  item.group = group;
  setText(item.querySelector('button.row'), group.message); // in its own words as long as all have the same
  setText(item.querySelector('.count'), count(group.count, 'change'));
  const [first, last] = [time(group.first_at), time(group.last_at)];
  setText(item.querySelector('.when'), first === last ? first : `${first} – ${last}`);
}

// ---- all groups -----------------------------------------------------------------------------------------------------

function makeFilter(parameters) {
  const field = (name, label) => element('span', { class: 'field' }, element('label', { for: name }, label),
    element('input', { id: name, name, autocomplete: 'off', value: parameters.get(name) }));
  return element('form', { class: 'actions', role: 'search', onsubmit: (event) => {
    event.preventDefault();
    location.hash = routeTo('errors', Object.fromEntries(new FormData(event.target)));
  } }, field('target', 'Target'), field('table', 'Table'), field('find', 'Message contains'), element('button', {}, 'Filter'));
}

// A group with an open change stays, even when all of it has been retried or skipped.
const beingRead = (list) => [...list.children].filter((item) => item.querySelector('.detail:not([hidden])'));

export function openErrors(route) {
  const filter = Object.fromEntries(['target', 'table', 'find'].map((name) => [name, route.parameters.get(name) || null]));
  const list = element('ul', { class: 'list' });
  const summary = element('p', { role: 'status' }, 'loading …');
  const progress = element('span', { role: 'status', class: 'meta' });
  const view = { title: 'Errors', at: null, interval: 3000 };
  let counts = { count: '0', discardable: '0' };
  const actOnAll = (action) => actOnFilter(action, { ...filter, until: view.at },
    action === 'skip' ? counts.discardable : counts.count, '', progress);
  const retryAll = actionButton('Retry all', 'retry', () => actOnAll('retry'));
  const skipAll = actionButton('Skip all', 'skip', () => actOnAll('skip'));
  const actions = element('div', { class: 'actions', hidden: true }, retryAll, skipAll, progress);
  view.content = [makeFilter(route.parameters), summary, actions, list];
  view.refresh = async () => {
    let answer;
    try {
      answer = await ask('errors', filter);
    } catch (error) {
      if (error.isForbidden || error.isMissing) { explain(summary, error); return; }
      throw error;
    }
    counts = answer;
    view.at = answer.at;
    setText(summary, [answer.count === '0' ? 'No errors.' : `${count(answer.count, 'change')} in ${count(answer.group_count, 'group')}` +
      (answer.group_count > answer.groups.length ? `; the ${number(answer.groups.length)} largest are shown.` : '.'),
    answer.unreadable === '0' ? '' : `${count(answer.unreadable, 'more change')} of tables that the database user of rowrelay run may not read.`]
      .filter(Boolean).join(' '));
    actions.hidden = answer.count === '0' && progress.textContent === '';
    retryAll.hidden = answer.count === '0';
    skipAll.hidden = answer.discardable === '0';
    const kept = beingRead(list).map((item) => item.group).filter((group) => !answer.groups.some((one) => keyOf(one) === keyOf(group)));
    keyed(list, [...answer.groups, ...kept.map((group) => ({ ...group, count: 0 }))], keyOf, (group) => makeGroup(group, view), showGroup);
    for (const item of list.children) if (item.pages) await item.pages.refresh();
  };
  return view;
}
