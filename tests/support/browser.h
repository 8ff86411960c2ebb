/*
 * browser: a headless Chromium, driven by tests/support/browser.js over npm's playwright-core. Where these cannot be
 * had the test is skipped. It ends with the test.
 */
#ifndef ROWRELAY_TESTS_BROWSER_H
#define ROWRELAY_TESTS_BROWSER_H

/* Opens a page of this machine. */
void browser_begin(int port);
/*
 * Opens a page that listens to changes, see tests/support/browser_events.js, with the browser's own EventSource, which
 * is cut off at random. browser_hear() gives the next line that it prints, valid until the next one.
 */
void browser_listen(int port, const char *token, int seed);
const char *browser_hear(void);
void browser_end(void);

/* A line that browser.js knows; gives its answer, valid until the next one. */
const char *browser_ask(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same; fails the test unless the answer is "ok". */
void browser_do(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
