/** When a campaign is sent, within which hours, and how fast. */
import { Checkbox, Fieldset, Stack } from '@mantine/core'
import type { Problem } from '../../api/problem.ts'
import { ChoiceField, TextField } from '../../parts/fields.tsx'
import { useZone } from '../../parts/times.ts'
import { text } from '../../text/en.ts'
import type { CampaignDraft } from './campaign.ts'

const words = text.campaigns.form

export interface ScheduleFieldsProps {
  readonly draft: CampaignDraft
  readonly onChange: (draft: CampaignDraft) => void
  readonly problem: Problem | undefined
}

export function ScheduleFields({ draft, onChange, problem }: ScheduleFieldsProps) {
  const zone = useZone()
  const field = (name: 'send_at' | 'from' | 'until' | 'timezone' | 'rate', param: string) => ({
    value: draft[name],
    onChange: (value: string) => onChange({ ...draft, [name]: value }),
    param,
    problem,
  })
  return (
    <Fieldset legend={words.when}>
      <Stack>
        <div className="filters">
          <TextField label={words.sendAt} hint={words.sendAtHint(zone)} {...field('send_at', 'schedule.send_at')} />
          <TextField label={words.rate} {...field('rate', 'throttle_per_second')} />
        </div>
        <div className="filters">
          <TextField label={words.from} hint={words.hours} {...field('from', 'schedule.send_window')} />
          <TextField label={words.until} hint={words.hours} {...field('until', 'schedule.send_window.end')} />
          <ChoiceField
            label={words.zone}
            any={words.zoneAccount}
            choices={['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')]}
            {...field('timezone', 'schedule.timezone')}
          />
        </div>
        <Checkbox
          label={words.recipientZone}
          checked={draft.is_recipient_zone}
          onChange={(event) => onChange({ ...draft, is_recipient_zone: event.currentTarget.checked })}
        />
      </Stack>
    </Fieldset>
  )
}
