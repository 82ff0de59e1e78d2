/** What only the operator can mend: a configuration, data folder, key or database that this program cannot work with. */

/**
 * Thrown before there is a service, so by no feature and with no code of the error catalogue. The command line prints the message, which says what to
 * do, and exits with 1.
 */
export class OperatorError extends Error {
  /** What is at fault: `posthorn doctor` reports the error under this name. */
  readonly subject: 'configuration' | 'database'

  constructor(message: string, subject: OperatorError['subject'] = 'configuration') {
    super(message)
    this.name = 'OperatorError'
    this.subject = subject
  }
}

/** A command was called in a way that it does not know: the exit code tells it from a refusal (behaviour: command-line 1). */
export class UsageError extends OperatorError {}
