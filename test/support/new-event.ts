/** An event recorded by a test. */
import type { NewEvent } from '../../src/platform/events/outbox.ts'
import type { PlatformWorld } from './world.ts'

export const eventTenant = { account_id: 'acc_01kg9p6je0e6z9vsnhtbf6d24v', mode: 'test' } as const

export const newEvent = (world: PlatformWorld, more: Partial<NewEvent> = {}): NewEvent => ({
  ...eventTenant,
  id: world.platform.ids('evt'),
  type: 'message.sent',
  object_id: 'msg_1',
  object: { id: 'msg_1', n: 1 },
  created_at: world.clock.iso(),
  ...more,
})
