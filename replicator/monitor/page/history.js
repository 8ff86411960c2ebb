// The log of changes, by table, key, words, person, operation, transaction and time. The address has the whole search.
import { ask, element, explain, link, routeTo, setText, shown, time } from './basics.js';

const PAGE = 50;
const OPERATIONS = ['insert', 'update', 'delete', 'truncate', 'snapshot'];

// ---- a change -------------------------------------------------------------------------------------------------------

function differences(change) {
  if (change.changed) {
    return element('dl', {}, change.changed.flatMap(([column, before, after]) => [
      element('dt', {}, column), element('dd', {}, element('del', {}, shown(before)), ' ', element('ins', {}, shown(after)))]));
  }
  const row = change.new_row || change.old_row;
  if (!row) return null;
  // Without an image before, the columns that an update changed are unknown; the row's own history shows them.
  const kind = change.op === 'insert' ? 'ins' : change.op === 'delete' ? 'del' : 'span';
  return element('dl', {}, row.flatMap(([column, value]) => [
    element('dt', {}, column), element('dd', {}, element(kind, {}, shown(value)))]));
}

function titleOf(change) {
  if (change.key == null) return element('b', {}, `${change.op} ${change.table}`);
  return element('b', {}, change.op, ' ',
    link(routeTo('history', { table: change.table, key: change.key }), `${change.table} ${change.key}`));
}

export function changeItem(change) {
  const status = Object.entries(change.status || {}).map(([target, state]) => `${target}: ${state}`).join(', ');
  return element('li', {}, titleOf(change),
    element('div', { class: 'meta' }, `change ${change.change} · ${time(change.captured_at)} · `,
      change.actor == null ? null : link(routeTo('history', { actor: change.actor }), change.actor),
      change.actor == null ? null : ' · ',
      link(routeTo('history', { transaction: change.txid }), `transaction ${change.txid}`), status ? ` · ${status}` : ''),
    change.problem ? element('div', { class: 'state error' }, change.problem) : null,
    differences(change));
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
  for (const name of ['since', 'until']) if (values[name]) values[name] = new Date(values[name]).toISOString();
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
  element('button', {}, 'Search'));
}

export function openHistory(route) {
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
  return { title: 'History', content: [makeForm(route.parameters), note, list, more] };
}
