/** Errors that only the operator can fix, in configuration, data folder, key or database. */

/** Thrown without an API error code. The command line prints the message and exits with 1. */
export class OperatorError extends Error {
  /** For `posthorn doctor`. */
  readonly subject: 'configuration' | 'database'

  constructor(message: string, subject: OperatorError['subject'] = 'configuration') {
    super(message)
    this.name = 'OperatorError'
    this.subject = subject
  }
}

/** (behaviour: command-line 1) */
export class UsageError extends OperatorError {}
