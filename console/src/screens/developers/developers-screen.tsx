/** API keys, what they were refused and what they changed, and where to begin. */
import { Code, Stack, Tabs, Text } from '@mantine/core'
import { useLocation } from '@tanstack/react-router'
import { useState } from 'react'
import type { Query } from '../../query.ts'
import { ApiButton } from '../../parts/api-button.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Screen } from '../../parts/screen.tsx'
import { usePlace } from '../../parts/use-place.ts'
import { snippets } from '../../text/en/developers.ts'
import { text } from '../../text/en.ts'
import { ApiKeys } from './api-keys.tsx'
import { Requests } from './requests.tsx'

export function DevelopersScreen() {
  const place = usePlace()
  const { tabs } = text.developers
  const { request_id } = useLocation().search as Query
  const [tab, setTab] = useState('keys')
  // where a search found a request
  const [seen, setSeen] = useState<string>()
  if (request_id !== seen) {
    setSeen(request_id)
    if (request_id !== undefined) setTab('requests')
  }
  return (
    <Screen
      title={text.screens.developers}
      mode={place.mode}
      actions={<ApiButton request={{ method: 'GET', path: '/console/api/api_keys', place }} />}
    >
      <Tabs value={tab} onChange={(chosen) => setTab(chosen ?? 'keys')} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="keys">{tabs.keys}</Tabs.Tab>
          <Tabs.Tab value="requests">{tabs.requests}</Tabs.Tab>
          <Tabs.Tab value="snippets">{tabs.snippets}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="keys">
          <ApiKeys />
        </Tabs.Panel>
        <Tabs.Panel value="requests">
          <Requests />
        </Tabs.Panel>
        <Tabs.Panel value="snippets">
          <Snippets />
        </Tabs.Panel>
      </Tabs>
    </Screen>
  )
}

const languages = ['curl', 'typescript', 'python'] as const

function Snippets() {
  const words = text.developers
  return (
    <Stack>
      <Text size="sm">{words.snippetsWhy}</Text>
      <Tabs defaultValue="curl" keepMounted={false}>
        <Tabs.List mb="sm">
          {languages.map((language) => (
            <Tabs.Tab key={language} value={language}>
              {words.languages[language]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {languages.map((language) => (
          <Tabs.Panel key={language} value={language}>
            <Stack align="flex-start">
              <Code block className="code">
                {snippets[language](location.origin)}
              </Code>
              <CopyButton value={snippets[language](location.origin)} />
            </Stack>
          </Tabs.Panel>
        ))}
      </Tabs>
    </Stack>
  )
}
