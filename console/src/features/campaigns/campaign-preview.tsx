/** Preview, recipient count, cost and test message of a campaign draft. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { unwrap, own, v1 } from '../../api/client.ts'
import type { components } from '../../api/generated/own.ts'
import { useApiMutation } from '../../api/use-action.ts'
import { useApiQuery } from '../../api/use-api-query.ts'
import { pathTo, type Workspace } from '../../app/paths.ts'
import { ContentPreview } from '../../components/content/content-fields.tsx'
import { storedContent, type Template } from '../../components/content/content.ts'
import { SuccessNotice, ProblemAlert } from '../../components/feedback/alerts.tsx'
import { Dialog } from '../../components/feedback/dialog.tsx'
import { TextField } from '../../components/form/fields.tsx'
import { useStoredIdempotencyKeys } from '../../components/form/use-draft.ts'
import { Region } from '../../components/format/facts.tsx'
import { formatDollars, formatNumber } from '../../components/format/intl.tsx'
import { PathLink } from '../../components/format/links.tsx'
import { text } from '../../text/en.ts'
import { type CampaignCreation, type CampaignDraft, recipientCount } from './campaign-draft.ts'

const words = text.campaigns.form

interface EstimateProps {
  readonly workspace: Workspace
  readonly draft: CampaignDraft
  readonly body: CampaignCreation
  readonly templates: readonly Template[]
  readonly isReady: boolean
}

export function Estimate({ workspace, draft, body, templates, isReady }: EstimateProps) {
  const preview = usePreview(workspace, body, isReady)
  const known = useCount(workspace, draft)
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
          <Text>{count === undefined ? words.uncounted : words.counted(count, formatNumber(count))}</Text>
          {preview !== undefined && <Text>{costOf(preview.cost)}</Text>}
        </div>
      </Region>
    </>
  )
}

function costOf({ package_credits, wallet_micros }: { package_credits: number; wallet_micros: number }): string {
  const { credits } = text.campaigns.launch
  const parts = [
    package_credits > 0 ? credits(formatNumber(package_credits)) : '',
    package_credits > 0 && wallet_micros === 0 ? '' : formatDollars(wallet_micros),
  ]
  return words.costs(parts.filter((part) => part !== '').join(' + '))
}

function useCount(workspace: Workspace, { audience, list, segment, recipients }: CampaignDraft): number | undefined {
  const isList = audience === 'list' && list !== ''
  const isSegment = audience === 'segment' && segment !== ''
  const ofList = useApiQuery(
    workspace,
    ['contact_lists.retrieve', list],
    () => v1(workspace).GET('/v1/contact_lists/{id}', { params: { path: { id: list } } }),
    isList,
  )
  const ofSegment = useApiQuery(
    workspace,
    ['segments.preview', segment],
    () => v1(workspace).GET('/v1/segments/{id}/preview', { params: { path: { id: segment } } }),
    isSegment,
  )
  if (audience === 'adhoc') return recipientCount(recipients)
  if (isList) return ofList.data?.contacts_count
  return isSegment ? ofSegment.data?.count : undefined
}

const previewDelayMs = 300

type Preview = components['schemas']['MessagePreview']

function usePreview(
  workspace: Workspace,
  { channel, message, audience, merge_fallbacks }: CampaignCreation,
  isReady: boolean,
): Preview | undefined {
  const asked = JSON.stringify({ channel, message, audience, merge_fallbacks })
  const [settled] = useDebouncedValue(asked, previewDelayMs)
  const { data } = useQuery({
    queryKey: [workspace.account, workspace.mode, 'preview.message', settled],
    queryFn: () => unwrap(own(workspace).POST('/console/api/preview', { body: JSON.parse(settled) })),
    enabled: isReady && channel !== '',
    refetchInterval: false,
    retry: false,
    gcTime: 0,
  })
  return settled === asked ? data : undefined
}

export function SendTestDialog({ workspace, id, onClose }: { workspace: Workspace; id: string; onClose: () => void }) {
  const [to, setTo] = useState('')
  const action = useApiMutation(
    (body: { to: string }, key) =>
      unwrap(
        v1(workspace).POST('/v1/campaigns/{id}/test', {
          params: { path: { id } },
          body,
          headers: { 'Idempotency-Key': key },
        }),
      ),
    undefined,
    useStoredIdempotencyKeys(workspace, `campaign test ${id}`),
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
          <SuccessNotice>
            {action.result !== undefined && (
              <>
                {words.tested}{' '}
                <PathLink to={pathTo(workspace, 'messages', action.result.id)}>
                  {text.campaigns.one.openMessage}
                </PathLink>
              </>
            )}
          </SuccessNotice>
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
