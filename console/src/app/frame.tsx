/** The frame of an account's screens: top bar and menu. */
import { Badge, Button, Drawer, Menu, NativeSelect, SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { use, useEffect, useState } from 'react'
import { unwrap, own } from '../api/client.ts'
import { isAllowed, refreshSession, setSession, useRequiredSession } from '../api/session.ts'
import { useApiMutation } from '../api/use-action.ts'
import { useStream } from '../api/use-stream.ts'
import { clearDrafts } from '../components/form/use-draft.ts'
import { browserTimeZone, useTimeFormat, ZoneContext } from '../components/format/intl.tsx'
import { text } from '../text/en.ts'
import { type Mode, pathInWorkspace, paths, pathTo, type Workspace, useWorkspace } from './paths.ts'
import { accountScreens } from './routes.ts'
import { SearchButton } from './search.tsx'

export function Frame() {
  const workspace = useWorkspace()
  const { pathname } = useLocation()
  const [isOpen, setOpen] = useState(false)
  useStream(workspace)
  useEffect(() => {
    document.documentElement.dataset['mode'] = workspace.mode
    return () => void delete document.documentElement.dataset['mode']
  }, [workspace.mode])
  return (
    <div className="frame">
      <header className="frame-top">
        <Button className="narrow-only" variant="default" aria-expanded={isOpen} onClick={() => setOpen(true)}>
          {text.frame.menu}
        </Button>
        <WorkspaceSwitcher workspace={workspace} />
        {workspace.mode === 'test' && (
          <Badge className="test-mode" variant="transparent">
            {text.frame.testMode}
          </Badge>
        )}
        <div className="frame-push" />
        <SearchButton workspace={workspace} />
        <TimeZoneSelect accountZone={useAccountZone(workspace)} />
        <PersonMenu />
      </header>
      <div className="frame-menu">
        <Navigation workspace={workspace} />
      </div>
      <Drawer
        opened={isOpen}
        onClose={() => setOpen(false)}
        title={text.product}
        size="16rem"
        transitionProps={{ duration: 0 }}
        closeButtonProps={{ 'aria-label': text.dialog.close }}
      >
        <Navigation workspace={workspace} onNavigate={() => setOpen(false)} />
      </Drawer>
      <main
        id="content"
        className="frame-main"
        key={`${workspace.account} ${workspace.mode} ${pathname}`}
        tabIndex={-1}
      >
        <Outlet />
      </main>
    </div>
  )
}

function useAccountZone(workspace: Workspace): string | undefined {
  const session = useRequiredSession()
  const account = useQuery({
    queryKey: [workspace.account, workspace.mode, 'account.retrieve'],
    queryFn: () => unwrap(own(workspace).GET('/console/api/account')),
    enabled: isAllowed(session, workspace, 'settings'),
    refetchInterval: false,
  })
  return account.data?.timezone
}

function Navigation({ workspace, onNavigate }: { workspace: Workspace; onNavigate?: () => void }) {
  const session = useRequiredSession()
  const [, , , section = ''] = useLocation().pathname.split('/')
  return (
    <nav aria-label={text.frame.main}>
      <ul className="menu-list">
        {accountScreens
          .filter(
            ({ menu, needs }) => menu !== undefined && (needs === undefined || isAllowed(session, workspace, needs)),
          )
          .map(({ path, menu }) => {
            const step = path === '/' ? '' : path
            return (
              <li key={path}>
                <Link
                  to={step === '' ? pathTo(workspace) : pathTo(workspace, step)}
                  activeOptions={{ exact: step === '' }}
                  aria-current={section === step ? 'page' : undefined}
                  onClick={onNavigate}
                >
                  {text.screens[menu!]}
                </Link>
              </li>
            )
          })}
      </ul>
    </nav>
  )
}

const modes = (['live', 'test'] as const).map((value) => ({ value, label: text.frame.modes[value] }))

function WorkspaceSwitcher({ workspace }: { workspace: Workspace }) {
  const { accounts } = useRequiredSession()
  const navigate = useNavigate()
  const { pathname } = useLocation()
  const go = (to: Workspace) => void navigate({ to: pathInWorkspace(pathname, to) as never })
  return (
    <>
      <NativeSelect
        aria-label={text.frame.account}
        data={accounts.map(({ id, name }) => ({ value: id, label: name }))}
        value={workspace.account}
        onChange={(event) => go({ ...workspace, account: event.currentTarget.value })}
      />
      <SegmentedControl
        aria-label={text.frame.mode}
        data={modes}
        value={workspace.mode}
        onChange={(mode) => go({ ...workspace, mode: mode as Mode })}
      />
    </>
  )
}

function TimeZoneSelect({ accountZone }: { accountZone: string | undefined }) {
  const { name, choose } = use(ZoneContext)
  const { zones } = text.frame
  const offered = new Map([
    ['UTC', zones.utc],
    [browserTimeZone(), zones.browser(browserTimeZone())],
    ...(accountZone === undefined ? [] : [[accountZone, zones.account(accountZone)] as const]),
  ])
  if (!offered.has(name)) offered.set(name, name)
  return (
    <NativeSelect
      aria-label={text.frame.zone}
      data={[...offered].map(([value, label]) => ({ value, label }))}
      value={name}
      onChange={(event) => choose(event.currentTarget.value)}
    />
  )
}

export function PersonMenu() {
  const { user } = useRequiredSession()
  const navigate = useNavigate()
  const signOut = useApiMutation(
    () => unwrap(own().DELETE('/console/api/session')),
    async () => {
      clearDrafts()
      // first, because the protected route would redirect with a way back here
      await navigate({ to: paths.signIn })
      setSession(null)
    },
  )
  const { frame } = text
  return (
    <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <Button variant="default">{frame.you}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <bdi>{user.name}</bdi>
          <br />
          {user.email}
        </Menu.Label>
        <Menu.Item onClick={() => void navigate({ to: paths.profile as never })}>{frame.profile}</Menu.Item>
        {user.admin && (
          <Menu.Item onClick={() => void navigate({ to: paths.admin as never })}>{frame.platform}</Menu.Item>
        )}
        <Menu.Item onClick={() => signOut.run(undefined)}>{frame.signOut}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

export function ImpersonationBar() {
  const { impersonating, accounts } = useRequiredSession()
  const navigate = useNavigate()
  const time = useTimeFormat()
  const expires_at = impersonating?.expires_at
  useEffect(() => {
    if (expires_at === undefined) return undefined
    const timer = setTimeout(() => void refreshSession(), Math.max(1_000, Date.parse(expires_at) - Date.now()))
    return () => clearTimeout(timer)
  }, [expires_at])
  const end = useApiMutation(
    () => unwrap(own().DELETE('/console/api/admin/impersonations')),
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
