// Captured tables, documents, backfills and processes: tables that are all made in the same way.
import { ask, cell, count, duration, element, explain, keyed, link, makeTable, minorCell, number, routeTo, rowTitle, stateOf,
  targetRoute, time } from './basics.js';

const PAGE = 50;

const names = (list) => (list || []).join(', ');
const targets = (list) => (list || []).flatMap((name, i) => [i ? ', ' : '', link(targetRoute(name), name)]);
const note = (text) => (text ? element('div', { class: 'note' }, text) : null);

function progressOf(backfill) {
  const label = `${backfill.percent} % of ${backfill.relation_name}`;
  return [element('progress', { max: 100, value: backfill.percent, 'aria-label': label }), ` ${backfill.percent} %`];
}

function tookOf(backfill) {
  if (!backfill.started_at) return '';
  const end = backfill.finished_at ? new Date(backfill.finished_at) : new Date();
  return duration((end - new Date(backfill.started_at)) / 1000);
}

// For each list: the titles of its columns, what tells rows apart, and the cells of a row.
const LISTS = {
  captures: {
    title: 'Captures',
    find: 'Table',
    empty: 'No table is captured yet: rowrelay capture TABLE',
    titles: ['Table', 'Key', 'Targets', '-Rows before', '-Columns', '-Kept'],
    keyOf: (row) => row.relation_name,
    cells: (row) => [rowTitle(link(routeTo('history', { table: row.relation_name }), row.relation_name), note(row.note)),
      cell(row.key ? names(row.key) : 'none'), cell(targets(row.targets)), minorCell(row.before),
      minorCell([row.columns ? names(row.columns) : row.exclude && row.exclude.length ? `all but ${names(row.exclude)}` : 'all', row.row_filter ? `where ${row.row_filter}` : '']
        .filter(Boolean).join(', ')), minorCell(row.keep || '')],
  },
  documents: {
    title: 'Documents',
    find: 'Document',
    empty: 'There are no documents.',
    titles: ['Document', 'State', 'Waiting to be built', 'Stale for', 'Cost', '-Goes to', '-Built from', '-Errors'],
    keyOf: (row) => row.document,
    cells: (row) => [rowTitle(link(targetRoute(row.document), row.document), note(row.note)), cell(stateOf(row.state)),
      cell(number(row.backlog)), cell(row.lag == null ? '' : duration(row.lag)),
      cell(row.milliseconds == null ? '' : `${row.milliseconds} ms each, ${number(row.built)} in the last hour`),
      minorCell(link(targetRoute(row.target), row.target), row.into_table ? `, ${row.into_table}` : ''),
      minorCell(names(row.sources)),
      minorCell(Number(row.errors) ? link(routeTo('errors', { target: row.document }), count(row.errors, 'error')) : '')],
  },
  backfills: {
    title: 'Backfills',
    find: 'Table or target',
    empty: 'There are no backfills.',
    titles: ['Table', 'Target', 'State', 'Progress', 'Rows', '-Took', '-Since'],
    keyOf: (row) => `${row.relation_name} ${row.target} ${row.registered_at}`,
    cells: (row) => [rowTitle(row.relation_name, row.row_filter ? ` where ${row.row_filter}` : '', note(row.note)),
      cell(link(targetRoute(row.target), row.target)), cell(row.state), cell(progressOf(row)),
      cell(`${number(row.rows)} of about ${number(row.rows_estimated)}`), minorCell(tookOf(row)), minorCell(time(row.registered_at))],
  },
  processes: {
    title: 'Processes',
    find: 'Host',
    empty: 'No process runs: rowrelay run',
    titles: ['Process', 'State', 'Now', 'Changes, last minute', '-Workers', '-Targets', '-Since', '-Version'],
    keyOf: (row) => `${row.host} ${row.pid} ${row.started_at}`,
    cells: (row) => [rowTitle(`${row.host} ${row.pid}`), cell(stateOf(row.state)), cell(row.state === 'running' ? row.doing : row.state === 'hung' ? `silent since ${time(row.heartbeat_at)}; it may hold lanes` : ''),
      cell(number(row.changes)), minorCell(number(row.workers)),
      minorCell(targets(row.targets), row.target_count > row.targets.length ? ` and ${number(row.target_count - row.targets.length)} more` : ''),
      minorCell(time(row.started_at)), minorCell(row.version)],
  },
};

export function openList(of) {
  const list = LISTS[of];
  return (route) => {
    const { node, body } = makeTable(`Table of ${of}`, list.titles);
    const find = element('input', { id: 'find', type: 'search', autocomplete: 'off', value: route.parameters.get('find') });
    const empty = element('p', { class: 'note', role: 'status' });
    const more = element('button', { type: 'button', hidden: true }, `Show ${PAGE} more`);
    let limit = PAGE;
    const view = {
      title: list.title,
      content: [element('form', { class: 'actions', role: 'search', onsubmit: (event) => event.preventDefault() },
        element('label', { for: 'find' }, list.find), find), node, empty, more],
      interval: 5000,
      async refresh() {
        try {
          const rows = await ask('list', { of, find: find.value, limit });
          // A cell is made anew only when something in it has changed, so that links keep the focus.
          keyed(body, rows, list.keyOf, () => element('tr'), (row, one) => {
            list.cells(one).forEach((made, i) => {
              const present = row.children[i];
              if (!present) row.append(made);
              else if (present.innerHTML !== made.innerHTML) present.replaceWith(made);
            });
          });
          explain(empty, null);
          if (rows.length === 0) empty.textContent = find.value ? 'None has that in its name.' : list.empty;
          more.hidden = rows.length < limit || limit >= 1000;
        } catch (error) {
          if (!error.isForbidden) throw error;
          explain(empty, error);
        }
      },
    };
    const change = () => document.dispatchEvent(new Event('acted'));
    find.addEventListener('input', () => { limit = PAGE; change(); });
    more.addEventListener('click', () => { limit += PAGE; change(); });
    return view;
  };
}
