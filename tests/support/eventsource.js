// Listens to changes with npm's EventSource, which reconnects by itself, and prints the id of each as it comes.
//   node eventsource.js PACKAGES URL TOKEN
'use strict';
const path = require('path');

const [packages, url, token] = process.argv.slice(2);
const { EventSource } = require(path.join(packages, 'node_modules', 'eventsource'));
const source = new EventSource(url, {
  fetch: (input, init) =>
    fetch(input, { ...init, headers: { ...init.headers, Authorization: `Bearer ${token}` } }),
});
source.onopen = () => console.log('open');
source.onmessage = (event) => console.log(JSON.parse(event.data).change_id);
