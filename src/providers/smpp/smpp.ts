/** SMPP 3.4: sends through an operator's SMSC, over a session that stands for as long as the channel does. */
import type { Provider } from '../provider.ts'
import { accountKey, check, credentials, settings } from './options.ts'
import { memories, openSession, tryBind } from './session.ts'

export const smpp: Provider = {
  name: 'smpp',
  title: 'SMPP',
  about: 'Sends and receives SMS through an operator or aggregator that offers SMPP 3.4.',
  types: ['sms'],
  offered: 'always',
  credentials,
  settings,
  identifier: 'given',
  guide: 'smpp',
  limits: [
    'An account is bound once at a time, by one process of this service, whichever has it.',
    'A long text is several messages to the operator, and one here.',
    'What an operator charges for, throttles or rewrites is between you and the operator.',
  ],
  capabilities: () => ['text'],
  check,
  adapter({ clock, dial }) {
    const tools = { clock, dial }
    const memoryOf = memories()
    return {
      needsSession: () => true,
      accountKey,
      connect: (connection, signal) => tryBind(tools, connection, signal),
      openSession: (connection, opening) => openSession({ tools, connection, memory: memoryOf(connection) }, opening),
    }
  },
}
