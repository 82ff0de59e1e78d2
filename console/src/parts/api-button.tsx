/** The button `API` of a screen: the request that does the same as the screen, to be copied. */
import { Anchor, Button, Code, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { text } from '../text/en.ts'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'

export interface ApiRequest {
  /** As in the reference: `messages.list`. */
  readonly operation: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** From `/v1` on, with its query. */
  readonly path: string
  readonly body?: unknown
}

export function ApiButton({ request }: { request: ApiRequest }) {
  const [isOpen, setOpen] = useState(false)
  const command = curl(request, location.origin)
  return (
    <>
      <Button variant="default" size="xs" onClick={() => setOpen(true)}>
        {text.api.button}
      </Button>
      <Dialog title={text.api.title} isOpen={isOpen} onClose={() => setOpen(false)} size="lg">
        <Stack>
          <Code block className="code">
            {command}
          </Code>
          <Text size="sm">{text.api.key}</Text>
          <Group justify="space-between">
            <Anchor href={`/docs/api/${request.operation}`} target="_blank" rel="noreferrer" underline="always">
              {text.api.reference}
            </Anchor>
            <CopyButton value={command} />
          </Group>
        </Stack>
      </Dialog>
    </>
  )
}

/** For a POSIX shell: what stands in quotes holds no quote of its own. */
function curl({ method, path, body }: ApiRequest, origin: string): string {
  const quoted = (value: string) => `'${value.replaceAll("'", `'\\''`)}'`
  const parts = [`curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(origin + path)}`, '-H "Authorization: Bearer $POSTHORN_KEY"']
  if (body !== undefined) parts.push(`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`)
  return parts.join(' \\\n  ')
}
