/** The `API` button: the screen's request as a curl command. */
import { Anchor, Button, Code, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { Workspace } from '../../app/paths.ts'
import { text } from '../../text/en.ts'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'

interface RequestBase {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly body?: unknown
}

export interface ApiRequest extends RequestBase {
  /** As in the reference: `messages.list`. */
  readonly operation: string
  readonly path: `/v1/${string}`
}

interface OwnRequest extends RequestBase {
  readonly path: `/console/api/${string}`
  readonly workspace?: Workspace
}

export function ApiButton({ request }: { request: ApiRequest | OwnRequest }) {
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
          <Text size="sm">{'operation' in request ? text.api.key : text.api.session}</Text>
          <Group justify="space-between" ml="auto">
            {'operation' in request && (
              <Anchor href={`/docs/api/${request.operation}`} target="_blank" rel="noreferrer" underline="always">
                {text.api.reference}
              </Anchor>
            )}
            <CopyButton value={command} />
          </Group>
        </Stack>
      </Dialog>
    </>
  )
}

function curl(request: ApiRequest | OwnRequest, origin: string): string {
  const { method, path, body } = request
  const quoted = (value: string) => `'${value.replaceAll("'", `'\\''`)}'`
  const parts = [`curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(origin + path)}`]
  if ('operation' in request) parts.push('-H "Authorization: Bearer $POSTHORN_KEY"')
  else parts.push(...ofSession(request, origin))
  if (body !== undefined) parts.push(`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`)
  return parts.join(' \\\n  ')
}

function ofSession({ method, workspace }: OwnRequest, origin: string): string[] {
  const cookie = origin.startsWith('https:') ? '__Host-posthorn' : 'posthorn'
  const parts = [`-b "${cookie}=$POSTHORN_SESSION"`]
  if (workspace !== undefined)
    parts.push(`-H 'Service-Account: ${workspace.account}'`, `-H 'Service-Mode: ${workspace.mode}'`)
  if (method !== 'GET') parts.push(`-H 'Service-Console: 1'`)
  return parts
}
