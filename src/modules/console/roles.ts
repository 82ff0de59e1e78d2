/** Roles: API scopes per mode, and permissions that only the console has (behaviour: console 3). */
import type { Mode } from '../../api/caller.ts'
import type { Scope } from '../../api/scopes.ts'

export const roles = ['owner', 'admin', 'developer', 'marketer', 'agent', 'finance', 'viewer'] as const
export type Role = (typeof roles)[number]

export const permissions = [
  'read_imports',
  'import',
  'export',
  'upload',
  'keys',
  'revoke_keys',
  'requests',
  'top_up',
  'team',
  'settings',
  'audit',
] as const
export type Permission = (typeof permissions)[number]

/** `test`: writes in test mode, reads in live. */
type Level = 'write' | 'test' | 'read' | 'none'

interface Area {
  readonly read: readonly (Scope | Permission)[]
  readonly write: readonly (Scope | Permission)[]
  readonly levels: Readonly<Record<Role, Level>>
}

const levels = (developer: Level, marketer: Level, agent: Level, finance: Level, viewer: Level): Area['levels'] => ({
  owner: 'write',
  admin: 'write',
  developer,
  marketer,
  agent,
  finance,
  viewer,
})

const areas = {
  messages: {
    read: ['messages:read'],
    write: ['messages:write'],
    levels: levels('test', 'test', 'write', 'none', 'read'),
  },
  contacts: {
    read: ['contacts:read'],
    write: ['contacts:write'],
    levels: levels('test', 'write', 'write', 'none', 'read'),
  },
  transfers: {
    read: ['read_imports'],
    write: ['import', 'export'],
    levels: levels('test', 'write', 'none', 'none', 'none'),
  },
  media: { read: [], write: ['upload'], levels: levels('test', 'write', 'write', 'none', 'none') },
  channels: {
    read: ['channels:read'],
    write: ['channels:write'],
    levels: levels('test', 'read', 'read', 'none', 'read'),
  },
  campaigns: {
    read: ['campaigns:read'],
    write: ['campaigns:write'],
    levels: levels('test', 'write', 'read', 'none', 'read'),
  },
  integrations: {
    read: ['integrations:read', 'automation_events:read'],
    write: ['integrations:write', 'automation_events:write'],
    levels: levels('write', 'write', 'read', 'none', 'read'),
  },
  webhooks: {
    read: ['webhooks:read', 'events:read'],
    write: ['webhooks:write'],
    levels: levels('write', 'none', 'read', 'none', 'none'),
  },
  developers: {
    read: ['requests', 'revoke_keys'],
    write: ['keys'],
    levels: levels('test', 'none', 'none', 'none', 'none'),
  },
  billing: { read: ['billing:read'], write: ['top_up'], levels: levels('read', 'read', 'none', 'write', 'read') },
  team: { read: ['audit'], write: ['team', 'settings'], levels: levels('none', 'none', 'none', 'none', 'none') },
} as const satisfies Record<string, Area>

const scopeShape = /:/

export function grantsOf(role: Role, mode: Mode): (Scope | Permission)[] {
  return Object.values(areas as Readonly<Record<string, Area>>).flatMap(
    ({ read, write, levels: { [role]: level } }) => {
      if (level === 'none') return []
      const writes = level === 'write' || (level === 'test' && mode === 'test')
      return writes ? [...read, ...write] : [...read]
    },
  )
}

const table = new Map(
  roles.flatMap((role) =>
    (['live', 'test'] as const).map((mode) => {
      const grants = grantsOf(role, mode)
      const scopes = grants.filter((grant): grant is Scope => scopeShape.test(grant))
      const allowed = new Set(grants.filter((grant): grant is Permission => !scopeShape.test(grant)))
      return [`${role} ${mode}`, { scopes, allowed }] as const
    }),
  ),
)

export const scopesOf = (role: Role, mode: Mode): readonly Scope[] => table.get(`${role} ${mode}`)!.scopes

export const mayIn = (role: Role, mode: Mode, permission: Permission): boolean =>
  table.get(`${role} ${mode}`)!.allowed.has(permission)

/** By prefix: operations of `/v1` that need more than their scope. */
const extra: readonly (readonly [operation: string, method: string, permission: Permission])[] = [
  ['contact_imports.', 'GET', 'read_imports'],
  ['contact_imports.', 'POST', 'import'],
  // also of one contact: contacts.export_data
  ['contacts.export', 'GET', 'export'],
]

export const permissionFor = (operation: string, method: string): Permission | undefined =>
  extra.find(([begins, with_method]) => operation.startsWith(begins) && method === with_method)?.[2]
