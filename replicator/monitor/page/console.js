// The console: finds the page that the address names, and keeps it up to date while it is visible. All content comes from
// /api/. What is read costs the source at most a tenth of its time: the next reading waits ten times as long as the last
// one took.
import { ask, byId, count, duration, element, mayAct, number, say, setKnown, setRights, setText, setToken } from './basics.js';
import { openErrors } from './errors.js';
import { openHistory } from './history.js';
import { openList } from './lists.js';
import { openOverview } from './overview.js';
import { openTarget } from './target.js';

const PAGES = {
  targets: openOverview,
  target: openTarget,
  errors: openErrors,
  captures: openList('captures'),
  documents: openList('documents'),
  backfills: openList('backfills'),
  processes: openList('processes'),
  history: openHistory,
};
const HEADER_INTERVAL = 10000; // where the page itself does not show targets
const LONGEST_PAUSE = 60000;
const OLD_AFTER = 30000;

let view = null;
let readAt = null; // when the overview was read last
let problem = ''; // why it cannot be read now

// ---- what is known, and how old it is -------------------------------------------------------------------------------

function showAge() {
  const age = readAt === null ? null : Date.now() - readAt;
  const isOld = problem !== '' || (age !== null && age > OLD_AFTER);
  setText(byId('age'), age === null ? '' : `as of ${duration(Math.round(age / 1000))} ago`);
  setKnown(!isOld);
  document.body.classList.toggle('old', isOld);
  byId('banner').hidden = !isOld;
  setText(byId('banner'), !isOld ? '' : `Nothing is known of the present state: ${problem || 'no answer came'}.` +
    (readAt === null ? '' : ` What is shown is of ${new Date(readAt).toLocaleTimeString()}.`));
}

function showOverview(overview) {
  setText(byId('database'), overview.database);
  const others = overview.count - (overview.states.running || 0);
  const troubles = [others && `${number(others)} not running`, overview.troubled && `${number(overview.troubled)} in trouble`];
  setText(byId('state'), `${count(overview.count, 'target')}, ${troubles.filter(Boolean).join(', ') || 'all running'}` +
    (mayAct() ? '' : '; read-only'));
  setText(byId('error-count'), overview.errors === '0' ? '' : `(${number(overview.errors)})`);
  if (view.show) view.show(overview);
}

async function readOverview() {
  const reader = view;
  try {
    const overview = await ask('overview', (reader && reader.wanted) || { limit: 1 });
    readAt = Date.now();
    problem = '';
    if (reader === view) showOverview(overview);
  } catch (error) {
    problem = error.message;
  }
  showAge();
}

async function refreshView() {
  const reader = view;
  try {
    if (reader.refresh) await reader.refresh();
    if (reader.refresh && !reader.show) {
      readAt = Date.now();
      problem = '';
    }
  } catch (error) {
    if (error.isAway) await readOverview(); // says so
    else if (reader === view) setText(byId('message'), error.message);
  }
}

// ---- again and again ------------------------------------------------------------------------------------------------

// Gives a function that reads at once.
function repeat(read, interval) {
  let timer = null;
  let isReading = false;
  let isAwaited = false;
  const next = async () => {
    clearTimeout(timer);
    if (isReading) { isAwaited = true; return; }
    isReading = true;
    isAwaited = false;
    const began = performance.now();
    if (!document.hidden) await read();
    isReading = false;
    const pause = Math.min(LONGEST_PAUSE, Math.max(interval(), 10 * (performance.now() - began)));
    timer = setTimeout(next, isAwaited ? 0 : problem ? interval() : pause);
  };
  return next;
}

const hurryOverview = repeat(readOverview, () => (view.show ? view.interval : HEADER_INTERVAL));
const hurryView = repeat(refreshView, () => (view.show ? HEADER_INTERVAL : view.interval || HEADER_INTERVAL));

function hurry() {
  hurryOverview();
  hurryView();
}

document.addEventListener('acted', hurry);
document.addEventListener('visibilitychange', () => { if (!document.hidden) hurry(); });

// ---- pages ----------------------------------------------------------------------------------------------------------

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    return text;
  }
}

function readRoute() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  const [name, ...what] = path.split('/');
  return { name: PAGES[name] ? name : 'targets', what: decoded(what.join('/')), parameters: new URLSearchParams(query) };
}

function openPage() {
  const route = readRoute();
  const isFirst = view === null;
  view = PAGES[route.name](route);
  const title = element('h2', { tabindex: '-1' }, view.title);
  byId('content').replaceChildren(title, ...view.content);
  document.title = `${view.title} – rowrelay`;
  for (const tab of byId('tabs').children) {
    if (tab.getAttribute('href') === `#/${route.name === 'target' ? 'targets' : route.name}`) tab.setAttribute('aria-current', 'page');
    else tab.removeAttribute('aria-current');
  }
  if (!isFirst) title.focus();
  hurry();
}

// ---- who acts -------------------------------------------------------------------------------------------------------

// Asks who has this token, or whom a proxy has named. Answers may come in another order than they were asked for.
let signIns = 0;
async function signIn(token) {
  const turn = ++signIns;
  setToken(token);
  say(''); // what was said of another token
  let who = { name: null, by_proxy: false, rights: [] };
  try {
    who = await ask('who');
  } catch (error) {
    if (turn !== signIns) return;
    if (error.isStranger) setToken('');
    say(error.message);
  }
  if (turn !== signIns) return;
  const isSignedIn = who.rights.length > 0;
  setRights(who.rights);
  byId('sign-in').hidden = isSignedIn || who.by_proxy;
  byId('sign-out').hidden = !isSignedIn || who.by_proxy;
  setText(byId('who'), who.name || '');
  if (view) hurryOverview();
}

byId('sign-in').addEventListener('submit', (event) => {
  event.preventDefault();
  const token = byId('token').value;
  byId('token').value = '';
  signIn(token);
});
byId('sign-out').addEventListener('click', () => signIn(''));
byId('skip').addEventListener('click', (event) => { // the address names a page
  event.preventDefault();
  byId('content').focus();
});

window.addEventListener('hashchange', openPage);
signIn(sessionStorage.getItem('token') || '');
openPage();
setInterval(showAge, 1000);
