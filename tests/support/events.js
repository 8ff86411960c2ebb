// What the official package makes of messages of Kafka, {key, value, headers}: an event for each line of standard input.
//   node events.js PACKAGES
'use strict';
const path = require('path');
const readline = require('readline');

const { Kafka } = require(path.join(process.argv[2], 'node_modules', 'cloudevents'));

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const event = Kafka.toEvent(JSON.parse(line));
  if (!event.validate())
    throw new Error('not valid');
  console.log(JSON.stringify(event));
});
