// One target: what it does, over time, and how it is set.
import { act, actionButton, ask, cell, count, duration, element, explain, keyed, link, makeTable, number, routeTo, rowTitle,
  setState, setText, stateOf, time } from './basics.js';
import { drawChart, makeChart } from './charts.js';

const CHARTS = [['backlog', 'Backlog', number], ['lag', 'Age of the oldest change', duration], ['rate', 'Changes per second', number]];

function makeCharts() {
  const range = element('select', { id: 'range' }, element('option', { value: '900' }, '15 minutes'),
    element('option', { value: '3600', selected: true }, '1 hour'));
  const charts = Object.fromEntries(CHARTS.map(([key, title]) => [key, makeChart(title)]));
  let last = null;
  const drawAll = () => {
    for (const [key, , format] of CHARTS) if (last) drawChart(charts[key], last.at, last[key], Number(range.value), format);
  };
  range.addEventListener('change', drawAll);
  return {
    content: [element('p', { class: 'actions' }, element('label', { for: 'range' }, 'Last'), range),
      element('div', { class: 'charts' }, Object.values(charts))],
    draw(samples) { last = samples; drawAll(); },
    setNow(key, text) { setText(charts[key].querySelector('b'), text); },
  };
}

function makeProcesses() {
  const { node, body } = makeTable('Table of its processes', ['Process', 'State', 'Workers', 'Now', 'Since', 'Version']);
  const show = (processes) => keyed(body, processes, (one) => `${one.host} ${one.pid} ${one.started_at}`,
    (one) => element('tr', {}, rowTitle(`${one.host} ${one.pid}`), cell(stateOf(one.state)), cell(number(one.workers)),
      cell(), cell(time(one.started_at)), cell(one.version)),
    (row, one) => {
      setState(row.querySelector('[data-state]'), one.state);
      setText(row.children[3], one.state === 'running' ? one.doing : '');
    });
  return { node, show };
}

function makeReceipts() {
  const { node, body } = makeTable('Table of receipts', ['Settled', 'Outcome', 'Changes', 'First', 'Last', 'Attempts', 'Took', 'Process']);
  const show = (receipts) => body.replaceChildren(...receipts.map((one) => element('tr', {},
    rowTitle(time(one.settled_at)), cell(one.outcome), cell(number(one.changes)), cell(one.first), cell(one.last),
    cell(number(one.attempts)), cell(one.seconds == null ? '' : duration(one.seconds)),
    cell([one.host, one.pid].filter(Boolean).join(' ')))));
  return { node, show };
}

async function showSettings(name, place) {
  try {
    const known = await ask('target', { target: name, part: 'settings' });
    if (known === null) return place.replaceChildren('It is a document: see Documents.');
    return place.replaceChildren(
      element('dl', {}, known.settings.map(([key, value]) => [element('dt', {}, key), element('dd', {}, value)])),
      element('h3', {}, 'Tables that go there'),
      element('p', {}, known.routes.flatMap((table, i) => [i ? ', ' : '', link(routeTo('history', { table }), table)]),
        known.routes.length === 200 ? ' …' : known.routes.length === 0 ? 'none' : ''));
  } catch (error) {
    return explain(place, error);
  }
}

async function showReceipts(name, receipts, note) {
  try {
    receipts.show(await ask('target', { target: name, part: 'receipts' }));
    explain(note, null);
  } catch (error) {
    explain(note, error);
  }
}

function makeSwitch(name) {
  const button = actionButton('Pause', () => act({ action: button.dataset.action, target: name }));
  const show = (state) => {
    button.dataset.action = state === 'paused' || state === 'halted' ? 'resume' : 'pause';
    const label = button.dataset.action === 'resume' ? 'Resume' : 'Pause';
    setText(button, label);
    button.setAttribute('aria-label', `${label} ${name}`);
  };
  return { button, show };
}

export function openTarget(route) {
  const name = route.what;
  const state = stateOf('loading');
  const note = element('p', { class: 'note' });
  const errors = element('a', { href: routeTo('errors', { target: name }), hidden: true });
  const toggle = makeSwitch(name);
  const charts = makeCharts();
  const processes = makeProcesses();
  const receipts = makeReceipts();
  const receiptsNote = element('p');
  const settings = element('div');
  const show = (target) => {
    setState(state, target.state);
    setText(note, target.note || '');
    errors.hidden = !(Number(target.errors) || Number(target.blocked));
    setText(errors, `${count(target.errors, 'error')}${Number(target.blocked) ? `, ${number(target.blocked)} waiting` : ''}`);
    toggle.show(target.state);
    charts.setNow('backlog', number(target.backlog));
    charts.setNow('lag', duration(target.lag));
    charts.setNow('rate', number(target.rate));
    processes.show(target.processes);
  };
  showSettings(name, settings);
  return {
    title: name,
    content: [element('p', { class: 'actions' }, state, errors, toggle.button), note, ...charts.content,
      element('h3', {}, 'Processes'), processes.node, element('h3', {}, 'Settings'), settings,
      element('h3', {}, 'Latest receipts'), receiptsNote, receipts.node],
    interval: 2000,
    samplesAt: 0,
    async refresh() {
      const target = await ask('target', { target: name });
      if (target === null) {
        setText(note, `There is no target ${name}.`);
        return;
      }
      show(target);
      if (Date.now() - this.samplesAt < 10000) return; // as often as samples are taken
      this.samplesAt = Date.now();
      const { at, targets } = await ask('samples', { target: name });
      if (targets[name]) charts.draw({ at, ...targets[name] });
      await showReceipts(name, receipts, receiptsNote);
    },
  };
}
