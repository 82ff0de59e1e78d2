/** `/console/profile`: what concerns the person, whatever account they are in. */
import { Group, Paper, Radio, SimpleGrid, Stack, useMantineColorScheme, type MantineColorScheme } from '@mantine/core'
import { PersonMenu } from '../../frame/person-menu.tsx'
import { ApiButton } from '../../parts/api-button.tsx'
import { PathLink } from '../../parts/path-link.tsx'
import { Screen } from '../../parts/screen.tsx'
import { paths } from '../../paths.ts'
import { text } from '../../text/en.ts'
import { You, Password } from './you.tsx'
import { Identities } from './identities.tsx'
import { Sessions } from './sessions.tsx'
import { TwoFactor } from './two-factor.tsx'

export function ProfileScreen() {
  const words = text.profile
  return (
    <>
      <header className="frame-top">
        <PathLink to={paths.start}>{words.back}</PathLink>
        <div className="frame-push" />
        <PersonMenu />
      </header>
      <main id="content" className="page" tabIndex={-1}>
        <Screen title={words.title} actions={<ApiButton request={{ method: 'GET', path: '/console/api/me' }} />}>
          <Stack>
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <You />
              <Password />
              <TwoFactor />
              <Identities />
              <Paper withBorder p="md">
                <Schemes />
              </Paper>
            </SimpleGrid>
            <Sessions />
          </Stack>
        </Screen>
      </main>
    </>
  )
}

function Schemes() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { scheme, schemes } = text.profile
  return (
    <Radio.Group label={scheme} value={colorScheme} onChange={(value) => setColorScheme(value as MantineColorScheme)}>
      <Group>
        {(['auto', 'light', 'dark'] as const).map((value) => (
          <Radio key={value} value={value} label={schemes[value]} size="md" />
        ))}
      </Group>
    </Radio.Group>
  )
}
