/** What a draft comes to: its message as the first recipient would get it, how many recipients there are, and what they cost. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { answered, own, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { useAction } from '../../api/use-action.ts'
import { useRead } from '../../api/use-api-query.ts'
import { pathTo, type Place } from '../../app/paths.ts'
import { ContentPreview } from '../../components/content/content-fields.tsx'
import { storedContent, type Template } from '../../components/content/content.ts'
import { Done, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { Dialog } from '../../components/feedback/dialog.tsx'
import { TextField } from '../../components/form/fields.tsx'
import { useAttempt } from '../../components/form/use-draft.ts'
import { Region } from '../../components/format/facts.tsx'
import { dollarsOf, numberOf } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { text } from '../../text/en.ts'
import { type CampaignCreation, type CampaignDraft, recipientCount } from './campaign-draft.ts'

const words = text.campaigns.form

interface EstimateProps {
  readonly place: Place
  readonly draft: CampaignDraft
  /** What the draft would be stored as. */
  readonly body: CampaignCreation
  readonly templates: readonly Template[]
  readonly isReady: boolean
}

export function Estimate({ place, draft, body, templates, isReady }: EstimateProps) {
  const preview = usePreview(place, body, isReady)
  const known = useCount(place, draft)
  const count = preview?.recipients_count ?? known
  const rendered = preview === undefined ? draft : storedContent(preview.message as { type: string }, templates)
  return (
    <>
      <Region title={words.preview}>
        <Stack gap="xs">
          <ContentPreview draft={rendered} templates={templates} />
          {preview !== undefined && preview.recipients_count > 0 && <Text size="sm">{words.forFirst}</Text>}
        </Stack>
      </Region>
      <Region title={words.estimate}>
        <div aria-live="polite">
          <Text>{count === undefined ? words.uncounted : words.counted(count, numberOf(count))}</Text>
          {preview !== undefined && <Text>{costOf(preview.cost)}</Text>}
        </div>
      </Region>
    </>
  )
}

function costOf({ package_credits, wallet_micros }: { package_credits: number; wallet_micros: number }): string {
  const { credits } = text.campaigns.launch
  const parts = [
    package_credits > 0 ? credits(numberOf(package_credits)) : '',
    package_credits > 0 && wallet_micros === 0 ? '' : dollarsOf(wallet_micros),
  ]
  return words.costs(parts.filter((part) => part !== '').join(' + '))
}

function useCount(place: Place, { audience, list, segment, recipients }: CampaignDraft): number | undefined {
  const isList = audience === 'list' && list !== ''
  const isSegment = audience === 'segment' && segment !== ''
  const ofList = useRead(
    place,
    ['contact_lists.retrieve', list],
    () => v1(place).GET('/v1/contact_lists/{id}', { params: { path: { id: list } } }),
    isList,
  )
  const ofSegment = useRead(
    place,
    ['segments.preview', segment],
    () => v1(place).GET('/v1/segments/{id}/preview', { params: { path: { id: segment } } }),
    isSegment,
  )
  if (audience === 'adhoc') return recipientCount(recipients)
  if (isList) return ofList.data?.contacts_count
  return isSegment ? ofSegment.data?.count : undefined
}

/** Typing must pause this long before the preview is requested again. */
const previewDelayMs = 300

type Preview = components['schemas']['MessagePreview']

/** Undefined while it is asked for, and of a draft that lacks something. */
function usePreview(
  place: Place,
  { channel, message, audience, merge_fallbacks }: CampaignCreation,
  isReady: boolean,
): Preview | undefined {
  const asked = JSON.stringify({ channel, message, audience, merge_fallbacks })
  const [settled] = useDebouncedValue(asked, previewDelayMs)
  const { data } = useQuery({
    queryKey: [place.account, place.mode, 'preview.message', settled],
    queryFn: () => answered(own(place).POST('/console/api/preview', { body: JSON.parse(settled) })),
    enabled: isReady && channel !== '',
    refetchInterval: false,
    retry: false,
    gcTime: 0,
  })
  return settled === asked ? data : undefined
}

/** Sends one message of a stored draft. */
export function SendTestDialog({ place, id, onClose }: { place: Place; id: string; onClose: () => void }) {
  const [to, setTo] = useState('')
  const action = useAction(
    (body: { to: string }, key) =>
      answered(
        v1(place).POST('/v1/campaigns/{id}/test', {
          params: { path: { id } },
          body,
          headers: { 'Idempotency-Key': key },
        }),
      ),
    undefined,
    useAttempt(place, `campaign test ${id}`),
  )
  return (
    <Dialog title={words.test} isOpen onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          action.run({ to: to.trim() })
        }}
      >
        <Stack>
          <Text size="sm">{words.testWhy}</Text>
          <TextField label={words.testTo} value={to} onChange={setTo} param="to" problem={action.problem} />
          {action.problem !== undefined && <ProblemAlert problem={action.problem} />}
          <Done>
            {action.result !== undefined && (
              <>
                {words.tested}{' '}
                <PathLink to={pathTo(place, 'messages', action.result.id)}>{text.campaigns.one.openMessage}</PathLink>
              </>
            )}
          </Done>
          <Group justify="flex-end">
            <Button type="submit" loading={action.isRunning}>
              {words.test}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
