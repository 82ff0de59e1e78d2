/** A refusal outside of `/v1`, as the command line shows it: one clear sentence, no code of the error catalogue. */
export class Refusal extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'Refusal'
  }
}
