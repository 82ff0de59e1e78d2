/** The frame of every screen of an account: what stands above it, the menu beside it. */
import { Badge, Button, Drawer } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Outlet, useLocation } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { answered, own } from '../api/client.ts'
import { may } from '../api/may.ts'
import { useOwnSession } from '../api/session.ts'
import { useStream } from '../api/use-stream.ts'
import type { Place } from '../paths.ts'
import { usePlace } from '../parts/use-place.ts'
import { text } from '../text/en.ts'
import { Menu } from './menu.tsx'
import { PersonMenu } from './person-menu.tsx'
import { PlaceChoices, ZoneChoice } from './place-choices.tsx'
import { SearchButton } from './search.tsx'

export function Frame() {
  const place = usePlace()
  const { pathname } = useLocation()
  const [isOpen, setOpen] = useState(false)
  useStream(place)
  useEffect(() => {
    document.documentElement.dataset['mode'] = place.mode
    return () => void delete document.documentElement.dataset['mode']
  }, [place.mode])
  return (
    <div className="frame">
      <header className="frame-top">
        <Button className="narrow-only" variant="default" aria-expanded={isOpen} onClick={() => setOpen(true)}>
          {text.frame.menu}
        </Button>
        <PlaceChoices place={place} />
        {place.mode === 'test' && (
          <Badge className="test-mode" variant="transparent">
            {text.frame.testMode}
          </Badge>
        )}
        <div className="frame-push" />
        <SearchButton place={place} />
        <ZoneChoice accountZone={useAccountZone(place)} />
        <PersonMenu />
      </header>
      <div className="frame-menu">
        <Menu place={place} />
      </div>
      <Drawer
        opened={isOpen}
        onClose={() => setOpen(false)}
        title={text.product}
        size="16rem"
        transitionProps={{ duration: 0 }}
        closeButtonProps={{ 'aria-label': text.dialog.close }}
      >
        <Menu place={place} onGone={() => setOpen(false)} />
      </Drawer>
      <main id="content" className="frame-main" key={`${place.account} ${place.mode} ${pathname}`} tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  )
}

/** Undefined for who may not read the settings of the account. */
function useAccountZone(place: Place): string | undefined {
  const session = useOwnSession()
  const account = useQuery({
    queryKey: [place.account, place.mode, 'account.retrieve'],
    queryFn: () => answered(own(place).GET('/console/api/account')),
    enabled: may(session, place, 'settings'),
    refetchInterval: false,
  })
  return account.data?.timezone
}
