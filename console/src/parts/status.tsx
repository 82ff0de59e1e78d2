/** A status of the API as people read it, with a colour that says how good it is. */
import { Badge } from '@mantine/core'
import { inWords } from '../text/en.ts'

const colours: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['delivered', 'read', 'completed', 'succeeded', 'active', 'connected', 'opted_in', 'accepted', 'done'].map((status) => [status, 'green']),
  ),
  ...Object.fromEntries(['failed', 'disconnected', 'opted_out', 'refused', 'rejected'].map((status) => [status, 'red'])),
  ...Object.fromEntries(['queued', 'sending', 'pending', 'running', 'checked', 'draft', 'throttled', 'unavailable'].map((status) => [status, 'yellow'])),
  ...Object.fromEntries(['sent', 'received', 'open'].map((status) => [status, 'blue'])),
}

export const Status = ({ status }: { status: string }) => (
  <Badge variant="dot" tt="none" fw={500} miw="max-content" color={colours[status] ?? 'gray'}>
    {inWords(status)}
  </Badge>
)
