/** Stands above every screen while an administrator of the platform acts for an account. */
import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { answered, own } from '../api/client.ts'
import { refreshSession, setSession, useOwnSession } from '../api/session.ts'
import { useAction } from '../api/use-action.ts'
import { useTime } from '../parts/times.ts'
import { paths } from '../paths.ts'
import { text } from '../text/en.ts'

export function ImpersonationBar() {
  const { impersonating, accounts } = useOwnSession()
  const navigate = useNavigate()
  const time = useTime()
  const expires_at = impersonating?.expires_at
  useEffect(() => {
    if (expires_at === undefined) return undefined
    const timer = setTimeout(() => void refreshSession(), Math.max(1_000, Date.parse(expires_at) - Date.now()))
    return () => clearTimeout(timer)
  }, [expires_at])
  const end = useAction(
    () => answered(own().DELETE('/console/api/admin/impersonations')),
    async (session) => {
      await navigate({ to: paths.admin as never })
      setSession(session)
    },
  )
  if (impersonating === null) return null
  const name = accounts.find(({ id }) => id === impersonating.account_id)?.name ?? impersonating.account_id
  return (
    <aside className="impersonation" aria-label={text.frame.impersonation}>
      <span dir="auto">
        {text.frame.impersonating(name, time(impersonating.expires_at) ?? '')} <bdi>{impersonating.reason}</bdi>
      </span>
      <Button size="xs" variant="white" color="red.9" loading={end.isRunning} onClick={() => end.run(undefined)}>
        {text.frame.end}
      </Button>
    </aside>
  )
}
