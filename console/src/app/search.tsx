/** The search dialog, opened by a button or Ctrl K. */
import { Button, Combobox, Kbd, ScrollArea, Text, TextInput, useCombobox } from '@mantine/core'
import { useDebouncedValue, useHotkeys } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { unwrap, own } from '../api/client.ts'
import { isAllowed, useRequiredSession } from '../api/session.ts'
import { Dialog } from '../components/feedback/dialog.tsx'
import { pathOfObject } from '../components/format/links.tsx'
import { humanize, text } from '../text/en.ts'
import { pathTo, type Workspace } from './paths.ts'
import { accountScreens } from './routes.ts'

export function SearchButton({ workspace }: { workspace: Workspace }) {
  const [isOpen, setOpen] = useState(false)
  useHotkeys([['mod+K', () => setOpen(true)]], [])
  return (
    <>
      <Button
        variant="default"
        onClick={() => setOpen(true)}
        rightSection={
          <Kbd className="wide-only" aria-hidden="true">
            {text.frame.searchKeys}
          </Kbd>
        }
      >
        {text.frame.search}
      </Button>
      <Dialog title={text.frame.search} isOpen={isOpen} onClose={() => setOpen(false)} size="lg">
        <Search workspace={workspace} onNavigate={() => setOpen(false)} />
      </Dialog>
    </>
  )
}

interface SearchHit {
  readonly path: string
  readonly title: string
  readonly kind: string
}

function useScreens(workspace: Workspace, typed: string): SearchHit[] {
  const session = useRequiredSession()
  const asked = typed.trim().toLowerCase()
  if (asked === '') return []
  return accountScreens
    .filter(({ menu, needs }) => menu !== undefined && (needs === undefined || isAllowed(session, workspace, needs)))
    .map(({ path, menu }) => ({
      path: path === '/' ? pathTo(workspace) : pathTo(workspace, path),
      title: text.screens[menu!],
      kind: text.frame.screen,
    }))
    .filter(({ title }) => title.toLowerCase().includes(asked))
}

const pauseMs = 200

function useSearchResults(
  workspace: Workspace,
  typed: string,
): { readonly found: SearchHit[]; readonly isAsking: boolean } {
  const [asked] = useDebouncedValue(typed.trim(), pauseMs)
  const query = useQuery({
    queryKey: [workspace.account, workspace.mode, 'search.list', asked],
    queryFn: () => unwrap(own(workspace).GET('/console/api/search', { params: { query: { q: asked, limit: 20 } } })),
    enabled: asked !== '',
    refetchInterval: false,
    placeholderData: keepPreviousData,
  })
  const results = asked === '' ? [] : (query.data?.data ?? [])
  const found = results.flatMap(({ id, title, type }): SearchHit[] => {
    const path = pathOfObject(workspace, id)
    return path === undefined ? [] : [{ path, title: title === id ? id : `${title} · ${id}`, kind: humanize(type) }]
  })
  return { found, isAsking: asked !== typed.trim() || (asked !== '' && query.isFetching) }
}

function Search({ workspace, onNavigate }: { workspace: Workspace; onNavigate: () => void }) {
  const [typed, setTyped] = useState('')
  const navigate = useNavigate()
  const combobox = useCombobox()
  const screens = useScreens(workspace, typed)
  const results = useSearchResults(workspace, typed)
  const found = [...results.found, ...screens]
  const go = (path: string) => {
    onNavigate()
    const [to, search] = path.split('?', 2)
    void navigate({ to: to as never, search: Object.fromEntries(new URLSearchParams(search)) as never })
  }
  return (
    <Combobox store={combobox} withinPortal={false} onOptionSubmit={go}>
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
          onKeyDown={(event) =>
            event.key === 'Enter' &&
            combobox.getSelectedOptionIndex() === -1 &&
            found[0] !== undefined &&
            go(found[0].path)
          }
        />
      </Combobox.EventsTarget>
      <ScrollArea.Autosize mah="50vh" mt="xs">
        <Combobox.Options aria-label={text.frame.searchEverything}>
          {found.map(({ path, title, kind }) => (
            <Combobox.Option value={path} key={`${path} ${title}`}>
              <bdi>{title}</bdi>{' '}
              <Text span size="sm" c="dimmed">
                {kind}
              </Text>
            </Combobox.Option>
          ))}
          {found.length === 0 && typed.trim() !== '' && !results.isAsking && (
            <Combobox.Empty>{text.frame.searchNothing}</Combobox.Empty>
          )}
        </Combobox.Options>
      </ScrollArea.Autosize>
    </Combobox>
  )
}
