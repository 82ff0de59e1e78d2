/** The commands of the README and every guide work, in order, with the shown output. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { playPage } from '../support/pages/play.ts'

const root = join(import.meta.dirname, '../..')
const guides = readdirSync(join(root, 'docs/guides')).filter((file) => file.endsWith('.md'))
const pages = ['README.md', ...guides.map((file) => `docs/guides/${file}`)]

for (const page of pages)
  test(`the examples of ${page} work`, async (t) => {
    const { world } = await playPage(t, readFileSync(join(root, page), 'utf8'))

    await world.invariants()
  })
