// All targets, those in trouble first.
import { ask, cell, count, duration, element, keyed, link, makeTable, minorCell, number, routeTo, rowTitle, setState, setText,
  stateOf, targetRoute } from './basics.js';
import { drawSparkline, sparkline } from './charts.js';

const PAGE = 50;

function makeRow(target) {
  return element('tr', {},
    rowTitle(link(targetRoute(target.target), target.target), element('div', { class: 'note' })),
    cell(stateOf(target.state)), cell(), cell(), minorCell(), cell(), element('td', { class: 'minor past-hour' }, sparkline(), element('span', { class: 'most', 'aria-hidden': 'true' })));
}

function showRow(row, target) {
  const [title, state, backlog, lag, rate, errors] = row.children;
  setState(state.firstChild, target.state);
  setText(title.querySelector('.note'), target.note || '');
  setText(backlog, number(target.backlog));
  setText(lag, target.lag == null ? '' : duration(target.lag));
  setText(rate, number(target.rate));
  const text = [Number(target.errors) && count(target.errors, 'error'), Number(target.blocked) && `${number(target.blocked)} waiting`]
    .filter(Boolean).join(', ');
  if (errors.textContent !== text) {
    errors.replaceChildren(text ? link(routeTo('errors', { target: target.target }), text) : '');
    errors.classList.toggle('bad', Number(target.errors) > 0);
  }
}

async function drawRows(rows) {
  for (let first = 0; first < rows.length; first += PAGE) {
    const some = rows.slice(first, first + PAGE);
    const { at, targets } = await ask('samples', { names: JSON.stringify(some.map((row) => row.dataset.key)) });
    for (const row of some)
      if (targets[row.dataset.key]) {
        const most = drawSparkline(row.querySelector('svg'), at, targets[row.dataset.key].backlog, number);
        setText(row.querySelector('.most'), most ? `≤ ${number(most)}` : '');
      }
  }
}

export function openOverview(route) {
  const { node, body } = makeTable('Table of targets',
    ['Target', 'State', 'Backlog', 'Oldest', '-Changes/s', 'Errors', '-Backlog, last hour']);
  const find = element('input', { id: 'find', type: 'search', autocomplete: 'off', value: route.parameters.get('find') });
  const note = element('p', { class: 'note', role: 'status' });
  const more = element('button', { type: 'button', hidden: true }, `Show ${PAGE} more`);
  const log = element('p', { class: 'note' });
  const view = {
    title: 'Targets',
    content: [element('form', { class: 'actions', role: 'search', onsubmit: (event) => event.preventDefault() },
      element('label', { for: 'find' }, 'Find'), find), node, note, more, log],
    wanted: { find: find.value, limit: PAGE },
    interval: 2000,
    show(overview) {
      const isFirst = body.children.length === 0;
      keyed(body, overview.targets, (target) => target.target, makeRow, showRow);
      const rest = overview.matching - overview.targets.length;
      setText(note, overview.count === 0 ? 'There are no targets yet: rowrelay target add NAME URL'
        : rest > 0 ? `${number(overview.targets.length)} of ${count(overview.matching, 'target')}, those in trouble first.`
          : overview.matching === 0 ? 'No target has that in its name.' : '');
      setText(log, overview.log || '');
      more.hidden = rest <= 0 || overview.targets.length >= 1000;
      if (isFirst) view.refresh();
    },
    refresh: () => drawRows([...body.children]),
  };
  const change = () => document.dispatchEvent(new Event('acted'));
  find.addEventListener('input', () => { view.wanted = { find: find.value, limit: PAGE }; change(); });
  more.addEventListener('click', () => { view.wanted.limit += PAGE; change(); });
  return view;
}
