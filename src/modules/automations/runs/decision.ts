/**
 * Decides whether a due run sends its message, ends with a reason, or is retried (behaviour: integrations 6.3, 6.5,
 * 6.7, 6.8).
 */
import { Problem } from '../../../api/problem.ts'
import type { Priority } from '../../../api/resources/message.ts'
import type { AutomationDeps } from '../deps.ts'
import type { RunContext } from './context.ts'
import type { DueRun, Ended } from './due-repository.ts'
import { renderedFor } from './rendering.ts'
import type { CheckedMessage } from '../../messages/service.ts'

export type Decision =
  | { readonly kind: 'send'; readonly run: DueRun; readonly message: CheckedMessage }
  | { readonly kind: 'end'; readonly run: DueRun; readonly endFound: Ended }
  /** `code`: the reason once all retries have failed. */
  | { readonly kind: 'later'; readonly run: DueRun; readonly code: string }

const temporaryErrors: readonly string[] = ['channel_not_connected', 'upstream_unavailable', 'internal_error']

export async function decide(deps: AutomationDeps, read: RunContext, priority: Priority): Promise<Decision> {
  const { run, automation, event } = read
  const end = (status: Ended['status'], reason: string): Decision => ({
    kind: 'end',
    run,
    endFound: { id: run.id, claimed_until: run.claimed_until, status, reason },
  })
  if (automation === undefined) return end('cancelled', 'automation_deleted')
  if (automation.stopped !== null) return end('cancelled', automation.stopped)
  if (automation.reinstated_at !== null && run.created_at <= automation.reinstated_at)
    return end('cancelled', 'account_suspended')
  if (automation.event_type !== run.event_type || automation.channel_type !== run.channel_type)
    return end('cancelled', 'automation_changed')
  if (event === undefined) return end('cancelled', 'source_deleted')
  if (run.contact_id !== null && read.contact === undefined) return end('skipped', 'contact_deleted')
  if (run.to === null) return end('skipped', 'no_identifier')
  if (read.stopped) return end('skipped', 'unsubscribed')
  const channel = await deps.channels.find(run, automation.channel_id)
  if (channel === null) return end('cancelled', 'channel_deleted')
  if (channel.status === 'suspended') return end('failed', 'channel_suspended')
  try {
    const message = rendered(deps, read, automation, event)
    return {
      kind: 'send',
      run,
      message: await deps.messages.check(run, { channel: channel.id, to: run.to, priority, ...message }),
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    if (error.code === 'recipient_blocked') return end('skipped', 'unsubscribed')
    return temporaryErrors.includes(error.code) ? { kind: 'later', run, code: error.code } : end('failed', error.code)
  }
}

/** An unexpected error in the values of an event fails its run only. */
function rendered(
  { platform }: AutomationDeps,
  { run, contact }: RunContext,
  automation: NonNullable<RunContext['automation']>,
  { customer, data }: NonNullable<RunContext['event']>,
) {
  try {
    return renderedFor(automation, { customer, data, contact })
  } catch (error) {
    if (error instanceof Problem) throw error
    platform.log.error({ err: error, run_id: run.id }, 'the message of a run could not be made')
    throw new Problem('internal_error', 'The message could not be made of the event.')
  }
}
