/** The button with what concerns the person: their profile, the platform where they administer it, signing out. */
import { Button, Menu } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { answered, own } from '../api/client.ts'
import { setSession, useOwnSession } from '../api/session.ts'
import { useAction } from '../api/use-action.ts'
import { forgetDrafts } from '../parts/kept.ts'
import { paths } from '../paths.ts'
import { text } from '../text/en.ts'

export function PersonMenu() {
  const { user } = useOwnSession()
  const navigate = useNavigate()
  const signOut = useAction(
    () => answered(own().DELETE('/console/api/session')),
    async () => {
      forgetDrafts()
      // first away from what only stands where somebody is signed in: that would lead to signing in too, and back here
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
