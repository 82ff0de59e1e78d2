/** A test reporter that writes durations as JSON lines, so that slow files start first. */
interface TestEvent {
  readonly type: string
  readonly data: {
    readonly nesting: number
    readonly file?: string
    readonly name: string
    readonly details?: { readonly duration_ms: number }
  }
}

// oxlint-disable-next-line import/no-default-export -- the interface of reporters
export default async function* timings(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events)
    if ((type === 'test:pass' || type === 'test:fail') && data.nesting === 0)
      yield `${JSON.stringify({ file: data.file, name: data.name, ms: Math.round(data.details?.duration_ms ?? 0) })}\n`
}
