/** Samples for the conformance suite: a connection to a simulator, and a way to cause each case. */
import type { TestContext } from 'node:test'
import type {
  Callback,
  Connection,
  Outcome,
  MediaReference,
  OutboundMessage,
  ProviderTools,
  CallbackItem,
} from '../../../src/providers/provider.ts'

export interface Left {
  readonly why_not: string
}

export interface Provoked {
  readonly to: string
  readonly before?: () => void | Promise<void>
  readonly content?: { readonly type: string; readonly content: unknown }
  readonly expected?: Readonly<Record<string, unknown>>
}

export interface SeveralSample {
  readonly message: Partial<OutboundMessage> & { readonly to: string }
  readonly count: number
  readonly breakAfterFirst: (how: 'later' | 'refused') => void
  readonly taken: () => number
}

export interface CallbackSamples {
  /** `content`: a signature; `sender`: a secret token. */
  readonly proof: 'content' | 'sender'
  readonly sign: (call: Callback) => Callback
  /** Default: without headers and parameters. */
  readonly unsigned?: (call: Callback) => Callback
  readonly samples: readonly {
    readonly name: string
    readonly call: Callback
    readonly items: readonly CallbackItem[]
  }[]
}

export interface StatusQuerySample {
  /** By our id (`found`) or by content (`candidates`). */
  readonly by: 'found' | 'candidates'
  readonly to: string
  /** The next request is executed but not answered. */
  readonly loseAnswer: () => void
  readonly loseRequest: () => void
  readonly ids: () => readonly string[]
  readonly fail: () => void
}

export interface AdapterSamples {
  readonly tools: ProviderTools
  readonly connection: Connection
  readonly wrongConnection: Connection | Left
  /** Default: those of `connection`. */
  readonly entered?: Readonly<Record<string, unknown>>
  readonly outcomes: Readonly<Record<Outcome['kind'], Provoked | readonly Provoked[] | Left>>
  readonly taken: (() => number) | Left
  readonly several: SeveralSample | Left
  readonly hostile: ((url: string) => { readonly tools: ProviderTools; readonly connection: Connection }) | Left
  readonly hostilePeer?: (port: number) => { readonly tools: ProviderTools; readonly connection: Connection }
  readonly callbacks?: CallbackSamples
  readonly statusQuery?: StatusQuerySample
  /** A callback for the last accepted message. */
  readonly receipt?: (() => Callback | Promise<Callback>) | Left
  readonly session?: { readonly connection: Connection; readonly say: (body: string) => unknown }
  readonly template?: string
  readonly media?: MediaSamples
}

export interface MediaSamples {
  readonly available: MediaReference
  readonly gone: Readonly<Record<string, MediaReference>>
  readonly passing: Readonly<Record<string, () => void>>
}

export type Start = (t: TestContext) => AdapterSamples | Promise<AdapterSamples>

export const left = (value: object): value is Left => 'why_not' in value
