/** What a provider's test gives the conformance suite: a connection to its simulator, and ways to cause each case. */
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

/** A skipped case, with the reason. */
export interface Left {
  readonly why_not: string
}

/** A way to cause an outcome. */
export interface Provoked {
  readonly to: string
  /** Prepares the simulator. */
  readonly before?: () => void | Promise<void>
  /** Default: a text. */
  readonly content?: { readonly type: string; readonly content: unknown }
  /** Fields that the outcome must have. */
  readonly expected?: Readonly<Record<string, unknown>>
}

/** A message that is sent in several parts, of which the provider may accept only some. */
export interface SeveralSample {
  readonly message: Partial<OutboundMessage> & { readonly to: string }
  /** The number of parts. */
  readonly count: number
  /** Makes the simulator accept the first part and answer the second with this. */
  readonly breakAfterFirst: (how: 'later' | 'refused') => void
  /** How many messages the simulator has accepted. */
  readonly taken: () => number
}

export interface CallbackSamples {
  /** `content`: a signature over the content; `sender`: a secret token beside it. */
  readonly proof: 'content' | 'sender'
  /** Signs a changed call; unchanged for `sender`. */
  readonly sign: (call: Callback) => Callback
  /** Removes a proof from the body. Default: removes headers and parameters. */
  readonly unsigned?: (call: Callback) => Callback
  /** All kinds of callbacks: receipts, inbound messages, and others. */
  readonly samples: readonly {
    readonly name: string
    readonly call: Callback
    readonly reports: readonly CallbackItem[]
  }[]
}

/** For status queries. */
export interface AskedSample {
  /** How it finds one: `taken` by our id, or `alike` by what it says. */
  readonly by: 'found' | 'candidates'
  readonly to: string
  /** The next request is executed, but its answer is lost. */
  readonly loseAnswer: () => void
  /** The next request is lost. */
  readonly loseRequest: () => void
  /** The provider's ids of accepted messages, oldest first. */
  readonly ids: () => readonly string[]
  /** Makes the last message fail. */
  readonly fail: () => void
}

export interface AdapterSamples {
  readonly tools: ProviderTools
  readonly connection: Connection
  /** With credentials that the provider refuses. */
  readonly wrongConnection: Connection | Left
  /** The credentials as a person gives them, where `connection` has other hosts in them than real ones. Default: those of `connection`. */
  readonly given?: Readonly<Record<string, unknown>>
  readonly outcomes: Readonly<Record<Outcome['kind'], Provoked | readonly Provoked[] | Left>>
  /** How many messages the provider has been given and has not refused. */
  readonly taken: (() => number) | Left
  readonly several: SeveralSample | Left
  /** What calls this address instead of the provider; for providers that send over HTTP. */
  readonly hostile: ((url: string) => { readonly tools: ProviderTools; readonly connection: Connection }) | Left
  /** What connects to this port of 127.0.0.1 instead; for sessions over TCP. */
  readonly hostilePeer?: (port: number) => { readonly tools: ProviderTools; readonly connection: Connection }
  /** For adapters that are called back. */
  readonly callbacks?: CallbackSamples
  /** For adapters that can be asked. */
  readonly asked?: AskedSample
  /** For adapters that are called back: the callback with a receipt of what the provider took last, made from what it was told at the hand-over. */
  readonly receipt?: (() => Callback | Promise<Callback>) | Left
  /** For adapters with sessions: a channel that needs one, and what makes the provider tell a message with this text over it. */
  readonly session?: { readonly connection: Connection; readonly say: (body: string) => unknown }
  /** For adapters with templates: the name of one of several that the simulator has. */
  readonly template?: string
  /** For providers whose messages come with files. */
  readonly media?: MediaSamples
}

/** Files that came in, by what they are to whoever fetches them. */
export interface MediaSamples {
  /** It can be had. */
  readonly kept: MediaReference
  /** It can never be had: ways in which the provider says so, by name. */
  readonly gone: Readonly<Record<string, MediaReference>>
  /** Told to the simulator before `kept` is asked for: ways in which it cannot be had for the moment, by name. */
  readonly passing: Readonly<Record<string, () => void>>
}

/** Starts what the provider is tried against, and tells how; called for each promise. */
export type Start = (t: TestContext) => AdapterSamples | Promise<AdapterSamples>

export const left = (value: object): value is Left => 'why_not' in value
