/** A message as a phone shows it, as plain text only. */
import { Anchor, Stack, Text } from '@mantine/core'
import { isRecord } from '../form/json.ts'

type Content = Readonly<Record<string, unknown>>

export function Bubble({ type, content, isOurs = false }: { type: string; content: Content; isOurs?: boolean }) {
  const inner = content[type]
  const files = filesOf(inner)
  const { header, body, footer } = wordsOf(inner)
  const buttons = buttonsOf(inner)
  const isUnderstood = files.length > 0 || body !== undefined
  return (
    <div className="bubble" dir="auto" data-ours={isOurs || undefined}>
      <Stack gap={4}>
        {header !== undefined && <Text fw={600}>{header}</Text>}
        {files.map(({ kind, url, name, caption }, at) => (
          <Stack gap={2} key={at}>
            <Text size="sm">
              {kind}
              {name === undefined ? '' : ` ${name}`}
            </Text>
            <Address url={url} />
            {caption !== undefined && <Text>{caption}</Text>}
          </Stack>
        ))}
        {body !== undefined && <Text>{body}</Text>}
        {!isUnderstood && (
          <Text component="pre" ff="monospace" size="sm" m={0} className="code">
            {JSON.stringify(inner, null, 2)}
          </Text>
        )}
        {footer !== undefined && (
          <Text size="sm" c="dimmed">
            {footer}
          </Text>
        )}
        {isRecord(inner) && typeof inner['url'] === 'string' && <Address url={inner['url']} />}
        {buttons.map((title, at) => (
          <Text key={at} size="sm" fw={600} ta="center" className="bubble-button">
            {title}
          </Text>
        ))}
      </Stack>
    </div>
  )
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

function wordsOf(inner: unknown): {
  header?: string | undefined
  body: string | undefined
  footer?: string | undefined
} {
  if (typeof inner === 'string') return { body: inner }
  if (!isRecord(inner)) return { body: undefined }
  const of = (name: string) => textOf(inner[name]) ?? (isRecord(inner[name]) ? textOf(inner[name]['text']) : undefined)
  return { header: of('header'), body: of('body') ?? of('text') ?? of('caption') ?? of('title'), footer: of('footer') }
}

interface File {
  readonly kind: string
  readonly url: string
  readonly name: string | undefined
  readonly caption: string | undefined
}

function filesOf(inner: unknown): File[] {
  if (!Array.isArray(inner)) return []
  return (inner as unknown[])
    .filter(isRecord)
    .filter(({ url }) => typeof url === 'string')
    .map((file) => ({
      kind: String(file['type']),
      url: String(file['url']),
      name: textOf(file['filename']),
      caption: textOf(file['caption']),
    }))
}

function buttonsOf(inner: unknown): string[] {
  const action = isRecord(inner) ? inner['action'] : undefined
  if (!isRecord(action)) return []
  const own = [textOf(action['button']), textOf(action['name'])]
  const several = Array.isArray(action['buttons'])
    ? (action['buttons'] as unknown[]).map((one) =>
        isRecord(one) && isRecord(one['reply']) ? textOf(one['reply']['title']) : undefined,
      )
    : []
  return [...several, ...own].filter((title) => title !== undefined)
}

/** Only http(s), not `javascript:`. */
function Address({ url }: { url: string }) {
  if (!/^https?:\/\//i.test(url)) return <Text size="sm">{url}</Text>
  return (
    <Anchor href={url} target="_blank" rel="noopener noreferrer nofollow" size="sm" underline="always">
      {url}
    </Anchor>
  )
}
