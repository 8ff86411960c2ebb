// What may be done to a target as a whole: compare it with the source, and deliver changes of the log again.
import { act, actionButton, ask, cell, count, duration, element, explain, keyed, link, makeTable, number, routeTo, rowTitle,
  setText } from './basics.js';

const field = (id, label, attributes) => element('span', { class: 'field' }, element('label', { for: id }, label),
  element('input', { id, autocomplete: 'off', ...attributes }));

// ---- comparing ------------------------------------------------------------------------------------------------------

const outcomeOf = (table) => (table.error ? `not compared: ${table.error}`
  : !table.complete ? 'not finished'
    : [['missing', table.missing], ['extra', table.extra], ['different', table.different], ['undecided', table.undecided],
      ['queued again', table.queued]].filter(([, rows]) => rows).map(([what, rows]) => `${number(rows)} ${what}`).join(', ') ||
      (table.shared_with ? 'none missing or different' : 'equal'));

const SHOWN = 30; // differences of each kind

// The keys that differ, by kind, each with its history.
function differencesOf(table) {
  const found = table.found || [];
  return ['missing', 'extra', 'different'].map((kind) => [kind, found.filter((one) => one.kind === kind)])
    .filter(([, some]) => some.length).map(([kind, some]) => element('div', {}, `${kind}: `, some.slice(0, SHOWN).flatMap((one, i) => [
      i ? ', ' : '', link(routeTo('history', { table: table.table, key: one.key }), one.key),
      one.columns ? ` (${one.columns.join(', ')})` : '', one.refused ? ` (refused: ${one.refused})` : '']),
    some.length > SHOWN || table[kind] > some.length ? ' …' : ''));
}

function endOf(last) {
  const by = last.by ? `, asked by ${last.by}` : '';
  if (last.status === 0) return `No difference was found, in ${duration(last.seconds)}${by}.`;
  if (last.status === 3) return `Differences were found, in ${duration(last.seconds)}${by}.`;
  if (last.status === 143) return `It was stopped after ${duration(last.seconds)}${by}.`;
  return `${last.error ? last.error.replace(/^rowrelay: /, '').replaceAll('\n', '; ') : `It ended with status ${last.status}`}${by}.`;
}

function showProgress(last, text, bar) {
  const { table, rows, estimate } = last.progress || {};
  setText(text, !last.running ? endOf(last) : `Comparing${table ? ` ${table}: ${count(rows, 'row')}` : ' …'}` +
    `${estimate ? ` of about ${number(Math.max(estimate, rows))}` : ''}, for ${duration(Math.round(last.seconds))}`);
  bar.hidden = !(last.running && estimate);
  if (estimate) {
    bar.max = Math.max(estimate, rows);
    bar.value = rows;
  }
}

// A section with what it takes to compare, how far it is, and what was found.
export function makeComparison(name) {
  const table = element('input', { id: 'compared', autocomplete: 'off', placeholder: 'all tables' });
  const start = (repair) => act({ action: 'verify', target: name, repair, ...(table.value && { table: table.value }) });
  const verify = actionButton('Verify', 'verify', () => start(false), `Verify ${name}`);
  const repair = actionButton('Verify and repair', 'repair', () => {
    if (confirm(`Verify ${table.value || 'all tables'} of ${name}, and queue the rows that differ again?`)) start(true);
  }, `Verify and repair ${name}`);
  const stop = actionButton('Stop', 'verify', () => act({ action: 'stop verify', target: name }), `Stop verifying ${name}`);
  const text = element('p', { role: 'status', class: 'note' });
  const bar = element('progress', { 'aria-label': `verify of ${name}`, hidden: true });
  const found = makeTable('Table of what was compared', ['Table', 'Rows', 'Outcome', '-Took']);
  found.node.hidden = true;
  stop.hidden = true;
  const content = element('div', {}, element('h3', {}, 'Verify'), element('p', { class: 'actions' },
      element('span', { class: 'field' }, element('label', { for: 'compared' }, 'Table'), table), verify, repair, stop, bar), text, found.node);
  return {
    content,
    isRunning: false,
    async refresh() {
      const last = await ask('verify', { target: name });
      this.isRunning = last !== null && last.running;
      stop.hidden = !this.isRunning;
      found.node.hidden = !(last && last.result && last.result.tables.length);
      if (last === null) return;
      showProgress(last, text, bar);
      keyed(found.body, found.node.hidden ? [] : last.result.tables, (one) => one.table + JSON.stringify(one), (one) => element('tr', {},
        rowTitle(one.table), cell(one.rows == null ? '' : number(one.rows)), cell(outcomeOf(one), differencesOf(one)),
        element('td', { class: 'minor' }, one.seconds == null ? '' : duration(one.seconds))));
    },
  };
}

// ---- delivering again -----------------------------------------------------------------------------------------------

export function makeReplay(name) {
  const result = element('p', { role: 'status', class: 'note' });
  const moment = { type: 'datetime-local', step: 1, required: true };
  const form = element('form', { class: 'actions', onsubmit: async (event) => {
    event.preventDefault();
    const [table, since, until] = ['replayed', 'replay-since', 'replay-until'].map((id) => form.querySelector(`#${id}`).value);
    const wish = { action: 'replay', target: name, since: new Date(since).toISOString(), until: new Date(until).toISOString() };
    const where = `${table || 'all tables'} from ${new Date(since).toLocaleString()} to ${new Date(until).toLocaleString()}`;
    if (!confirm(`Replay the changes of ${where}? They are delivered to ${name} again, before newer ones.`)) return;
    const queued = await act({ ...wish, ...(table && { table }) });
    explain(result, queued === undefined ? null : new Error(`${count(queued, 'change')} queued again.`));
  } },
  field('replayed', 'Table', { placeholder: 'all tables' }), field('replay-since', 'Since', moment),
  field('replay-until', 'Until', moment), actionButton('Replay', 'replay', null, `Replay changes to ${name}`));
  form.querySelector('button').type = 'submit';
  return element('div', {}, element('h3', {}, 'Replay'), form, result);
}
