/** Errors that only the operator can fix: a configuration, data folder, key or database that this program cannot use. */

/** Thrown before the service runs, so without an API error code. The command line prints the message, which says what to do, and exits with 1. */
export class OperatorError extends Error {
  /** The name under which `posthorn doctor` reports the error. */
  readonly subject: 'configuration' | 'database'

  constructor(message: string, subject: OperatorError['subject'] = 'configuration') {
    super(message)
    this.name = 'OperatorError'
    this.subject = subject
  }
}

/** Invalid command-line arguments, which have an exit code of their own (behaviour: command-line 1). */
export class UsageError extends OperatorError {}
