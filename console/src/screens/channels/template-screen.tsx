/** `templates/{channel}/{id}`: a template as a phone shows it. */
import { SimpleGrid } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { problemOf } from '../../api/problem.ts'
import { ApiButton } from '../../parts/api-button.tsx'
import { Facts, Region } from '../../parts/facts.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { ProblemAlert } from '../../parts/problem-alert.tsx'
import { Screen } from '../../parts/screen.tsx'
import { NotFound, Waiting } from '../../parts/states.tsx'
import { useTime } from '../../parts/times.ts'
import { TemplateBubble } from '../../parts/template-bubble.tsx'
import { usePlace } from '../../parts/use-place.ts'
import { pathTo } from '../../paths.ts'
import { text } from '../../text/en.ts'
import { useTemplates } from './channel.ts'
import { TemplateStatus } from './template-status.tsx'

const words = text.channels.templates

export function TemplateScreen() {
  const place = usePlace()
  const time = useTime()
  const { channel, id } = useParams({ strict: false }) as { channel: string; id: string }
  const { data, error, refetch } = useTemplates(place, channel)
  const template = data?.find((one) => one.id === id)
  if (data === undefined && error === null) return <Waiting />
  if (data === undefined && problemOf(error).code !== 'resource_missing')
    return <ProblemAlert problem={problemOf(error)} onAgain={() => void refetch()} />
  if (template === undefined) return <NotFound />
  return (
    <Screen
      title={template.name}
      mode={place.mode}
      actions={
        <ApiButton
          request={{ operation: 'channels.list_templates', method: 'GET', path: `/v1/channels/${channel}/templates` }}
        />
      }
    >
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Region title={words.preview}>
          <TemplateBubble template={template} />
        </Region>
        <Region title={words.facts}>
          <Facts
            of={[
              [words.columns.status, <TemplateStatus key="status" status={template.status} />],
              [words.reason, template.rejected_reason],
              [words.columns.language, template.language],
              [words.columns.category, template.category],
              [words.columns.updated, time(template.updated_at)],
              [
                words.channel,
                <PathLink key="channel" to={pathTo(place, 'channels', channel)}>
                  {channel}
                </PathLink>,
              ],
            ]}
          />
        </Region>
      </SimpleGrid>
    </Screen>
  )
}
