import assert from 'node:assert/strict'
import test from 'node:test'
import { changelog, entryOf } from './gen-changelog.ts'

test('changes stand under their part of the product, above the versions that were released, which stay', () => {
  const before = '# Changelog\n\n## Unreleased\n\n- Old.\n\n## 1.0.0 (2026-01-31)\n\n- The first one.\n'

  const text = changelog(
    before,
    new Map([
      ['webhooks', ['Deliveries are signed.']],
      ['messages', ['Messages expire.', 'Messages are cancelled.']],
    ]),
  )

  assert.match(
    text,
    /^# Changelog\n\n<!--.*-->\n\n## Unreleased\n\n### Messages\n\n- Messages expire\.\n- Messages are cancelled\.\n\n### Webhooks and events\n\n- Deliveries are signed\.\n\n## 1\.0\.0 \(2026-01-31\)\n\n- The first one\.\n$/,
  )
  assert.equal(changelog(text, new Map()).includes('Unreleased'), false)
})

test('a change is one short paragraph that ends with a full stop', () => {
  assert.equal(entryOf('a.md', 'Messages\nexpire.\n'), 'Messages expire.')
  assert.throws(() => entryOf('a.md', 'Messages expire'), /a\.md does not end with a full stop/)
  assert.throws(() => entryOf('a.md', '- Messages expire.'), /a\.md is not one paragraph/)
  assert.throws(() => entryOf('a.md', 'One.\n\nTwo.'), /a\.md is not one paragraph/)
  assert.throws(() => entryOf('a.md', `${'long '.repeat(100)}.`), /a\.md is longer than 450 characters/)
})
