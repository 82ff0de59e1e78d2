/** The error for a database that this program must not work on. */

/** A database that this program must not touch; the message says what to do. */
export class DatabaseRefused extends Error {}
