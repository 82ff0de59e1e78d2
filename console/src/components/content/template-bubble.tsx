/** A template as a phone shows it. */
import { Stack, Text } from '@mantine/core'
import { templateVariablesOf, type Template, wordsWith } from './content.ts'

type Part = Readonly<Record<string, unknown>>

const typeOf = (part: Part): string => String(part['type']).toLowerCase()

interface TemplateBubbleProps {
  readonly template: Template
  readonly filled?: Readonly<Record<string, string>>
}

export function TemplateBubble({ template, filled = {} }: TemplateBubbleProps) {
  const parts = template.components.map((part, at) => ({ key: `${typeOf(part)} ${at}`, type: typeOf(part), part }))
  const file = templateVariablesOf(template).find(({ kind, holds }) => kind === 'header' && holds !== 'text')
  return (
    <div className="bubble" dir="auto">
      <Stack gap={6}>
        {parts.map(({ key, type, part }) => {
          if (type === 'buttons') return <TemplateButtons key={key} part={part} />
          const words = wordsWith(part, filled)
          if (words === '')
            return (
              <Text key={key} size="sm">
                {[String(part['format'] ?? part['type']), file === undefined ? '' : (filled[file.name] ?? '')].join(
                  ' ',
                )}
              </Text>
            )
          return (
            <Text
              key={key}
              {...(type === 'header' ? { fw: 600 } : type === 'footer' ? { size: 'sm', c: 'dimmed' } : {})}
            >
              {words}
            </Text>
          )
        })}
      </Stack>
    </div>
  )
}

function TemplateButtons({ part }: { part: Part }) {
  const buttons = Array.isArray(part['buttons']) ? (part['buttons'] as Part[]) : []
  return buttons.map((button, at) => (
    <Text key={`${String(button['text'])} ${at}`} size="sm" fw={600} ta="center" className="bubble-button">
      {String(button['text'] ?? '')}
    </Text>
  ))
}
