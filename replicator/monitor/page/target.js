// One target: what it does, over time, and how it is set.
import { act, actionButton, ask, cell, count, duration, element, explain, keyed, link, makeTable, minorCell, number, routeTo, rowTitle,
  setState, setText, stateOf, targetRoute, time } from './basics.js';
import { drawChart, makeChart } from './charts.js';
import { makeComparison, makeReplay } from './compare.js';

const CHARTS = [['backlog', 'Backlog', number], ['lag', 'Age of the oldest change', duration], ['rate', 'Changes per second', number]];

const DAY = 86400;

function makeCharts(name) {
  const range = element('select', { id: 'range' }, element('option', { value: '900' }, '15 minutes'),
    element('option', { value: '3600', selected: true }, '1 hour'), element('option', { value: DAY }, '1 day'));
  const charts = Object.fromEntries(CHARTS.map(([key, title]) => [key, makeChart(title)]));
  const note = element('span', { class: 'note' });
  const isDay = () => Number(range.value) === DAY;
  let last = null;
  const drawAll = () => {
    for (const [key, , format] of CHARTS) if (last) drawChart(charts[key], last.at, last[key], Number(range.value), format);
    setText(note, isDay() ? 'the highest of each five minutes, since this process began' : '');
  };
  const refresh = async () => {
    const { at, targets } = await ask('samples', { target: name, range: isDay() ? 'day' : null });
    last = targets[name] ? { at, ...targets[name] } : null;
    drawAll();
  };
  range.addEventListener('change', () => { last = null; refresh().catch(() => {}); });
  return {
    content: [element('p', { class: 'actions' }, element('label', { for: 'range' }, 'Last'), range, note),
      element('div', { class: 'charts' }, Object.values(charts))],
    refresh,
    setNow(key, text) { setText(charts[key].querySelector('b'), text); },
  };
}

// Whether the target can be delivered to, and when that is tried again.
function showBreaker(place, breaker) {
  place.hidden = !breaker;
  if (!breaker) return;
  const next = breaker.probing ? 'it is being tried now' : `it is tried again in ${duration(Math.round(breaker.next))}`;
  place.replaceChildren(element('b', {}, 'Circuit breaker open '),
    `since ${time(breaker.since)}, after ${count(breaker.attempts, 'attempt')}; ${next}.`,
    element('div', { class: 'note' }, [breaker.message, breaker.hint].filter(Boolean).join(' — ')));
}

function makeProcesses() {
  const { node, body } = makeTable('Table of its processes', ['Process', 'State', 'Now', '-Workers', '-Since', '-Version']);
  const show = (processes) => keyed(body, processes, (one) => `${one.host} ${one.pid} ${one.started_at}`,
    (one) => element('tr', {}, rowTitle(`${one.host} ${one.pid}`), cell(stateOf(one.state)), cell(), minorCell(number(one.workers)),
      minorCell(time(one.started_at)), minorCell(one.version)),
    (row, one) => {
      setState(row.querySelector('[data-state]'), one.state);
      setText(row.children[2], one.state === 'running' ? one.doing : '');
    });
  return { node, show };
}

function makeReceipts() {
  const { node, body } = makeTable('Table of receipts', ['Settled', 'Outcome', 'Changes', 'Took', '-First', '-Last', '-Attempts', '-Process']);
  const show = (receipts) => body.replaceChildren(...receipts.map((one) => element('tr', {},
    rowTitle(time(one.settled_at)), cell(one.actor ? `${one.outcome} by ${one.actor}` : one.outcome), cell(number(one.changes)), cell(one.seconds == null ? '' : duration(one.seconds)),
    minorCell(one.first), minorCell(one.last), minorCell(number(one.attempts)),
    minorCell([one.host, one.pid].filter(Boolean).join(' ')))));
  return { node, show };
}

// What is to be said besides what stands in the breaker's place.
function noteOf({ note, breaker }) {
  const said = breaker ? [breaker.message, breaker.hint].filter(Boolean).join(' -- ') : '';
  const at = said ? (note || '').indexOf(said) : -1;
  if (at < 0) return note || '';
  return [note.slice(0, Math.max(note.lastIndexOf('since ', at), 0)), note.slice(at + said.length)]
    .map((part) => part.replace(/^; |; $/g, '')).filter(Boolean).join('; ');
}

function definitionOf(one) {
  const terms = [['goes to', [link(targetRoute(one.target), one.target), one.into ? `, ${one.into}` : '']], ['key', one.key],
    ...one.sources.map((source) => ['built from', source]), ['since', time(one.since)]];
  return [element('dl', {}, terms.flatMap(([name, ...text]) => [element('dt', {}, name), element('dd', {}, text)])),
    element('pre', { tabindex: '0', role: 'region', 'aria-label': `query of document ${one.document}` }, one.query)];
}

// Only a mirror can be compared, only what is no mirror gets changes again; a document is compared with its target.
async function showSettings(name, place, tools) {
  try {
    const known = await ask('target', { target: name, part: 'settings' });
    const isMirror = known !== null && known.settings.some(([key, value]) => key === 'url' && value.startsWith('postgres')) &&
      !known.settings.some(([key, value]) => key === 'option mode' && value === 'append');
    tools.comparison.hidden = !isMirror;
    tools.replay.hidden = isMirror || known === null;
    if (known === null) {
      const document = await ask('target', { target: name, part: 'document' });
      return place.replaceChildren(element('p', {}, 'It is a document.'), ...(document ? definitionOf(document) : []));
    }
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
  const button = actionButton('Pause', 'pause', () => act({ action: button.dataset.action, target: name }));
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
  const breaker = element('div', { class: 'breaker', role: 'status', hidden: true });
  const charts = makeCharts(name);
  const comparison = makeComparison(name);
  const replay = makeReplay(name);
  const processes = makeProcesses();
  const receipts = makeReceipts();
  const receiptsNote = element('p');
  const settings = element('div');
  const show = (target) => {
    setState(state, target.state);
    setText(note, noteOf(target));
    errors.hidden = !(Number(target.errors) || Number(target.blocked));
    setText(errors, `${count(target.errors, 'error')}${Number(target.blocked) ? `, ${number(target.blocked)} waiting` : ''}`);
    toggle.show(target.state);
    showBreaker(breaker, target.breaker);
    charts.setNow('backlog', number(target.backlog));
    charts.setNow('lag', duration(target.lag));
    charts.setNow('rate', number(target.rate));
    processes.show(target.processes);
  };
  showSettings(name, settings, { comparison: comparison.content, replay });
  return {
    title: name,
    content: [element('p', { class: 'actions' }, state, errors, toggle.button), note, breaker, ...charts.content,
      element('h3', {}, 'Processes'), processes.node, element('h3', {}, 'Settings'), settings,
      comparison.content, replay, element('h3', {}, 'Latest receipts'), receiptsNote, receipts.node],
    interval: 2000,
    samplesAt: 0,
    async refresh() {
      try {
        show(await ask('target', { target: name }));
      } catch (error) {
        if (!error.isMissing) throw error;
        setText(note, `There is no target ${name}.`);
        return;
      }
      await comparison.refresh();
      if (Date.now() - this.samplesAt < 10000) return; // as often as samples are taken
      this.samplesAt = Date.now();
      await charts.refresh();
      await showReceipts(name, receipts, receiptsNote);
    },
  };
}
