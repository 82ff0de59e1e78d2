/** `invalid_credentials` with the status that it has of somebody who is signed in already: 400, for the session goes on (behaviour: console 3.3). */
import { Problem } from '../../../api/problem.ts'

export class WrongCredentials extends Problem {
  constructor(param: string, message: string) {
    super('invalid_credentials', message, { param })
  }

  override get status(): number {
    return 400
  }
}
