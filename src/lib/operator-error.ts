/** Errors that only the operator can fix: a configuration, data folder, key or database that this program cannot use. */

/** Thrown without an API error code. The command line prints the message and exits with 1. */
export class OperatorError extends Error {
  /** How `posthorn doctor` names the error. */
  readonly subject: 'configuration' | 'database'

  constructor(message: string, subject: OperatorError['subject'] = 'configuration') {
    super(message)
    this.name = 'OperatorError'
    this.subject = subject
  }
}

/** Invalid command-line arguments (behaviour: command-line 1). */
export class UsageError extends OperatorError {}
