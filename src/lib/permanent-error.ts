/** What tells a failure that lasts from one that may pass: whoever meets the first does not try again. */

/** Trying again would meet the same. Its message is a sentence without secrets. */
export class PermanentError extends Error {}
