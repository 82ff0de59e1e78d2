/** The frame of every screen of an account: what stands above it, the menu beside it. */
import { Badge, Button, Drawer } from '@mantine/core'
import { Outlet, useLocation } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
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
        <ZoneChoice accountZone={undefined} />
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
