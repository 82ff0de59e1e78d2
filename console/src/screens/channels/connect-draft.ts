/** What is entered to connect a channel, and the request that comes of it. */
import { providers } from '../../api/generated/providers.ts'
import type { operations } from '../../api/generated/v1.ts'
import { valuesOf, type Entered, type ProviderField } from './provider-fields.tsx'

export type ChannelCreation = operations['channels.create']['requestBody']['content']['application/json']

export interface ConnectDraft {
  readonly provider: string
  readonly type: string
  readonly name: string
  readonly identifier: string
  readonly rate: string
  readonly credentials: Entered
  readonly settings: Entered
}

export const emptyDraft: ConnectDraft = {
  provider: '',
  type: '',
  name: '',
  identifier: '',
  rate: '',
  credentials: {},
  settings: {},
}

export interface OfferedProvider {
  readonly name: string
  readonly title: string
  readonly about: string
  readonly types: readonly string[]
  readonly identifier: string
  readonly guide: string | null
  readonly limits: readonly string[]
  readonly credentials: readonly ProviderField[]
  readonly settings: readonly ProviderField[]
}

export const offered: readonly OfferedProvider[] = providers

export const providerOf = ({ provider }: Pick<ConnectDraft, 'provider'>): OfferedProvider | undefined =>
  offered.find(({ name }) => name === provider)

export function creationOf(draft: ConnectDraft): ChannelCreation {
  const provider = providerOf(draft)
  const rate = draft.rate.trim()
  const settings = {
    ...(rate === '' ? {} : { max_messages_per_second: /^\d+$/.test(rate) ? Number(rate) : rate }),
    ...(provider === undefined ? {} : valuesOf(provider.settings, draft.settings)),
  }
  const identifier = draft.identifier.trim()
  return {
    type: (draft.type === '' ? (provider?.types[0] ?? '') : draft.type) as ChannelCreation['type'],
    ...(provider === undefined ? {} : { provider: provider.name }),
    name: draft.name.trim(),
    ...(identifier === '' ? {} : { identifier }),
    credentials: provider === undefined ? {} : valuesOf(provider.credentials, draft.credentials),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
  }
}

/** As it may be shown and kept. */
export function withoutSecrets(draft: ConnectDraft): ConnectDraft {
  const secret = new Set(
    (providerOf(draft)?.credentials ?? []).filter(({ kind }) => kind === 'secret').map(({ name }) => name),
  )
  return {
    ...draft,
    credentials: Object.fromEntries(Object.entries(draft.credentials).filter(([name]) => !secret.has(name))),
  }
}
