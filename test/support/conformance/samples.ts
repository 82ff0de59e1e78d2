/** What a provider gives the conformance suite: how it is reached, and how each of its promises is brought about. */
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

/** A promise that the provider has no way to be put to is left out, with the reason. */
export interface Left {
  readonly why_not: string
}

/** How an outcome is brought about. */
export interface Provoked {
  readonly to: string
  /** Told to the simulator before. */
  readonly before?: () => void | Promise<void>
  /** Default: a text. */
  readonly content?: { readonly type: string; readonly content: unknown }
  /** Fields that the outcome must have. */
  readonly expected?: Readonly<Record<string, unknown>>
}

/** A message that becomes several at the provider, which may take some of them alone. */
export interface SeveralSample {
  readonly message: Partial<OutboundMessage> & { readonly to: string }
  /** How many it becomes. */
  readonly count: number
  /** The provider takes what the first call asks, and says this to the second: that it is to come again later, or that it is refused. */
  readonly breakAfterFirst: (how: 'later' | 'refused') => void
  /** How many messages it has taken. */
  readonly taken: () => number
}

export interface CallbackSamples {
  /** What forging one takes: `content`: the proof covers all that is told; `sender`: it is a secret word beside it. */
  readonly proof: 'content' | 'sender'
  /** The call with a proof that fits what it now says; for `sender` it is returned as it is. */
  readonly sign: (call: Callback) => Callback
  /** The call without its proof, where that travels in the body. Default: without headers and parameters. */
  readonly unsigned?: (call: Callback) => Callback
  /** Every kind of callback that the provider has: receipts, what comes in, what is neither. */
  readonly samples: readonly {
    readonly name: string
    readonly call: Callback
    readonly reports: readonly CallbackItem[]
  }[]
}

/** A provider that can be asked what became of a message. */
export interface AskedSample {
  /** How it finds one: `taken` by our id, or `alike` by what it says. */
  readonly by: 'found' | 'candidates'
  readonly to: string
  /** The next request is done, and its answer is lost. */
  readonly loseAnswer: () => void
  /** The next request is lost before anything is done. */
  readonly loseRequest: () => void
  /** By which ids the provider knows what it has taken, the oldest first. */
  readonly ids: () => readonly string[]
  /** What it took last has failed. */
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
