/** Links messages and events to the request that caused them, and records spans (docs/decisions/tracing.md). */
import type { TraceContext } from '../../lib/trace-context.ts'

export type SpanKind = 'server' | 'client'
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

export interface Span {
  readonly context: TraceContext
  /** `failed`: by our fault or that of the called service. */
  end(result: { readonly name?: string; readonly attributes: SpanAttributes; readonly failed: boolean }): void
}

export interface SpanRecorder {
  start(name: string, kind: SpanKind, parent: TraceContext | undefined, attributes: SpanAttributes): Span
  /** Waits at most two seconds. */
  stop(): Promise<void>
}

export interface Tracing {
  readonly isRecording: boolean
  start(name: string, kind: SpanKind, parent: TraceContext | undefined, attributes: SpanAttributes): Span | undefined
  /** In memory, for about the ten thousand newest. */
  remember(id: string, trace: TraceContext): void
  follow(event_id: string, object_id: string): void
  of(id: string): TraceContext | undefined
  stop(): Promise<void>
}

const rememberedMax = 10_000

export function tracing(recorder: SpanRecorder | undefined): Tracing {
  const known = new Map<string, TraceContext>()
  const remember = (id: string, trace: TraceContext): void => {
    known.set(id, trace)
    if (known.size > rememberedMax) known.delete(known.keys().next().value!)
  }
  return {
    isRecording: recorder !== undefined,
    start: (name, kind, parent, attributes) => recorder?.start(name, kind, parent, attributes),
    remember,
    follow(event_id, object_id) {
      if (known.size === 0) return
      const trace = known.get(object_id)
      if (trace !== undefined) remember(event_id, trace)
    },
    of: (id) => (known.size === 0 ? undefined : known.get(id)),
    async stop() {
      await recorder?.stop()
    },
  }
}
