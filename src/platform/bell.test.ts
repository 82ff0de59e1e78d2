import assert from 'node:assert/strict'
import test from 'node:test'
import { startPlatform } from '../../test/kit/world.ts'
import { bell } from './bell.ts'

test('a ring is heard here at once, and in other processes by notification, there only', { timeout: 20_000 }, async (t) => {
  const { pool } = await startPlatform(t)
  const [mine, theirs] = [bell(pool, 'one'), bell(pool, 'two')]
  let here = 0
  const heardThere = Promise.withResolvers<void>()
  mine.on('dispatch', () => (here += 1))
  theirs.on('dispatch', () => heardThere.resolve())
  theirs.on('deliver', () => assert.fail('nobody rang for it'))
  await Promise.all([mine.open(), theirs.open()])

  mine.ring('dispatch')
  const atOnce = here
  await heardThere.promise
  await Promise.all([mine.close(), theirs.close()])

  assert.deepEqual([atOnce, here], [1, 1])
})

test('a command tells others without listening itself; ringing for nothing in particular rouses all', { timeout: 20_000 }, async (t) => {
  const { pool } = await startPlatform(t)
  const [command, service] = [bell(pool, 'command'), bell(pool, 'service')]
  const roused = new Set<string>()
  const both = Promise.withResolvers<void>()
  for (const name of ['dispatch', 'forget-keys']) {
    service.on(name, () => {
      roused.add(name)
      if (roused.size === 2) both.resolve()
    })
  }
  await service.open()

  command.ring()
  await command.flush()
  await both.promise
  await service.close()

  assert.deepEqual([...roused].toSorted(), ['dispatch', 'forget-keys'])
})
