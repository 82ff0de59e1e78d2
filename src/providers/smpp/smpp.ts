/** SMPP 3.4, a long-lived session with an operator's SMSC. */
import type { Provider } from '../provider.ts'
import { accountKey, check, credentials, settings } from './options.ts'
import { channelMemories, openSession, tryBind } from './session.ts'

export const smpp: Provider = {
  name: 'smpp',
  title: 'SMPP',
  about: 'SMS through an operator or aggregator that offers SMPP 3.4.',
  types: ['sms'],
  offered: 'always',
  credentials,
  settings,
  identifier: 'required',
  guide: 'smpp',
  limits: [
    'An account is bound once at a time, by one process of this service.',
    'The operator counts a long text as several messages; here it is one.',
    'Ask the operator what it charges for, throttles or rewrites.',
  ],
  capabilities: () => ['text'],
  check,
  adapter({ clock, dial }) {
    const tools = { clock, dial }
    const memoryOf = channelMemories()
    return {
      needsSession: () => true,
      accountKey,
      connect: (connection, signal) => tryBind(tools, connection, signal),
      openSession: (connection, context) => openSession({ tools, connection, memory: memoryOf(connection) }, context),
    }
  },
}
