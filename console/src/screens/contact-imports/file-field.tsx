/** The file, which is uploaded once it is chosen: a draft, of which nothing is imported yet. */
import { Group, Loader, Stack, Text, TextInput } from '@mantine/core'
import { answered, own } from '../../api/client.ts'
import { useAction } from '../../api/use-action.ts'
import { FormProblem } from '../../parts/form-problem.tsx'
import { usePlace } from '../../parts/use-place.ts'
import { text } from '../../text/en.ts'
import type { StepwiseImport } from './draft.ts'

interface Chosen {
  readonly content: File
  /** Tells one file from another. */
  readonly about: readonly (string | number)[]
}

export function FileField({ onUploaded }: { onUploaded: (draft: StepwiseImport) => void }) {
  const place = usePlace()
  const upload = useAction(
    async ({ content }: Chosen, key) =>
      await answered(
        own(place).POST('/console/api/imports', {
          params: { query: { file_name: content.name.slice(0, 255) } },
          body: '',
          bodySerializer: () => content,
          headers: { 'Content-Type': 'text/csv', 'Idempotency-Key': key },
        }),
      ),
    onUploaded,
  )
  const words = text.contactImports
  return (
    <Stack gap="xs" aria-busy={upload.isRunning}>
      <TextInput
        type="file"
        label={words.file}
        description={words.fileHint}
        accept=".csv,text/csv"
        onChange={(event) => {
          const content = event.currentTarget.files?.[0]
          if (content !== undefined) upload.run({ content, about: [content.name, content.size, content.lastModified] })
        }}
        error={upload.problem?.about('file')}
      />
      {upload.isRunning && (
        <Group gap="xs">
          <Loader size="xs" aria-hidden="true" />
          <Text size="sm">{words.uploading}</Text>
        </Group>
      )}
      <FormProblem problem={upload.problem} fields={['file']} />
    </Stack>
  )
}
