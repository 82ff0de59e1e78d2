/** What stands above every screen: the account, the mode and the time zone. Account and mode stand in the address; choosing them goes there. */
import { NativeSelect, SegmentedControl } from '@mantine/core'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { use } from 'react'
import { useOwnSession } from '../api/session.ts'
import { browserZone, ZoneContext } from '../parts/times.ts'
import { pathElsewhere, type Mode, type Place } from '../paths.ts'
import { text } from '../text/en.ts'

const modes = (['live', 'test'] as const).map((value) => ({ value, label: text.frame.modes[value] }))

export function PlaceChoices({ place }: { place: Place }) {
  const { accounts } = useOwnSession()
  const navigate = useNavigate()
  const { pathname } = useLocation()
  const go = (to: Place) => void navigate({ to: pathElsewhere(pathname, to) as never })
  return (
    <>
      <NativeSelect
        aria-label={text.frame.account}
        data={accounts.map(({ id, name }) => ({ value: id, label: name }))}
        value={place.account}
        onChange={(event) => go({ ...place, account: event.currentTarget.value })}
      />
      <SegmentedControl
        aria-label={text.frame.mode}
        data={modes}
        value={place.mode}
        onChange={(mode) => go({ ...place, mode: mode as Mode })}
      />
    </>
  )
}

export function ZoneChoice({ accountZone }: { accountZone: string | undefined }) {
  const { name, choose } = use(ZoneContext)
  const { zones } = text.frame
  const offered = new Map([
    ['UTC', zones.utc],
    [browserZone(), zones.browser(browserZone())],
    ...(accountZone === undefined ? [] : [[accountZone, zones.account(accountZone)] as const]),
  ])
  if (!offered.has(name)) offered.set(name, name)
  return (
    <NativeSelect
      aria-label={text.frame.zone}
      data={[...offered].map(([value, label]) => ({ value, label }))}
      value={name}
      onChange={(event) => choose(event.currentTarget.value)}
    />
  )
}
