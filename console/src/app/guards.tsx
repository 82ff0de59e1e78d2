/** Route guards: session, account and permission. */
import { Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { type ReactNode, Suspense, useEffect, useState } from 'react'
import { problemOf } from '../api/client.ts'
import { type Permission, isAllowed, useRequiredSession, useSession } from '../api/session.ts'
import { ProblemAlert } from '../components/feedback/alerts.tsx'
import { NotAllowed, NotFound, LoadingIndicator } from '../components/feedback/screen.tsx'
import { Frame, ImpersonationBar } from './frame.tsx'
import { paths, pathTo, useWorkspace } from './paths.ts'
import { ReauthenticationDialog, SessionEndDialog } from './session-dialogs.tsx'

const CenteredPage = ({ children }: { children: ReactNode }) => (
  <main id="content" className="card-page">
    {children}
  </main>
)

function Redirect({ to, next }: { to: string; next?: string }) {
  const navigate = useNavigate()
  const [target] = useState({ to, search: next === undefined ? {} : { next }, replace: true })
  useEffect(() => void navigate(target as never), [navigate, target])
  return (
    <CenteredPage>
      <LoadingIndicator />
    </CenteredPage>
  )
}

export function RequireSession({ children }: { children?: ReactNode }) {
  const { data: session, error, refetch } = useSession()
  const { pathname, searchStr } = useLocation()
  if (session === undefined)
    return (
      <CenteredPage>
        {error === null ? (
          <LoadingIndicator />
        ) : (
          <ProblemAlert problem={problemOf(error)} onRetry={() => void refetch()} />
        )}
      </CenteredPage>
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

export function HomeRedirect() {
  const [account] = useRequiredSession().accounts
  if (account === undefined) return <Redirect to={paths.profile} />
  return <Redirect to={pathTo({ account: account.id, mode: 'test' })} />
}

export function AccountLayout() {
  const { accounts } = useRequiredSession()
  const { account, mode } = useWorkspace()
  const isWorkspace = accounts.some(({ id }) => id === account) && (mode === 'live' || mode === 'test')
  if (isWorkspace) return <Frame />
  return (
    <CenteredPage>
      <NotFound />
    </CenteredPage>
  )
}

export function RequirePermission({ needs, children }: { needs: Permission | undefined; children: ReactNode }) {
  const session = useRequiredSession()
  const workspace = useWorkspace()
  if (needs !== undefined && !isAllowed(session, workspace, needs)) return <NotAllowed mode={workspace.mode} />
  return <Suspense fallback={<LoadingIndicator />}>{children}</Suspense>
}
