// The log of changes, by table, key, words, person, operation, transaction and time. The address has the whole search.
import { ask, count, element, explain, later, link, opener, routeTo, setText, shown, time } from './basics.js';

const PAGE = 50;
const OPERATIONS = ['insert', 'update', 'delete', 'truncate', 'snapshot'];

// ---- a change -------------------------------------------------------------------------------------------------------

// Columns with their values before and after, side by side; null: there is no such side.
function sideBySide(label, columns) {
  const side = (kind, value) => element('td', {}, value == null ? '' : element(kind, {}, shown(value)));
  return element('div', { class: 'wide', role: 'region', 'aria-label': label, tabindex: '0' },
    element('table', { class: 'sides' },
      element('thead', {}, element('tr', {}, ['Column', 'Before', 'After'].map((title) => element('th', { scope: 'col' }, title)))),
      element('tbody', {}, columns.map(([column, before, after]) => element('tr', {}, element('th', { scope: 'row' }, column),
        before === after ? [side('span', before), side('span', after)] : [side('del', before), side('ins', after)])))));
}

function differences(change) {
  const label = `what change ${change.change} did`;
  if (change.changed) return sideBySide(label, change.changed);
  if (change.op === 'insert' && change.new_row) return sideBySide(label, change.new_row.map(([column, value]) => [column, null, value]));
  if (change.op === 'delete' && change.old_row) return sideBySide(label, change.old_row.map(([column, value]) => [column, value, null]));
  const row = change.new_row || change.old_row;
  if (!row) return null;
  // Without an image before, the columns that an update changed are unknown; the row's own history shows them.
  return element('dl', {}, row.flatMap(([column, value]) => [element('dt', {}, column), element('dd', {}, shown(value))]));
}

// ---- undo -----------------------------------------------------------------------------------------------------------

// Read by a person, and run by them: the console runs nothing of it.
function showStatements(statements) {
  if (!statements.length) return element('p', { class: 'note' }, 'Nothing is to be undone: all captured columns are as they were.');
  const text = statements.length === 1 ? `${statements[0]};` : ['begin', ...statements, 'commit'].map((one) => `${one};`).join('\n');
  return [element('pre', { tabindex: '0', role: 'region', 'aria-label': 'statements that undo it' }, text),
    element('p', { class: 'note' }, 'Read it, and run it with psql. It changes nothing if the row has changed since.')];
}

const undoOf = (label, parameters) => opener(label, () => later(ask('undo', parameters), showStatements));

const UNDOABLE = ['insert', 'update', 'delete'];

function titleOf(change) {
  if (change.key == null) return element('b', {}, `${change.op} ${change.table}`);
  return element('b', {}, change.op, ' ',
    link(routeTo('history', { table: change.table, key: change.key }), `${change.table} ${change.key}`));
}

export function changeItem(change) {
  const settledBy = change.settled_by || {}; // a person, who skipped it
  const again = change.again || {}; // what a person did to have it delivered once more
  const status = Object.entries(change.status || {}).map(([target, state]) =>
    `${target}: ${state}${settledBy[target] ? ` by ${settledBy[target]}` : ''}${again[target] ? ` (${again[target]})` : ''}`).join(', ');
  return element('li', {}, titleOf(change),
    element('div', { class: 'meta' }, `change ${change.change} · ${time(change.captured_at)} · `,
      change.actor == null ? null : link(routeTo('history', { actor: change.actor }), change.actor),
      change.actor == null ? null : ' · ',
      link(routeTo('history', { transaction: change.txid }), `transaction ${change.txid}`), status ? ` · ${status}` : ''),
    change.problem ? element('div', { class: 'state error' }, change.problem) : null,
    change.redacted ? element('div', { class: 'note' }, `Redacted: ${change.redacted.join(', ')} (removed from the log and shown as null)`) : null,
    differences(change),
    UNDOABLE.includes(change.op) ? undoOf(`Undo change ${change.change}, as SQL`,
      { table: change.table, key: change.key, change: change.change }) : null);
}

// ---- the search -----------------------------------------------------------------------------------------------------

// As a field for a time has it: this place's time, without its zone.
function localTime(text) {
  const at = new Date(text || NaN);
  return Number.isNaN(at.getTime()) ? '' : new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
}

function makeField(name, label, value, attributes) {
  return element('span', { class: 'field' }, element('label', { for: name }, label),
    element('input', { id: name, name, autocomplete: 'off', value, ...attributes }));
}

function readForm(form) {
  const values = Object.fromEntries(new FormData(form));
  for (const name of ['since', 'until', 'at']) if (values[name]) values[name] = new Date(values[name]).toISOString();
  return values;
}

function makeForm(parameters) {
  const operation = element('select', { id: 'op', name: 'op' }, element('option', { value: '' }, 'any'),
    OPERATIONS.map((op) => element('option', { value: op, selected: parameters.get('op') === op }, op)));
  const moment = { type: 'datetime-local', step: 1 };
  return element('form', { class: 'actions', role: 'search', onsubmit: (event) => {
    event.preventDefault();
    const route = routeTo('history', readForm(event.target));
    if (location.hash === route) window.dispatchEvent(new Event('hashchange'));
    else location.hash = route;
  } },
  makeField('table', 'Table', parameters.get('table'), { placeholder: 'shop.orders' }),
  makeField('key', 'Key', parameters.get('key'), { placeholder: '42' }),
  makeField('text', 'Contains', parameters.get('text')),
  makeField('actor', 'By', parameters.get('actor')),
  element('span', { class: 'field' }, element('label', { for: 'op' }, 'Operation'), operation),
  makeField('transaction', 'Transaction', parameters.get('transaction'), { inputmode: 'numeric' }),
  makeField('since', 'Since', localTime(parameters.get('since')), moment),
  makeField('until', 'Until', localTime(parameters.get('until')), moment),
  makeField('at', 'As of', localTime(parameters.get('at')), moment),
  element('button', {}, 'Search'));
}

// ---- as it was ------------------------------------------------------------------------------------------------------

function rowsAsOf(parameters) {
  const [table, key, at] = ['table', 'key', 'at'].map((name) => parameters.get(name));
  return later(ask('past', { table, key, at }), (rows) => [
    element('p', { role: 'status' }, rows.length === 0 ? `There was no such row at ${time(at)}.`
      : key ? `Row ${key} of ${table} as it was at ${time(at)}:`
        : `${count(rows.length, 'row')} of ${table}${rows.length === PAGE ? ' (the first ones)' : ''} as they were at ${time(at)}:`),
    ...rows.map((row) => element('dl', { class: 'past' },
      row.flatMap(([column, value]) => [element('dt', {}, column), element('dd', {}, shown(value))])))]);
}

// ---- the page -------------------------------------------------------------------------------------------------------

function searchIn(route) {
  const list = element('ol', { class: 'list' });
  const note = element('p', { role: 'status' });
  const more = element('button', { type: 'button', hidden: true, onclick: () => search() }, 'Older changes');
  let oldest = null;
  async function search() {
    try {
      explain(note, null);
      setText(note, 'searching …');
      const changes = await ask('history', { ...Object.fromEntries(route.parameters), before: oldest });
      list.append(...changes.map(changeItem));
      setText(note, changes.length || oldest ? '' : 'No changes found.');
      oldest = changes.length ? changes[changes.length - 1].change : oldest;
      more.hidden = changes.length < PAGE;
    } catch (error) {
      if (error.isAway) error.message += '. A search that names a table or a time takes less.';
      explain(note, error);
    }
  }
  search();
  return [note, list, more];
}

export function openHistory(route) {
  const transaction = route.parameters.get('transaction');
  const asks = route.parameters.get('at');
  const noTable = asks && !route.parameters.get('table');
  const content = noTable ? [element('p', { class: 'note', role: 'status' }, 'Name the table that you want to see as it was.')]
    : asks ? [rowsAsOf(route.parameters)] : searchIn(route);
  return { title: 'History', content: [makeForm(route.parameters),
    ...(transaction ? undoOf(`Undo transaction ${transaction}, as SQL`, { transaction }) : []), ...content] };
}
