/** A message as a phone shows it. What customers wrote is only ever text. */
import { Anchor, Stack, Text } from '@mantine/core'

type Content = Readonly<Record<string, unknown>>

/** `content` as the API has it, under the key of `type`. */
export function Bubble({ type, content }: { type: string; content: Content }) {
  const inner = content[type]
  const body = bodyOf(inner)
  return (
    <div className="bubble" dir="auto">
      <Stack gap={4}>
        {body === undefined ? (
          <Text component="pre" ff="monospace" size="sm" m={0} className="code">
            {JSON.stringify(inner, null, 2)}
          </Text>
        ) : (
          <Text>{body}</Text>
        )}
        {linkOf(inner)}
      </Stack>
    </div>
  )
}

/** The words of a content, where it has some. */
function bodyOf(inner: unknown): string | undefined {
  if (typeof inner === 'string') return inner
  if (typeof inner !== 'object' || inner === null) return undefined
  for (const name of ['body', 'text', 'caption']) {
    const value = (inner as Content)[name]
    if (typeof value === 'string') return value
    if (typeof value === 'object' && value !== null) {
      const nested = bodyOf(value)
      if (nested !== undefined) return nested
    }
  }
  return undefined
}

/** A link is shown as one only where it leads to a page: `javascript:` does not. */
function linkOf(inner: unknown) {
  const url = typeof inner === 'object' && inner !== null ? (inner as Content)['url'] : undefined
  if (typeof url !== 'string') return undefined
  if (!/^https?:\/\//i.test(url)) return <Text size="sm">{url}</Text>
  return (
    <Anchor href={url} target="_blank" rel="noopener noreferrer nofollow" size="sm" underline="always">
      {url}
    </Anchor>
  )
}
