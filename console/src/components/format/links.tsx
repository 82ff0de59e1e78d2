/** Links to screens, and to any object by its ID. */
import { Anchor, type AnchorProps } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { pathTo, type Workspace, type Query, useWorkspace } from '../../app/paths.ts'

export function PathLink({
  to,
  search,
  children,
  ...props
}: AnchorProps & { to: string; search?: Query; children: ReactNode }) {
  return (
    <Anchor component={Link} to={to} search={search as never} underline="always" {...props}>
      {children}
    </Anchor>
  )
}

export function ObjectLink({ id }: { id: string }) {
  const path = pathOfObject(useWorkspace(), id)
  return path === undefined ? <span>{id}</span> : <PathLink to={path}>{id}</PathLink>
}

const sections: Readonly<Record<string, string>> = {
  msg: 'messages',
  ct: 'contacts',
  seg: 'segments',
  ch: 'channels',
  cmp: 'campaigns',
  aut: 'automations',
  src: 'integrations',
  we: 'webhooks',
  evt: 'events',
}

const lists: Readonly<Record<string, string>> = {
  cnv: 'inbox',
  lst: 'lists',
  imp: 'contacts/import',
  run: 'automations',
  aev: 'integrations',
  whd: 'webhooks',
  txn: 'billing',
  top: 'billing',
  permission: 'billing',
  tpl: 'templates',
  usr: 'team',
  aud: 'audit',
  key: 'developers',
}

export function pathOfObject(workspace: Workspace, id: string): string | undefined {
  const prefix = id.split('_', 1)[0]!
  const section = sections[prefix]
  if (section !== undefined) return pathTo(workspace, section, id)
  if (prefix === 'req') return `${pathTo(workspace, 'developers')}?request_id=${id}`
  const list = lists[prefix]
  return list === undefined ? undefined : pathTo(workspace, ...list.split('/'))
}
