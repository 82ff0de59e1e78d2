/** Writes an audit log entry for every change made over HTTP (behaviour: console-records 1). */
import { actorOf } from '../../../api/caller.ts'
import { isoTime } from '../../../lib/clock.ts'
import { type Db, transact, type Transaction } from '../../../platform/database/sql.ts'
import { addressList, clientAddress } from '../../../platform/http/headers.ts'
import type { Change, Recorder, RecorderOf } from '../../../platform/http/audit-hook.ts'
import type { Route } from '../../../platform/http/route.ts'
import type { Platform } from '../../../platform/platform.ts'
import { listMemberships } from '../people/repository.ts'
import type { ConsoleFacts, Entrant } from '../route.ts'
import type { Session } from '../sign-in/sessions.ts'
import { type AuditRow, insertAudit } from './repository.ts'

/** Single contacts and messages have their own histories. */
const single: ReadonlySet<string> = new Set([
  'messages.send',
  'messages.cancel',
  'test.create_inbound_message',
  'contacts.create',
  'contacts.upsert',
  'contacts.update',
  'contacts.delete',
  'automation_events.create',
])

/** Accepting a message with a key must not need an extra statement. */
const acceptedWithKeys: ReadonlySet<string> = new Set(['messages.send_batch'])

const isChange = ({ method, scope, operation, source_key, signedHandler }: Route): boolean =>
  method !== 'GET' &&
  scope?.endsWith(':read') !== true &&
  source_key !== true &&
  signedHandler === undefined &&
  !single.has(operation)

export const keyRecorder =
  (platform: Platform): RecorderOf =>
  (route) => {
    if (!isChange(route) || acceptedWithKeys.has(route.operation)) return undefined
    const isTrusted = addressList(platform.settings.trusted_proxies)
    return (tx, change) =>
      insertAudit(tx, { ...entryOf(platform, change), address: clientAddress(change.request.raw, isTrusted) })
  }

/** Operations on accounts and on oneself, except those that write their own entries. */
export const consoleRecorder =
  (platform: Platform): RecorderOf =>
  (route: Route & Partial<ConsoleFacts>) => {
    if (!isChange(route) || route.unaudited === true) return undefined
    if (route.access === 'session') return ofOneself(platform)
    if (route.access !== undefined && route.access !== 'account') return undefined
    return async (tx, change) => {
      if (isDryRun(change) || hasTakenNothing(change) || isReading(change)) return
      const { address, session } = change.request.session as Entrant
      await insertAudit(tx, { ...entryOf(platform, change), ...actingFor(session), address })
    }
  }

const ofOneself =
  (platform: Platform): Recorder =>
  async (tx, { route, request: { caller, params, body, session: entrant }, outcome }) => {
    const { session, address } = entrant as Entrant
    const { user_id } = session!
    await auditUser(tx, platform, user_id, {
      actor_type: 'user',
      actor_id: user_id,
      action: route.operation,
      object_id: Object.values(params).at(-1) ?? idIn(outcome) ?? user_id,
      changes: maskedChanges(body),
      address,
      request_id: caller.request_id,
    })
  }

function entryOf({ ids, clock }: Platform, { route, request: { caller, params, body }, outcome }: Change) {
  const { type, id } = actorOf(caller)
  return {
    account_id: caller.account_id,
    id: ids('aud'),
    actor_type: type,
    actor_id: id,
    impersonator_id: null,
    action: route.operation,
    object_id: Object.values(params).at(-1) ?? idIn(outcome),
    changes: maskedChanges(body),
    request_id: caller.request_id,
    created_at: isoTime(clock.now()),
  }
}

/** An impersonator is recorded beside the user for whom they act (behaviour: console 3.15). */
const actingFor = (session: Session | null) =>
  session === null || session.impersonation === null
    ? {}
    : { actor_id: session.impersonation.user_id ?? session.user_id, impersonator_id: session.user_id }
const isDryRun = ({ request: { body } }: Change): boolean =>
  typeof body === 'object' && body !== null && 'dry_run' in body && body.dry_run === true

const hasTakenNothing = ({ outcome }: Change): boolean =>
  typeof outcome === 'object' && outcome !== null && 'accepted' in outcome && outcome.accepted === 0

const isReading = ({ route, request: { body } }: Change): boolean =>
  route.operation === 'conversations.update' &&
  typeof body === 'object' &&
  body !== null &&
  Object.keys(body).every((name) => name === 'read')

const idIn = (outcome: unknown): string | null =>
  typeof outcome === 'object' && outcome !== null && 'id' in outcome && typeof outcome.id === 'string'
    ? outcome.id
    : null

const masked = '[masked]'
const textLengthMax = 200
const itemsMax = 20
const depthMax = 4

const secretName = /(^|_)(password|secret|token|credentials|code|key)$/

const maskedChanges = (body: unknown): Record<string, unknown> => (isRecord(body) ? maskedFields(body, 0) : {})

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const maskedFields = (fields: Record<string, unknown>, depth: number): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      secretName.test(name) && value !== null ? masked : shown(value, depth + 1),
    ]),
  )

function shown(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return shownText(value)
  if (Array.isArray(value))
    return value.length > itemsMax || depth >= depthMax
      ? `${value.length} items`
      : value.map((item) => shown(item, depth + 1))
  if (!isRecord(value)) return value
  return depth >= depthMax ? `${Object.keys(value).length} fields` : maskedFields(value, depth)
}

function shownText(text: string): string {
  const open = /^https?:\/\//i.test(text)
    ? text.replace(/^(https?:\/\/)[^/?#]*@/i, `$1${masked}@`).replace(/[?#].*$/s, `?${masked}`)
    : text
  return open.length > textLengthMax ? `${open.slice(0, textLengthMax).toWellFormed()}…` : open
}

export interface CommandEntry {
  readonly account_id: string
  readonly object_id: string
  readonly changes: object
}

/** In one transaction. `command`: the command line. `entryOf` returns null if the change belongs to no account. */
export type ByCommand = <T>(
  words: { readonly command: string; readonly action: string },
  change: (tx: Transaction) => Promise<T>,
  entryOf: (made: T) => CommandEntry | null,
) => Promise<T>

export const byCommand =
  ({ pool, ids, clock }: Platform): ByCommand =>
  async ({ command, action }, change, entryOf) =>
    await transact(pool, async (tx) => {
      const made = await change(tx)
      const auditEntry = entryOf(made)
      if (auditEntry === null) return made
      const { changes, ...entry } = auditEntry
      await insertAudit(tx, {
        ...entry,
        id: ids('aud'),
        actor_type: 'command',
        actor_id: command,
        impersonator_id: null,
        action,
        changes: maskedChanges(changes),
        address: null,
        request_id: null,
        created_at: isoTime(clock.now()),
      })
      return made
    })

export type UserEntry = Omit<AuditRow, 'account_id' | 'id' | 'impersonator_id' | 'created_at'>

export async function auditUser(
  tx: Db,
  { ids, clock }: Pick<Platform, 'ids' | 'clock'>,
  user_id: string,
  entry: UserEntry,
): Promise<void> {
  const created_at = isoTime(clock.now())
  for (const { account_id } of await listMemberships(tx, user_id))
    await insertAudit(tx, { ...entry, account_id, id: ids('aud'), impersonator_id: null, created_at })
}
