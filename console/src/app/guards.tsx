/** Who is let through to a screen: who is signed in, is a member, and may see it. */
import { Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { type ReactNode, Suspense, useEffect, useState } from 'react'
import { problemOf } from '../api/client.ts'
import { type Grant, may, useOwnSession, useSession } from '../api/session.ts'
import { ProblemAlert } from '../components/feedback/alerts.tsx'
import { NotAllowed, NotFound, Waiting } from '../components/feedback/screen.tsx'
import { Frame, ImpersonationBar } from './frame.tsx'
import { paths, pathTo, usePlace } from './paths.ts'
import { ReauthenticationDialog, SessionEndDialog } from './session-dialogs.tsx'

const Alone = ({ children }: { children: ReactNode }) => (
  <main id="content" className="card-page">
    {children}
  </main>
)

/** Goes elsewhere, once: it is shown until the other screen is loaded. */
function Redirect({ to, next }: { to: string; next?: string }) {
  const navigate = useNavigate()
  const [target] = useState({ to, search: next === undefined ? {} : { next }, replace: true })
  useEffect(() => void navigate(target as never), [navigate, target])
  return (
    <Alone>
      <Waiting />
    </Alone>
  )
}

/** Whoever is not signed in signs in first, and comes back. */
export function SignedIn({ children }: { children?: ReactNode }) {
  const { data: session, error, refetch } = useSession()
  const { pathname, searchStr } = useLocation()
  if (session === undefined)
    return (
      <Alone>
        {error === null ? <Waiting /> : <ProblemAlert problem={problemOf(error)} onAgain={() => void refetch()} />}
      </Alone>
    )
  if (session === null) return <Redirect to={paths.signIn} next={pathname + searchStr} />
  return (
    <>
      <ImpersonationBar />
      {children ?? <Outlet />}
      <SessionEndDialog />
      <ReauthenticationDialog />
    </>
  )
}

/** `/console`: Home of the first account. */
export function Start() {
  const [account] = useOwnSession().accounts
  if (account === undefined) return <Redirect to={paths.profile} />
  return <Redirect to={pathTo({ account: account.id, mode: 'test' })} />
}

/** Everything below an account and a mode. */
export function InAccount() {
  const { accounts } = useOwnSession()
  const { account, mode } = usePlace()
  const isPlace = accounts.some(({ id }) => id === account) && (mode === 'live' || mode === 'test')
  if (isPlace) return <Frame />
  return (
    <Alone>
      <NotFound />
    </Alone>
  )
}

/** A screen, where the person may see it. */
export function Allowed({ needs, children }: { needs: Grant | undefined; children: ReactNode }) {
  const session = useOwnSession()
  const place = usePlace()
  if (needs !== undefined && !may(session, place, needs)) return <NotAllowed mode={place.mode} />
  return <Suspense fallback={<Waiting />}>{children}</Suspense>
}
