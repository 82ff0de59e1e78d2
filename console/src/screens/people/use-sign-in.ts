/** Signing in, in one step or, where the person has a second factor, in two. */
import { useState } from 'react'
import { answered, own } from '../../api/client.ts'
import type { Problem } from '../../api/problem.ts'
import type { Session } from '../../api/session.ts'
import { useAction } from '../../api/use-action.ts'
import type { Credentials } from './credentials.tsx'

export interface SignIn {
  readonly run: (credentials: Credentials) => void
  /** The code of the second factor, with what was given before. */
  readonly runWithCode: (code: string) => void
  /** The password was right, and a code is asked for. */
  readonly asksForCode: boolean
  readonly isRunning: boolean
  readonly problem: Problem | undefined
}

export function useSignIn(onDone: (session: Session) => unknown): SignIn {
  const [given, setGiven] = useState<Credentials>()
  const [asksForCode, setAsks] = useState(false)
  const action = useAction(
    async (credentials: Credentials) => {
      setGiven(credentials)
      try {
        return await answered(own().POST('/console/api/session', { body: credentials }))
      } catch (error) {
        if ((error as Problem).code === 'mfa_required') setAsks(true)
        throw error
      }
    },
    (session) => {
      // the form may be there for the next time, too
      setGiven(undefined)
      setAsks(false)
      return onDone(session)
    },
  )
  return {
    run: action.run,
    runWithCode: (code) => given !== undefined && action.run({ ...given, code }),
    asksForCode,
    isRunning: action.isRunning,
    problem: action.problem,
  }
}
