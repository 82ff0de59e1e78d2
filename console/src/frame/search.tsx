/** The search over everything: a dialog with one field, opened by its button or by Ctrl K, whose results lead to a screen. */
import { Button, Combobox, Kbd, ScrollArea, Text, TextInput, useCombobox } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { may } from '../api/may.ts'
import { useOwnSession } from '../api/session.ts'
import { Dialog } from '../parts/dialog.tsx'
import { pathTo, type Place } from '../paths.ts'
import { accountScreens } from '../screens/routes.ts'
import { text } from '../text/en.ts'

export function SearchButton({ place }: { place: Place }) {
  const [isOpen, setOpen] = useState(false)
  useHotkeys([['mod+K', () => setOpen(true)]], [])
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)} rightSection={<Kbd aria-hidden="true">{text.frame.searchKeys}</Kbd>}>
        {text.frame.search}
      </Button>
      <Dialog title={text.frame.search} isOpen={isOpen} onClose={() => setOpen(false)} size="lg">
        <Search place={place} onGone={() => setOpen(false)} />
      </Dialog>
    </>
  )
}

interface Found {
  readonly path: string
  readonly title: string
  readonly kind: string
}

/** The screens whose names hold what was typed. */
function useScreens(place: Place, typed: string): Found[] {
  const session = useOwnSession()
  const asked = typed.trim().toLowerCase()
  if (asked === '') return []
  return accountScreens
    .filter(({ menu, needs }) => menu !== undefined && (needs === undefined || may(session, place, needs)))
    .map(({ path, menu }) => ({ path: path === '/' ? pathTo(place) : pathTo(place, path), title: text.screens[menu!], kind: text.frame.screen }))
    .filter(({ title }) => title.toLowerCase().includes(asked))
}

function Search({ place, onGone }: { place: Place; onGone: () => void }) {
  const [typed, setTyped] = useState('')
  const navigate = useNavigate()
  const combobox = useCombobox()
  const found = useScreens(place, typed)
  return (
    <Combobox
      store={combobox}
      withinPortal={false}
      onOptionSubmit={(path) => {
        onGone()
        void navigate({ to: path as never })
      }}
    >
      <Combobox.EventsTarget withExpandedAttribute>
        <TextInput
          aria-label={text.frame.searchEverything}
          description={text.frame.searchHint}
          value={typed}
          dir="auto"
          data-autofocus
          onChange={(event) => {
            setTyped(event.currentTarget.value)
            combobox.resetSelectedOption()
          }}
        />
      </Combobox.EventsTarget>
      <ScrollArea.Autosize mah="50vh" mt="xs">
        <Combobox.Options aria-label={text.frame.searchEverything}>
          {found.map(({ path, title, kind }) => (
            <Combobox.Option value={path} key={path}>
              <bdi>{title}</bdi>{' '}
              <Text span size="sm" c="dimmed">
                {kind}
              </Text>
            </Combobox.Option>
          ))}
          {found.length === 0 && typed.trim() !== '' && <Combobox.Empty>{text.frame.searchNothing}</Combobox.Empty>}
        </Combobox.Options>
      </ScrollArea.Autosize>
    </Combobox>
  )
}
