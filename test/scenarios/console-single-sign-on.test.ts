/** Single sign-on in a browser (behaviour: console 3.14). */
import test from 'node:test'
import { withoutChromium } from '../support/chromium.ts'
import { assertPresentable, button, field, heading, openConsole, openOwnersConsole } from '../support/console.ts'
import { ownerPassword } from '../support/console-api.ts'
import { simulateOidc } from '../support/simulators/oidc.ts'

test('an identity is linked on the profile, and then signs in', { skip: withoutChromium }, async (t) => {
  const provider = await simulateOidc(t)
  provider.person = { sub: 'u1', email: 'olivia@acme.example' }
  const oidc = {
    issuer: provider.url,
    client_id: provider.client_id,
    client_secret: provider.client_secret,
    name: 'Acme ID',
  }
  const owners = await openOwnersConsole(t, { platform: { settings: { oidc } } })
  const { page } = owners

  const stranger = await openConsole(t, owners.world.base_url)
  await stranger.goto('/console/sign-in')
  await stranger.page.getByRole('link', { name: 'Sign in with Acme ID' }).click()
  await stranger.page
    .getByRole('alert')
    .getByText(/This identity is not linked to a user/)
    .waitFor()
  await assertPresentable(stranger.page)

  await owners.goto('/console/profile')
  await owners.world.clock.advance(60_000)
  await button(page, 'Link Acme ID').click()
  await page
    .getByRole('dialog', { name: 'Link Acme ID' })
    .getByText(/as olivia@acme\.example/)
    .waitFor()
  await assertPresentable(page)
  await button(page, 'Link').click()
  const proof = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await field(proof, 'Password').fill(ownerPassword)
  await button(proof, 'Confirm').click()
  await page.getByText('The identity was linked.').waitFor()
  await button(page, 'Unlink olivia@acme.example').waitFor()
  await assertPresentable(page)

  await stranger.page.getByRole('link', { name: 'Sign in with Acme ID' }).click()
  await heading(stranger.page, 'Home').waitFor()
})
