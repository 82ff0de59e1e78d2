/** The button `Upload`: a file is chosen, uploaded, and linked in what is written. */
import { Group, Text } from '@mantine/core'
import { useRef, useState } from 'react'
import { answered, own } from '../api/client.ts'
import { useBecause } from '../api/may.ts'
import { useAction } from '../api/use-action.ts'
import { text } from '../text/en.ts'
import { ActionButton } from './action-button.tsx'
import type { ContentDraft, Template } from './content.ts'
import { Done } from './done.tsx'
import { ProblemAlert } from './problem-alert.tsx'
import { useTime } from './times.ts'
import { linkPlace } from './uploaded-link.ts'
import { usePlace } from './use-place.ts'

interface Chosen {
  readonly content: File
  /** Tells one file from another. */
  readonly about: readonly (string | number)[]
}

export interface UploadButtonProps<D extends ContentDraft> {
  readonly draft: D
  readonly onChange: (draft: D) => void
  readonly templates: readonly Template[]
}

export function UploadButton<D extends ContentDraft>({ draft, onChange, templates }: UploadButtonProps<D>) {
  const place = usePlace()
  const time = useTime()
  const because = useBecause(place)('upload')
  const words = text.content
  const chooser = useRef<HTMLInputElement>(null)
  const [told, setTold] = useState({ done: '', wrong: '' })
  const link = linkPlace(draft, templates)
  const upload = useAction(
    async ({ content }: Chosen, key) => {
      const form = new FormData()
      form.append('file', content)
      return await answered(
        own(place).POST('/console/api/media', {
          body: { file: '' },
          bodySerializer: () => form,
          headers: { 'Idempotency-Key': key },
        }),
      )
    },
    (file) => {
      if (link?.kinds.includes(file.type) !== true) return setTold({ done: '', wrong: words.wrongKind(file.type) })
      onChange({ ...draft, ...link.put(file) })
      setTold({ done: words.uploaded(time(file.expires_at)), wrong: '' })
    },
  )
  const choose = (content: File | undefined) => {
    setTold({ done: '', wrong: '' })
    if (content !== undefined) upload.run({ content, about: [content.name, content.size, content.lastModified] })
  }
  return (
    <div>
      <Group wrap="nowrap">
        <ActionButton
          label={words.upload}
          variant="default"
          because={because ?? (link === undefined ? words.noPlace : undefined)}
          loading={upload.isRunning}
          onPress={() => chooser.current?.click()}
        />
        <Text size="sm" flex={1}>
          {upload.isRunning ? words.uploading : link === undefined ? words.noPlace : words.uploadHint}
        </Text>
      </Group>
      <input
        ref={chooser}
        type="file"
        hidden
        onChange={(event) => {
          choose(event.currentTarget.files?.[0])
          // the same file may be chosen once more
          event.currentTarget.value = ''
        }}
      />
      <Done text={told.done} />
      {told.wrong !== '' && (
        <Text role="alert" size="sm" c="var(--mantine-color-error)">
          {told.wrong}
        </Text>
      )}
      {upload.problem !== undefined && <ProblemAlert problem={upload.problem} />}
    </div>
  )
}
