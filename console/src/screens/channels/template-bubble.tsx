/** A template with its blanks, or with what is put into them, as a phone shows it. */
import { Button, Stack, Text } from '@mantine/core'
import type { Template } from './channel.ts'

/** A blank of a text: `{{1}}`, `{{order_id}}`. */
const blank = /\{\{\s*([^{}\s]+)\s*\}\}/g

/** Where a blank stands, and how it is called there. */
export interface Blank {
  readonly component: 'header' | 'body'
  readonly name: string
}

const textOf = (component: Record<string, unknown>): string => (typeof component['text'] === 'string' ? component['text'] : '')
const typeOf = (component: Record<string, unknown>): string => String(component['type']).toLowerCase()

/** The blanks of the header's and the body's texts, in their order, each once. */
export function blanksOf({ components }: Template): readonly Blank[] {
  const found: Blank[] = []
  for (const component of components) {
    const type = typeOf(component)
    if (type !== 'header' && type !== 'body') continue
    for (const [, name = ''] of textOf(component).matchAll(blank))
      if (!found.some((one) => one.component === type && one.name === name)) found.push({ component: type, name })
  }
  return found
}

export interface TemplateBubbleProps {
  readonly template: Template
  /** What stands in a blank; undefined: the blank itself. */
  readonly fill?: (blank: Blank) => string | undefined
}

export function TemplateBubble({ template, fill = () => undefined }: TemplateBubbleProps) {
  const filled = (component: Record<string, unknown>) => {
    const type = typeOf(component)
    return textOf(component).replaceAll(blank, (whole, name: string) =>
      type === 'header' || type === 'body' ? fill({ component: type, name }) || whole : whole,
    )
  }
  const parts = template.components.map((component, at) => ({ key: `${typeOf(component)} ${at}`, type: typeOf(component), component }))
  return (
    <div className="bubble" dir="auto">
      <Stack gap={6}>
        {parts.map(({ key, type, component }) => {
          if (type === 'buttons') return <TemplateButtons key={key} component={component} />
          if (textOf(component) === '')
            return (
              <Text key={key} size="sm">
                {String(component['format'] ?? component['type'])}
              </Text>
            )
          return (
            <Text key={key} {...(type === 'header' ? { fw: 600 } : type === 'footer' ? { size: 'sm', c: 'dimmed' } : {})}>
              {filled(component)}
            </Text>
          )
        })}
      </Stack>
    </div>
  )
}

function TemplateButtons({ component }: { component: Record<string, unknown> }) {
  const buttons = Array.isArray(component['buttons']) ? (component['buttons'] as Record<string, unknown>[]) : []
  return buttons.map((button, at) => (
    <Button key={`${String(button['text'])} ${at}`} component="span" variant="default" size="xs">
      {textOf(button)}
    </Button>
  ))
}
