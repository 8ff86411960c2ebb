// Lines over time, as SVG: small ones for tables, and those with a scale.
import { element, setText } from './basics.js';

const LONGEST_GAP = 100; // seconds between two samples that a line joins; there are none while the source is away
const LONGEST_GAP_OF_DAY = 700; // the same where a sample is the highest of five minutes

function svgElement(name, attributes) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// The path of a line, and of the area below it.
function pathsOf(at, values, { from, until, most, width, height }) {
  const longest = until - from > 7200 ? LONGEST_GAP_OF_DAY : LONGEST_GAP;
  let line = '';
  let area = '';
  let run = [];
  const end = () => {
    if (run.length) {
      const path = run.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');
      line += run.length === 1 ? `${path}h1` : path;
      area += `${path}L${run[run.length - 1][0].toFixed(1)} ${height}L${run[0][0].toFixed(1)} ${height}Z`;
    }
    run = [];
  };
  at.forEach((second, i) => {
    if (second < from) return;
    if (values[i] == null || (i > 0 && second - at[i - 1] > longest)) end();
    if (values[i] != null) run.push([((second - from) / (until - from)) * width, height - 1 - (values[i] / most) * (height - 2)]);
  });
  end();
  return { line, area };
}

function draw(svg, at, values, from, until, most) {
  const [, , width, height] = svg.getAttribute('viewBox').split(' ').map(Number);
  const { line, area } = pathsOf(at, values, { from, until, most, width, height });
  svg.querySelector('.line').setAttribute('d', line);
  svg.querySelector('.area').setAttribute('d', area);
}

function makeSvg(width, height) {
  const svg = svgElement('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none' });
  svg.append(svgElement('path', { class: 'area' }), svgElement('path', { class: 'line' }));
  return svg;
}

const highest = (values) => Math.max(0, ...values.filter((value) => value != null));

export function sparkline() {
  const svg = makeSvg(120, 24);
  svg.setAttribute('class', 'spark');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', 'backlog of the last hour: not known yet');
  return svg;
}

export function drawSparkline(svg, at, values, format) {
  const until = at.length ? at[at.length - 1] : 1;
  const most = highest(values);
  draw(svg, at, values, until - 3600, until, most || 1);
  svg.setAttribute('aria-label', `backlog of the last hour: at most ${format(most)}`);
  return most;
}

// 1, 2 or 5 times a power of ten, at least `value`.
function scaleOf(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= value * 0.999999);
}

export function makeChart(title) {
  const svg = makeSvg(600, 120);
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', `${title}: not known yet`);
  for (const y of [1, 60, 119]) svg.prepend(svgElement('path', { class: 'grid', d: `M0 ${y}H600` }));
  return element('figure', { class: 'chart' }, element('figcaption', {}, element('span', {}, title), element('b', {})),
    element('div', { class: 'plot' },
      element('div', { class: 'y', 'aria-hidden': 'true' }, element('span'), element('span'), element('span')), svg,
      element('div', { class: 'x', 'aria-hidden': 'true' }, element('span'), element('span'), element('span'))));
}

// Of the last `seconds` up to the last sample.
export function drawChart(chart, at, values, seconds, format) {
  const until = at.length ? at[at.length - 1] : Math.floor(Date.now() / 1000);
  const from = until - seconds;
  const most = highest(values.filter((value, i) => at[i] >= from));
  const scale = scaleOf(most);
  const svg = chart.querySelector('svg');
  draw(svg, at, values, from, until, scale);
  chart.querySelectorAll('.y span').forEach((label, i) => setText(label, format([scale, scale / 2, 0][i])));
  chart.querySelectorAll('.x span').forEach((label, i) => setText(label,
    new Date((from + (seconds * i) / 2) * 1000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })));
  const title = chart.querySelector('figcaption span').textContent;
  const range = seconds > 7200 ? `${seconds / 3600} hours` : `${seconds / 60} minutes`;
  svg.setAttribute('aria-label', `${title}, last ${range}: at most ${format(most)}`);
}
